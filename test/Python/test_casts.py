"""Conversions between all element types, in this process and in a shared library."""

import platform
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import espalier
from espalier.dtypes import DTYPES, FLOATS
from shared_library import run_library

BF16 = np.dtype(ml_dtypes.bfloat16)
# The oldest CPU converts no short floats itself.
CPUS = ["", "x86-64"] if platform.machine() == "x86_64" else [""]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 100.75, 127.0, 255.0, 32767.0, 65504.0]
# Around the largest and least numbers of f16 and bf16.
SPECIAL += [65519.0, 65520.0, 3.3e38, 3.4e38, 1e300, 6e-8, 2e-8, 1e-40, 1e-45, 1e-300]
# Ties of bf16 and of f16, and what becomes one when it is rounded twice.
SPECIAL += [1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-40, -1 - 3 * 2**-8 + 2**-40]
SPECIAL += [1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-40, -1 - 3 * 2**-11 + 2**-40]
SPECIAL += [np.inf, -np.inf, np.nan]
# Around the limits of integers.
LIMITS = [2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64)]
SPECIAL += [limit + step for limit in LIMITS for step in (-1, -0.5, 0, 1, limit / 2**20)]
SPECIAL += [-limit - step for limit in LIMITS for step in (-1, 0, 0.5, 1, limit / 2**20)]


def program(source: str, count: int) -> str:
    """Return a program called `cast` that converts an array to every type."""
    x = f"tensor<{count}x{source}>"
    results = [f"tensor<{count}x{name}>" for name in DTYPES]
    casts = [
        f"%{name} = graph.cast %x {{to = {name}}} : ({x}) -> {result}"
        for name, result in zip(DTYPES, results, strict=True)
    ]
    named = [f'{t} {{espalier.name = "{n}"}}' for n, t in zip(DTYPES, results, strict=True)]
    return "\n".join([
        "module @cast {",
        f'func.func @main(%x: {x} {{espalier.name = "x"}}) -> ({", ".join(named)}) {{',
        *casts,
        f"return {', '.join('%' + name for name in DTYPES)} : {', '.join(results)}",
        "}}",
    ])  # fmt: skip


def samples(dtype: np.dtype) -> np.ndarray:
    """Return numbers of a type, more than a vector has lanes and no multiple of it."""
    with np.errstate(over="ignore"):
        if dtype in FLOATS:
            return np.array(SPECIAL, np.float64).astype(dtype)
    if dtype == np.bool_:
        return np.arange(37) % 3 == 0
    limits = np.iinfo(dtype)
    numbers = [0, 1, 2, 63, 100, 127, limits.max, limits.max // 2, limits.min, limits.min // 2]
    return np.resize(np.array(numbers, dtype), 37)


def nearest_bf16(x: np.ndarray) -> np.ndarray:
    """Round f64 to bf16 once; ml_dtypes rounds to f32 first."""
    rounded = x.astype(BF16)
    finite = np.isfinite(rounded)
    around = [np.nextafter(rounded, BF16.type(side * np.inf)) for side in (-1, 1)]
    for other in around:
        closer = np.abs(other.astype(x.dtype) - x) < np.abs(rounded.astype(x.dtype) - x)
        rounded = np.where(closer & finite, other, rounded)
    return rounded


def nearest_integer(value: float, dtype: np.dtype) -> int:
    """Return the integer of a type that is nearest to a number without its fraction."""
    limits = np.iinfo(dtype)
    if np.isnan(value):
        return 0
    return (
        min(max(int(value), limits.min), limits.max)
        if np.isfinite(value)
        else (limits.max if value > 0 else limits.min)
    )


def expected(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the converted array: of integers, the last bits; of floats, the nearest integer."""
    with np.errstate(all="ignore"):
        if dtype == BF16 and x.dtype == np.float64:
            return nearest_bf16(x)
        if dtype.kind not in "iu" or x.dtype not in FLOATS:
            return x.astype(dtype)
        return np.array([nearest_integer(float(v), dtype) for v in x], dtype)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("source", DTYPES)
def test_cast(source: str, cpu: str, tmp_path: Path):
    x = samples(DTYPES[source])
    function = espalier.compile(
        program(source, x.size), options=espalier.Options(cpu=cpu, cache=None)
    )
    function.save(tmp_path / "cast.so")
    loaded = {name: np.zeros(x.size, dtype) for name, dtype in DTYPES.items()}
    run_library(tmp_path / "cast.so", "cast", {"x": x}, loaded)
    for results in (function.run({"x": x}), loaded):
        for name, dtype in DTYPES.items():
            pair = [results[name], expected(x, dtype)]
            # NumPy takes bf16's NaN for a number.
            pair = [array.astype(float) if dtype == BF16 else array for array in pair]
            np.testing.assert_array_equal(*pair, f"to {name}")


@pytest.mark.parametrize("features", ["", "-avx512f"])
@pytest.mark.parametrize("short", ["ui8", "i8", "ui16", "i16"])
def test_cast_as_index(short: str, features: str) -> None:
    """What is cast to all indices of a table is one of them, also of numbers out of range."""
    limits = np.iinfo(DTYPES[short])
    size, count = limits.max + 1 - limits.min, 37
    text = f"""
func.func @main(%x: tensor<{count}xf32> {{espalier.name = "x"}},
                %t: tensor<{size}xf32> {{espalier.name = "t"}})
    -> (tensor<{count}xf32> {{espalier.name = "y"}}) {{
  %s = graph.cast %x {{to = {short}}} : (tensor<{count}xf32>) -> tensor<{count}x{short}>
  %i = graph.cast %s {{to = i64}} : (tensor<{count}x{short}>) -> tensor<{count}xi64>
  %y = graph.gather %t, %i {{axis = 0 : i64}}
      : (tensor<{size}xf32>, tensor<{count}xi64>) -> tensor<{count}xf32>
  return %y : tensor<{count}xf32>
}}"""
    options = espalier.Options(cache=None, features=features)
    function = espalier.compile(text, options=options)
    table = np.arange(size, dtype=np.float32)
    with np.errstate(over="ignore"):
        numbers = np.resize(np.array(SPECIAL, np.float64), 5 * count).astype(np.float32)
    for x in numbers.reshape(5, count):
        index = [nearest_integer(float(v), DTYPES[short]) for v in x]
        np.testing.assert_array_equal(function(x=x, t=table), table[index])
