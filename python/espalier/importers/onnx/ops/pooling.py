"""Pools over windows, and over everything."""

import math

from espalier.importers.onnx.emitter import Emitter
from espalier.importers.onnx.ops.convolution import Window, spatial, window
from espalier.importers.onnx.registry import Node, Unsupported, op
from espalier.importers.onnx.values import Tensor, Value


def _pool(e: Emitter, name: str, x: Value, shape: Window, ceil: bool, **options: bool) -> Tensor:
    return e.op(
        name,
        x,
        dims=[*x.dims[:2], *shape.outputs(x.dims[2:], ceil)],
        kernel=shape.kernel,
        ceil_mode=ceil,
        **shape.attributes(),
        **options,
    )


@op("MaxPool")
def _max_pool(e: Emitter, node: Node) -> list[Value | None]:
    if node.used[1:] == [True]:
        raise Unsupported("has its output 'Indices' used")
    x = node.input(0)
    return [_pool(e, "max_pool", x, window(node, x, None), bool(node["ceil_mode"])), None]


@op("AveragePool")
def _average_pool(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    include = bool(node["count_include_pad"])
    shape = window(node, x, None)
    return _pool(e, "avg_pool", x, shape, bool(node["ceil_mode"]), count_include_pad=include)


@op("GlobalAveragePool")
def _global_average(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    spatial(node, x)
    return e.reduce("mean", x, range(2, x.rank), keepdims=True)


@op("GlobalMaxPool")
def _global_max(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    spatial(node, x)
    return e.reduce("max", x, range(2, x.rank), keepdims=True)


def _power(node: Node) -> float:
    """Return the exponent of a norm."""
    if node["p"] < 1:
        raise node.error(f"expects p of at least 1, but got {node['p']}")
    return float(node["p"])


@op("LpPool", rounds_once=True)
def _lp_pool(e: Emitter, node: Node) -> Tensor:
    """Average the powers, padding included, and undo the division."""
    x = node.input(0)
    if node["ceil_mode"]:
        raise Unsupported("has ceil_mode = 1")
    shape = window(node, x, None)
    power = _power(node)
    terms = e.op("pow", e.op("abs", x), e.scalar(power, x.dtype))
    mean = _pool(e, "avg_pool", terms, shape, False, count_include_pad=True)
    total = e.op("mul", mean, e.scalar(math.prod(shape.kernel), x.dtype))
    return e.op("pow", total, e.scalar(1 / power, x.dtype))


@op("GlobalLpPool", rounds_once=True)
def _global_lp_pool(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    spatial(node, x)
    power = _power(node)
    terms = e.op("pow", e.op("abs", x), e.scalar(power, x.dtype))
    total = e.reduce("sum", terms, range(2, x.rank), keepdims=True)
    return e.op("pow", total, e.scalar(1 / power, x.dtype))
