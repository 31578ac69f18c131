"""Cases for every operator of the graph dialect."""

from collections.abc import Iterator

import numpy as np

from espalier.ir import Value
from operator_support import Case, Graph, Random

F16, F32, F64 = np.float16, np.float32, np.float64
I8, I32, I64, U8 = np.int8, np.int32, np.int64, np.uint8
STATIC = ("static", "constant")
SHAPES: list[tuple[int, ...]] = [(), (1,), (0, 3), (15,), (16,), (17,), (3, 31), (2, 3, 33)]
BROADCASTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), (5,)),
    ((7,), (1,)),
    ((3, 1, 17), (5, 1)),
    ((2, 16), (2, 16)),
    ((0, 3), (1, 3)),
    ((2, 5, 33), (5, 1)),
    ((2, 3, 4, 35), (1, 3, 1, 1)),
]
FLOAT_UNARY = (
    "abs ceil cos erf exp floor is_nan neg relu round sigmoid sign sin silu softplus "
    "hard_swish tanh"
)
BINARY = "add sub mul div max min equal less less_equal greater greater_equal"
INTEGER_BINARY = "add sub mul max min and or xor equal less less_equal greater greater_equal"


def op(name: str, *arrays: np.ndarray, label: str = "", **attributes: object) -> Case:
    """Return the case of one operator."""

    def build(g: Graph, *xs: Value) -> list[Value]:
        return g.all(name, *xs, **attributes)

    shapes = "_".join("x".join(map(str, a.shape)) or "scalar" for a in arrays)
    kinds = "" if arrays[0].dtype == F32 else f"-{arrays[0].dtype}"
    extra = f"-{label}" if label else ""
    case = Case(f"{name}{extra}-{shapes}{kinds}", build, arrays)
    case.sums = not name.startswith(tuple(f"{FLOAT_UNARY} {BINARY}".split()))
    return case


def unary() -> Iterator[Case]:
    """Element-wise operators of one operand."""
    r = Random("unary")
    for name in [*FLOAT_UNARY.split(), "gelu"]:
        yield op(name, np.concatenate([r.floats(70) * 4, [0, -0.0, 0.5, 1.5, 2.5]]).astype(F32))
        yield op(name, r.floats(2, 3), label="small")
    for name in ("sqrt", "log", "reciprocal"):
        yield op(name, r.positive(2, 37))
        yield op(name, r.positive(5, dtype=F64))
    for name in ("exp", "relu", "sigmoid"):
        for shape in SHAPES:
            yield op(name, r.floats(*shape))
    for dtype in (F16, F64):
        for name in ("exp", "tanh", "neg", "round", "erf"):
            yield op(name, r.floats(3, 19, dtype=dtype))
    for name in ("abs", "neg", "sign", "relu"):
        yield op(name, r.integers(-9, 9, 5, 7))
        yield op(name, r.integers(-9, 9, 37, dtype=I8))
    yield op("not", r.booleans(3, 21))
    yield op("not", r.integers(-9, 9, 3, 21, dtype=I32))
    special = np.array([np.nan, np.inf, -np.inf, 1, -1, 0] * 6, F32)
    for name in ["is_nan", "exp", "tanh", "relu", "sigmoid", "abs", "floor", "sign"]:
        yield op(name, special, label="special")
    yield op("gelu", r.floats(40), label="tanh", approximate="#graph.gelu<tanh>")
    yield op("leaky_relu", r.floats(5, 9), alpha=0.1)
    yield op("elu", r.floats(5, 9), alpha=0.7)
    yield op("hard_sigmoid", r.floats(5, 9) * 3, alpha=0.2, beta=0.5)


def angular() -> Iterator[Case]:
    """Trigonometric and hyperbolic functions and their inverses, beyond their domains too."""
    r = Random("angular")
    edges = np.array([0, -0.0, 1, -1, 0.5, 1.5, -1.5, np.inf, -np.inf, np.nan], F32)
    for name in ["tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"]:
        yield op(name, np.concatenate([r.floats(60) * 2, edges]))
        yield op(name, r.positive(3, 5, dtype=F64) / 3 + (name == "acosh"))
        yield op(name, r.positive(19, dtype=F16) / 3 + F16(name == "acosh"))


