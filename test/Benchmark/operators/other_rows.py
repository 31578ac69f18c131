"""Operators that no published table times, as networks have them.

Long and odd rows of softmax and normalization, attention of whole and of odd lengths,
products with one column, and convolutions of the shapes of ConvNeXt, of generators of images
and of wav2vec2.
"""

from functools import partial
from math import prod

import onnx
from onnx import helper
from operator_rows import Row, Shape, convolve, make_model
from random_rows import build


def _normalize(kind: str, rows: int, length: int) -> Row:
    weights = dict.fromkeys(["scale", "bias"], (length,)) if kind == "LayerNormalization" else {}
    node = helper.make_node(kind, ["x", *weights], ["y"], axis=-1)
    return build(kind, "", 4 * rows * length, [node], [(rows, length)], weights=weights)


def _attention(heads: int, queries: int, keys: int, features: int) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "t"], ["s"]),
        helper.make_node("Mul", ["s", "scale"], ["m"]),
        helper.make_node("Softmax", ["m"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["o"]),
        helper.make_node("Transpose", ["o"], ["y"], perm=[0, 2, 1, 3]),
    ]
    inputs: dict[str, Shape] = {"q": (1, heads, queries, features)}
    inputs |= dict.fromkeys(["k", "v"], (1, heads, keys, features))
    return make_model(nodes, inputs, {"scale": (1,)})


def _attend(heads: int, length: int, features: int = 64) -> Row:
    form = partial(_attention, heads, length, length, features)
    flops = 4 * heads * length**2 * features
    return Row("Attention", f"-{heads}x{length}x{features}", flops, form)


def _multiply(*shapes: Shape) -> Row:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    return build("COLUMN", "", 2 * prod(shapes[0]), [node], list(shapes), constant=True)


OTHER_ROWS = {
    row.name: row
    for row in [
        _normalize("Softmax", 12 * 197, 197),
        _normalize("Softmax", 64, 4097),
        _normalize("Softmax", 8, 50257),
        _normalize("LayerNormalization", 768, 197),
        _multiply((4096, 1024), (1024, 1)),
        _multiply((64, 9216), (9216, 1)),
        convolve("DEP", "-k7", 1, ((56, 56), 96, 96, 7, 1, 3), groups=96),
        convolve("T2D", "-k4s2", 1, ((28, 28), 64, 64, 4, 2, 1), groups=64, transposed=True),
        convolve("C1D", "-k10s5", 1, ((16000,), 1, 512, 10, 5, 0)),
        _attend(12, 197),
        _attend(8, 1024),
    ]
}
