"""Operators that select, place or pad elements."""

import numpy as np

from espalier.importers.onnx.emitter import Emitter, show
from espalier.importers.onnx.registry import Node, Unsupported, op
from espalier.importers.onnx.symbolic import Dim, Expr, slice_range, slice_step
from espalier.importers.onnx.tensors import element_type
from espalier.importers.onnx.values import Tensor, Value


@op("Slice")
def _slice(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    starts, ends = _bounds(node, 1, "starts"), _bounds(node, 2, "ends")
    axes = node.integers("axes", 3, "axes")
    axes = list(range(len(starts))) if axes is None else node.normalize_axes(axes, x.rank)
    strides = node.integers("steps", 4, "steps") or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(strides) or len(starts) > x.rank:
        raise node.error("expects as many starts, ends, axes and steps as sliced axes")
    if 0 in strides:
        raise node.error("expects steps other than 0, but got 0")
    offsets: list[Dim] = [0] * x.rank
    sizes, steps = list(x.dims), [1] * x.rank
    for axis, start, end, step in zip(axes, starts, ends, strides, strict=True):
        steps[axis] = slice_step(step)
        offsets[axis], sizes[axis] = slice_range(x.dims[axis], start, end, steps[axis])
    return e.slice(x, offsets, sizes, steps)


def _bounds(node: Node, index: int, what: str) -> list[Dim]:
    array = node.elements(index, what)
    return [b if isinstance(b, Expr) else int(b) for b in array.reshape(-1)]


@op("Gather")
def _gather(e: Emitter, node: Node) -> Tensor:
    x, indices = node.input(0), node.input(1)
    axis = node.axis(x.rank)
    if x.rank == 0:
        raise node.error("expects input #0 of rank 1 or more, but got a scalar")
    dims = [*x.dims[:axis], *indices.dims, *x.dims[axis + 1 :]]
    return e.op("gather", x, indices, dims=dims, axis=axis)


@op("GatherElements")
def _gather_elements(e: Emitter, node: Node) -> Tensor:
    x, indices = node.input(0), node.input(1)
    if x.rank != indices.rank:
        raise node.error(
            f"expects inputs of one rank, but got {show(x.dims)} and {show(indices.dims)}"
        )
    return e.op("gather_elements", x, indices, dims=indices.dims, axis=node.axis(x.rank))


@op("GatherND")
def _gather_nd(e: Emitter, node: Node) -> Tensor:
    x, indices = node.input(0), node.input(1)
    batch = node["batch_dims"]
    depth = indices.dims[-1] if indices.rank else None
    if not isinstance(depth, int):
        raise Unsupported("needs indices whose last extent is known")
    if not 0 <= batch < min(x.rank, indices.rank) or not 1 <= depth <= x.rank - batch:
        raise node.error(
            f"expects indices that fit into {show(x.dims)} with batch_dims {batch}, "
            f"but got {show(indices.dims)}"
        )
    dims = [*indices.dims[:-1], *x.dims[batch + depth :]]
    return e.op("gather_nd", x, indices, dims=dims, batch_dims=batch)


@op("Scatter")
@op("ScatterElements")
def _scatter_elements(e: Emitter, node: Node) -> Tensor:
    x, indices, updates = (node.input(i) for i in range(3))
    if not x.rank == indices.rank == updates.rank or x.rank == 0:
        shapes = " and ".join(show(v.dims) for v in (x, indices, updates))
        raise node.error(f"expects inputs of one rank from 1 on, but got {shapes}")
    axis = node.axis(x.rank)
    reduction = _reduction(node)
    return e.op(
        "scatter_elements", x, indices, updates, dims=x.dims, axis=axis, reduction=reduction
    )


@op("ScatterND")
def _scatter_nd(e: Emitter, node: Node) -> Tensor:
    x, indices, updates = (node.input(i) for i in range(3))
    depth = indices.dims[-1] if indices.rank else None
    if not isinstance(depth, int):
        raise Unsupported("needs indices whose last extent is known")
    if not 1 <= depth <= x.rank or updates.rank != indices.rank - 1 + x.rank - depth:
        raise node.error(
            f"expects updates that fit into {show(x.dims)} at {show(indices.dims)}, "
            f"but got {show(updates.dims)}"
        )
    reduction = _reduction(node)
    return e.op("scatter_nd", x, indices, updates, dims=x.dims, reduction=reduction)


def _reduction(node: Node) -> str:
    return f"#graph.scatter_reduction<{node['reduction'] or 'none'}>"


@op("Pad")
def _pad(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    pads = node.integers("pads", 1, "pads")
    assert pads is not None, "required by the schema"
    axes = node.integers("axes", 3, "axes")
    axes = list(range(x.rank)) if axes is None else node.normalize_axes(axes, x.rank)
    if len(pads) != 2 * len(axes):
        raise node.error(f"expects {2 * len(axes)} pads, but got {len(pads)}")
    low, high = [0] * x.rank, [0] * x.rank
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[len(axes) + i]
    dims = [d + a + b for d, a, b in zip(x.dims, low, high, strict=True)]
    if any(isinstance(d, int) and d < 0 for d in dims):
        raise node.error(f"expects pads that leave something of {show(x.dims)}, but got {pads}")
    value = node.inputs[2]
    if value is None:
        value = e.scalar(0, x.dtype)
    elif value.rank != 0:
        value = e.reshape(value, [])
    mode = f"#graph.pad_mode<{node['mode']}>"
    return e.op("pad", x, value, dims=dims, low=low, high=high, mode=mode)


@op("OneHot")
def _one_hot(e: Emitter, node: Node) -> Tensor:
    indices, values = node.input(0), node.input(2)
    array = node.elements(1, "depth")
    depth = node.one(array, "depth")
    depth = depth if isinstance(depth, Expr) else int(depth)
    axis = node.normalize_axis(node["axis"], indices.rank + 1)
    int64 = np.dtype(np.int64)
    index = e.cast(indices, int64)
    size = e.op("cast", node.input(1), to="i64") if node.input(1).dtype != int64 else node.input(1)
    negative = e.op("less", index, e.scalar(0, int64))
    index = e.op("select", negative, e.op("add", index, e.reshape(size, [])), index)
    index = e.reshape(index, [*index.dims[:axis], 1, *index.dims[axis:]])
    positions = e.iota([depth], 0, int64)
    positions = e.reshape(positions, [depth, *[1] * (index.rank - axis - 1)])
    off, on = (e.reshape(e.slice(values, [i], [1], [1]), []) for i in (0, 1))
    return e.op("select", e.op("equal", index, positions), on, off)


def triangle(e: Emitter, rows: Dim, columns: Dim, shift: Value) -> Tensor:
    """Return the mask of a matrix with column - row at least `shift`."""
    int64 = np.dtype(np.int64)
    row = e.reshape(e.iota([rows], 0, int64), [rows, 1])
    column = e.reshape(e.iota([columns], 0, int64), [1, columns])
    return e.op("greater_equal", e.op("sub", column, row), shift)


@op("Trilu")
def _trilu(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    if x.rank < 2:
        raise node.error(f"expects input #0 of rank 2 or more, but got {show(x.dims)}")
    int64 = np.dtype(np.int64)
    shift = node.inputs[1]
    shift = e.scalar(0, int64) if shift is None else e.reshape(shift, [])
    if not node["upper"]:
        shift = e.op("add", shift, e.scalar(1, int64))
    mask = triangle(e, x.dims[-2], x.dims[-1], shift)
    zero = e.scalar(0, x.dtype)
    return e.op("select", mask, x, zero) if node["upper"] else e.op("select", mask, zero, x)


@op("EyeLike")
def _eye_like(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    if x.rank != 2:
        raise node.error(f"expects input #0 of rank 2, but got {show(x.dims)}")
    int64 = np.dtype(np.int64)
    row = e.reshape(e.iota([x.dims[0]], 0, int64), [x.dims[0], 1])
    column = e.reshape(e.iota([x.dims[1]], 0, int64), [1, x.dims[1]])
    diagonal = e.op("equal", e.op("sub", column, row), e.scalar(node["k"], int64))
    code = node["dtype"]
    return e.cast(diagonal, x.dtype if code is None else element_type(node, code))