def casts() -> Iterator[Case]:
    """Conversions of element types."""
    r = Random("casts")
    sources = [
        r.floats(37) * 9,
        r.floats(3, 5, dtype=F64) * 9,
        r.floats(21, dtype=F16) * 9,
        r.integers(-100, 100, 37),
        r.integers(0, 100, 37, dtype=I32),
        r.integers(-100, 100, 37, dtype=I8),
        r.integers(0, 250, 37, dtype=U8),
        r.booleans(35),
    ]
    for source in sources:
        for to in ("f32", "f64", "f16", "i64", "i32", "i1", "ui8"):
            wide = source if to != "ui8" else np.abs(source)
            yield op("cast", wide, label=to, to=to)


def binary() -> Iterator[Case]:
    """Element-wise operators of two operands, and select."""
    r = Random("binary")
    for name in BINARY.split():
        yield op(name, r.floats(3, 33), r.floats(33))
    for left, right in BROADCASTS:
        yield op("add", r.floats(*left), r.floats(*right))
        yield op("mul", r.floats(*right), r.floats(*left))
        yield op("less", r.integers(-2, 2, *left), r.integers(-2, 2, *right))
    yield op("pow", r.positive(3, 19), r.floats(19))
    yield op("pow", r.floats(3, 19), np.array(2, F32), label="square")
    yield op("pow", r.floats(3, 19), np.array(3, F32), label="cube")
    for name in ("mod", "rem"):
        yield op(name, r.floats(37) * 5, r.positive(37) * np.where(r.booleans(37), F32(1), F32(-1)))
        yield op(name, r.integers(-20, 20, 37), r.integers(1, 5, 37) * r.integers(0, 2, 37) * 2 - 9)
    for name in INTEGER_BINARY.split():
        yield op(name, r.integers(-5, 5, 3, 33), r.integers(-5, 5, 33))
    yield op("add", r.integers(0, 255, 35, dtype=U8), r.integers(0, 255, 35, dtype=U8))
    yield op("less", r.integers(0, 255, 35, dtype=U8), r.integers(0, 255, 35, dtype=U8))
    yield op("max", r.integers(0, 255, 35, dtype=U8), r.integers(0, 255, 35, dtype=U8))
    yield op("div", r.integers(0, 255, 35, dtype=U8), r.integers(1, 255, 35, dtype=U8))
    yield op("div", r.integers(-99, 99, 35), r.integers(1, 9, 35))
    for name in ("and", "or", "xor", "equal"):
        yield op(name, r.booleans(5, 7), r.booleans(7))
    for dtype in (F16, F64):
        yield op("add", r.floats(5, 19, dtype=dtype), r.floats(19, dtype=dtype))
        yield op("div", r.floats(5, 19, dtype=dtype), r.positive(19, dtype=dtype))
    nans = np.array([np.nan, 1, 2, np.nan, np.inf, -np.inf] * 4, F32)
    for name in ("max", "min", "equal", "less", "add"):
        yield op(name, nans, np.roll(nans, 1), label="special")
    yield op("prelu", r.floats(2, 3, 5, 7), r.floats(3, 1, 1))
    yield op("prelu", r.integers(-9, 9, 3, 7), r.integers(-9, 9, 7))
    yield op("select", r.booleans(3, 1, 17), r.floats(17), r.floats(2, 17))
    yield op("select", r.booleans(37), r.integers(0, 9, 37), r.integers(0, 9, 1))


