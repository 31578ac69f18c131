"""Recipes of reductions, normalizations, look-ups and resampling."""

import math
from fractions import Fraction

import numpy as np

from random_models.builder import Builder, Value
from random_models.evaluate import Impossible, is_float, schema
from random_models.recipes import recipe
from random_models.recipes_shapes import axes_operand, some_axes

INDEX_TYPES = [np.dtype(np.int64), np.dtype(np.int32)]
FLOAT32 = np.dtype(np.float32)


@recipe("ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2")
@recipe("ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")
def _reduce(b: Builder, name: str) -> None:
    """Sums and products of nothing are 0 and 1; most others have no value.

    How wide sums of integers are is open, but where they only wrap.
    """
    wraps = name in ("ReduceSum", "ReduceMax", "ReduceMin")
    positive = name == "ReduceLogSum"
    empty = name in ("ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare")
    x = b.operand(
        [t for t in b.types(name, 0) if wraps or is_float(t)],
        (1, 5),
        bounds=(0.25, 2) if positive else (-2, 2),
        fits=(lambda a: bool((a > 0.125).all())) if positive else None,
        least=0 if empty and b.chance(0.3) else 1,
    )
    attributes: dict[str, object] = {"keepdims": b.integer(0, 1)}
    operands: list[Value | None] = []
    if b.chance(0.8):
        operands, extra = axes_operand(b, name, some_axes(b, x.rank, 1))
        attributes |= extra
    elif "noop_with_empty_axes" in schema(name, b.opset).attributes:
        attributes["noop_with_empty_axes"] = b.integer(0, 1)
        if attributes["noop_with_empty_axes"] and name not in ("ReduceSum", "ReduceMax"):
            raise Impossible("maps without reducing are disputed")
    exact = "move" if name in ("ReduceMax", "ReduceMin") else ""
    b.add(name, [x, *operands], exact=exact, **attributes)


@recipe("ArgMax", "ArgMin")
def _arg(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4), exact=True, least=1)
    b.add(
        name,
        [x],
        axis=b.integer(-x.rank, x.rank - 1),
        keepdims=b.integer(0, 1),
        select_last_index=b.integer(0, 1),
    )


@recipe("TopK")
def _top_k(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4), exact=True, least=1)
    axis, largest = b.integer(-x.rank, x.rank - 1), b.integer(0, 1)
    b.add(name, [x, b.fixed([1])], 2, exact="move", axis=axis, largest=largest)


@recipe("CumSum")
def _cumsum(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4))
    axis = b.fixed(np.array(b.integer(-x.rank, x.rank - 1), np.int64))
    b.add(name, [x, axis], exclusive=b.integer(0, 1), reverse=b.integer(0, 1))


@recipe("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def _along_axis(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4), exact=name == "Hardmax", least=1)
    p = {"p": b.integer(1, 2)} if name == "LpNormalization" else {}
    b.add(name, [x], axis=b.integer(-x.rank, x.rank - 1), **p)


def _channels(b: Builder, x: Value, dtype: np.dtype | None = None) -> Value:
    return b.operand([dtype or x.dtype], shape=(x.shape[1],), bounds=(-2, 2))


@recipe("BatchNormalization")
def _batch_norm(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (2, 5), least=1)
    dtype = b.choose([x.dtype, FLOAT32]) if b.opset >= 15 else x.dtype
    variance = b.operand(
        [dtype],
        shape=(x.shape[1],),
        bounds=(0.25, 2),
        fits=lambda a: bool(((a >= 0.25) & (a <= 4)).all()),
    )
    operands = [x, *(_channels(b, x, dtype) for _ in range(3)), variance]
    b.add(name, operands, epsilon=b.choose([1e-5, 1e-2]))


@recipe("InstanceNormalization", "GroupNormalization")
def _instance_norm(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (3, 5), least=1)
    groups: dict[str, int] = {}
    if name == "InstanceNormalization" and math.prod(x.shape[2:]) == 1:
        raise Impossible("the scaled element less its mean, which onnxruntime scales apart")
    if name == "GroupNormalization":
        if b.opset < 21:
            raise Impossible("older than its meaning")
        groups["num_groups"] = b.choose([g for g in (1, 2, 3) if x.shape[1] % g == 0])
    b.add(name, [x, _channels(b, x), _channels(b, x)], epsilon=1e-2, **groups)


@recipe("LayerNormalization", "RMSNormalization")
def _layer_norm(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4), least=1)
    axis = b.integer(-x.rank, x.rank - 1)
    shape = x.shape[axis:]
    scale = b.operand([x.dtype], shape=shape)
    bias = b.operand([x.dtype], shape=shape) if b.chance(0.6) else None
    operands = [x, scale, bias] if name == "LayerNormalization" else [x, scale]
    used = [True]
    if name == "LayerNormalization" and b.chance(0.2):
        used = [True, True, True]
    b.add(name, operands, used, axis=axis, epsilon=1e-2)


