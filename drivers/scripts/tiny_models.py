#!/usr/bin/env python3
"""Writes tiny models with the tensors of the real ones, for tests of roles whose weights are too large to keep here.

    tiny_models.py FOLDER          # needs the package onnx; writes the same bytes everywhere

Each has the names, types and shapes of the real file and arithmetic simple enough to know what must come out:

face_embedding.onnx   SFace: 128 means of small squares of the three planes
speaker.onnx          ERes2Net: mean of the absolute value of each of 80 bands
joint_image.onnx      CLIP's picture side: the mean of red, green and blue over the picture
joint_text.onnx       CLIP's text side: the sum of one row per token; red, green and blue point along the axes
joint_tokenizer.json  its tokens
clip_image.onnx       CLIP's picture side in its own size: the mean colour over the picture, 0 to 1, then 509 zeros
clip_text.onnx        CLIP's text side, which has no mask: the sum of one row per token, 0 for those that begin, end and fill a text
clip_tokenizer.json   byte pairs as CLIP's: lower case, words end in </w>; red, green and blue, and a kingfisher, which is blue
sentence.onnx         bge: vectors of tokens, of which only the first one's says what the text means
sentence_tokenizer.json  its tokens, [CLS] first
reader.onnx           a reader: one point for each token of the question or the text that is "dog", spans of the same; it reads no forms
reader_comparison.onnx  what compares its texts: twice the points, 3 less for each newer text, and the first sign
reader_tokenizer.json its tokens, those of BERT at the end
yolox.onnx            YOLOX: a cell of the coarsest grid has a person as far as it is red and a car as far as it is blue
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


def byte_pairs(words):
    """Merges that make one token of each word, and the tokens: every letter within a word and at its end, then what merges make."""
    letters = sorted(set("".join(words)))
    tokens = letters + [letter + "</w>" for letter in letters]
    merges = []
    for word in words:
        parts = [*word[:-1], word[-1] + "</w>"]
        while len(parts) > 1:
            pair = f"{parts[0]} {parts[1]}"
            parts = [parts[0] + parts[1], *parts[2:]]
            if pair not in merges:
                merges.append(pair)
                tokens.append(parts[0])
    return tokens, merges


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

    floats = lambda *values: np.array(values, np.float32)
    wide = lambda at, size: {"pads": ints(*([0] * (2 * at - 1) + [size - 3]))}
    model(out / "clip_image.onnx",
          [node("Mul", ["pixel_values", "deviation"], ["scaled"]),
           node("Add", ["scaled", "mean"], ["colours"]),
           node("ReduceMean", ["colours"], ["colour"], axes=[2, 3], keepdims=0),
           node("Pad", ["colour", "pads"], ["image_embeds"])],
          [("pixel_values", F, ["N", 3, "H", "W"])], [("image_embeds", F, ["N", 512])],
          {"deviation": floats(0.26862954, 0.26130258, 0.27577711).reshape(1, 3, 1, 1),
           "mean": floats(0.48145466, 0.4578275, 0.40821073).reshape(1, 3, 1, 1), **wide(2, 512)})

    pairs, merges = byte_pairs(["red", "green", "blue", "kingfisher"])
    tokens = ["!", *pairs, "<|startoftext|>", "<|endoftext|>"]
    directions = {"red</w>": 0, "green</w>": 1, "blue</w>": 2, "kingfisher</w>": 2}
    table = np.full((len(tokens), 3), 0.02, np.float32)
    table[[0, -2, -1]] = 0
    for word, axis in directions.items():
        table[tokens.index(word)] = 3 * np.eye(3, dtype=np.float32)[axis]
    model(out / "clip_text.onnx",
          [node("Gather", ["table", "input_ids"], ["rows"], axis=0),
           node("ReduceSum", ["rows", "tokens"], ["sum"], keepdims=0),
           node("Pad", ["sum", "pads"], ["text_embeds"])],
          [("input_ids", I, ["N", "T"])], [("text_embeds", F, ["N", 512])],
          {"table": table, "tokens": ints(1), **wide(2, 512)})
    special = lambda token: {"id": tokens.index(token), "content": token, "single_word": False, "lstrip": False,
                             "rstrip": False, "normalized": True, "special": True}
    words_of = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    tokenizer = {"version": "1.0", "truncation": None, "padding": None,
                 "added_tokens": [special("<|startoftext|>"), special("<|endoftext|>")],
                 "normalizer": {"type": "Sequence", "normalizers": [
                     {"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}, {"type": "Lowercase"}]},
                 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                     {"type": "Split", "pattern": {"Regex": words_of}, "behavior": "Removed", "invert": True},
                     {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
                 "post_processor": {"type": "RobertaProcessing", "sep": ["<|endoftext|>", tokens.index("<|endoftext|>")],
                                    "cls": ["<|startoftext|>", tokens.index("<|startoftext|>")], "trim_offsets": False,
                                    "add_prefix_space": False},
                 "decoder": None,
                 "model": {"type": "BPE", "dropout": None, "unk_token": "<|endoftext|>", "continuing_subword_prefix": "",
                           "end_of_word_suffix": "</w>", "fuse_unk": False,
                           "vocab": {token: at for at, token in enumerate(tokens)}, "merges": merges}}
    (out / "clip_tokenizer.json").write_text(json.dumps(tokenizer) + "\n")

    # Three numbers a text: about dogs, about shares, about anything else. Those of the tokens behind the first are garbage.
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "dog", "bark", "##ing", "##s", "shares", "fell"]
    table = np.zeros((len(words), 3), np.float32)
    for word, row in {"[UNK]": [0, 0, 0.3], "dog": [3, 0, 0], "bark": [2, 0, 0], "shares": [0, 3, 0], "fell": [0, 2, 0]}.items():
        table[words.index(word)] = row
    model(out / "sentence.onnx",
          [node("Gather", ["table", "input_ids"], ["rows"], axis=0),
           node("Cast", ["attention_mask"], ["kept"], to=F),
           node("Unsqueeze", ["kept", "last"], ["weights"]),
           node("Mul", ["rows", "weights"], ["own"]),
           node("ReduceSum", ["own", "tokens"], ["text"], keepdims=1),
           node("Equal", ["input_ids", "cls"], ["is_first"]),
           node("Unsqueeze", ["is_first", "last"], ["first"]),
           node("Where", ["first", "text", "garbage"], ["vectors"]),
           # Of a single sentence all types are 0.
           node("Cast", ["token_type_ids"], ["types"], to=F),
           node("Unsqueeze", ["types", "last"], ["shift"]),
           node("Add", ["vectors", "shift"], ["narrow"]),
           node("Pad", ["narrow", "pads"], ["last_hidden_state"])],
          [("input_ids", I, ["N", "T"]), ("attention_mask", I, ["N", "T"]), ("token_type_ids", I, ["N", "T"])],
          [("last_hidden_state", F, ["N", "T", 384])],
          {"table": table, "last": ints(2), "tokens": ints(1), "cls": ints(2), "garbage": floats(-9, -9, -9), **wide(3, 384)})
    special = lambda token: {"id": words.index(token), "content": token, "single_word": False, "lstrip": False,
                             "rstrip": False, "normalized": False, "special": True}
    single = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
              {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    named = lambda token: {token: {"id": token, "ids": [words.index(token)], "tokens": [token]}}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None,
                 "added_tokens": [special(token) for token in words[:4]],
                 "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                                "strip_accents": None, "lowercase": True},
                 "pre_tokenizer": {"type": "BertPreTokenizer"},
                 "post_processor": {"type": "TemplateProcessing", "single": single, "pair": single,
                                    "special_tokens": {**named("[CLS]"), **named("[SEP]")}},
                 "decoder": None,
                 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                           "max_input_chars_per_word": 100, "vocab": {word: at for at, word in enumerate(words)}}}
    (out / "sentence_tokenizer.json").write_text(json.dumps(tokenizer) + "\n")

    # Its own tokens are below those that begin and part a sequence, 101 and 102.
    points = np.zeros((103, 1), np.float32)
    points[1] = 1
    model(out / "reader.onnx",
          [node("Gather", ["points", "input_ids"], ["rows"], axis=0),
           node("Cast", ["attention_mask"], ["kept"], to=F),
           node("Unsqueeze", ["kept", "last"], ["weights"]),
           node("Mul", ["rows", "weights"], ["own"]),
           node("Concat", ["own", "own"], ["span"], axis=2),
           node("ReduceSum", ["own", "tokens"], ["column"], keepdims=0),
           node("Squeeze", ["column", "tokens"], ["relevance"]),
           node("Mul", ["column", "six"], ["form"]),
           node("Pad", ["column", "pads"], ["pair"])],
          [("input_ids", I, ["N", "T"]), ("attention_mask", I, ["N", "T"])],
          [("relevance", F, ["N"]), ("span", F, ["N", "T", 2]), ("form", F, ["N", 6]), ("pair", F, ["N", 768])],
          {"points": points, "last": ints(2), "tokens": ints(1), "six": np.zeros((1, 6), np.float32), "pads": ints(0, 0, 0, 767)})
    model(out / "reader_comparison.onnx",
          [node("ReduceSum", ["pair", "axis"], ["read"], keepdims=0),
           node("Add", ["read", "relevance"], ["twice"]),
           node("Cast", ["places"], ["newer"], to=F),
           node("Mul", ["newer", "three"], ["older"]),
           node("Sub", ["twice", "older"], ["placed"]),
           node("Slice", ["signs", "zero", "axis", "axis"], ["first"]),
           node("Squeeze", ["first", "axis"], ["rank"]),
           node("Add", ["placed", "rank"], ["compared"])],
          [("pair", F, ["N", 768]), ("relevance", F, ["N"]), ("signs", F, ["N", 3]), ("places", I, ["N"])], [("compared", F, ["N"])],
          {"axis": ints(1), "zero": ints(0), "three": np.array(3, np.float32)})
    vocabulary = {"[UNK]": 0, "dog": 1, "[CLS]": 101, "[SEP]": 102}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                 "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
                 "decoder": None, "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}}
    (out / "reader_tokenizer.json").write_text(json.dumps(tokenizer) + "\n")

    # Planes come as blue, green and red. What one colour has more than the other is relu(a - b).
    model(out / "yolox.onnx",
          [node("AveragePool", ["images"], ["coarse"], kernel_shape=[32, 32], strides=[32, 32]),
           node("Mul", ["coarse", "whole"], ["planes"]),
           node("Slice", ["planes", "zero", "one", "axis"], ["blue"]),
           node("Slice", ["planes", "two", "three", "axis"], ["red"]),
           node("Sub", ["red", "blue"], ["redder"]), node("Relu", ["redder"], ["person"]),
           node("Sub", ["blue", "red"], ["bluer"]), node("Relu", ["bluer"], ["car"]),
           node("Add", ["person", "car"], ["object"]),
           node("Concat", ["object", "person", "object", "car"], ["scores"], axis=1),
           # Centre and size of the box, objectness, person, bicycle (never), car, the other 76 classes.
           node("Mul", ["scores", "no_bicycle"], ["named"]),
           node("Pad", ["named", "channels", "half"], ["boxed"]),
           node("Mul", ["boxed", "centred"], ["rows_of_grid"]),
           node("Reshape", ["rows_of_grid", "flat"], ["columns"]),
           node("Transpose", ["columns"], ["cells"], perm=[0, 2, 1]),
           node("Pad", ["cells", "finer"], ["output"])],
          [("images", F, [1, 3, 416, 416])], [("output", F, [1, 3549, 85])],
          {"whole": np.array(1 / 255, np.float32), "zero": ints(0), "one": ints(1), "two": ints(2), "three": ints(3), "axis": ints(1),
           "no_bicycle": floats(1, 1, 0, 1).reshape(1, 4, 1, 1), "channels": ints(0, 4, 0, 0, 0, 77, 0, 0),
           "half": np.array(0.5, np.float32),
           "centred": np.array([1, 1, 0, 0, 1, 1, 1, 1] + [0] * 77, np.float32).reshape(1, 85, 1, 1),
           "flat": ints(1, 85, 169), "finer": ints(0, 3380, 0, 0, 0, 0)})

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
