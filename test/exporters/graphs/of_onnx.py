"""Graphs that no exporter above writes: control flow with constants in its bodies, sequences, optional values, texts."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from .registry import GRAPHS, graph, save

RANDOM = numpy.random.default_rng(0)
node, info = helper.make_node, helper.make_tensor_value_info


def weight(name, *dims):
    return numpy_helper.from_array(RANDOM.standard_normal(dims).astype("float32") / 8, name)


def scalar(name, value, kind="int64"):
    return numpy_helper.from_array(numpy.array(value, kind), name)


def floats(name, *dims):
    return info(name, TensorProto.FLOAT, dims)


def write(path, nodes, inputs, outputs, weights=(), opset=18):
    made = helper.make_graph(nodes, "graph", inputs, outputs, list(weights))
    save(helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), path)


def body(nodes, inputs, outputs, weights=()):
    return helper.make_graph(nodes, "body", inputs, outputs, list(weights))


@graph("onnx-if")
def either(path):
    branch = lambda name, op: body(
        [node("MatMul", ["x", name], [name + "m"]), node(op, [name + "m"], [name + "y"])],
        [],
        [floats(name + "y", 64, 128)],
        [weight(name, 128, 128)],
    )
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "zero"], ["is"]),
        node("If", ["is"], ["y"], then_branch=branch("a", "Relu"), else_branch=branch("b", "Tanh")),
    ]
    write(path, nodes, [floats("x", 64, 128)], [floats("y", 64, 128)], [scalar("zero", 0, "float32")])


@graph("onnx-loop")
def loop(path):
    steps = body(
        [node("MatMul", ["state", "w"], ["m"]), node("Tanh", ["m"], ["next"]), node("Identity", ["go"], ["still"])],
        [info("at", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), floats("state", 32, 64)],
        [info("still", TensorProto.BOOL, []), floats("next", 32, 64)],
        [weight("w", 64, 64)],
    )
    nodes = [node("Loop", ["trips", "", "x"], ["y"], body=steps)]
    write(path, nodes, [info("trips", TensorProto.INT64, []), floats("x", 32, 64)], [floats("y", 32, 64)])


@graph("onnx-scan")
def scan(path):
    step = body(
        [node("Add", ["state", "row"], ["sum"]), node("MatMul", ["sum", "w"], ["m"]), node("Sigmoid", ["m"], ["next"]), node("Identity", ["next"], ["out"])],
        [floats("state", 8, 64), floats("row", 8, 64)],
        [floats("next", 8, 64), floats("out", 8, 64)],
        [weight("w", 64, 64)],
    )
    nodes = [node("Scan", ["x0", "x"], ["last", "y"], num_scan_inputs=1, body=step)]
    write(path, nodes, [floats("x0", 8, 64), floats("x", 20, 8, 64)], [floats("last", 8, 64), floats("y", 20, 8, 64)])


@graph("onnx-if-in-loop")
def nested(path):
    branch = lambda name, op: body([node(op, ["state", name], [name + "y"])], [], [floats(name + "y", 32, 64)], [weight(name, 32, 64)])
    steps = body(
        [
            node("Mod", ["at", "two"], ["odd"]),
            node("Cast", ["odd"], ["is"], to=TensorProto.BOOL),
            node("If", ["is"], ["next"], then_branch=branch("a", "Add"), else_branch=branch("b", "Mul")),
            node("Identity", ["go"], ["still"]),
        ],
        [info("at", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), floats("state", 32, 64)],
        [info("still", TensorProto.BOOL, []), floats("next", 32, 64)],
        [scalar("two", 2)],
    )
    write(path, [node("Loop", ["trips", "", "x"], ["y"], body=steps)], [floats("x", 32, 64)], [floats("y", 32, 64)], [scalar("trips", 6)])


@graph("onnx-sequence")
def sequence(path):
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("SplitToSequence", ["m"], ["rows"], axis=1, keepdims=1),
        node("SequenceAt", ["rows", "at"], ["row"]),
        node("SequenceInsert", ["rows", "row"], ["more"]),
        node("ConcatFromSequence", ["more"], ["all"], axis=1),
        node("Relu", ["all"], ["y"]),
    ]
    write(path, nodes, [floats("x", 32, 16)], [floats("y", 32, 9)], [weight("w", 16, 8), scalar("at", 3)])


@graph("onnx-optional")
def optional(path):
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Optional", ["r"], ["maybe"]),
        node("OptionalGetElement", ["maybe"], ["there"]),
        node("Sigmoid", ["there"], ["y"]),
    ]
    write(path, nodes, [floats("x", 64, 64)], [floats("y", 64, 64)])


@graph("onnx-texts")
def texts(path):
    nodes = [
        node("StringConcat", ["words", "words"], ["twice"]),
        node("StringSplit", ["twice"], ["parts", "y"], delimiter="a"),
    ]
    write(path, nodes, [info("words", TensorProto.STRING, [64])], [info("y", TensorProto.INT64, [64])], opset=20)


@graph("onnx-boxes")
def boxes(path):
    limits = [scalar("most", [10]), scalar("overlap", [0.5], "float32"), scalar("least", [0.1], "float32")]
    nodes = [node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["y"])]
    write(path, nodes, [floats("boxes", 1, 400, 4), floats("scores", 1, 5, 400)], [info("y", TensorProto.INT64, ["found", 3])], limits)


@graph("onnx-old-opset")
def old(path):
    """As files of 2017 are: every weight is an input as well, opset 6."""
    weights = [weight("w", 16, 3, 3, 3)]
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["r"]), node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2], strides=[2, 2])]
    write(path, nodes, [floats("x", 1, 3, 64, 64), floats("w", 16, 3, 3, 3)], [floats("y", 1, 16, 31, 31)], weights, opset=6)


@graph("onnx-function")
def function(path):
    local = helper.make_function(
        "local", "Gated", ["x", "w"], ["y"],
        [node("MatMul", ["x", "w"], ["m"]), node("Sigmoid", ["m"], ["s"]), node("Mul", ["m", "s"], ["y"])],
        [helper.make_opsetid("", 18)],
    )
    made = helper.make_graph(
        [node("Gated", ["x", "a"], ["h"], domain="local"), node("Gated", ["h", "b"], ["y"], domain="local")],
        "graph", [floats("x", 32, 128)], [floats("y", 32, 64)], [weight("a", 128, 128), weight("b", 128, 64)],
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    save(helper.make_model(made, opset_imports=imports, functions=[local], ir_version=9), path)
