"""Operators on arrays that are known at import, expressions included.

Exporters compute shapes with ordinary operators; here those are evaluated, so
that `Reshape` and its like see what they mean.
"""

import math
import operator
from collections.abc import Callable, Sequence

import numpy as np

from espalier.importers.onnx import symbolic
from espalier.importers.onnx.registry import Node, NotFoldable, fold
from espalier.importers.onnx.symbolic import Dim
from espalier.importers.onnx.tensors import element_type

LIMIT = 1 << 16
"""Arrays with more elements are left to the compiler."""


def _is_symbolic(*arrays: np.ndarray | None) -> bool:
    return any(a is not None and a.dtype == object for a in arrays)


def _map(function: Callable[..., object], *arrays: np.ndarray) -> np.ndarray:
    """Apply a Python function to every element, with broadcasting."""
    result = np.frompyfunc(function, len(arrays), 1)(*[a.astype(object) for a in arrays])
    return np.asarray(result, dtype=object)


def _bounded(extents: Sequence[int]) -> None:
    """Refuse, before it is allocated, a result that is too large to fold."""
    if math.prod(int(e) for e in extents) > LIMIT:
        raise NotFoldable


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if np.issubdtype(a.dtype, np.integer):
        if np.any(b == 0):
            raise NotFoldable
        quotient = np.abs(a) // np.abs(b)
        return np.where((a < 0) == (b < 0), quotient, -quotient).astype(a.dtype)
    return a / b


def _apply(name: str) -> Callable[[Dim, Dim], Dim]:
    def function(a: Dim, b: Dim) -> Dim:
        try:
            return symbolic.apply(name, a, b)
        except ZeroDivisionError as error:
            raise NotFoldable from error

    return function


_ARITHMETIC: dict[str, tuple[Callable, Callable]] = {
    "Add": (np.add, operator.add),
    "Sub": (np.subtract, operator.sub),
    "Mul": (np.multiply, operator.mul),
    "Div": (_divide, _apply("div")),
    "Max": (np.maximum, _apply("max")),
    "Min": (np.minimum, _apply("min")),
    "Sum": (np.add, operator.add),
}


@fold(*_ARITHMETIC)
def _arithmetic(node: Node, *arrays: np.ndarray) -> np.ndarray:
    on_numbers, on_expressions = _ARITHMETIC[node.op_type]
    result = arrays[0]
    for array in arrays[1:]:
        if _is_symbolic(result, array):
            result = _map(on_expressions, result, array)
        else:
            result = np.asarray(on_numbers(result, array))
    return result


