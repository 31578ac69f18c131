"""Arrays in the form that the extension takes: element type, shape, bytes."""

from collections.abc import Sequence

import numpy as np

from espalier.dtypes import RUNTIME_DTYPES, RUNTIME_NAMES

Buffer = tuple[str, list[int], np.ndarray]


def to_buffer(array: np.ndarray) -> Buffer:
    """Return an array's type, shape and bytes; a contiguous array is not copied."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return RUNTIME_NAMES[array.dtype], list(array.shape), flat.view(np.uint8)


def from_buffer(buffer: tuple[str, Sequence[int], bytes]) -> np.ndarray:
    """Return bytes as an array that can be written to."""
    dtype, shape, data = buffer
    return np.frombuffer(bytearray(data), RUNTIME_DTYPES[dtype]).reshape(shape)
