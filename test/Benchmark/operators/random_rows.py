"""Operators of random shapes, as networks have them: rows that nobody chose.

The extents are those that occur in networks; which ones meet is drawn from a seed.
A row is made from its seed and number alone, so its name says all.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TypeVar

import numpy as np
import onnx
from onnx import helper
from operator_rows import Row, Shape, convolve, make_model

CHANNELS = [8, 16, 24, 32, 40, 48, 64, 72, 80, 96, 112, 128, 144, 160, 192, 240, 256]
CHANNELS += [320, 384, 480, 512, 576, 640, 768, 960, 1024, 1280, 2048]
EXTENTS = [4, 7, 8, 10, 12, 13, 14, 16, 17, 19, 20, 24, 26, 28, 32, 35, 38, 40, 48, 52, 56]
EXTENTS += [64, 75, 80, 96, 112, 128, 149, 150, 160, 192, 224, 256]
LENGTHS = [1, 5, 7, 12, 16, 24, 32, 48, 49, 50, 64, 77, 100, 128, 144, 196, 197, 256, 384, 512]
FEATURES = [24, 32, 48, 64, 80, 96, 128, 192, 256, 320, 384, 512, 768, 1024, 1280, 1536, 2048, 3072]
HEAD_FEATURES, HEADS, BATCHES = (
    [16, 24, 32, 40, 48, 64, 80, 96, 128],
    [1, 3, 4, 6, 8, 12, 16],
    [1, 4, 8],
)
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd"]
UNARY = ["Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Sin", "Cos", "HardSwish", "Elu"]
UNARY += ["LeakyRelu", "Abs", "Neg", "Floor", "Reciprocal", "Softplus", "HardSigmoid"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min"]
LEAST_FLOPS, MOST_FLOPS, MOST_ELEMENTS = 1e4, 2e9, 2**23
"""Rows outside of these are drawn again: too short to time, or too long to wait for."""

Value = TypeVar("Value")


class Draw:
    """Draws from lists, in an order that the seed fixes."""

    def __init__(self, seed: list[int]) -> None:
        """Start with a seed."""
        self.random = np.random.default_rng(seed)

    def one(self, values: Sequence[Value]) -> Value:
        """Return one of some values."""
        return values[int(self.random.integers(len(values)))]


def convolution(draw: Draw, kind: str, label: str) -> Row:
    """Return a convolution of one of the classes of the published rows."""
    dims = {"C1D": 1, "C3D": 3}.get(kind, 2)
    inputs, outputs = draw.one([3, *CHANNELS]), draw.one(CHANNELS)
    batch, groups, dilation = draw.one(BATCHES), 1, 1
    image = (draw.one(EXTENTS),) * dims
    kernel, stride = draw.one([1, 3, 3, 3, 5, 7]), draw.one([1, 1, 2])
    if kind == "C1D":
        image = (draw.one([64, 100, 128, 197, 256, 512, 1024, 3000]),)
    elif kind == "C3D":
        image = (draw.one([4, 8, 16]), *image[:1] * 2)
    elif kind == "GRP":
        groups = draw.one([2, 4, 8, 32])
        inputs, outputs = (-(-c // groups) * groups for c in (inputs, outputs))
    elif kind == "DIL":
        kernel, stride, dilation = 3, 1, draw.one([2, 3, 4, 6])
    elif kind == "DEP":
        inputs = groups = outputs
        kernel = draw.one([3, 3, 5, 7])
    elif kind == "T2D":
        kernel, stride = draw.one([(2, 2), (3, 2), (4, 2), (4, 4), (3, 1)])
    elif kind == "CAP":
        batch, kernel = 4 * batch, 3
        inputs, outputs = 4 * draw.one([8, 16, 32]), 4 * draw.one([8, 16, 32])
    transposed = kind == "T2D"
    border = (kernel - stride if transposed else dilation * (kernel - 1)) // 2
    window = f"k{kernel}s{stride}d{dilation}g{groups}"
    label += f"-{batch}x{inputs}x" + "x".join(map(str, image)) + f"-{outputs}-{window}"
    shape = (image, inputs, outputs, kernel, stride, border)
    return convolve(kind, label, batch, shape, groups, dilation, transposed, kind == "CBR")


def product(draw: Draw, kind: str, label: str) -> Row:
    """Return a product of one of the classes of the published rows."""
    batch, m, k, n = (draw.one(LENGTHS) for _ in range(4))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    if kind == "DENSE":
        batch, k, n = 1, draw.one(FEATURES), draw.one(FEATURES)
        shapes: list[Shape] = [(m, k), (k, n)]
    elif kind == "GMM":
        batch = draw.one(BATCHES)
        m, k, n = (draw.one([64, 100, 128, 256, 384, 512, 768, 1000]) for _ in range(3))
        shapes = [(batch, m, k), (batch, k, n)]
    else:
        batch, m = draw.one(HEADS) * draw.one(BATCHES), draw.one(LENGTHS)
        features, n = draw.one(HEAD_FEATURES), draw.one([m, m, draw.one(LENGTHS)])
        k, n = (n, features) if kind == "BMMNN" else (features, n)
        shapes = [(batch, m, k), (batch, k, n) if kind == "BMMNN" else (batch, n, k)]
        if kind != "BMMNN":
            transpose = helper.make_node("Transpose", ["w"], ["t"], perm=[0, 2, 1])
            nodes = [transpose, helper.make_node("MatMul", ["x", "t"], ["y"])]
        if kind == "TBS":
            nodes[-1].output[0] = "s"
            nodes.append(helper.make_node("Softmax", ["s"], ["y"], axis=-1))
    return build(kind, label, 2 * batch * m * k * n, nodes, shapes, kind == "DENSE")


def build(
    kind: str,
    label: str,
    flops: int,
    nodes: list[onnx.NodeProto],
    shapes: list[Shape],
    constant: bool = False,
    weights: Mapping[str, Shape] | None = None,
) -> Row:
    """Return a row of nodes that compute `y` from `x`, and from `w` where it has two shapes."""
    arrays = dict(zip(["x", "w"], shapes, strict=False))
    held = {"w": arrays.pop("w")} if constant else dict(weights or {})
    text = f"{label}-" + "-".join("x".join(map(str, shape)) for shape in shapes)
    return Row(kind, text, flops, partial(make_model, nodes, arrays, held))


def tensor(draw: Draw) -> Shape:
    """Return the shape of an activation: an image, or a sequence."""
    if draw.one([True, False]):
        extent = draw.one(EXTENTS)
        return draw.one(BATCHES), draw.one(CHANNELS), extent, extent
    if draw.one([True, False]):
        return draw.one(BATCHES), draw.one(LENGTHS), draw.one(FEATURES)
    return draw.one(BATCHES), draw.one(HEADS), draw.one(LENGTHS), draw.one(LENGTHS)


def elementwise(draw: Draw, kind: str, label: str) -> Row:
    """Return a function of each element, of one operand or of two of which one may repeat."""
    shape = tensor(draw)
    op = draw.one(UNARY if kind == "UNARY" else BINARY)
    if kind == "UNARY":
        node = helper.make_node(op, ["x"], ["y"])
        return build(kind, f"{label}-{op}", prod(shape), [node], [shape])
    kept = [draw.one([True, False]) for _ in shape]
    other = tuple(e if keep else 1 for e, keep in zip(shape, kept, strict=True))
    node = helper.make_node(op, ["x", "w"], ["y"])
    shapes = [shape, draw.one([shape, other])]
    return build(kind, f"{label}-{op}", prod(shape), [node], shapes)


def reduction(draw: Draw, kind: str, label: str) -> Row:
    """Return a reduction over axes beside each other."""
    shape, op = tensor(draw), draw.one(REDUCTIONS)
    first = draw.one(list(range(len(shape))))
    axes = list(range(first, draw.one(list(range(first, len(shape)))) + 1))
    # Sums take their axes as an operand since their 13th version, the others later.
    form = partial(helper.make_node, op, outputs=["y"], keepdims=draw.one([0, 1]))
    node = form(["x"], axes=axes)
    weights: dict[str, Shape] = {}
    if op == "ReduceSum":
        constant = helper.make_tensor("axes", onnx.TensorProto.INT64, [len(axes)], axes)
        nodes = [helper.make_node("Constant", [], ["axes"], value=constant), form(["x", "axes"])]
    else:
        nodes = [node]
    over = "".join(map(str, axes))
    return build(kind, f"{label}-{op}{over}", prod(shape), nodes, [shape], weights=weights)


def normalization(draw: Draw, kind: str, label: str) -> Row:
    """Return a softmax, its logarithm, or a normalization of rows."""
    shape = tensor(draw)
    if kind == "LayerNormalization":
        weights = dict.fromkeys(["scale", "bias"], shape[-1:])
        node = helper.make_node(kind, ["x", "scale", "bias"], ["y"], axis=-1)
    else:
        axis, weights = draw.one([1, len(shape) - 1, len(shape) - 1]), {}
        label += f"-axis{axis}"
        node = helper.make_node(kind, ["x"], ["y"], axis=axis)
    return build(kind, label, 4 * prod(shape), [node], [shape], weights=weights)


def pooling(draw: Draw, kind: str, label: str) -> Row:
    """Return a pooling of images."""
    extent = draw.one([e for e in EXTENTS if e > 4])
    shape = draw.one(BATCHES), draw.one(CHANNELS), extent, extent
    if kind == "GlobalAveragePool":
        return build(kind, label, prod(shape), [helper.make_node(kind, ["x"], ["y"])], [shape])
    kernel, stride, border = draw.one([(2, 2, 0), (3, 2, 1), (3, 1, 1), (5, 1, 2), (3, 2, 0)])
    form = partial(helper.make_node, kind, ["x"], ["y"], kernel_shape=[kernel] * 2)
    node = form(strides=[stride] * 2, pads=[border] * 4)
    flops = prod(shape) * kernel**2 // stride**2
    return build(kind, f"{label}-k{kernel}s{stride}p{border}", flops, [node], [shape])


def movement(draw: Draw, kind: str, label: str) -> Row:
    """Return an enlarged image, or a tensor with its axes in another order."""
    if kind == "Transpose":
        shape = tensor(draw)
        order = [int(axis) for axis in draw.random.permutation(len(shape))]
        node = helper.make_node(kind, ["x"], ["y"], perm=order)
        label += "-" + "".join(map(str, order))
        return build(kind, label, prod(shape), [node], [shape])
    extent = draw.one([e for e in EXTENTS if e <= 80])
    shape = 1, draw.one(CHANNELS), extent, extent
    mode, scale = draw.one(["nearest", "linear"]), draw.one([2.0, 4.0])
    scales = helper.make_tensor("scales", onnx.TensorProto.FLOAT, [4], [1.0, 1.0, scale, scale])
    nodes = [
        helper.make_node("Constant", [], ["scales"], value=scales),
        helper.make_node(kind, ["x", "", "scales"], ["y"], mode=mode),
    ]
    flops = int(prod(shape) * scale**2)
    return build(kind, f"{label}-{mode}{scale:.0f}", flops, nodes, [shape])


MAKERS: dict[str, Callable[[Draw, str, str], Row]] = {
    **dict.fromkeys(["C1D", "C2D", "C3D", "GRP", "DIL", "DEP", "T2D", "CBR", "CAP"], convolution),
    **dict.fromkeys(["GMM", "DENSE", "BMMNN", "BMMNT", "TBS"], product),
    **dict.fromkeys(["UNARY", "BINARY"], elementwise),
    "REDUCE": reduction,
    **dict.fromkeys(["Softmax", "LogSoftmax", "LayerNormalization"], normalization),
    **dict.fromkeys(["MaxPool", "AveragePool", "GlobalAveragePool"], pooling),
    **dict.fromkeys(["Resize", "Transpose"], movement),
}


def random_row(seed: int, number: int) -> Row:
    """Return one row of a seed; classes take turns."""
    draw, kind = Draw([seed, number]), list(MAKERS)[number % len(MAKERS)]
    while True:
        row = MAKERS[kind](draw, kind, f"-{seed}.{number}")
        if LEAST_FLOPS <= row.flops <= MOST_FLOPS and count_elements(row) <= MOST_ELEMENTS:
            return row


def count_elements(row: Row) -> int:
    """Return how many elements a row reads and writes."""
    graph = row.model().graph
    values = [
        [d.dim_value for d in i.type.tensor_type.shape.dim] for i in (*graph.input, *graph.output)
    ]
    return sum(map(prod, [*values, *(t.dims for t in graph.initializer)]))


def random_rows(seed: int, number: int) -> list[Row]:
    """Return the first rows of a seed."""
    return [random_row(seed, n) for n in range(number)]
