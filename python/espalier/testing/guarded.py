"""Arrays beside memory that nobody may touch.

An access beyond the end of such an array, or before its beginning, ends the
process with SIGSEGV, so code under test runs in one of its own
(`espalier.testing.pool`). A page is what memory is protected by: an array that
does not fill its pages can have only one of its ends at such a border, and both
are tried in turn.
"""

import ctypes
import mmap
import os
from collections.abc import Mapping
from typing import Literal

import numpy as np

Side = Literal["before", "after"]
"""The side of an array that nobody may touch."""

SIDES: tuple[Side, Side] = ("before", "after")

PROT_NONE = 0

UNWRITTEN = 0xA5
"""Each byte of a new array, so that an element that nobody wrote shows."""


def _protect(address: int, size: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), PROT_NONE):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def guarded_empty(shape: tuple[int, ...], dtype: np.dtype, side: Side) -> np.ndarray:
    """Return a new array that has memory nobody may touch on one side.

    The first element follows it, or the last one is followed by it, with no byte
    between. The pages at the far ends are out of bounds on either side.
    """
    page = mmap.PAGESIZE
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    inner = max(1, -(-size // page)) * page
    memory = np.frombuffer(mmap.mmap(-1, inner + 2 * page), np.uint8)
    memory[page : page + inner] = UNWRITTEN
    _protect(memory.ctypes.data, page)
    _protect(memory.ctypes.data + page + inner, page)
    begin = page if side == "before" else page + inner - size
    # A slice of no elements would lie at the beginning of `memory`.
    return np.ndarray(shape, dtype, memory, begin)


def guarded(array: np.ndarray, side: Side) -> np.ndarray:
    """Return a copy of an array beside memory nobody may touch."""
    copy = guarded_empty(array.shape, array.dtype, side)
    copy[...] = array
    return copy


def guarded_all(arrays: Mapping[str, np.ndarray], side: Side) -> dict[str, np.ndarray]:
    """Return guarded copies of arrays by name."""
    return {name: guarded(array, side) for name, array in arrays.items()}
