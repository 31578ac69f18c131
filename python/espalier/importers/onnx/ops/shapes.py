"""Operators that move or describe elements without computing on them."""

from itertools import pairwise

import numpy as np

from espalier.importers.onnx.emitter import Emitter, show
from espalier.importers.onnx.folding import range_length
from espalier.importers.onnx.registry import Node, NotFoldable, Unsupported, fold, op
from espalier.importers.onnx.symbolic import Dim, Expr, apply, divide_exactly, product
from espalier.importers.onnx.values import Tensor, Value, dims_array, known

MAX_RANK = 64


@op("Shape")
def _shape(e: Emitter, node: Node) -> Value:
    dims = tuple(node.input(0).dims)
    start, end = node["start"] or 0, node["end"]
    return dims_array(dims[slice(_clamp(start, len(dims)), _clamp(end, len(dims)))])


def _clamp(index: int | None, rank: int) -> int | None:
    if index is None:
        return None
    return min(max(index + rank if index < 0 else index, 0), rank)


@op("Size")
def _size(e: Emitter, node: Node) -> Value:
    total = np.empty([], dtype=object)
    total[...] = product(tuple(node.input(0).dims))
    return known(total, np.dtype(np.int64))


def target_dims(node: Node, index: int) -> list[Dim]:
    """Return an input that is a shape, as numbers and expressions."""
    array = node.elements(index, "a shape")
    if array.ndim != 1:
        raise node.error(f"expects a shape of rank 1, but got rank {array.ndim}")
    if len(array) > MAX_RANK:
        raise node.error(f"expects a rank of at most {MAX_RANK}, but got {len(array)}")
    return [e if isinstance(e, Expr) else int(e) for e in array]


@op("Reshape")
def _reshape(e: Emitter, node: Node) -> Tensor:
    x, target = node.input(0), target_dims(node, 1)
    for axis, extent in enumerate(target):
        if extent == 0 and not node["allowzero"]:
            if axis >= x.rank:
                raise node.error(f"expects extent 0 only up to axis {x.rank - 1}, but got {target}")
            target[axis] = x.dims[axis]
    open_axes = [axis for axis, extent in enumerate(target) if extent == -1]
    if any(isinstance(t, int) and t < -1 for t in target) or len(open_axes) > 1:
        raise node.error(f"expects one extent of -1 at most, but got {target}")
    total = product(tuple(x.dims))
    if open_axes:
        rest = product([t for t in target if t != -1])
        if rest == 0:
            raise node.error(f"expects no extent 0 beside -1, but got {target}")
        exact = divide_exactly(total, rest)
        if exact is None and isinstance(total, int) and isinstance(rest, int):
            raise node.error(f"expects {show(x.dims)} to fill {target}, but it does not")
        target[open_axes[0]] = apply("floordiv", total, rest)
    elif isinstance(total, int) and isinstance(product(target), int) and total != product(target):
        raise node.error(f"expects {total} elements, but got the shape {target}")
    return e.reshape(x, target)


@op("Flatten")
def _flatten(e: Emitter, node: Node) -> Tensor:
    x, axis = node.input(0), node["axis"]
    if not -x.rank <= axis <= x.rank:
        raise node.error(f"expects an axis from {-x.rank} to {x.rank}, but got {axis}")
    axis = axis + x.rank if axis < 0 else axis
    return e.reshape(x, [product(x.dims[:axis]), product(x.dims[axis:])])


