"""Arrays beside memory that nobody may touch."""

import ctypes
import mmap
import signal

import numpy as np
import pytest

from espalier.testing.guarded import SIDES, Side, guarded, guarded_all, guarded_empty
from espalier.testing.pool import run_isolated

SHAPES: list[tuple[int, ...]] = [(), (0,), (3,), (2, 5), (4096,), (5000,)]


def touch(where: str) -> str:
    """Read one byte beside a guarded array, and say that nothing happened."""
    side, shape, dtype = where.split(":")
    array = guarded_empty(tuple(map(int, shape.split())), np.dtype(dtype), _side(side))
    offset = -1 if side == "before" else array.nbytes
    return str(ctypes.c_char.from_address(array.ctypes.data + offset).value)


def _side(name: str) -> Side:
    return "before" if name == "before" else "after"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_copy_is_an_ordinary_array(shape: tuple[int, ...], dtype: type, side: Side) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    copy = guarded_all({"x": array}, side)["x"]
    assert all(copy.flags[f] for f in ("C_CONTIGUOUS", "ALIGNED", "WRITEABLE"))
    np.testing.assert_array_equal(copy, array)
    copy[...] = 1


def test_a_new_array_shows_what_nobody_wrote() -> None:
    assert guarded_empty((3,), np.dtype(np.uint8), "after").tolist() == [0xA5] * 3


@pytest.mark.parametrize("side", SIDES)
def test_an_array_of_no_bytes_lies_between_the_borders(side: Side) -> None:
    array = guarded_empty((0,), np.dtype(np.int8), side)
    memory = array.base
    assert isinstance(memory, np.ndarray)
    begin = array.ctypes.data - memory.ctypes.data
    assert begin == (mmap.PAGESIZE if side == "before" else 2 * mmap.PAGESIZE)


def test_the_bytes_beside_it_cannot_be_read() -> None:
    cases = [f"{side}:{n}:{t}" for side in SIDES for n in (0, 3, 4096) for t in ("i1", "f8")]
    outcomes = dict(run_isolated(touch, cases, jobs=1, timeout=60))
    assert outcomes == dict.fromkeys(cases, f"ended with {-signal.SIGSEGV}")


def test_the_memory_goes_with_the_array() -> None:
    for _ in range(30_000):
        guarded(np.zeros(1), "after")
