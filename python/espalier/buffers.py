"""Arrays in the form that the extension takes: element type, shape, bytes."""

from collections.abc import Sequence

import numpy as np

from espalier.dtypes import RUNTIME_DTYPES, RUNTIME_NAMES
from espalier.errors import EspalierError

Buffer = tuple[str, list[int], np.ndarray]


def to_buffer(array: np.ndarray) -> Buffer:
    """Return an array's type, shape and bytes.

    What is contiguous and of the machine's byte order is not copied.
    """
    native = array.dtype.newbyteorder("=")
    if native not in RUNTIME_NAMES:
        raise EspalierError(
            f"expects an element type out of {sorted(map(str, RUNTIME_NAMES))}, "
            f"but got {array.dtype}"
        )
    flat = np.ascontiguousarray(array, native).reshape(-1)
    return RUNTIME_NAMES[native], list(array.shape), flat.view(np.uint8)


def from_buffer(buffer: tuple[str, Sequence[int], bytes]) -> np.ndarray:
    """Return bytes as an array that can be written to."""
    dtype, shape, data = buffer
    return np.frombuffer(bytearray(data), RUNTIME_DTYPES[dtype]).reshape(shape)
