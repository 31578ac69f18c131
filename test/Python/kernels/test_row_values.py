"""What the values of a sparse matrix may be that a kernel is called with."""

import numpy as np
import pytest
from test_rows import NO_CACHE, csr, sddmm, spmm, spmv

from espalier.schedules import Schedule

ROWS, COLUMNS = 9, 7


@pytest.fixture
def matrix():
    """Return a matrix in which each row has its last column twice."""
    _, starts, column, value = csr(ROWS, COLUMNS, 3, density=0.6)
    ends = starts[1:][np.diff(starts) > 1] - 1
    column[ends] = column[ends - 1]
    dense = np.zeros((ROWS, COLUMNS), np.float32)
    np.add.at(dense, (np.repeat(np.arange(ROWS), np.diff(starts)), column), value)
    return dense, starts, column, value


def scheduled():
    """Return the product with a vector, in lanes and on threads."""
    schedule = Schedule(spmv)
    schedule.fission("init", "i")
    schedule.vectorize("acc", "j", 4)
    schedule.parallelize("acc", "i")
    return schedule.compile(NO_CACHE)


def test_columns_that_repeat_are_added_up(matrix):
    """They are elements like others: a kernel says nothing of columns but their bound."""
    dense, starts, column, value = matrix
    x = np.arange(1, COLUMNS + 1, dtype=np.float32)
    for program in (spmv.compile(NO_CACHE), scheduled()):
        y = np.full(ROWS, 7, np.float32)
        program(starts, column, value, x, y)
        np.testing.assert_array_equal(y, dense @ x)
    wide, y = np.stack([x, -x, x + 2], axis=1), np.full((ROWS, 3), 7, np.float32)
    spmm.compile(NO_CACHE)(starts, column, value, wide, y)
    np.testing.assert_array_equal(y, dense @ wide)
    y, left = np.full(len(value), 7, np.float32), np.ones((ROWS, 3), np.float32)
    sddmm.compile(NO_CACHE)(starts, column, value, left, wide, y)
    np.testing.assert_array_equal(y, value * wide.sum(axis=1)[column])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_stays_in_its_row(matrix, bad):
    """Values may be anything, and what is not stored is not multiplied."""
    _, starts, column, value = matrix
    row = int(np.argmax(np.diff(starts)))
    value[starts[row]] = bad
    x = np.ones(COLUMNS, np.float32)
    for program in (spmv.compile(NO_CACHE), scheduled()):
        y = np.zeros(ROWS, np.float32)
        program(starts, column, value, x, y)
        assert np.flatnonzero(~np.isfinite(y)).tolist() == [row]
        x_bad = np.where(np.arange(COLUMNS) == column[starts[row]], np.float32(bad), x)
        program(starts, column, np.ones_like(value), x_bad, y)
        reading = [
            i for i in range(ROWS) if column[starts[row]] in column[starts[i] : starts[i + 1]]
        ]
        assert np.flatnonzero(~np.isfinite(y)).tolist() == reading


@pytest.mark.parametrize(
    "lengths",
    [
        [],
        [0],
        [0, 0, 0],
        [40, 0, 1, 0, 3, 0, 0, 2],
        [12] * 7 + [24],
        [12] * 7 + [23],
        [0, 90, 9, 8],
    ],
)
def test_rows_of_unlike_lengths(lengths):
    """Lanes along rows depend on how long these are on average, and sums on nothing."""
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    random = np.random.default_rng(2)
    column = random.integers(0, COLUMNS, starts[-1], np.int32)
    value = random.integers(1, 9, starts[-1]).astype(np.float32)
    x, y = np.arange(1, COLUMNS + 1, dtype=np.float32), np.full(len(lengths), 7, np.float32)
    expected = np.zeros(len(lengths), np.float32)
    np.add.at(expected, np.repeat(np.arange(len(lengths)), lengths), value * x[column])
    for program in (spmv.compile(NO_CACHE), scheduled()):
        program(starts, column, value, x, y)
        np.testing.assert_array_equal(y, expected)