@op("Squeeze")
def _squeeze(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    axes = node.integers("axes", 1, "axes")
    if axes is None:
        if any(isinstance(d, Expr) for d in x.dims):
            raise Unsupported("needs axes on sizes that are not known")
        axes = [axis for axis, d in enumerate(x.dims) if d == 1]
    axes = node.normalize_axes(axes, x.rank)
    for axis in axes:
        if isinstance(x.dims[axis], int) and x.dims[axis] != 1:
            raise node.error(f"expects extent 1 at axis {axis}, but got {show(x.dims)}")
    return e.reshape(x, [d for axis, d in enumerate(x.dims) if axis not in axes])


@op("Unsqueeze")
def _unsqueeze(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    axes = node.integers("axes", 1, "axes")
    assert axes is not None, "required by the schema"
    rank = x.rank + len(axes)
    axes = node.normalize_axes(axes, rank)
    rest = iter(x.dims)
    return e.reshape(x, [1 if axis in axes else next(rest) for axis in range(rank)])


@op("Expand")
def _expand(e: Emitter, node: Node) -> Tensor:
    x, target = node.input(0), target_dims(node, 1)
    rank = max(x.rank, len(target))
    dims: list[Dim] = [*[1] * (rank - x.rank), *x.dims]
    target = [*[1] * (rank - len(target)), *target]
    result: list[Dim] = []
    for axis, (d, t) in enumerate(zip(dims, target, strict=True)):
        if (isinstance(d, int) and isinstance(t, int) and d != t and 1 not in (d, t)) or t == -1:
            raise node.error(f"expects shapes that broadcast, but axis {axis} has {d} and {t}")
        result.append(t if d == 1 or (t != 1 and isinstance(t, int)) else d)
    return e.expand(x, result)


@op("Tile")
def _tile(e: Emitter, node: Node) -> Tensor:
    x, repeats = node.input(0), target_dims(node, 1)
    if len(repeats) != x.rank or any(isinstance(r, int) and r < 0 for r in repeats):
        raise node.error(f"expects {x.rank} repeats of at least 0, but got {repeats}")
    dims = [d * r for d, r in zip(x.dims, repeats, strict=True)]
    # Rows that are not repeated are copied whole.
    is_by_rows = not repeats or repeats[-1] == 1 or x.dims[-1] == 1
    if is_by_rows and all(isinstance(r, int) for r in repeats):
        return e.op("tile", x, dims=dims, repeats=repeats)
    # What repeats a dimension is one before it, and then a part of it.
    apart: list[Dim] = []
    repeated: list[Dim] = []
    for d, r in zip(x.dims, repeats, strict=True):
        apart += [d] if r == 1 else [1, d]
        repeated += [d] if r == 1 else [r, d]
    return e.reshape(e.expand(e.reshape(x, apart), repeated), dims)


@op("Concat")
def _concat(e: Emitter, node: Node) -> Tensor:
    values = [node.input(i) for i in range(sum(v is not None for v in node.inputs))]
    rank = values[0].rank
    if rank == 0 or any(value.rank != rank for value in values):
        ranks = [value.rank for value in values]
        raise node.error(f"expects inputs of one rank from 1 on, but got ranks {ranks}")
    axis = node.axis(rank)
    dims: list[Dim] = []
    for i in range(rank):
        extents = [value.dims[i] for value in values]
        numbers = {d for d in extents if isinstance(d, int)}
        if i == axis:
            dims.append(sum(extents[1:], start=extents[0]))
        elif len(numbers) > 1:
            shapes = " and ".join(show(value.dims) for value in values)
            raise node.error(f"expects inputs that differ only along axis {axis}, but got {shapes}")
        else:
            dims.append(numbers.pop() if numbers else extents[0])
    return e.op("concat", *values, dims=dims, axis=axis)


@op("Transpose")
def _transpose(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    permutation = node["perm"] or list(reversed(range(x.rank)))
    if sorted(permutation) != list(range(x.rank)):
        raise node.error(f"expects a permutation of {x.rank} dimensions, but got {permutation}")
    return e.transpose(x, permutation)


@op("Split")
def _split(e: Emitter, node: Node) -> list[Value | None]:
    x = node.input(0)
    axis = node.axis(x.rank)
    result: list[Value | None] = []
    offset: Dim = 0
    for extent in _split_sizes(node, x.dims[axis]):
        offsets = [offset if i == axis else 0 for i in range(x.rank)]
        sizes = [extent if i == axis else d for i, d in enumerate(x.dims)]
        result.append(e.slice(x, offsets, sizes, [1] * x.rank))
        offset = offset + extent
    return result


def _split_sizes(node: Node, extent: Dim) -> list[Dim]:
    count = len(node.used)
    given = node["split"]
    if given is None:
        array = node.array(1, "split")
        if array is not None and array.ndim != 1:
            raise node.error(f"expects sizes of rank 1, but got rank {array.ndim}")
        given = None if array is None else [s if isinstance(s, Expr) else int(s) for s in array]
    if given is not None:
        total = sum(given[1:], start=given[0]) if given else 0
        if len(given) != count or any(isinstance(s, int) and s < 0 for s in given):
            raise node.error(f"expects {count} sizes of at least 0, but got {given}")
        if isinstance(total, int) and isinstance(extent, int) and total != extent:
            raise node.error(f"expects sizes that sum to {extent}, but got {given}")
        return given
    if node["num_outputs"] is not None and node["num_outputs"] != count:
        raise node.error(f"expects {node['num_outputs']} outputs, but got {count}")
    if isinstance(extent, Expr):
        each = divide_exactly(extent, count)
        if each is None:
            raise Unsupported(f"splits the size {extent} into {count} parts")
        return [each] * count
    chunk = -(-extent // count)
    return [min(chunk, max(extent - i * chunk, 0)) for i in range(count)]


@fold("Split")
def _fold_split(node: Node, x: np.ndarray, *_: np.ndarray | None) -> list[np.ndarray]:
    axis = node.axis(x.ndim)
    sizes = _split_sizes(node, x.shape[axis])
    if any(isinstance(s, Expr) for s in sizes):
        raise NotFoldable
    ends = np.cumsum([0, *sizes])
    return [np.take(x, range(a, b), axis) for a, b in pairwise(ends)]


@op("DepthToSpace")
def _depth_to_space(e: Emitter, node: Node) -> Tensor:
    x, block = node.input(0), node["blocksize"]
    batch, channels, height, width = _image(node, x)
    inner = _divide(node, channels, block * block)
    if node["mode"] == "DCR":
        split = e.reshape(x, [batch, block, block, inner, height, width])
        moved = e.transpose(split, [0, 3, 4, 1, 5, 2])
    else:
        split = e.reshape(x, [batch, inner, block, block, height, width])
        moved = e.transpose(split, [0, 1, 4, 2, 5, 3])
    return e.reshape(moved, [batch, inner, height * block, width * block])


@op("SpaceToDepth")
def _space_to_depth(e: Emitter, node: Node) -> Tensor:
    x, block = node.input(0), node["blocksize"]
    batch, channels, height, width = _image(node, x)
    rows, columns = _divide(node, height, block), _divide(node, width, block)
    split = e.reshape(x, [batch, channels, rows, block, columns, block])
    crd = node["mode"] == "CRD"
    moved = e.transpose(split, [0, 1, 3, 5, 2, 4] if crd else [0, 3, 5, 1, 2, 4])
    return e.reshape(moved, [batch, channels * block * block, rows, columns])


def _image(node: Node, x: Value) -> tuple[Dim, ...]:
    if x.rank != 4 or node["blocksize"] < 1:
        raise node.error(f"expects rank 4 and a block of at least 1, but got {show(x.dims)}")
    return tuple(x.dims)


def _divide(node: Node, extent: Dim, by: int) -> Dim:
    if isinstance(extent, int) and extent % by:
        raise node.error(f"expects an extent that {by} divides, but got {extent}")
    return apply("floordiv", extent, by)


@op("Range")
def _range(e: Emitter, node: Node) -> Tensor:
    start, limit, delta = (node.elements(i, "bounds") for i in range(3))
    dtype = node.input(0).dtype
    first, last, step = (node.one(a, "bound") for a in (start, limit, delta))
    if isinstance(step, Expr) or step == 0:
        raise node.error(f"expects a step that is known and not 0, but got {step}")
    step = np.asarray(step).item()
    if isinstance(first, Expr) or isinstance(last, Expr):
        room = last - first if step > 0 else first - last
        count = apply("max", -apply("floordiv", -room, abs(step)), 0)
    else:
        count = range_length(node, np.asarray(first).item(), np.asarray(last).item(), step)
    result = e.iota([count], 0, dtype)
    if step != 1:
        result = e.op("mul", result, e.scalar(step, dtype))
    zero = not isinstance(first, Expr) and first == 0
    return result if zero else e.op("add", result, node.input(0))


@op("ConstantOfShape")
def _constant_of_shape(e: Emitter, node: Node) -> Tensor:
    dims = target_dims(node, 0)
    value = np.zeros(1, np.float32) if node["value"] is None else node["value"]
    if any(isinstance(d, int) and d < 0 for d in dims):
        raise node.error(f"expects extents of at least 0, but got {dims}")
    return e.fill(e.scalar(node.one(value, "value"), value.dtype), dims)