@recipe("MeanVarianceNormalization")
def _mean_variance(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), 4, least=2)
    b.add(name, [x])


@recipe("LRN")
def _lrn(b: Builder, name: str) -> None:
    """Not of float64, which only ONNX's reference computes, without squares."""
    x = b.operand([t for t in b.types(name, 0) if t.itemsize < 8], 4, least=1)
    b.add(name, [x], size=b.choose([1, 3, 5]), alpha=b.choose([1e-4, 0.5]), bias=1.5)


def _index(b: Builder, extent: int, shape: tuple[int, ...], least: int | None = None) -> Value:
    """Return indices below an extent, some counted from the end."""
    if extent == 0 and 0 not in shape:
        raise Impossible("an index into nothing")
    low, high = -extent if least is None else least, max(extent - 1, 0)
    dtype = b.dtype(INDEX_TYPES)
    return b.leaf(b.rng.integers(low, high, shape, endpoint=True).astype(dtype))


@recipe("Gather")
def _gather(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4))
    axis = b.integer(-x.rank, x.rank - 1)
    indices = _index(b, x.shape[axis], b.shape(b.integer(0, 2)))
    b.add(name, [x, indices], exact="move", axis=axis)


@recipe("GatherElements")
def _gather_elements(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4))
    axis = b.integer(-x.rank, x.rank - 1)
    shape = tuple(b.integer(0, e) if i != axis % x.rank else 3 for i, e in enumerate(x.shape))
    b.add(name, [x, _index(b, x.shape[axis], shape)], exact="move", axis=axis)


@recipe("GatherND")
def _gather_nd(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4), least=1)
    batch = b.integer(0, min(1, x.rank - 1))
    depth = b.integer(1, x.rank - batch)
    lead = (*x.shape[:batch], *b.shape(b.integer(0 if batch else 1, 2)))
    indices = _positions(b, x.shape[batch : batch + depth], lead)
    b.add(name, [x, indices], exact="move", batch_dims=batch)


def _positions(b: Builder, extents: tuple[int, ...], lead: tuple[int, ...]) -> Value:
    parts = [b.rng.integers(-e, e, lead) for e in extents]
    return b.leaf(np.stack(parts, -1).astype(np.int64))


def _reduction(b: Builder, x: Value) -> dict[str, str]:
    """Return how updates combine; without that, indices must differ."""
    options = {16: ["add", "mul"], 18: ["add", "mul", "max", "min"]}
    allowed = [o for version, listed in options.items() if b.opset >= version for o in listed]
    if x.dtype == np.bool_ or not allowed or b.chance(0.5):
        return {}
    return {"reduction": b.choose(allowed)}


@recipe("ScatterElements")
def _scatter_elements(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 3))
    axis = b.integer(0, x.rank - 1)
    attributes = _reduction(b, x)
    shape = [b.integer(0, e) for e in x.shape]
    positions = b.rng.permuted(
        np.broadcast_to(_line(x.shape, axis), x.shape).astype(np.int64), axis=axis
    )[tuple(slice(e) for e in shape)]
    if attributes and x.shape[axis]:
        positions = b.rng.integers(-x.shape[axis], x.shape[axis], shape)
    updates = b.operand([x.dtype], shape=shape)
    b.add(name, [x, b.leaf(positions), updates], axis=axis, exact=_kind(attributes), **attributes)


def _line(shape: tuple[int, ...], axis: int) -> np.ndarray:
    ones = [1] * len(shape)
    ones[axis] = shape[axis]
    return np.arange(shape[axis]).reshape(ones)


