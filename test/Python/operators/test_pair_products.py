"""Products of bf16 that an instruction sums two by two: tails, and numbers of all kinds."""

import ml_dtypes
import numpy as np
import pytest

from espalier.compiler import Options, compile
from support import one_op

BF16, F32 = ml_dtypes.bfloat16, np.float32
WAYS = ["constant", "given", "transposed"]
# Computes in f32 whatever the machine has.
WIDE = "-avx512bf16"
# Rows, terms and columns: whole tiles, tails of each, odd terms, a single one.
SIZES = [(16, 32, 32), (37, 30, 45), (64, 7, 48), (5, 1, 9), (130, 256, 80), (1, 64, 64)]


def product(way: str, a: np.ndarray, b: np.ndarray, **options: str) -> np.ndarray:
    """Compute `a @ b` with `b` as weights, as an input, or as a transposed input."""
    inputs = {"a": (BF16, a.shape)}
    feeds = {"a": a}
    constants = {}
    if way == "constant":
        constants["b"] = b
    else:
        feeds["b"] = np.ascontiguousarray(b.T) if way == "transposed" else b
        inputs["b"] = (BF16, feeds["b"].shape)
    attributes = {"transB": 1} if way == "transposed" else {}
    op = "Gemm" if way == "transposed" else "MatMul"
    model = one_op(op, inputs, constants, opset=13, **attributes)
    return compile(model, options=Options(cache=None, **options)).run(feeds)["y"]


def check_sums(actual: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    """Compare with sums in double precision: f32's rounding of each, and that of the result."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    exact, size = x @ y, np.abs(x) @ np.abs(y)
    rounded = x.shape[-1] * np.finfo(F32).eps
    assert actual.dtype == BF16
    assert (np.abs(actual - exact) <= rounded * size + 2.0**-8 * np.abs(exact)).all()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", SIZES)
def test_sums(way, size):
    rng = np.random.default_rng(1)
    rows, terms, columns = size
    a = rng.standard_normal((rows, terms)).astype(BF16)
    b = rng.standard_normal((terms, columns)).astype(BF16)
    check_sums(product(way, a, b), a, b)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("terms", [31, 64])
def test_numbers_that_are_none(way, terms):
    """What is not finite is in the results of its row and column, and in no others."""
    rng = np.random.default_rng(2)
    a = rng.standard_normal((33, terms)).astype(BF16)
    b = rng.standard_normal((terms, 50)).astype(BF16)
    a[3, terms - 1], a[4, 0], a[5, 1] = np.nan, np.inf, -np.inf
    b[2, 7], b[terms - 1, 9] = np.nan, np.inf
    a[6, terms - 1] = 0
    with np.errstate(invalid="ignore"):
        expected = a.astype(F32) @ b.astype(F32)
    actual = product(way, a, b).astype(F32)
    assert (np.isnan(actual) == np.isnan(expected)).all()
    assert (np.isposinf(actual) == np.isposinf(expected)).all()
    assert (np.isneginf(actual) == np.isneginf(expected)).all()


def test_large_terms_that_cancel():
    """Terms are exact in f32: what is left of large ones is."""
    a = np.tile(np.array([256, 1, -256, 1], BF16), (24, 8))
    b = np.ones((32, 40), BF16)
    assert (product("constant", a, b).astype(F32) == 16).all()


@pytest.mark.parametrize("way", WAYS)
def test_subnormal_numbers(way):
    """In f32, subnormal numbers count; the instruction takes them as zero."""
    tiny = np.full((20, 32), 2.0**-130, BF16)
    large = np.full((32, 40), 2.0**100, BF16)
    exact = product(way, tiny, large, features=WIDE).astype(F32)
    assert (exact == 32 * 2.0**-30).all()
    paired = product(way, tiny, large).astype(F32)
    assert ((paired == exact) | (paired == 0)).all()


def test_unknown_sizes():
    rng = np.random.default_rng(3)
    model = one_op("MatMul", {"a": (BF16, ("m", "k")), "b": (BF16, ("k", "n"))}, opset=13)
    run = compile(model, options=Options(cache=None)).run
    for rows, terms, columns in SIZES:
        a = rng.standard_normal((rows, terms)).astype(BF16)
        b = rng.standard_normal((terms, columns)).astype(BF16)
        check_sums(run({"a": a, "b": b})["y"], a, b)


@pytest.mark.parametrize("channels", [16, 13])
def test_convolutions(channels):
    rng = np.random.default_rng(4)
    x = rng.integers(-4, 5, (1, channels, 9, 11)).astype(BF16)
    w = rng.integers(-4, 5, (40, channels, 3, 3)).astype(BF16)
    results = []
    for dtype in (BF16, F32):
        model = one_op(
            "Conv", {"x": (dtype, x.shape)}, {"w": w.astype(dtype)}, opset=22, pads=[1] * 4
        )
        options = Options(cache=None, winograd=False)
        results.append(compile(model, options=options).run({"x": x.astype(dtype)})["y"])
    assert (results[0] == results[1].astype(BF16)).all()