@fold("Mod")
def _mod(node: Node, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if _is_symbolic(a, b):
        if node["fmod"]:
            raise NotFoldable
        return _map(_apply("mod"), a, b)
    if not node["fmod"] and np.any(b == 0):
        raise NotFoldable
    return np.asarray(np.fmod(a, b) if node["fmod"] else np.mod(a, b))


_NUMERIC = {
    "Abs": np.abs,
    "Sqrt": np.sqrt,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Exp": np.exp,
    "Log": np.log,
    "Reciprocal": np.reciprocal,
    "Not": np.logical_not,
}


@fold(*_NUMERIC)
def _numeric(node: Node, x: np.ndarray) -> np.ndarray:
    if _is_symbolic(x):
        raise NotFoldable
    return np.asarray(_NUMERIC[node.op_type](x)).astype(x.dtype)


@fold("Neg")
def _negate(node: Node, x: np.ndarray) -> np.ndarray:
    return _map(operator.neg, x) if _is_symbolic(x) else np.asarray(np.negative(x))


@fold("Pow")
def _power(node: Node, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if _is_symbolic(x, y) or np.issubdtype(x.dtype, np.integer):
        raise NotFoldable
    return np.asarray(np.power(x, y)).astype(x.dtype)


def _decide(holds: Callable[[Dim, Dim], bool | None]) -> Callable[[Dim, Dim], bool]:
    def function(a: Dim, b: Dim) -> bool:
        answer = holds(a, b)
        if answer is None:
            raise NotFoldable
        return answer

    return function


def _equal(a: Dim, b: Dim) -> bool | None:
    return True if a == b else False if symbolic.differs(a, b) else None


def _less(a: Dim, b: Dim) -> bool | None:
    if symbolic.compare(a, b) in (0, 1):
        return False
    return True if symbolic.compare(a, b) == -1 and symbolic.differs(a, b) else None


def _at_most(a: Dim, b: Dim) -> bool | None:
    less = _less(b, a)
    return None if less is None else not less


_COMPARISONS: dict[str, tuple[Callable, Callable[[Dim, Dim], bool | None]]] = {
    "Equal": (np.equal, _equal),
    "Less": (np.less, _less),
    "Greater": (np.greater, lambda a, b: _less(b, a)),
    "LessOrEqual": (np.less_equal, _at_most),
    "GreaterOrEqual": (np.greater_equal, lambda a, b: _at_most(b, a)),
}


@fold(*_COMPARISONS)
def _comparison(node: Node, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    on_numbers, on_expressions = _COMPARISONS[node.op_type]
    if _is_symbolic(a, b):
        return _map(_decide(on_expressions), a, b).astype(np.bool_)
    return np.asarray(on_numbers(a, b))


_LOGIC = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}


@fold(*_LOGIC)
def _logic(node: Node, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(_LOGIC[node.op_type](a, b))


@fold("Where")
def _where(node: Node, condition: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if _is_symbolic(a, b):
        return _map(lambda c, x, y: x if c else y, condition, a, b)
    return np.where(condition, a, b)


@fold("Cast")
def _cast(node: Node, x: np.ndarray) -> np.ndarray:
    target = element_type(node, node["to"])
    if _is_symbolic(x):
        if not np.issubdtype(target, np.signedinteger):
            raise NotFoldable
        return x
    with np.errstate(invalid="ignore"):
        return x.astype(target)


@fold("Identity")
def _identity(node: Node, x: np.ndarray) -> np.ndarray:
    return x


@fold("Gather")
def _gather(node: Node, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    if _is_symbolic(indices):
        raise NotFoldable
    axis = node.axis(x.ndim)
    extent = x.shape[axis]
    if np.any((indices < -extent) | (indices >= extent)):
        raise node.error(f"expects indices from {-extent} to {extent - 1}, but got {indices}")
    return np.asarray(np.take(x, indices, axis=axis), dtype=x.dtype)


@fold("Slice")
def _slice(node: Node, x: np.ndarray, *bounds: np.ndarray | None) -> np.ndarray:
    if _is_symbolic(*bounds):
        raise NotFoldable
    starts = node.integers("starts", 1, "starts")
    ends = node.integers("ends", 2, "ends")
    assert starts is not None, "required by the schema"
    assert ends is not None, "required by the schema"
    axes = node.integers("axes", 3, "axes")
    axes = list(range(len(starts))) if axes is None else node.normalize_axes(axes, x.ndim)
    steps = node.integers("steps", 4, "steps") or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise NotFoldable
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        first, count = symbolic.slice_range(x.shape[axis], start, end, step)
        x = x.take(first + np.arange(count) * step, axis)
    return x


@fold("Concat")
def _concat(node: Node, *arrays: np.ndarray) -> np.ndarray:
    if len({a.ndim for a in arrays}) != 1:
        raise NotFoldable
    dtype = object if _is_symbolic(*arrays) else arrays[0].dtype
    axis = node.axis(arrays[0].ndim)
    return np.concatenate([a.astype(dtype) for a in arrays], axis=axis)


@fold("Unsqueeze")
def _unsqueeze(node: Node, x: np.ndarray, *_: np.ndarray) -> np.ndarray:
    axes = node.integers("axes", 1, "axes")
    assert axes is not None, "required by the schema"
    return np.expand_dims(x, tuple(node.normalize_axes(axes, x.ndim + len(axes))))


@fold("Squeeze")
def _squeeze(node: Node, x: np.ndarray, *_: np.ndarray | None) -> np.ndarray:
    axes = node.integers("axes", 1, "axes")
    if axes is None:
        return np.squeeze(x)
    axes = node.normalize_axes(axes, x.ndim)
    if any(x.shape[axis] != 1 for axis in axes):
        raise NotFoldable
    return np.squeeze(x, tuple(axes))


@fold("Reshape")
def _reshape(node: Node, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    if _is_symbolic(shape) or shape.ndim != 1 or node["allowzero"]:
        raise NotFoldable
    target = [x.shape[i] if e == 0 and i < x.ndim else int(e) for i, e in enumerate(shape)]
    try:
        return x.reshape(target)
    except ValueError as error:
        raise NotFoldable from error


@fold("Transpose")
def _transpose(node: Node, x: np.ndarray) -> np.ndarray:
    if node["perm"] is not None and sorted(node["perm"]) != list(range(x.ndim)):
        raise NotFoldable
    return np.transpose(x, node["perm"])


@fold("Expand")
def _expand(node: Node, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    if _is_symbolic(shape) or shape.ndim != 1 or np.any(shape < 0):
        raise NotFoldable
    try:
        extents = np.broadcast_shapes(x.shape, tuple(int(e) for e in shape))
    except ValueError as error:
        raise NotFoldable from error
    _bounded(extents)
    return np.array(np.broadcast_to(x, extents))


@fold("Tile")
def _tile(node: Node, x: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    if _is_symbolic(repeats) or repeats.ndim != 1 or len(repeats) != x.ndim or np.any(repeats < 0):
        raise NotFoldable
    _bounded([int(e) * int(r) for e, r in zip(x.shape, repeats, strict=True)])
    return np.tile(x, repeats)


def range_length(node: Node, first: float, last: float, step: float) -> int:
    """Return how many numbers there are from `first` to `last`; exact for integers."""
    if not all(map(math.isfinite, (first, last, step, last - first))):
        raise node.error(f"expects finite bounds, but got {first}, {last} and {step}")
    if isinstance(step, int):
        return max(0, -((first - last) // step))
    # The quotient may be infinite.
    return math.ceil(min(max((last - first) / step, 0.0), 2.0**63))


@fold("Range")
def _range(node: Node, start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    if _is_symbolic(start, limit, delta):
        raise NotFoldable
    first, last, step = (node.one(a, "bound").item() for a in (start, limit, delta))
    if step == 0:
        raise NotFoldable
    count = range_length(node, first, last, step)
    _bounded([count])
    return (first + np.arange(count) * step).astype(start.dtype)


@fold("ConstantOfShape")
def _constant_of_shape(node: Node, shape: np.ndarray) -> np.ndarray:
    if _is_symbolic(shape) or shape.ndim != 1 or np.any(shape < 0):
        raise NotFoldable
    _bounded([int(e) for e in shape])
    value = np.zeros(1, np.float32) if node["value"] is None else node["value"]
    return np.full([int(e) for e in shape], node.one(value, "value"), value.dtype)


@fold("NonZero")
def _non_zero(node: Node, x: np.ndarray) -> np.ndarray:
    if _is_symbolic(x):
        raise NotFoldable
    return np.asarray(np.nonzero(np.atleast_1d(x)), dtype=np.int64)


_REDUCTIONS: dict[str, tuple[Callable, Callable]] = {
    "ReduceSum": (np.sum, operator.add),
    "ReduceProd": (np.prod, operator.mul),
    "ReduceMax": (np.max, _apply("max")),
    "ReduceMin": (np.min, _apply("min")),
}


@fold(*_REDUCTIONS)
def _reduce(node: Node, x: np.ndarray, *_: np.ndarray | None) -> np.ndarray:
    axes = node.integers("axes", 1, "axes")
    if x.size == 0 or (not axes and node["noop_with_empty_axes"]):
        raise NotFoldable
    axes = node.normalize_axes(axes, x.ndim) if axes else list(range(x.ndim))
    on_numbers, on_expressions = _REDUCTIONS[node.op_type]
    keepdims = bool(node["keepdims"])
    if not _is_symbolic(x):
        return np.asarray(on_numbers(x, axis=tuple(axes), keepdims=keepdims)).astype(x.dtype)
    if x.ndim != 1 or axes != [0]:
        raise NotFoldable
    total = np.empty([1] if keepdims else [], dtype=object)
    result = x[0]
    for element in x[1:]:
        result = on_expressions(result, element)
    total[...] = result
    return total
