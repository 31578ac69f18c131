"""Recipes of operators that work element by element."""

from collections.abc import Iterable

import numpy as np

from random_models.builder import DTYPES, Builder, Value
from random_models.evaluate import FLOATS, Impossible, is_float, type_code
from random_models.recipes import recipe

DOMAINS = {
    "Log": (0.25, 8),
    "Sqrt": (0, 8),
    "Reciprocal": (0.25, 8),
    "Exp": (-4, 4),
    "Sinh": (-4, 4),
    "Cosh": (-4, 4),
    "Tan": (-1.25, 1.25),
    "Asin": (-1, 1),
    "Acos": (-1, 1),
    "Atanh": (-0.75, 0.75),
    "Acosh": (1, 8),
}
ATTRIBUTES = {
    "LeakyRelu": {"alpha": (0.125, 0.5)},
    "Elu": {"alpha": (0.25, 2)},
    "Celu": {"alpha": (0.25, 2)},
    "Selu": {"alpha": (1, 2), "gamma": (0.5, 2)},
    "ThresholdedRelu": {"alpha": (0, 1.5)},
    "HardSigmoid": {"alpha": (0.1, 0.5), "beta": (0.25, 0.75)},
    "Swish": {"alpha": (0.5, 2)},
    "Shrink": {"lambd": (0.25, 1), "bias": (0, 1)},
}
CHOPS = ("Floor", "Ceil", "Round", "Sign", "IsNaN", "IsInf", "ThresholdedRelu", "Shrink")
"""What jumps, and so takes only operands that are exact."""
INEXACT = {(name, "float64") for name in ("HardSwish", "Gelu", "Erf", "Shrink")}
"""What nobody else computes in all digits: ONNX's functions have constants of float32,
its reference has that type for erf, and onnxruntime for Shrink."""
LARGEST_SINGLE = 2**24
"""Up to which single precision has all integers."""
EXACT_UNARY = ("Abs", "Neg", "Relu", "Floor", "Ceil", "Round", "Sign", "Not", "BitwiseNot")


def domain(name: str) -> tuple[float, float]:
    """Return the interval that the operator is well behaved on."""
    return DOMAINS.get(name, (-3, 3))


