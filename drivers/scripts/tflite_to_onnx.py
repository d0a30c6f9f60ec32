#!/usr/bin/env python3
"""Writes a quantised TensorFlow Lite network as ONNX, the same bytes on every machine.

    tflite_to_onnx.py build ORIGINAL.tflite OUT.onnx [--features TENSOR]

Weights keep their integers. Every operator stands between DequantizeLinear and QuantizeLinear with the scales of the
original, from which runtimes make integer kernels. Inputs and outputs keep the names, types, shapes and values of the
original. `--features` adds an output `TENSOR_prequant`: what TENSOR holds before it is rounded, channels first.

Between its ends the graph has channels first, as ONNX wants them; where a shape changes it goes back to the original's
order for one node. An operator or option that is not known here is an error and never left out.

The bytes depend on the original and on this file only: names, order, opset and IR version are fixed here, and nothing is
taken from the environment. Needs onnx, numpy and tflite. tests/models/agreement compares with the original's own runtime.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import tflite

# DequantizeLinear knows axes since opset 13; every ONNX Runtime since 1.12 reads opset 17 and IR version 8.
OPSET, IR_VERSION = 17, 8
FIRST, LAST = [0, 3, 1, 2], [0, 2, 3, 1]
TYPES = {
    tflite.TensorType.FLOAT32: np.float32, tflite.TensorType.INT32: np.int32, tflite.TensorType.INT64: np.int64,
    tflite.TensorType.UINT8: np.uint8, tflite.TensorType.INT8: np.int8,
}
OPERATORS = {number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)}
# The most that each fused activation lets through; all but NONE let nothing below zero through.
CEILINGS = {tflite.ActivationFunctionType.RELU: None, tflite.ActivationFunctionType.RELU6: 6.0}


class Unsupported(Exception):
    """What the original has and this script does not know."""


class Tensor:
    """A tensor of the original."""

    def __init__(self, model, table):
        if table.Type() not in TYPES:
            raise Unsupported(f"tensor {table.Name().decode()}: element type {table.Type()}")
        self.name, self.type = table.Name().decode(), np.dtype(TYPES[table.Type()])
        self.shape = [int(size) for size in table.ShapeAsNumpy()] if table.ShapeLength() else []
        buffer = model.Buffers(table.Buffer())
        self.data = None
        if buffer.DataLength():
            stored = np.frombuffer(buffer.DataAsNumpy().tobytes(), self.type.newbyteorder("<"))
            self.data = stored.astype(self.type).reshape(self.shape)
        quantization = table.Quantization()
        self.scale = self.zero = self.axis = None
        if quantization is not None and quantization.ScaleLength():
            self.scale = quantization.ScaleAsNumpy().astype(np.float32)
            self.zero = quantization.ZeroPointAsNumpy().astype(self.type)
            self.axis = quantization.QuantizedDimension() if len(self.scale) > 1 else None

    @property
    def quantised(self):
        return self.scale is not None


def options(operator, kind):
    table = operator.BuiltinOptions()
    if table is None:
        raise Unsupported(f"an operator without its {kind.__name__}")
    known = kind()
    known.Init(table.Bytes, table.Pos)
    return known


def padding(kind, sizes, kernel, strides, dilations):
    """What SAME and VALID add at each side, as ONNX lists it: all beginnings, then all ends."""
    if kind == tflite.Padding.VALID:
        return [0, 0, 0, 0]
    before, after = [], []
    for size, width, stride, dilation in zip(sizes, kernel, strides, dilations):
        total = max((-(-size // stride) - 1) * stride + (width - 1) * dilation + 1 - size, 0)
        before.append(total // 2)
        after.append(total - total // 2)
    return before + after


class Graph:
    """Collects nodes and initializers in the order in which they are written."""

    def __init__(self, model):
        from onnx import TensorProto, helper

        self.helper, self.proto = helper, TensorProto
        self.kinds = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
                      "uint8": TensorProto.UINT8, "int8": TensorProto.INT8}
        if model.SubgraphsLength() != 1:
            raise Unsupported(f"{model.SubgraphsLength()} subgraphs")
        self.model, self.source = model, model.Subgraphs(0)
        self.tensors = [Tensor(model, self.source.Tensors(i)) for i in range(self.source.TensorsLength())]
        self.nodes, self.initializers = [], {}
        # What each tensor is called here before it is rounded, for `--features`.
        self.exact = {}

    def constant(self, name, array):
        if name not in self.initializers:
            tensor = self.proto()
            tensor.name, tensor.data_type = name, self.kinds[str(array.dtype)]
            tensor.dims.extend(array.shape)
            tensor.raw_data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
            self.initializers[name] = tensor
        return name

    def add(self, operator, inputs, output, **attributes):
        self.nodes.append(self.helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def scales(self, index, axis):
        """Names of scale and zero point, and the axis along which they run."""
        tensor = self.tensors[index]
        one = tensor.axis is None
        scale, zero = (array[0] if one else array for array in (tensor.scale, tensor.zero))
        names = self.constant(f"t{index}.scale", np.asarray(scale)), self.constant(f"t{index}.zero", np.asarray(zero))
        return names, {} if one else {"axis": axis}

    def real(self, index, user):
        """The tensor as real numbers for one user. Each has its own node: runtimes fuse pairs, not webs."""
        if not self.tensors[index].quantised:
            return f"t{index}"
        (scale, zero), axis = self.scales(index, 0)
        return self.add("DequantizeLinear", [f"t{index}", scale, zero], f"t{index}.for.{user}", **axis)

    def weights(self, index, array):
        """Constants as real numbers: integers, with the scales of the original along the first axis."""
        self.constant(f"t{index}", array)
        (scale, zero), axis = self.scales(index, 0)
        return self.add("DequantizeLinear", [f"t{index}", scale, zero], f"t{index}.real", **axis)

    def result(self, index, value, activation=tflite.ActivationFunctionType.NONE):
        """Rounds what an operator has computed, after the activation that is fused with it."""
        tensor = self.tensors[index]
        if activation != tflite.ActivationFunctionType.NONE:
            if activation not in CEILINGS:
                raise Unsupported(f"fused activation {activation}")
            value = self.activate(index, value, CEILINGS[activation])
        self.exact[tensor.name] = value
        (scale, zero), _ = self.scales(index, 0)
        self.add("QuantizeLinear", [value, scale, zero], f"t{index}")

    def activate(self, index, value, ceiling):
        """Clips, but where rounding to the range of the integers does it."""
        tensor, limits = self.tensors[index], np.iinfo(self.tensors[index].type)
        scale, zero = float(tensor.scale[0]), int(tensor.zero[0])
        top = limits.max if ceiling is None else round(ceiling / scale) + zero
        if zero <= limits.min and top >= limits.max:
            return value
        lowest = self.constant("zero", np.array(0, np.float32))
        highest = "" if ceiling is None else self.constant(f"ceiling.{ceiling:g}", np.array(ceiling, np.float32))
        return self.add("Clip", [value, lowest, highest], f"t{index}.clipped")


def convolution(g, operator, inputs, output, depthwise):
    o = options(operator, tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions)
    data, kernel = g.tensors[inputs[0]], g.tensors[inputs[1]]
    # Filters come as OHWI, those of a depthwise convolution as 1HWO; ONNX wants OIHW for both.
    array = kernel.data.transpose([3, 0, 1, 2] if depthwise else [0, 3, 1, 2])
    if kernel.axis not in (None, 3 if depthwise else 0):
        raise Unsupported(f"{kernel.name}: scales along axis {kernel.axis}")
    size, strides = list(array.shape[2:]), [o.StrideH(), o.StrideW()]
    dilations = [o.DilationHFactor(), o.DilationWFactor()]
    operands = [g.real(inputs[0], f"t{output}"), g.weights(inputs[1], array)]
    if len(inputs) > 2 and inputs[2] >= 0:
        operands.append(g.weights(inputs[2], g.tensors[inputs[2]].data))
    value = g.add(
        "Conv", operands, f"t{output}.exact", kernel_shape=size, strides=strides, dilations=dilations,
        pads=padding(o.Padding(), data.shape[1:3], size, strides, dilations), group=data.shape[3] if depthwise else 1,
    )
    g.result(output, value, o.FusedActivationFunction())


def average_pool(g, operator, inputs, output):
    o = options(operator, tflite.Pool2DOptions)
    size, strides = [o.FilterHeight(), o.FilterWidth()], [o.StrideH(), o.StrideW()]
    value = g.add(
        "AveragePool", [g.real(inputs[0], f"t{output}")], f"t{output}.exact", kernel_shape=size, strides=strides,
        pads=padding(o.Padding(), g.tensors[inputs[0]].shape[1:3], size, strides, [1, 1]), count_include_pad=0,
    )
    g.result(output, value, o.FusedActivationFunction())


def mean(g, operator, inputs, output):
    axes = sorted(int(axis) for axis in g.tensors[inputs[1]].data.flatten())
    if axes != [1, 2] or not options(operator, tflite.ReducerOptions).KeepDims():
        raise Unsupported(f"a mean over the axes {axes} that is not that of every channel")
    g.result(output, g.add("GlobalAveragePool", [g.real(inputs[0], f"t{output}")], f"t{output}.exact"))


def fully_connected(g, operator, inputs, output):
    o = options(operator, tflite.FullyConnectedOptions)
    data, weights = g.tensors[inputs[0]], g.tensors[inputs[1]]
    # The order of height, width and channels would matter if there were more than one place.
    if len(data.shape) == 4 and data.shape[1:3] != [1, 1] or weights.axis is not None or o.KeepNumDims():
        raise Unsupported(f"{weights.name}: a fully connected layer over the shape {data.shape}")
    flat = g.add("Flatten", [f"t{inputs[0]}"], f"t{output}.flat", axis=1)
    (scale, zero), _ = g.scales(inputs[0], 0)
    operands = [g.add("DequantizeLinear", [flat, scale, zero], f"t{output}.flat.real"),
                g.weights(inputs[1], weights.data)]
    if len(inputs) > 2 and inputs[2] >= 0:
        operands.append(g.weights(inputs[2], g.tensors[inputs[2]].data))
    g.result(output, g.add("Gemm", operands, f"t{output}.exact", transB=1), o.FusedActivationFunction())


def sum_of_two(g, operator, inputs, output):
    if any(g.tensors[index].data is not None for index in inputs):
        raise Unsupported("a sum with a constant")
    value = g.add("Add", [g.real(index, f"t{output}") for index in inputs], f"t{output}.exact")
    g.result(output, value, options(operator, tflite.AddOptions).FusedActivationFunction())


def reshape(g, operator, inputs, output):
    value, data, made = f"t{inputs[0]}", g.tensors[inputs[0]], g.tensors[output]
    if len(data.shape) == 4:
        value = g.add("Transpose", [value], f"t{output}.last", perm=LAST)
    shape = g.constant(f"t{output}.shape", np.array(made.shape, np.int64))
    if len(made.shape) == 4:
        value = g.add("Reshape", [value, shape], f"t{output}.shaped")
        g.add("Transpose", [value], f"t{output}", perm=FIRST)
    else:
        g.add("Reshape", [value, shape], f"t{output}")


def split(g, operator, inputs, output):
    if options(operator, tflite.SplitOptions).NumSplits() != 1:
        raise Unsupported("a split into more than one part")
    g.add("Identity", [f"t{inputs[1]}"], f"t{output}")


def softmax(g, operator, inputs, output):
    if options(operator, tflite.SoftmaxOptions).Beta() != 1.0 or len(g.tensors[output].shape) == 4:
        raise Unsupported("a softmax with a temperature or over places")
    g.result(output, g.add("Softmax", [g.real(inputs[0], f"t{output}")], f"t{output}.exact", axis=-1))


def logistic(g, operator, inputs, output):
    g.result(output, g.add("Sigmoid", [g.real(inputs[0], f"t{output}")], f"t{output}.exact"))


def quantize(g, operator, inputs, output):
    g.result(output, g.real(inputs[0], f"t{output}"))


def dequantize(g, operator, inputs, output):
    (scale, zero), _ = g.scales(inputs[0], 0)
    g.add("DequantizeLinear", [f"t{inputs[0]}", scale, zero], f"t{output}")


WRITERS = {
    "CONV_2D": lambda *a: convolution(*a, depthwise=False),
    "DEPTHWISE_CONV_2D": lambda *a: convolution(*a, depthwise=True),
    "AVERAGE_POOL_2D": average_pool, "MEAN": mean, "FULLY_CONNECTED": fully_connected, "ADD": sum_of_two,
    "RESHAPE": reshape, "SPLIT": split, "SOFTMAX": softmax, "LOGISTIC": logistic, "QUANTIZE": quantize,
    "DEQUANTIZE": dequantize,
}


def convert(data, features=None):
    """The ONNX model of a network."""
    model = tflite.Model.GetRootAsModel(data, 0)
    g = Graph(model)
    inputs, outputs = ([int(i) for i in ends] for ends in (g.source.InputsAsNumpy(), g.source.OutputsAsNumpy()))
    for index in inputs:
        if len(g.tensors[index].shape) == 4:
            g.add("Transpose", [g.tensors[index].name], f"t{index}", perm=FIRST)
        else:
            g.add("Identity", [g.tensors[index].name], f"t{index}")
    for number in range(g.source.OperatorsLength()):
        operator = g.source.Operators(number)
        code = model.OperatorCodes(operator.OpcodeIndex())
        # Models of before 2020 have the number in the older field, later ones in both.
        kind = OPERATORS.get(max(code.DeprecatedBuiltinCode(), code.BuiltinCode()))
        if kind not in WRITERS or operator.OutputsLength() != 1:
            raise Unsupported(f"operator {number}, {kind}, with {operator.OutputsLength()} outputs")
        WRITERS[kind](g, operator, [int(i) for i in operator.InputsAsNumpy()], int(operator.OutputsAsNumpy()[0]))
    for index in outputs:
        last = len(g.tensors[index].shape) == 4
        g.add("Transpose" if last else "Identity", [f"t{index}"], g.tensors[index].name, **({"perm": LAST} if last else {}))

    end = lambda index: g.helper.make_tensor_value_info(
        g.tensors[index].name, g.kinds[str(g.tensors[index].type)], g.tensors[index].shape
    )
    ends = [end(index) for index in outputs]
    if features:
        if features not in g.exact:
            raise Unsupported(f"no computed tensor is called {features}")
        shape = next(tensor.shape for tensor in g.tensors if tensor.name == features)
        shape = [shape[i] for i in FIRST] if len(shape) == 4 else shape
        name = f"{features}_prequant"
        g.add("Identity", [g.exact[features]], name)
        ends.append(g.helper.make_tensor_value_info(name, g.proto.FLOAT, shape))
    graph = g.helper.make_graph(g.nodes, "converted", [end(index) for index in inputs], ends, list(g.initializers.values()))
    made = g.helper.make_model(graph, opset_imports=[g.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    made.producer_name, made.producer_version = "engram", ""
    return made


def build(original, out, features):
    import onnx

    model = convert(original.read_bytes(), features)
    onnx.checker.check_model(model, full_check=True)
    part = out.with_name(out.name + ".part")
    part.write_bytes(model.SerializeToString(deterministic=True))
    part.replace(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mode", choices=["build"])
    parser.add_argument("original", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--features", metavar="TENSOR", help="one more output: this tensor before it is rounded")
    args = parser.parse_args()
    try:
        build(args.original, args.out, args.features)
    except Unsupported as reason:
        sys.exit(f"{args.original.name} cannot be converted: {reason}")


if __name__ == "__main__":
    main()
