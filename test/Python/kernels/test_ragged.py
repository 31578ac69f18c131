"""Ragged batches: loops that are as long as data says, and loops around these."""

import numpy as np
import pytest
from test_rows import NO_CACHE, check_spmm, spmm

from espalier.kernels import f32, i32, kernel, label, sizes
from espalier.schedules import Schedule, ScheduleError

h, m, n = sizes("h m n")


@kernel
def normalize(length: i32[n].with_values(bounded_by=m + 1), x: f32[n, m], total: f32[n]) -> None:
    for i in range(n):
        total[i] = 0.0
        for j in range(length[i]):
            total[i] += x[i, j]
        for j in range(length[i]):
            x[i, j] = x[i, j] / total[i]


def test_ragged_batch():
    x = np.arange(1, 29, dtype=np.float32).reshape(4, 7)
    length = np.array([7, 0, 3, 1], np.int32)
    expected = x.copy()
    for i, count in enumerate(length):
        expected[i, :count] /= expected[i, :count].sum() if count else 1
    total = np.zeros(4, np.float32)
    normalize.compile(NO_CACHE)(length, x, total)
    np.testing.assert_allclose(x, expected, rtol=1e-6)


@kernel
def decay(length: i32[n].with_values(bounded_by=m + 1), x: f32[n, m, h], y: f32[n, h]) -> None:
    for i in range(n):
        for t in range(length[i]):
            for c in range(h):
                label("step")
                y[i, c] = y[i, c] * 0.5 + x[i, t, c]


def move_time_outside(how):
    """Time runs as long as the longest sequence; shorter ones are left out by a condition."""
    s = Schedule(decay)
    if how == "jammed":
        s.unroll_and_jam("step", "i", 2)
    else:
        s.interchange("step", ["t", "i"])
    if how == "threads":
        s.parallelize("step", "i")
    elif how == "lanes":
        s.interchange("step", ["c", "i"])
        s.vectorize("step", "i", 4)
    return s.compile(NO_CACHE)


@pytest.mark.parametrize("how", ["plain", "threads", "lanes", "jammed"])
def test_time_outside_a_ragged_batch(how):
    program = move_time_outside(how)
    random = np.random.default_rng(2)
    for lengths, columns in [([3, 0, 5, 1, 2], 4), ([0], 1), ([7] * 9, 3)]:
        length = np.array(lengths, np.int32)
        x = random.integers(0, 9, (len(length), 7, columns)).astype(np.float32)
        x[np.arange(7) >= length[:, None]] = np.nan
        y = np.zeros((len(length), columns), np.float32)
        expected = y.copy()
        for i, count in enumerate(length):
            for t in range(count):
                expected[i] = expected[i] * 0.5 + x[i, t]
        program(length, x, y)
        np.testing.assert_array_equal(y, expected)


def test_time_that_others_wait_for_stays_inside():
    @kernel
    def chain(length: i32[n].with_values(bounded_by=m), y: f32[n, m + 1]) -> None:
        for i in range(1, n):
            for t in range(length[i]):
                label("step")
                y[i, t] = y[i - 1, t + 1] + 1.0

    s = Schedule(chain)
    before = str(s)
    with pytest.raises(ScheduleError, match=r"dependence from @step\(1, 1\) to @step\(2, 0\)"):
        s.interchange("step", ["t", "i"])
    assert str(s) == before


def test_entries_outside_of_rows():
    s = Schedule(spmm)
    s.interchange("acc", ["j", "i"])
    check_spmm(s.compile(NO_CACHE))