@recipe("Abs", "Neg", "Sign", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tan", "Asin")
@recipe("Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Erf", "Sigmoid")
@recipe("Relu", "Floor", "Ceil", "Round", "Not", "BitwiseNot", "Softplus", "Softsign", "Mish")
@recipe("HardSwish", "LeakyRelu", "Elu", "Celu", "Selu", "ThresholdedRelu", "HardSigmoid")
@recipe("Swish", "Shrink", "Gelu", "IsNaN")
def _unary(b: Builder, name: str) -> None:
    low, high = domain(name)
    types = [t for t in b.types(name, 0) if (name, t.name) not in INEXACT]
    inside = name in DOMAINS
    x = b.operand(
        types,
        bounds=(low, high),
        exact=name in CHOPS,
        fits=(lambda a: bool(((a >= low) & (a <= high)).all())) if inside else None,
    )
    if name == "Shrink" and (np.abs(x.array.astype(np.float64)) > LARGEST_SINGLE).any():
        raise Impossible("an integer that onnxruntime rounds to single precision")
    attributes: dict[str, object] = {
        key: float(np.float32(b.rng.uniform(*limits)))
        for key, limits in ATTRIBUTES.get(name, {}).items()
        if b.chance(0.7)
    }
    if name == "Gelu":
        attributes["approximate"] = b.choose(["none", "tanh"])
    b.add(name, [x], exact="arithmetic" if name in EXACT_UNARY else "", **attributes)


def _pair(b: Builder, dtypes: Iterable[np.dtype], exact: bool = False) -> tuple[Value, Value]:
    """Return two operands of one type that broadcast."""
    x = b.operand(dtypes, exact=exact)
    shape = b.broadcast(x.shape)
    if b.chance(0.3) and any(extent == 1 for extent in x.shape):
        shape = tuple(b.integer(2, 4) if e == 1 and b.chance(0.5) else e for e in x.shape)
    return x, b.operand([x.dtype], shape=shape, exact=exact)


@recipe("Add", "Sub", "Mul", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor")
@recipe("PRelu")
def _binary(b: Builder, name: str) -> None:
    x, y = _pair(b, b.types(name, 0))
    if name != "PRelu" and b.chance(0.5):
        x, y = y, x
    b.add(name, [x, y], exact="arithmetic")


@recipe("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
def _comparison(b: Builder, name: str) -> None:
    b.add(name, _pair(b, b.types(name, 0), exact=True))


@recipe("Max", "Min", "Sum", "Mean")
def _variadic(b: Builder, name: str) -> None:
    x, y = _pair(b, b.types(name, 0))
    more = [b.operand([x.dtype], shape=b.broadcast(x.shape)) for _ in range(b.integer(0, 2))]
    exact = {"Max": "move", "Min": "move", "Sum": "arithmetic"}.get(name, "")
    b.add(name, [x, y, *more][: b.choose([1, 2, 4])], exact=exact)


@recipe("Div")
def _div(b: Builder, name: str) -> None:
    """Integer division truncates here and in ONNX; by zero it has no value."""
    x = b.operand(b.types(name, 0))
    signed = x.dtype.kind != "u" and b.chance(0.5)
    y = b.operand(
        [x.dtype],
        shape=b.broadcast(x.shape),
        bounds=(-8, -1) if signed else (1, 8),
        fits=lambda a: bool((np.abs(a.astype(np.float64)) >= 0.5).all()),
    )
    b.add(name, [x, y])


@recipe("Mod")
def _mod(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), exact=True)
    signed = x.dtype.kind != "u" and b.chance(0.5)
    y = b.operand(
        [x.dtype],
        shape=b.broadcast(x.shape),
        exact=True,
        bounds=(-8, -1) if signed else (1, 8),
        fits=lambda a: bool((np.abs(a.astype(np.float64)) >= 0.5).all()),
    )
    b.add(name, [x, y], fmod=int(is_float(x.dtype) or b.chance(0.3)), exact="arithmetic")


@recipe("Pow")
def _pow(b: Builder, name: str) -> None:
    """Powers of positive floats; of integers with small exponents, in range of doubles."""
    x = b.operand(b.types(name, 0), bounds=(0.25, 4), fits=lambda a: bool((a > 0.125).all()))
    if is_float(x.dtype):
        y = b.operand(b.types(name, 1), shape=b.broadcast(x.shape), fits=_small)
    else:
        integers = [t for t in b.types(name, 1) if not is_float(t)]
        y = b.operand(integers, shape=b.broadcast(x.shape), bounds=(0, 3), fits=_small_natural)
        if x.array.size and int(np.abs(x.array).max()) > 100:
            raise Impossible("a power that wraps")
    b.add(name, [x, y])


def _small(array: np.ndarray) -> bool:
    return bool((np.abs(array.astype(np.float64)) <= 4).all())


def _small_natural(array: np.ndarray) -> bool:
    return bool(((array >= 0) & (array <= 3)).all())


@recipe("BitShift")
def _bit_shift(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), bounds=(0, 200))
    bits = x.dtype.itemsize * 8
    y = b.operand(
        [x.dtype],
        shape=b.broadcast(x.shape),
        bounds=(0, bits - 1),
        fits=lambda a: bool((a < bits).all()),
    )
    b.add(name, [x, y], direction=b.choose(["LEFT", "RIGHT"]))


@recipe("Clip")
def _clip(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0))
    low = b.operand([x.dtype], shape=(), bounds=(-2, 0)) if b.chance(0.7) else None
    high = b.operand([x.dtype], shape=(), bounds=(1, 2)) if b.chance(0.7) else None
    if low and high and low.array > high.array:
        raise Impossible("bounds that cross")
    b.add(name, [x, low, high], exact="move")


@recipe("Where")
def _where(b: Builder, name: str) -> None:
    x, y = _pair(b, b.types(name, 1))
    condition = b.operand([np.dtype(np.bool_)], shape=b.broadcast(x.shape))
    b.add(name, [condition, x, y], exact="move")


@recipe("IsInf")
def _is_inf(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), exact=True)
    if b.chance(0.5) and x.shape:
        array = x.array.copy()
        array.reshape(-1)[:: b.integer(1, 3)] = b.choose([np.inf, -np.inf])
        x = b.leaf(array)
    signs = {"detect_negative": b.integer(0, 1), "detect_positive": b.integer(0, 1)}
    b.add(name, [x], **signs)


@recipe("Cast", "CastLike")
def _cast(b: Builder, name: str) -> None:
    """Of floats, fractions must be exact to be cut off, and few are beyond the integers."""
    x = b.operand(b.types(name, 0))
    target = b.dtype(b.types(name, 0) if name == "Cast" else b.types(name, 1))
    if is_float(x.dtype) and not is_float(target) and not x.exact:
        raise Impossible("cuts off an inexact number")
    if is_float(x.dtype) and target.kind in "iu" and x.array.size and b.chance(0.2):
        array = x.array.copy()
        array.reshape(-1)[:: b.integer(1, 3)] = b.choose([np.inf, -np.inf, np.nan, 3e9, -300.0])
        x = b.leaf(array)
    if name == "Cast":
        b.add(name, [x], to=type_code(target), exact="arithmetic")
    else:
        like = b.operand([target])
        b.add(name, [x, like], exact="arithmetic")


@recipe("Identity")
def _identity(b: Builder, name: str) -> None:
    b.add(name, [b.operand(DTYPES)], exact="move")


@recipe("Dropout")
def _dropout(b: Builder, name: str) -> None:
    x = b.operand(FLOATS)
    ratio = b.fixed(np.array(0.25, np.float32)) if b.chance(0.5) else None
    b.add(name, [x, ratio], [True, b.chance(0.3)], exact="move")
