"""Comparison of results with a reference."""

from collections.abc import Mapping

import ml_dtypes
import numpy as np


def error_relative_to_scale(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest absolute error over the largest absolute value."""
    if expected.size == 0:
        return 0.0
    wide = expected.astype(np.float64)
    difference = np.abs(actual.astype(np.float64) - wide).max()
    scale = np.abs(wide).max()
    return float(difference / scale) if scale > 0 else float(difference)


def largest_error(actual: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> float:
    """Return the largest error of all outputs, each relative to its own scale; NaN if one is."""
    errors = [error_relative_to_scale(actual[name], expected[name]) for name in expected]
    return float(np.max(errors))


def mismatch(
    actual: np.ndarray, expected: np.ndarray, rtol: float = 1e-3, atol: float = 1e-7
) -> str | None:
    """Say how two arrays differ, or return None if they do not.

    Element types and shapes must be equal, elements close; NaN equals NaN.
    Half precision may differ by two units in the last place: each intermediate
    result that one side rounds and the other does not makes a difference. ONNX's
    tests ask for a thousandth, which is one unit of f16 and an eighth of bf16's.
    """
    if actual.dtype != expected.dtype:
        return f"expects element type {expected.dtype}, but got {actual.dtype}"
    if actual.shape != expected.shape:
        return f"expects shape {list(expected.shape)}, but got {list(actual.shape)}"
    if expected.dtype.kind in "biu":
        same = actual == expected
    else:
        rtol = max(rtol, 2 * float(ml_dtypes.finfo(expected.dtype).eps))
        left, right = actual.astype(np.float64), expected.astype(np.float64)
        same = np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=True)
    if same.all():
        return None
    where = tuple(int(i) for i in np.argwhere(~same)[0])
    count = int((~same).sum())
    return (
        f"{count} of {same.size} elements differ, the first at {list(where)}: "
        f"expects {expected[where]}, but got {actual[where]}"
    )
