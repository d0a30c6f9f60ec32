#!/usr/bin/env python3
"""Writes tiny models with the tensors of the real ones, for tests of roles whose weights are too large to keep here.

    tiny_models.py FOLDER          # needs the package onnx; writes the same bytes everywhere

Each has the names, types and shapes of the real file and arithmetic simple enough to know what must come out:

face_embedding.onnx   SFace: 128 means of small squares of the three planes
speaker.onnx          ERes2Net: mean of the absolute value of each of 80 bands
joint_image.onnx      CLIP's picture side: the mean of red, green and blue over the picture
joint_text.onnx       CLIP's text side: the sum of one row per token; red, green and blue point along the axes
joint_tokenizer.json  its tokens
text_detection.onnx   PP-OCR: a pixel is writing as far as it is bright
text_recognition.onnx CRNN: a column is read by its brightness: dark is the blank, then a, b and c
"""

import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

F, I = TensorProto.FLOAT, TensorProto.INT64


def model(path, nodes, inputs, outputs, constants=None):
    constants = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    info = lambda rows: [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in rows]
    graph = helper.make_graph(nodes, path.stem, info(inputs), info(outputs), constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="engram", ir_version=8)
    save(made, path)


def ints(*values):
    return np.array(values, np.int64)


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    node = helper.make_node

    model(out / "face_embedding.onnx",
          [node("AveragePool", ["data"], ["pooled"], kernel_shape=[14, 14], strides=[14, 14]),
           node("Reshape", ["pooled", "flat"], ["all"]),
           node("Slice", ["all", "from", "to", "axis"], ["fc1"])],
          [("data", F, [1, 3, 112, 112])], [("fc1", F, [1, 128])],
          {"flat": ints(1, 192), "from": ints(0), "to": ints(128), "axis": ints(1)})

    model(out / "speaker.onnx",
          [node("Abs", ["feature"], ["size"]), node("ReduceMean", ["size"], ["embedding"], axes=[1], keepdims=0)],
          [("feature", F, [1, "T", 80])], [("embedding", F, [1, 80])])

    model(out / "joint_image.onnx",
          [node("ReduceMean", ["pixel_values"], ["image_embeds"], axes=[2, 3], keepdims=0)],
          [("pixel_values", F, [1, 3, 224, 224])], [("image_embeds", F, [1, 3])])

    words = ["[UNK]", "red", "green", "blue"]
    table = np.array([[0.1, 0.1, 0.1], [3, 0, 0], [0, 3, 0], [0, 0, 3]], np.float32)
    model(out / "joint_text.onnx",
          [node("Gather", ["table", "input_ids"], ["rows"], axis=0),
           node("Cast", ["attention_mask"], ["weights"], to=F),
           node("Unsqueeze", ["weights", "last"], ["wide"]),
           node("Mul", ["rows", "wide"], ["kept"]),
           node("ReduceSum", ["kept", "tokens"], ["text_embeds"], keepdims=0)],
          [("input_ids", I, ["N", "T"]), ("attention_mask", I, ["N", "T"])], [("text_embeds", F, ["N", 3])],
          {"table": table, "last": ints(2), "tokens": ints(1)})
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                 "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
                 "decoder": None,
                 "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(words)}, "unk_token": "[UNK]"}}
    (out / "joint_tokenizer.json").write_text(json.dumps(tokenizer) + "\n")

    model(out / "text_detection.onnx",
          [node("ReduceMean", ["x"], ["sigmoid_0.tmp_0"], axes=[1], keepdims=1)],
          [("x", F, [1, 3, 736, 736])], [("sigmoid_0.tmp_0", F, [1, 1, 736, 736])])

    # 25 columns of four; brightness -1, -1/3, 1/3, 1 stand for the blank, a, b and c.
    levels = np.array([-1, -1 / 3, 1 / 3, 1], np.float32).reshape(1, 1, 4)
    model(out / "text_recognition.onnx",
          [node("AveragePool", ["input"], ["columns"], kernel_shape=[32, 4], strides=[32, 4]),
           node("Reshape", ["columns", "steps"], ["brightness"]),
           node("Sub", ["brightness", "levels"], ["away"]),
           node("Mul", ["away", "away"], ["square"]),
           node("Mul", ["square", "sharp"], ["output"])],
          [("input", F, [1, 1, 32, 100])], [("output", F, [25, 1, 4])],
          {"steps": ints(25, 1, 1), "levels": levels, "sharp": np.array(-30, np.float32)})


if __name__ == "__main__":
    main()
