"""Reductions over axes."""

from collections.abc import Callable

import numpy as np

from espalier.dtypes import is_float
from espalier.importers.onnx.emitter import Emitter
from espalier.importers.onnx.registry import Emit, Node, Unsupported, op
from espalier.importers.onnx.symbolic import Dim
from espalier.importers.onnx.values import Tensor, Value


def _axes(node: Node, x: Value) -> list[int]:
    axes = node.integers("axes", 1, "axes")
    if axes:
        return node.normalize_axes(axes, x.rank)
    return [] if node["noop_with_empty_axes"] else list(range(x.rank))


def _reduction(
    kind: str,
    before: Callable[[Emitter, Value], Value] | None = None,
    after: Callable[[Emitter, Tensor], Tensor] | None = None,
) -> Emit:
    """Return a function that maps, reduces and maps again."""

    def emit(e: Emitter, node: Node) -> Tensor:
        x = node.input(0)
        axes = _axes(node, x)
        mapped = before(e, x) if before else x
        result = e.reduce(kind, mapped, axes, bool(node["keepdims"]))
        return after(e, result) if after else result

    return emit


def _square(e: Emitter, x: Value) -> Tensor:
    return e.op("mul", x, x)


def _sqrt(e: Emitter, x: Tensor) -> Tensor:
    if is_float(x.dtype):
        return e.op("sqrt", x)
    return e.cast(e.op("sqrt", e.cast(x, np.dtype(np.float64))), x.dtype)


op("ReduceSum")(_reduction("sum"))
op("ReduceMean")(_reduction("mean"))
op("ReduceProd")(_reduction("prod"))
op("ReduceL1", rounds_once=True)(_reduction("sum", before=lambda e, x: e.op("abs", x)))
op("ReduceL2", rounds_once=True)(_reduction("sum", before=_square, after=_sqrt))
op("ReduceSumSquare", rounds_once=True)(_reduction("sum", before=_square))
op("ReduceLogSum", rounds_once=True)(_reduction("sum", after=lambda e, x: e.op("log", x)))


def _extremum(kind: str) -> Emit:
    def emit(e: Emitter, node: Node) -> Tensor:
        x = node.input(0)
        if x.dtype != np.bool_:
            return _reduction(kind)(e, node)  # type: ignore[return-value]
        axes = _axes(node, x)
        narrow = e.reduce(kind, e.cast(x, np.dtype(np.int8)), axes, bool(node["keepdims"]))
        # Over nothing the maximum is the least number of the type, not "true".
        return e.op("greater", narrow, e.scalar(0, narrow.dtype))

    return emit


op("ReduceMax")(_extremum("max"))
op("ReduceMin")(_extremum("min"))


@op("ReduceLogSumExp", rounds_once=True)
def _log_sum_exp(e: Emitter, node: Node) -> Tensor:
    """Shift by the maximum, so that no exponential overflows."""
    x = node.input(0)
    axes = _axes(node, x)
    largest = e.reduce("max", x, axes, keepdims=True)
    finite = e.op("less", e.op("abs", largest), e.scalar(np.inf, x.dtype))
    shift = e.op("select", finite, largest, e.scalar(0, x.dtype))
    total = e.reduce("sum", e.op("exp", e.op("sub", x, shift)), axes, keepdims=True)
    result = e.op("add", e.op("log", total), shift)
    return result if node["keepdims"] else drop(e, result, axes)


def drop(e: Emitter, x: Tensor, axes: list[int]) -> Tensor:
    """Remove axes of extent 1."""
    dims: list[Dim] = [d for axis, d in enumerate(x.dims) if axis not in axes]
    return e.reshape(x, dims)


def _arg(kind: str) -> Emit:
    def emit(e: Emitter, node: Node) -> Tensor:
        x = node.input(0)
        keepdims, last = bool(node["keepdims"]), bool(node["select_last_index"])
        return arg(e, kind, x, node.axis(x.rank), keepdims, last)

    return emit


def arg(e: Emitter, kind: str, x: Value, axis: int, keepdims: bool, last: bool) -> Tensor:
    """Return the position of the largest ("max") or least ("min") element."""
    dims = [1 if i == axis else d for i, d in enumerate(x.dims) if keepdims or i != axis]
    return e.op(f"arg_{kind}", x, dims=dims, axis=axis, keepdims=keepdims, select_last=last)


op("ArgMax")(_arg("max"))
op("ArgMin")(_arg("min"))


@op("Hardmax", since=13)
def _hardmax(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    axis = node.axis(x.rank)
    first = arg(e, "max", x, axis, keepdims=True, last=False)
    line = [d if i == axis else 1 for i, d in enumerate(x.dims)]
    position = e.reshape(e.iota([x.dims[axis]], 0, np.dtype(np.int64)), line)
    return e.cast(e.op("equal", position, first), x.dtype)


@op("TopK")
def _top_k(e: Emitter, node: Node) -> list[Value | None]:
    count = node.numbers(1, "k")
    assert count is not None, "required by the schema"
    if node.one(count, "k") != 1:
        raise Unsupported(f"has k = {node.one(count, 'k')}, not 1")
    x = node.input(0)
    axis = node.axis(x.rank)
    kind = "max" if node["largest"] else "min"
    return [
        e.reduce(kind, x, [axis], keepdims=True),
        arg(e, kind, x, axis, keepdims=True, last=False),
    ]


@op("CumSum")
def _cumsum(e: Emitter, node: Node) -> Tensor:
    axis = node.numbers(1, "axis")
    assert axis is not None, "required by the schema"
    x = node.input(0)
    return e.op(
        "cumsum",
        x,
        dims=x.dims,
        axis=node.normalize_axis(int(node.one(axis, "axis")), x.rank),
        exclusive=bool(node["exclusive"]),
        reverse=bool(node["reverse"]),
    )