def _kind(attributes: dict[str, str]) -> str:
    return "" if attributes.get("reduction") in ("add", "mul") else "move"


@recipe("ScatterND")
def _scatter_nd(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 3), least=1)
    depth = b.integer(1, x.rank)
    attributes = _reduction(b, x)
    outer = x.shape[:depth]
    count = int(np.prod(outer))
    chosen = b.rng.permutation(count)[: b.integer(0, count)]
    if attributes:
        chosen = b.rng.integers(0, count, b.integer(0, 6))
    indices = np.stack(np.unravel_index(chosen, outer), -1).astype(np.int64)
    updates = b.operand([x.dtype], shape=(len(chosen), *x.shape[depth:]))
    b.add(name, [x, b.leaf(indices), updates], exact=_kind(attributes), **attributes)


def _jumps(extent: int, size: int, attributes: dict) -> bool:
    """Say whether `size` positions among the elements include one where the nearest changes.

    onnxruntime has the scale in single precision, which may be a little off.
    """
    scale = Fraction(size, extent)
    if not scale.denominator & (scale.denominator - 1):
        return False
    where = attributes["coordinate_transformation_mode"]
    shift = Fraction(1, 2) if "half_pixel" in where else Fraction(0)
    if where == "align_corners":
        scale = Fraction(max(size - 1, 1), max(extent - 1, 1))
    edge = Fraction(1, 2) if attributes["nearest_mode"].startswith("round") else Fraction(0)
    return any(((i + shift) / scale - shift - edge).denominator == 1 for i in range(size))


@recipe("Resize")
def _resize(b: Builder, name: str) -> None:
    """Images, by sizes or by scales that are fractions of few digits."""
    x = b.operand(b.types(name, 0), 4, least=1)
    modes = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]
    mode = b.choose(["nearest", "linear", "cubic"] if is_float(x.dtype) else ["nearest"])
    attributes = {"mode": mode, "coordinate_transformation_mode": b.choose(modes)}
    if mode == "nearest":
        attributes["nearest_mode"] = b.choose(["round_prefer_floor", "floor", "ceil"])
    if b.chance(0.5):
        sizes = [*x.shape[:2], *(b.integer(1, 2 * e + 1) for e in x.shape[2:])]
        pairs = zip(x.shape, sizes, strict=True)
        if mode == "nearest" and any(_jumps(e, s, attributes) for e, s in pairs):
            raise Impossible("positions that rounding of the scale moves to another element")
        b.add(name, [x, None, None, b.fixed(sizes)], **attributes)
        return
    scales = [1.0, 1.0, *(b.choose([0.5, 1.0, 1.5, 2.0, 3.0]) for _ in range(2))]
    if any(int(e * s) < 1 for e, s in zip(x.shape, scales, strict=True)):
        raise Impossible("an extent of 0")
    parts = [e * s % 1 for e, s in zip(x.shape, scales, strict=True)]
    if attributes["coordinate_transformation_mode"] == "align_corners" and any(parts):
        raise Impossible("a corner that onnxruntime rounds, and ONNX's reference does not")
    b.add(name, [x, None, b.fixed(np.array(scales, np.float32))], **attributes)


@recipe("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _loss(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (2, 4), least=1)
    target = _index(b, x.shape[1], (x.shape[0], *x.shape[2:]), least=0)
    weight = b.operand([x.dtype], shape=(x.shape[1],), bounds=(0.25, 2), reuse=0)
    operands = [x, target, weight if b.chance(0.5) else None]
    b.add(name, operands, reduction=b.choose(["none", "mean", "sum"]))


@recipe("Attention")
def _attention(b: Builder, name: str) -> None:
    """Heads apart, keys and values as long as the queries or not."""
    q = b.operand(b.types(name, 0), 4, least=1)
    batch, heads, _, size = q.shape
    length = b.integer(1, 6)
    k = b.operand([q.dtype], shape=(batch, heads, length, size))
    v = b.operand([q.dtype], shape=(batch, heads, length, b.integer(1, 5)))
    b.add(name, [q, k, v], is_causal=b.integer(0, 1), scale=b.choose([None, 0.5]))
