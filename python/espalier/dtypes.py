"""Element types: NumPy's and MLIR's names for the same thing."""

import ml_dtypes
import numpy as np

from espalier.errors import EspalierError

NAMES: dict[np.dtype, str] = {
    np.dtype(numpy): mlir
    for numpy, mlir in [
        (np.float32, "f32"),
        (np.float64, "f64"),
        (np.float16, "f16"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.int8, "i8"),
        (np.int16, "i16"),
        (np.int32, "i32"),
        (np.int64, "i64"),
        (np.uint8, "ui8"),
        (np.uint16, "ui16"),
        (np.uint32, "ui32"),
        (np.uint64, "ui64"),
        (np.bool_, "i1"),
    ]
}
DTYPES: dict[str, np.dtype] = {name: dtype for dtype, name in NAMES.items()}
RUNTIME_NAMES: dict[np.dtype, str] = {
    dtype: "bool" if name == "i1" else name.replace("ui", "u") for dtype, name in NAMES.items()
}
"""The spelling in espalier-c/Runtime.h."""
RUNTIME_DTYPES: dict[str, np.dtype] = {name: dtype for dtype, name in RUNTIME_NAMES.items()}
FLOATS = frozenset(DTYPES[name] for name in ("f32", "f64", "f16", "bf16"))


def mlir_name(dtype: np.dtype) -> str:
    """Return MLIR's name of a NumPy type."""
    if dtype not in NAMES:
        raise EspalierError(f"expects an element type out of {sorted(DTYPES)}, but got {dtype}")
    return NAMES[dtype]


def is_half(dtype: np.dtype) -> bool:
    """Say whether the type is a floating-point type narrower than single precision."""
    return dtype in FLOATS and dtype.itemsize < 4


def is_float(dtype: np.dtype) -> bool:
    """Say whether the type is one of the floating-point types."""
    return dtype in FLOATS
