"""Inception-v3, as tables of its branches."""

import onnx

from espalier.models.net import Dim, Net

# A branch is a list of layers: (filters, kernel, stride, padding) is a
# convolution with batch normalization and relu; "avg" and "max" are pools; a
# nested tuple of branches is a fork whose ends are joined.
Layer = tuple | str
POOLS = {"avg": ("AveragePool", 1, 1), "max": ("MaxPool", 2, 0)}


def _a(pool: int) -> list:
    return [
        [(64, 1)],
        [(48, 1), (64, 5)],
        [(64, 1), (96, 3), (96, 3)],
        ["avg", (pool, 1)],
    ]


def _c(width: int) -> list:
    row, column = (1, 7), (7, 1)
    return [
        [(192, 1)],
        [(width, 1), (width, row), (192, column)],
        [(width, 1), (width, column), (width, row), (width, column), (192, row)],
        ["avg", (192, 1)],
    ]


_B = [[(384, 3, 2, 0)], [(64, 1), (96, 3), (96, 3, 2, 0)], ["max"]]
_D = [
    [(192, 1), (320, 3, 2, 0)],
    [(192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0)],
    ["max"],
]
_FORK = ([(384, (1, 3))], [(384, (3, 1))])
_E = [
    [(320, 1)],
    [(384, 1), _FORK],
    [(448, 1), (384, 3), _FORK],
    ["avg", (192, 1)],
]
STEM = [(32, 3, 2, 0), (32, 3, 1, 0), (64, 3), "max", (80, 1, 1, 0), (192, 3, 1, 0), "max"]
MODULES = [_a(32), _a(64), _a(64), _B, _c(128), _c(160), _c(160), _c(192), _D, _E, _E]


def _layer(net: Net, x: str, channels: int, layer: Layer) -> tuple[str, int]:
    if isinstance(layer, str):
        op, step, margin = POOLS[layer]
        x = net.node(op, x, kernel_shape=[3, 3], strides=[step] * 2, pads=[margin] * 4)
        return x, channels
    if isinstance(layer[0], list):
        return _join(net, x, channels, list(layer))
    filters, kernel, *rest = layer
    stride, pad = rest if rest else (1, None)
    x = net.batch_norm(net.conv(x, channels, filters, kernel, stride, pad), filters)
    return net.node("Relu", x), filters


def _branch(net: Net, x: str, channels: int, layers: list) -> tuple[str, int]:
    for layer in layers:
        x, channels = _layer(net, x, channels, layer)
    return x, channels


def _join(net: Net, x: str, channels: int, branches: list) -> tuple[str, int]:
    ends = [_branch(net, x, channels, branch) for branch in branches]
    joined = net.node("Concat", *[value for value, _ in ends], axis=1)
    return joined, sum(filters for _, filters in ends)


def inception_v3(batch: Dim = 1, size: Dim = 299, seed: int = 0) -> onnx.ModelProto:
    """Build Inception-v3 on an input [batch, 3, size, size]; size >= 75."""
    net = Net("inception_v3", seed)
    x = net.input("x", [batch, 3, size, size])
    x, channels = _branch(net, x, 3, STEM)
    for branches in MODULES:
        x, channels = _join(net, x, channels, branches)
    return net.finish((net.classifier(x, channels, 1000), "output", [batch, 1000]))
