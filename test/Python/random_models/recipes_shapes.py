"""Recipes of operators that move elements, and of sources."""

import numpy as np
from onnx import numpy_helper

from random_models.builder import DTYPES, Builder, Value
from random_models.evaluate import Impossible, schema, type_code
from random_models.recipes import recipe

INT64 = np.dtype(np.int64)


def axes_operand(b: Builder, name: str, axes: list[int]) -> tuple[list[Value | None], dict]:
    """Return axes as an operand or, in old opsets, as an attribute."""
    if "axes" in schema(name, b.opset).attributes:
        return [], {"axes": axes}
    return [b.fixed(axes)], {}


def some_axes(b: Builder, rank: int, least: int = 0) -> list[int]:
    """Return axes that differ, some counted from the end."""
    count = b.integer(min(least, rank), rank)
    axes = [int(a) for a in b.rng.permutation(rank)[:count]]
    return [a - rank if b.chance(0.3) else a for a in axes]


@recipe("Reshape")
def _reshape(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0))
    target = _regroup(b, x.shape)
    if x.array.size and b.chance(0.3) and target:
        target[b.integer(0, len(target) - 1)] = -1
    elif b.chance(0.3):
        target = [
            0 if i < x.rank and e == x.shape[i] and e != 0 else e for i, e in enumerate(target)
        ]
    if 0 in x.shape and 0 in target and b.opset >= 14:
        b.add(name, [x, b.fixed(target)], exact="move", allowzero=1)
        return
    b.add(name, [x, b.fixed(target)], exact="move")


def _regroup(b: Builder, shape: tuple[int, ...]) -> list[int]:
    """Return a shape with as many elements: factors of extents, shuffled and joined."""
    factors = []
    for extent in shape:
        divisor = next((d for d in (2, 3, 5, 7) if extent > d and extent % d == 0), 1)
        factors += [divisor, extent // divisor] if divisor > 1 else [extent]
    while len(factors) > 1 and b.chance(0.5):
        at = b.integer(0, len(factors) - 2)
        factors[at : at + 2] = [factors[at] * factors[at + 1]]
    if b.chance(0.3):
        factors.insert(b.integer(0, len(factors)), 1)
    return factors


@recipe("Flatten")
def _flatten(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0))
    b.add(name, [x], exact="move", axis=b.integer(-x.rank, x.rank))


@recipe("Squeeze")
def _squeeze(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0))
    ones = [i for i, extent in enumerate(x.shape) if extent == 1 and b.chance(0.7)]
    if not ones:
        b.add(name, [x], exact="move")
        return
    operands, attributes = axes_operand(b, name, [i - x.rank if b.chance(0.3) else i for i in ones])
    b.add(name, [x, *operands], exact="move", **attributes)


@recipe("Unsqueeze")
def _unsqueeze(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (0, 4))
    count = b.integer(1, 2)
    rank = x.rank + count
    axes = [int(a) for a in b.rng.permutation(rank)[:count]]
    operands, attributes = axes_operand(b, name, [a - rank if b.chance(0.3) else a for a in axes])
    b.add(name, [x, *operands], exact="move", **attributes)


@recipe("Transpose")
def _transpose(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0))
    perm = [int(p) for p in b.rng.permutation(x.rank)] if x.rank and b.chance(0.8) else None
    b.add(name, [x], exact="move", perm=perm)


@recipe("Concat")
def _concat(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 5))
    axis = b.integer(-x.rank, x.rank - 1)
    parts = [x]
    for _ in range(b.integer(0, 2)):
        shape = list(x.shape)
        shape[axis] = b.choose([shape[axis], b.integer(0, 4)])
        parts.append(b.operand([x.dtype], shape=shape))
    b.add(name, [parts[i] for i in b.rng.permutation(len(parts))], exact="move", axis=axis)


@recipe("Split")
def _split(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 5))
    axis = b.integer(-x.rank, x.rank - 1)
    count = b.integer(1, 3)
    cuts = sorted(b.integer(0, x.shape[axis]) for _ in range(count - 1))
    sizes = np.diff([0, *cuts, x.shape[axis]])
    if x.shape[axis] % count == 0 and x.shape[axis] and b.chance(0.4):
        attributes = {"num_outputs": count} if b.opset >= 18 else {}
        b.add(name, [x], count, exact="move", axis=axis, **attributes)
        return
    b.add(name, [x, b.fixed(sizes)], count, exact="move", axis=axis)


@recipe("Slice")
def _slice(b: Builder, name: str) -> None:
    """Backwards, onnxruntime takes the greatest integers as an end for the least."""
    x = b.operand(b.types(name, 0), (1, 5))
    axes = [a % x.rank for a in some_axes(b, x.rank, 1)]
    lists: list[list[int]] = [[], [], [], []]
    for axis in axes:
        extent = x.shape[axis]
        step = b.choose([1, 1, 1, 2, 3, -1, -2])
        ends = [b.integer(-extent - 2, extent + 2) for _ in range(2)]
        far = [-(2**63) + 1] if step < 0 else [2**63 - 1, -(2**63) + 1, 2**31 - 1]
        start, end = (b.choose(far) if b.chance(0.1) else e for e in ends)
        if step > 0 and b.chance(0.6):
            start, end = min(start, end), max(start, end)
        for numbers, number in zip(lists, (start, end, axis, step), strict=True):
            numbers.append(number)
    lists[2] = [a - x.rank if b.chance(0.3) else a for a in lists[2]]
    b.add(name, [x, *map(b.fixed, lists)], exact="move")