def integer_limits() -> Iterator[Case]:
    """Divisors of 0, the least number by -1, and great exponents, for every integer type."""

    def build(g: Graph, *xs: Value) -> list[Value]:
        return [g(name, *xs) for name in ("div", "mod", "rem", "pow")]

    for dtype in (I8, np.int16, I32, I64, U8, np.uint16, np.uint32, np.uint64):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        numbers = sorted({0, 1, 2, 3, 10, high - 1, high, low, low + 1, low // 3, low and -1})
        lanes = np.resize(np.array(numbers, dtype), 37)
        yield Case(f"limits-lanes-{dtype.__name__}", build, [lanes[:11, None], lanes])
        scalars = [np.array(number, dtype) for number in (low, low and -1, 0, high)]
        yield Case(
            f"limits-scalars-{dtype.__name__}",
            lambda g, *xs: [y for divisor in xs for y in build(g, xs[0], divisor)],
            scalars,
        )


def reductions() -> Iterator[Case]:
    """Reductions, cumulative sums and positions of extrema."""
    r = Random("reductions")
    for name in ("sum", "mean", "max", "min", "prod"):
        x = r.floats(2, 3, 5, 7)
        for axes in ([3], [1, 3], [0, 1], [0, 1, 2, 3], [0], [2]):
            label = "".join(map(str, axes))
            yield op(f"reduce_{name}", x, label=label, axes=axes)
        yield op(f"reduce_{name}", x, label="keep", axes=[1, 2], keepdims=True)
        for width in (1, 16, 17, 67, 300):
            yield op(f"reduce_{name}", r.floats(3, width), label="rows", axes=[1])
            yield op(f"reduce_{name}", r.floats(width, 3), label="columns", axes=[0])
        yield op(f"reduce_{name}", r.floats(700), label="all", axes=[0])
        if name != "mean":
            yield op(f"reduce_{name}", r.integers(-3, 4, 5, 7), label="1", axes=[1])
            yield op(f"reduce_{name}", r.integers(1, 3, 70, dtype=I32), label="0", axes=[0])
        yield op(f"reduce_{name}", r.floats(3, 21, dtype=F64), label="1", axes=[1])
        yield op(f"reduce_{name}", r.floats(3, 21, dtype=F16), label="1", axes=[1])
    yield op("reduce_sum", r.floats(3, 0), label="empty", axes=[1])
    yield op("reduce_prod", r.floats(3, 0), label="empty", axes=[1])
    yield op("reduce_max", r.floats(0, 3), label="none", axes=[1])
    ties = r.integers(0, 4, 3, 19).astype(F32)
    for name in ("arg_max", "arg_min"):
        for axis in (0, 1):
            yield op(name, ties, label=f"first{axis}", axis=axis)
            yield op(name, ties, label=f"last{axis}", axis=axis, select_last=True)
        yield op(name, r.floats(2, 33, 1, 7), label="keep", axis=1, keepdims=True)
        yield op(name, r.integers(-5, 5, 40), label="integers", axis=0)
    for axis in (0, 1):
        for exclusive in (False, True):
            for reverse in (False, True):
                label = f"{axis}{'e' * exclusive}{'r' * reverse}"
                x = r.floats(5, 37)
                yield op("cumsum", x, label=label, axis=axis, exclusive=exclusive, reverse=reverse)
    yield op("cumsum", r.integers(-5, 5, 2, 3, 4), label="integers", axis=1)
    yield op("cumsum", r.floats(0, 3), label="empty", axis=0)


def normalizations() -> Iterator[Case]:
    """Softmax and the normalizations."""
    r = Random("normalizations")
    for shape, axis in [
        ((1,), 0),
        ((3, 1), 1),
        ((3, 17), 1),
        ((2, 5, 37), 1),
        ((2, 3, 64), 2),
        ((5, 7), 0),
        ((0, 3), 1),
        ((2, 2, 3, 130), 3),
    ]:
        for name in ("softmax", "log_softmax"):
            yield op(name, r.floats(*shape) * 3, label=str(axis), axis=axis)
    yield op("softmax", r.floats(3, 17, dtype=F64), label="1", axis=1)
    yield op("softmax", r.floats(3, 17, dtype=F16), label="1", axis=1)
    for shape, axis in [((3, 5, 40), 2), ((3, 5, 40), 1), ((7, 1), 1), ((2, 33), 1), ((0, 5), 1)]:
        tail = shape[axis:]
        yield op(
            "layer_norm",
            r.floats(*shape),
            r.floats(*tail),
            r.floats(*tail),
            label=str(axis),
            axis=axis,
            epsilon=1e-5,
        )
    for shape in [(2, 33, 5, 7), (1, 16, 3), (2, 3, 2, 3, 5), (1, 1, 1, 1)]:
        c = shape[1]
        args = (r.floats(c), r.floats(c))
        yield op("batch_norm", r.floats(*shape), *args, r.floats(c), r.positive(c), epsilon=1e-5)
        yield op("instance_norm", r.floats(*shape), *args, epsilon=1e-3)
    yield op("batch_norm", r.floats(4, 17), *(r.positive(17) for _ in range(4)), epsilon=1e-5)
    for window in (1, 3, 4):
        yield op(
            "lrn",
            r.floats(2, 7, 3, 5),
            label=str(window),
            alpha=0.1,
            beta=0.75,
            bias=1.0,
            window=window,
        )
