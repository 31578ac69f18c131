"""Quotients, remainders and shifts, and functions made of them, on vectors of several CPUs."""

import platform

import numpy as np
import pytest

import espalier
from espalier.dtypes import DTYPES
from support import one_op

# With the widest vectors, with narrower ones, and without fused products.
CPUS = [{}, {"features": "-avx512f"}, {"cpu": "x86-64"}]
if platform.machine() != "x86_64":
    CPUS = CPUS[:1]
INTEGERS = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"]
COUNT = 4099
"""No multiple of a vector's lanes, so that scalars are at the end."""


def compute(op: str, cpu: dict, *inputs: np.ndarray, **attributes: object) -> np.ndarray:
    """Compute one ONNX operator."""
    model = one_op(op, {f"x{i}": (x.dtype, x.shape) for i, x in enumerate(inputs)}, **attributes)
    options = espalier.Options(cache=None, threads=False, **cpu)
    return espalier.compile(model, options=options)(*inputs)


def pairs(dtype: np.dtype, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return dividends and divisors: all extremes, any bits, and near multiples."""
    limits = np.iinfo(dtype)
    special = {limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2, 0, 1, 3}
    special |= {-1, -2, -3} if limits.min else set()
    numbers = np.array(sorted(special), object).astype(dtype)
    x, y = (a.ravel() for a in np.meshgrid(numbers, numbers))
    any_x, any_y = rng.integers(limits.min, limits.max, (2, COUNT), dtype, endpoint=True)
    # The products wrap, so that some are no multiples.
    small = any_y // dtype.type(1 << (4 * dtype.itemsize)) | dtype.type(1)
    with np.errstate(over="ignore"):
        near = any_x // small * small + rng.integers(0, 2, COUNT).astype(dtype)
    return np.concatenate([x, any_x, any_x, near]), np.concatenate([y, any_y, small, small])


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str, cpu: dict) -> None:
    dtype = DTYPES[name]
    x, y = pairs(dtype, np.random.default_rng(3))
    wide_x, wide_y = x.astype(object), np.where(y == 0, 1, y.astype(object))
    size = abs(wide_x) // abs(wide_y)
    quotient = np.where((wide_x < 0) != (wide_y < 0), -size, size)
    expected = {
        "Div": ({}, quotient),
        "Mod": ({"fmod": 0}, wide_x % wide_y),
        "Rem": ({"fmod": 1}, wide_x - quotient * wide_y),
    }
    for op, (attributes, numbers) in expected.items():
        wrapped = np.where(y == 0, 0, numbers) % 2 ** (8 * dtype.itemsize)
        result = compute("Mod" if op == "Rem" else op, cpu, x, y, **attributes)
        np.testing.assert_array_equal(result, wrapped.astype(np.uint64).astype(dtype), op)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainders_of_floats(dtype: type, cpu: dict) -> None:
    """They are those of C, bit for bit."""
    rng, limits = np.random.default_rng(5), np.finfo(dtype)
    bits = np.uint32 if dtype == np.float32 else np.uint64
    special = [0.0, -0.0, 1, -3, 0.1, np.inf, -np.inf, np.nan, limits.max, -limits.max]
    special += [limits.tiny, limits.smallest_subnormal, -limits.smallest_subnormal, limits.eps]
    special += [2.0**n for n in (21, 22, 23, 24, 50, 51, 52, 53)] + [1 - limits.epsneg]
    x, y = (a.ravel() for a in np.meshgrid(*[np.array(special, dtype)] * 2))
    any_x, any_y = rng.integers(0, np.iinfo(bits).max, (2, COUNT), bits).view(dtype)
    divisor = rng.standard_normal(COUNT).astype(dtype)
    multiple = np.rint(np.exp2(rng.uniform(0, limits.nmant + 2, COUNT))).astype(dtype) * divisor
    beside = np.nextafter(multiple, rng.choice([-np.inf, np.inf], COUNT).astype(dtype))
    small = rng.integers(1, 1000, (2, COUNT)).astype(bits).view(dtype)
    # Quotients that vectors find, side by side.
    few = (divisor * rng.uniform(-9, 9, COUNT)).astype(dtype)
    x = np.concatenate([x, any_x, multiple, beside, small[0], few])
    y = np.concatenate([y, any_y, divisor, divisor, small[1], divisor])
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    result = compute("Mod", cpu, x, y, fmod=1)
    same = (result.view(bits) == expected.view(bits)) | (np.isnan(result) & np.isnan(expected))
    assert same.all(), (x[~same][:5], y[~same][:5], result[~same][:5], expected[~same][:5])


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", [name for name in INTEGERS if name[0] == "u"])
def test_shifts(name: str, cpu: dict) -> None:
    """Nothing is left of a number that is shifted by its width or more."""
    dtype, rng = DTYPES[name], np.random.default_rng(7)
    limits, width = np.iinfo(dtype), 8 * dtype.itemsize
    x = rng.integers(0, limits.max, COUNT, dtype, endpoint=True)
    y = rng.integers(0, 2 * width, COUNT).astype(dtype)
    y[::9] = rng.integers(0, limits.max, y[::9].size, dtype, endpoint=True)
    within = np.minimum(y, width - 1).astype(dtype)
    for direction, shifted in (("LEFT", x << within), ("RIGHT", x >> within)):
        result = compute("BitShift", cpu, x, y, direction=direction)
        np.testing.assert_array_equal(result, np.where(y < width, shifted, 0), direction)


@pytest.mark.parametrize("name", ["i32", "i64"])
def test_powers_of_two(name: str) -> None:
    """They wrap, and those with negative exponents are fractions without their digits."""
    dtype = DTYPES[name]
    y = np.resize(np.arange(-70, 70), COUNT).astype(dtype)
    two = {"two": np.array(2, dtype)}
    model = one_op("Pow", {"y": (dtype, y.shape)}, two, operands=["two", "y"], outputs=["power"])
    result = espalier.compile(model, options=espalier.Options(cache=None))(y)
    bits = 8 * dtype.itemsize
    exact = [(2 ** int(n)) % 2**bits if n >= 0 else 0 for n in y]
    np.testing.assert_array_equal(result, np.array(exact, np.uint64).astype(dtype))


@pytest.mark.parametrize("cpu", CPUS)
def test_wide_tanh(cpu: dict) -> None:
    """It is within three units in the last place, and keeps infinities, signs and NaN."""
    rng = np.random.default_rng(9)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, -20, 19.06, 5e-324, -2.3e-308]
    sizes = np.exp2(np.concatenate([rng.uniform(-60, 6, COUNT), rng.uniform(-1074, -900, 99)]))
    x = np.concatenate([special, sizes, -sizes, rng.uniform(-1, 1, 9 * COUNT)])
    result, exact = compute("Tanh", cpu, x), np.tanh(x.astype(np.longdouble))
    np.testing.assert_array_equal(np.signbit(result)[:4], np.signbit(x)[:4])
    assert np.isnan(result[4])
    number = ~np.isnan(x)
    unit = np.spacing(np.abs(exact[number]).astype(np.float64))
    assert np.max(np.abs(result[number] - exact[number]) / unit) <= 3


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mish(dtype: type, cpu: dict) -> None:
    """It is within five units in the last place where its exponential has a value."""
    rng = np.random.default_rng(11)
    special = [0.0, -0.0, np.inf, np.nan, np.finfo(dtype).max, 20, 20.5]
    x = np.concatenate([special, rng.uniform(-86, 25, 5 * COUNT), rng.uniform(-3, 3, 5 * COUNT)])
    x = x.astype(dtype)
    result, wide = compute("Mish", cpu, x), x.astype(np.longdouble)
    power = np.exp(np.minimum(wide, 50))
    part = power * (power + 2)
    expected = wide * (part / (part + 2))
    np.testing.assert_array_equal(np.isnan(result), np.isnan(x))
    np.testing.assert_array_equal(np.signbit(result)[:2], [False, True])
    number = np.isfinite(x)
    with np.errstate(over="ignore"):
        unit = np.spacing(np.abs(expected[number]).astype(dtype))
    assert np.max(np.abs(result[number] - expected[number]) / unit) <= 5
    assert result[2] == np.inf