@recipe("Expand")
def _expand(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (0, 4))
    shape = [b.integer(0, 4) if e == 1 and b.chance(0.7) else e for e in x.shape]
    shape = [b.integer(1, 3) for _ in range(b.integer(0, 1))] + shape
    shape = [1 if b.chance(0.2) else e for e in shape]
    b.add(name, [x, b.fixed(shape)], exact="move")


@recipe("Tile")
def _tile(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4))
    b.add(name, [x, b.fixed([b.choose([0, 1, 1, 2, 3]) for _ in x.shape])], exact="move")


@recipe("Pad")
def _pad(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4))
    modes = ["constant", "reflect", "edge"] + (["wrap"] if b.opset >= 19 else [])
    mode = b.choose(modes)
    pads = []
    for _ in range(2):
        for extent in x.shape:
            if mode == "constant":
                pads.append(b.integer(-(extent // 2) if b.chance(0.2) else 0, 3))
            else:
                room = extent - 1 if mode == "reflect" else (3 if extent else 0)
                pads.append(b.integer(0, min(3, max(0, room))))
    value = b.operand([x.dtype], shape=()) if mode == "constant" and b.chance(0.6) else None
    b.add(name, [x, b.fixed(pads), value], exact="move", mode=mode)


@recipe("DepthToSpace", "SpaceToDepth")
def _space(b: Builder, name: str) -> None:
    block = b.integer(1, 3)
    n, c, h, w = (b.integer(0, 3) for _ in range(4))
    deep = name == "DepthToSpace"
    shape = (n, c * block * block, h, w) if deep else (n, c, h * block, w * block)
    x = b.operand(b.types(name, 0), shape=shape)
    mode = {"mode": b.choose(["DCR", "CRD"])} if deep else {}
    b.add(name, [x], exact="move", blocksize=block, **mode)


@recipe("Shape", "Size")
def _shape(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0))
    cut: dict[str, int] = {}
    if name == "Shape" and b.opset >= 15 and b.chance(0.5):
        cut = {"start": b.integer(-x.rank - 1, x.rank), "end": b.integer(-x.rank - 1, x.rank + 1)}
    b.add(name, [x], **cut)


@recipe("Range")
def _range(b: Builder, name: str) -> None:
    dtype = b.dtype(b.types(name, 0))
    step = b.choose([1, 2, 3] if dtype.kind == "u" else [1, 2, -1, -3])
    start, count = b.integer(0, 5), b.integer(0, 9)
    limit = start + step * count
    bounds = [np.array(v, dtype) for v in (start, limit, step)]
    b.add(name, [b.fixed(v) for v in bounds], exact="arithmetic")


@recipe("ConstantOfShape")
def _constant_of_shape(b: Builder, name: str) -> None:
    value = None
    if b.chance(0.7):
        dtype = b.dtype(DTYPES)
        value = numpy_helper.from_array(b.draw(dtype, (1,), -3, 3), "value")
    b.add(name, [_a_shape(b)], exact="move", value=value)


def _a_shape(b: Builder) -> Value:
    """Return the extents of a value, or known numbers."""
    if b.chance(0.5) and b.values:
        [shape] = b.add("Shape", [b.operand(DTYPES, (0, 4))])
        return shape
    return b.fixed(list(b.shape()))


@recipe("EyeLike")
def _eye_like(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), 2)
    code = type_code(b.dtype(b.types(name, 0))) if b.chance(0.5) else None
    b.add(name, [x], exact="arithmetic", k=b.integer(-3, 3), dtype=code)


@recipe("Trilu")
def _trilu(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (2, 4))
    k = b.operand([INT64], shape=(), bounds=(-4, 4)) if b.chance(0.7) else None
    b.add(name, [x, k], exact="move", upper=b.integer(0, 1))


@recipe("OneHot")
def _one_hot(b: Builder, name: str) -> None:
    depth = b.integer(1, 6)
    indices = b.operand(
        [np.dtype(np.int64), np.dtype(np.int32)],
        (0, 3),
        bounds=(-depth, depth - 1),
        fits=lambda a: bool((np.abs(a.astype(np.float64)) <= 1e6).all()),
    )
    values = b.operand([np.dtype(np.float32), np.dtype(np.int64)], shape=(2,))
    axis = b.integer(-indices.rank - 1, indices.rank)
    size = b.fixed(np.array(depth if b.chance(0.5) else [depth], np.int64))
    b.add(name, [indices, size, values], exact="move", axis=axis)


@recipe("NonZero")
def _non_zero(b: Builder, name: str) -> None:
    """The result's extent depends on the elements, so they must be known."""
    x = b.fixed(b.draw(b.dtype(b.types(name, 0)), b.shape(b.integer(1, 3)), -1, 1))
    b.add(name, [x])


@recipe("CenterCropPad")
def _center_crop_pad(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4), least=1)
    if b.opset < 18:
        raise Impossible("older than the operator")
    b.add(name, [x, b.fixed([b.integer(1, 6) for _ in x.shape])], exact="move")
