"""Resampling in NumPy, as ONNX defines it."""

import numpy as np


def _positions(count, extent, scale, mode):
    """Return where in the operand each element of the result lies.

    A given scale is one of single precision, and so are quotients by it.
    """
    i = np.arange(count)
    if mode == "align_corners":
        size = count if scale is None else extent * scale
        return i * (extent - 1) / (size - 1) if size > 1 else i * 0.0

    def unscale(position):
        if scale is None:
            return position * extent / count
        return (position.astype(np.float32) / np.float32(scale)).astype(np.float64)

    if mode == "asymmetric":
        return unscale(i)
    if mode == "pytorch_half_pixel" and count == 1:
        return i * 0.0
    shift = 0
    if mode == "half_pixel_symmetric" and scale is not None:
        shift = extent / 2 * (1 - count / (scale * extent))
    return shift + unscale(i + 0.5) - 0.5


def _weights(position, extent, mode, nearest, a, exclude):
    """Return the matrix that resamples one dimension."""
    matrix = np.zeros((len(position), extent))
    for row, p in enumerate(position):
        if mode == "nearest":
            near = {
                "floor": np.floor(p),
                "ceil": np.ceil(p),
                "round_prefer_floor": np.ceil(p - 0.5),
                "round_prefer_ceil": np.floor(p + 0.5),
            }[nearest]
            taps = [(near, 1.0)]
        elif mode == "linear":
            taps = [(np.floor(p), 1 - (p - np.floor(p))), (np.floor(p) + 1, p - np.floor(p))]
        else:
            t = abs(np.floor(p) + np.arange(-1, 3) - p)
            near, far = (
                ((a + 2) * t - (a + 3)) * t * t + 1,
                ((a * t - 5 * a) * t + 8 * a) * t - 4 * a,
            )
            taps = list(
                zip(np.floor(p) + np.arange(-1, 3), np.where(t <= 1, near, far), strict=True)
            )
        if exclude:
            taps = [(k, w) for k, w in taps if 0 <= k < extent]
            total = sum(w for _, w in taps)
            taps = [(k, w / total) for k, w in taps]
        for k, w in taps:
            matrix[row, int(np.clip(k, 0, extent - 1))] += w
    return matrix


def resize(
    x,
    sizes,
    scales,
    mode,
    coordinate_mode,
    nearest_mode,
    cubic_coefficient,
    exclude_outside,
):
    """Resample each dimension by a matrix."""
    result = x.astype(np.float64)
    factors = [float(f) for f in scales.removeprefix("array<f64").strip(": >").split(",") if f]
    for axis, count in enumerate(sizes):
        extent = x.shape[axis]
        scale = factors[axis] if factors else None
        if count != extent or scale not in (None, 1):
            position = _positions(count, extent, scale, coordinate_mode)
            matrix = _weights(
                position, extent, mode, nearest_mode, cubic_coefficient, exclude_outside
            )
            result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
    return result.astype(x.dtype)
