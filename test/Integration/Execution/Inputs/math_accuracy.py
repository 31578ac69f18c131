"""Compares compiled functions with double precision, in units in the last place."""

import math

import ml_dtypes
import numpy as np

from espalier import _espalier
from espalier.buffers import to_buffer

LANES = 16
COUNT = LANES * 2048
TEXT = """
module {{
  func.func @k(%x: memref<{n}x{t}>, %y: memref<{n}x{t}>, %s: memref<{n}x{t}>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lanes = arith.constant {lanes} : index
    %n = arith.constant {n} : index
    scf.for %i = %c0 to %n step %lanes {{
      %0 = vector.load %x[%i] : memref<{n}x{t}>, vector<{lanes}x{t}>
      %1 = math.{f} %0 : vector<{lanes}x{t}>
      vector.store %1, %y[%i] : memref<{n}x{t}>, vector<{lanes}x{t}>
    }}
    scf.for %i = %c0 to %n step %c1 {{
      %0 = memref.load %x[%i] : memref<{n}x{t}>
      %1 = math.{f} %0 : {t}
      memref.store %1, %s[%i] : memref<{n}x{t}>
    }}
    return
  }}
  func.func @main(%x: memref<{n}x{t}>, %y: memref<{n}x{t}>, %s: memref<{n}x{t}>)
      attributes {{espalier.num_inputs = 1 : i64}} {{
    call @k(%x, %y, %s) : (memref<{n}x{t}>, memref<{n}x{t}>, memref<{n}x{t}>) -> ()
    return
  }}
  func.func @main_plan(%n: index) -> (index, index) {{
    return %n, %n : index, index
  }}
}}
"""
SMALLEST = float(np.finfo(np.float32).tiny)
CASES = [
    ("exp", "f32", [(-86.99, 88.72), (-1, 1), (-1e9, -104), (88.73, 1e9)], 2),
    ("expm1", "f32", [(-20, 90), (-1e-3, 1e-3)], 2),
    ("log", "f32", [(SMALLEST, 3e38), (0.5, 2)], 5),
    ("log1p", "f32", [(-0.9, 3), (-1e-3, 1e-3)], 2),
    ("log2", "f32", [(SMALLEST, 3e38), (0.5, 2)], 5),
    ("tanh", "f32", [(-20, 20), (-1e-2, 1e-2), (-1e-20, 1e-20)], 5),
    ("erf", "f32", [(-6, 6), (1.4, 1.6), (3.7, 3.9), (-1e-3, 1e-3)], 2.5),
    ("sin", "f32", [(-10, 10), (-1e4, 1e4), (-71476, 71476), (-3e38, 3e38)], 2),
    ("cos", "f32", [(-10, 10), (-1e4, 1e4), (-71476, 71476), (-3e38, 3e38)], 2),
    ("tan", "f32", [(-1.5, 1.5), (-1e4, 1e4), (-71476, 71476), (-3e38, 3e38)], 2.5),
    ("asin", "f32", [(-1, 1), (-1e-3, 1e-3)], 2.5),
    ("acos", "f32", [(-1, 1), (0.999, 1)], 2.5),
    ("atan", "f32", [(-4, 4), (-1e-3, 1e-3), (-1e20, 1e20)], 2),
    ("sinh", "f32", [(-90, 90), (88, 89.5), (-1e-3, 1e-3)], 2.5),
    ("cosh", "f32", [(-90, 90), (88, 89.5), (-1, 1)], 2),
    ("asinh", "f32", [(-1e3, 1e3), (-1e-3, 1e-3), (-1e20, 1e20)], 2.5),
    ("acosh", "f32", [(1, 1.001), (1, 1e3), (1, 1e20)], 2.5),
    ("atanh", "f32", [(-0.999, 0.999), (-1e-3, 1e-3)], 2.5),
    ("sqrt", "f32", [(0, 1e10)], 1),
    ("sin", "f64", [(-10, 10)], 2),
    ("exp", "f64", [(-700, 700)], 2),
    ("atan", "f64", [(-10, 10)], 2),
    ("asinh", "f64", [(-10, 10)], 2),
    ("tanh", "f16", [(-4, 4)], 1),
    ("acosh", "f16", [(1, 4)], 1),
    ("exp", "bf16", [(-4, 4)], 1),
    ("exp", "f16", [(-17, 11), (-1, 1), (-1e4, -18), (12, 6e4)], 0.51),
    ("erf", "f16", [(-4, 4), (-0.1, 0.1), (-6e4, 6e4)], 0.51),
    ("erf", "bf16", [(-4, 4), (-1e-20, 1e-20)], 0.51),
]
EVERYWHERE = {"erf", "expm1", "log1p", "tan", "asin", "acos", "atan"}
EVERYWHERE |= {"sinh", "cosh", "asinh", "acosh", "atanh"}
"""Functions of f32 that are also compared for arguments of all exponents."""
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
NAMES = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
FINITE = [0.0, -0.0, math.nan, 1.0, -1.0]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0]


def reference(function: str, x: np.ndarray) -> np.ndarray:
    """Return the function of every element in double precision."""
    wide = x.astype(np.longdouble if x.dtype == np.float64 else np.float64)
    with np.errstate(all="ignore"):
        if function == "erf":
            return np.array([math.erf(v) for v in wide])
        return getattr(np, NAMES.get(function, function))(wide)


def count_ulps(got: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest error in units in the last place of the result's type."""
    info = ml_dtypes.finfo(got.dtype)
    rounded = expected.astype(got.dtype)
    finite = np.isfinite(rounded)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    if not same[~finite].all():
        return math.inf
    _, exponent = np.frexp(np.maximum(np.abs(expected[finite]), float(info.tiny)))
    unit = np.ldexp(np.ones(exponent.shape, expected.dtype), exponent - 1 - info.nmant)
    error = np.abs(got[finite].astype(expected.dtype) - expected[finite]) / unit
    return float(error.max())


def check(function: str, dtype: str, ranges: list[tuple[float, float]], limit: float) -> str:
    """Compile and run the function over `ranges` and special values."""
    text = TEXT.format(n=COUNT, lanes=LANES, t=dtype, f=function)
    program = _espalier.compile(_espalier.Module.parse(text), _espalier.CompileOptions())
    samples = {f"from {low} to {high}": np.linspace(low, high, COUNT) for low, high in ranges}
    if dtype == "f32" and function in EVERYWHERE:
        bits = np.arange(COUNT, dtype=np.uint32) * np.uint32(2**32 // COUNT) + np.uint32(12345)
        samples["of all exponents"] = bits.view(np.float32)
    for where, sample in samples.items():
        x = sample.astype(DTYPES[dtype])
        x[: len(SPECIAL)] = SPECIAL
        # The same, apart from infinity, which a vector may be computed another way for.
        x[2 * LANES : 2 * LANES + len(FINITE)] = FINITE
        results = [np.empty_like(x), np.empty_like(x)]
        program.bind([to_buffer(x)], [to_buffer(result) for result in results])()
        for kind, result in zip(("vector", "scalar"), results, strict=True):
            expected = reference(function, x).astype(x.dtype)
            ulps = count_ulps(result, reference(function, x))
            signs = np.signbit(result) == np.signbit(x.dtype.type(expected))
            if not (signs | (result != 0)).all():
                return f"a zero of the other sign {where} in a {kind}"
            if ulps > limit:
                return f"{ulps} ulp {where} in a {kind}"
    return "ok"


for function, dtype, ranges, limit in CASES:
    label = function if dtype == "f32" else f"{function} {dtype}"
    print(f"{label}: {check(function, dtype, ranges, limit)}")
