"""Sums over the fibers of sparse tensors: lists of lists, some of which are empty."""

import pathlib
import sys

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import f32, f64, i32, i64, kernel, label
from espalier.schedules import Schedule

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Benchmark" / "sparse"))

from sparse_kernels import FIBERS, STARTS, e, f, m, mttkrp, n, w

NO_CACHE = Options(cache=None)


def fibers(extents, density, seed):
    """Return a tensor of small numbers, some of whose rows and fibers have no entries."""
    random = np.random.default_rng(seed)
    dense = random.integers(1, 5, extents) * (random.random(extents) < density)
    dense[::3] = 0
    kept = random.random(extents[:2]) < 0.7
    starts = np.append(0, np.cumsum(kept.sum(1))).astype(np.int32)
    row = np.nonzero(kept)[1].astype(np.int32)
    ends = np.append(0, np.cumsum(np.count_nonzero(dense[kept], axis=1))).astype(np.int32)
    column = np.nonzero(dense[kept])[1].astype(np.int32)
    value = dense[kept][dense[kept] != 0].astype(np.float32)
    return (dense * kept[:, :, None]).astype(np.float32), (starts, row, ends, column, value)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_fibers(threads):
    """The sums of a row wait in registers for the next fiber."""
    script = str(Schedule.default(mttkrp))
    assert 'own [["k"], ["k", "p", "j"]]' in script
    assert "own_vectors [1, 4]" in script
    program = mttkrp.compile(NO_CACHE)
    program.set_num_threads(threads)
    random = np.random.default_rng(3)
    for extents in [(1, 1, 1), (4, 3, 2), (7, 5, 9), (20, 9, 40)]:
        for width in (1, 3, 16, 17, 32, 63, 64, 70, 130):
            for density in (0.0, 0.1, 0.5):
                dense, lists = fibers(extents, density, width)
                x, z = (random.integers(0, 4, (k, width)).astype(np.float32) for k in extents[1:])
                y = np.full((extents[0], width), 7, np.float32)
                program(*lists, x, z, y)
                expected = np.einsum("ijk,jw,kw->iw", dense, x, z)
                np.testing.assert_array_equal(y, expected)


@kernel
def add_fibers(
    starts: FIBERS, ends: i32[f + 1].with_values(bounded_by=e + 1, monotonic=True),
    value: f32[e], y: f32[n, w], z: f32[n],
) -> None:  # fmt: skip
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            for j in range(ends[p], ends[p + 1]):
                for k in range(w):
                    label("wide")
                    y[i, k] += value[j]
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            for j in range(ends[p], ends[p + 1]):
                label("one")
                z[i] += value[j]


def test_rows_without_entries_keep_what_they_have():
    program = add_fibers.compile(NO_CACHE)
    for rows, width in [(1, 1), (9, 20), (30, 70)]:
        dense, (starts, _, ends, _, value) = fibers((rows, 6, 8), 0.2, rows)
        y = np.arange(rows * width, dtype=np.float32).reshape(rows, width)
        z = np.arange(rows, dtype=np.float32)
        sums = dense.sum((1, 2))
        expected = y + sums[:, None], z + sums
        program(starts, ends, value, y, z, f=len(ends) - 1)
        np.testing.assert_array_equal(y, expected[0])
        np.testing.assert_array_equal(z, expected[1])


@kernel
def look_up(
    starts: STARTS, column: i32[e].with_values(bounded_by=m),
    place: i64[m].with_values(bounded_by=m), v: f32[e], x: f32[m], y: f32[n],
    p: f64[m], q: f64[n], r: i32[m], t: i32[n],
) -> None:  # fmt: skip
    for i in range(n):
        for j in range(starts[i], starts[i + 1]):
            label("one")
            y[i] += v[j] * x[column[j]]
    for i in range(n):
        for j in range(starts[i], starts[i + 1]):
            label("double")
            q[i] += p[place[column[j]]]
    for i in range(n):
        for j in range(starts[i], starts[i + 1]):
            label("whole")
            t[i] += r[column[j]] * i32(j)


@pytest.mark.parametrize("threads", [1, 2])
def test_entries_of_rows_of_all_lengths(threads):
    """Whole vectors of entries, those that are left, and rows that have none."""
    program = look_up.compile(NO_CACHE)
    program.set_num_threads(threads)
    random = np.random.default_rng(5)
    columns, lengths = 23, np.r_[np.arange(41), 0, 100, 0, 7, 8, 9]
    starts = np.append(0, np.cumsum(lengths)).astype(np.int32)
    entries, rows = starts[-1], len(lengths)
    column = random.integers(0, columns, entries).astype(np.int32)
    place = random.permutation(columns)
    v, x = (random.integers(0, 9, k).astype(np.float32) for k in (entries, columns))
    p, r = random.integers(0, 9, columns).astype(np.float64), np.arange(columns, dtype=np.int32)
    y, q, t = np.ones(rows, np.float32), np.ones(rows), np.ones(rows, np.int32)
    program(starts, column, place, v, x, y, p, q, r, t)
    node = np.repeat(np.arange(rows), lengths)
    for result, terms in (
        (y, v * x[column]), (q, p[place[column]]), (t, r[column] * np.arange(entries)),
    ):  # fmt: skip
        np.testing.assert_array_equal(result, 1 + np.bincount(node, terms, rows))
