"""Loops between values of arrays: rows of sparse matrices, and ragged batches."""

import itertools
import pathlib
import sys

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.kernels import f32, i32, kernel, label, sizes
from espalier.schedules import Schedule

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Benchmark" / "sparse"))

from sparse_kernels import STARTS, e, m, n, sddmm, spmm, spmv

NO_CACHE = Options(cache=None)
h, w = sizes("h w")
PITCH = 12
LEVELS = i32[n + 1].with_values(bounded_by=m + 1, monotonic=True)


@kernel
def spconv(
    starts: STARTS, offset: i32[e].with_values(bounded_by=m), value: f32[e], x: f32[m + 200],
    y: f32[n, h, w],
) -> None:  # fmt: skip
    assert h <= 10
    assert w <= 10
    for i in range(n):
        for r in range(h):
            for c in range(w):
                label("init")
                y[i, r, c] = 0.0
        for j in range(starts[i], starts[i + 1]):
            for r in range(h):
                for c in range(w):
                    label("acc")
                    y[i, r, c] += value[j] * x[offset[j] + PITCH * r + c]


def csr(rows, columns, seed, density=0.3):
    """A matrix with empty rows, dense and as its three arrays."""
    random = np.random.default_rng(seed)
    dense = random.integers(1, 9, (rows, columns)) * (random.random((rows, columns)) < density)
    dense[::3] = 0
    at = np.nonzero(dense)
    starts = np.zeros(rows + 1, np.int32)
    np.cumsum(np.count_nonzero(dense, axis=1), out=starts[1:])
    value = dense[at].astype(np.float32)
    return dense.astype(np.float32), starts, at[1].astype(np.int32), value


def check_spmv(program):
    for rows, columns, density in [(1, 1, 0.3), (7, 5, 0.3), (40, 33, 0.3), (11, 60, 1.0)]:
        dense, starts, column, value = csr(rows, columns, rows, density)
        x = np.arange(columns, dtype=np.float32)
        y = np.full(rows, 7, np.float32)
        program(starts, column, value, x, y)
        np.testing.assert_array_equal(y, dense @ x)


def check_spmm(program):
    for rows, columns, width in [(1, 1, 1), (7, 5, 3), (20, 33, 17), (9, 8, 32), (5, 40, 16)]:
        dense, starts, column, value = csr(rows, columns, rows, 0.9 if columns == 40 else 0.3)
        x = np.random.default_rng(1).integers(0, 9, (columns, width)).astype(np.float32)
        y = np.full((rows, width), 7, np.float32)
        program(starts, column, value, x, y)
        np.testing.assert_array_equal(y, dense @ x)


def check_spconv(program):
    for rows, columns, height, width in [(2, 30, 1, 1), (6, 60, 3, 5), (5, 40, 10, 10)]:
        _, starts, offset, value = csr(rows, columns, rows)
        x = np.random.default_rng(1).integers(0, 9, columns + 200).astype(np.float32)
        y = np.full((rows, height, width), 7, np.float32)
        program(starts, offset, value, x, y, m=columns)
        expected = np.zeros_like(y)
        place = PITCH * np.arange(height)[:, None] + np.arange(width)
        for i in range(rows):
            for j in range(starts[i], starts[i + 1]):
                expected[i] += value[j] * x[offset[j] + place]
        np.testing.assert_array_equal(y, expected)


def test_default_schedules():
    check_spmv(spmv.compile(NO_CACHE))
    check_spmm(spmm.compile(NO_CACHE))
    check_spconv(spconv.compile(NO_CACHE))


@pytest.mark.parametrize("threads", [1, 2])
def test_products_at_entries(threads):
    """No entry is in two rows, so threads share these."""
    assert "parallel" in Schedule.default(sddmm).loops()
    program = sddmm.compile(NO_CACHE)
    program.set_num_threads(threads)
    for rows, columns, width in [(1, 1, 1), (7, 5, 3), (40, 33, 20)]:
        dense, starts, column, value = csr(rows, columns, rows)
        x, z = (np.ones((k, width), np.float32) for k in (rows, columns))
        x[:, 0], z[-1] = range(rows), 3
        y = np.full(len(value), 7, np.float32)
        program(starts, column, value, x, z, y)
        np.testing.assert_array_equal(y, (dense * (x @ z.T))[dense != 0])


def test_spmv_in_lanes():
    s = Schedule(spmv)
    s.fission("init", "i")
    s.vectorize("acc", "j", 8)
    s.split("acc", "i", [4])
    s.parallelize("acc", "i.0")
    check_spmv(s.compile(NO_CACHE))


@pytest.mark.parametrize("width", [4, 16])
@pytest.mark.parametrize("peel_tail", [False, True])
def test_spmv_in_lanes_of_one_nest(width, peel_tail):
    s = Schedule(spmv)
    s.vectorize("acc", "j", width, peel_tail=peel_tail)
    check_spmv(s.compile(NO_CACHE))


@pytest.mark.parametrize("width", [4, 16])
def test_spmv_in_lanes_from_the_start_of_a_row(width):
    s = Schedule(spmv)
    s.fission("init", "i")
    s.rebase("acc", "j")
    s.vectorize("acc", "j", width)
    s.parallelize("acc", "i")
    s.prefetch("acc", 5, "j.0", 2, 64)
    check_spmv(s.compile(NO_CACHE))


def test_spmv_unrolled_from_the_start_of_a_row():
    s = Schedule(spmv)
    s.rebase("acc", "j")
    s.split("acc", "j", [4])
    s.separate_full_tiles("acc", ["j.0"])
    s.unroll("acc", "j.1")
    check_spmv(s.compile(NO_CACHE))


def test_spmv_fetches_through_the_columns():
    s = Schedule(spmv)
    s.fission("init", "i")
    s.prefetch("acc", 5, "j", 8, 64)
    check_spmv(s.compile(NO_CACHE))


def test_spmv_unrolled():
    s = Schedule(spmv)
    s.fission("init", "i")
    s.split("acc", "j", [4])
    s.unroll("acc", "j.1")
    s.parallelize("acc", "i")
    s.prefetch("acc", 3, "j.0", 4, 64)
    check_spmv(s.compile(NO_CACHE))


def test_spmm_with_the_result_in_registers():
    s = Schedule(spmm)
    s.tile("acc", ["k"], [[16]])
    s.interchange("acc", ["k.0", "j"])
    s.cache_write("acc", 0, "k.0")
    s.vectorize("acc", "k.1", 16)
    s.parallelize("acc", "i")
    check_spmm(s.compile(NO_CACHE))


def test_spmm_with_a_row_in_registers():
    s = Schedule(spmm)
    s.interchange("acc", ["k", "j"])
    s.register_block("acc", ["k"], [16], 8)
    s.prefetch("acc", 5, "j", 2, 64)
    check_spmm(s.compile(NO_CACHE))


def test_spmm_in_lanes_of_a_row():
    s = Schedule(spmm)
    s.interchange("acc", ["k", "j"])
    s.vectorize("acc", "j", 8)
    check_spmm(s.compile(NO_CACHE))


def test_spmm_in_tiles_from_the_start_of_a_row():
    s = Schedule(spmm)
    s.rebase("acc", "j")
    s.tile("acc", ["j", "k"], [[4, 16]])
    s.vectorize("acc", "k.1", 16)
    s.parallelize("acc", "i")
    check_spmm(s.compile(NO_CACHE))


def test_spconv_unrolled_and_jammed():
    s = Schedule(spconv)
    s.fission("init", "i")
    s.unroll_and_jam("acc", "r", 2)
    s.vectorize("acc", "c", 8)
    s.parallelize("acc", "i")
    check_spconv(s.compile(NO_CACHE))


@kernel
def accumulate(
    levels: LEVELS, child: i32[m].with_values(bounded_by=m), x: f32[m, h], y: f32[m, h]
) -> None:
    """Sums along chains of nodes: a node of a level reads one of those before."""
    for level in range(n):
        for v in range(levels[level], levels[level + 1]):
            for c in range(h):
                label("step")
                y[v, c] = x[v, c] + y[child[v], c]


def run_levels(program):
    random = np.random.default_rng(1)
    for widths, columns in [([1, 4, 2, 0, 9, 1], 5), ([3], 1), ([7, 7, 7], 16)]:
        levels = np.concatenate(([0], np.cumsum(widths))).astype(np.int32)
        nodes = int(levels[-1])
        child = np.zeros(nodes, np.int32)
        for begin, end in itertools.pairwise(levels):
            child[begin:end] = random.integers(max(begin, 1), size=end - begin)
        x = random.integers(0, 9, (nodes, columns)).astype(np.float32)
        expected = np.zeros_like(x)
        for node in range(nodes):
            expected[node] = x[node] + expected[child[node]]
        y = np.zeros_like(x)
        program(levels, child, x, y, n=len(widths))
        np.testing.assert_array_equal(y, expected)


def test_tiles_start_where_a_level_does():
    s = Schedule(accumulate)
    s.rebase("step", "v")
    s.tile("step", ["v", "c"], [[4, 8]])
    s.vectorize("step", "c.1", 8)
    s.unroll("step", "v.1")
    run_levels(s.compile(NO_CACHE))


def test_two_loops_with_open_extents_are_unrolled():
    """isl does not find the full tiles of both: they are not told apart then."""
    s = Schedule(accumulate)
    s.unroll("step", "v", 3)
    s.unroll("step", "level", 3)
    run_levels(s.compile(NO_CACHE))


def test_rows_jammed_reversed_and_unrolled():
    s = Schedule(spmm)
    s.unroll_and_jam("acc", "k", 4)
    s.reverse("acc", "k.1")
    s.unroll("acc", "j", 3)
    check_spmm(s.compile(NO_CACHE))


def test_malformed_matrices_are_refused():
    program = spmv.compile(NO_CACHE)
    _, starts, column, value = csr(7, 5, 1)
    x, y = np.zeros(5, np.float32), np.zeros(7, np.float32)
    edges = len(value)

    def expect(message, starts=starts, column=column):
        with pytest.raises(EspalierError, match=message):
            program(starts, column, value, x, y)

    decreasing = starts.copy()
    decreasing[3] = decreasing[4] + 1
    expect("input 'starts' expects values that do not decrease, but got", starts=decreasing)
    beyond = starts.copy()
    beyond[-1] = edges + 1
    expect(f"input 'starts' expects values from 0 to less than {edges + 1}", starts=beyond)
    expect("input 'starts' expects values from 0", starts=starts - 1)
    expect("expects", starts=starts[:-1].copy())
    outside = column.copy()
    outside[2] = 5
    expect("input 'column' expects values from 0 to less than 5, but got 5", column=outside)


SPCONV = """
#image = affine_set<(n, y, x)[N, E, H, W, P, M, C] :
    (n >= 0, N - 1 - n >= 0, y >= 0, H - 1 - y >= 0, x >= 0, W - 1 - x >= 0)>
#taps = affine_set<(n, j, y, x)[N, E, H, W, P, M, C] :
    (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0, y >= 0, H - 1 - y >= 0,
     x >= 0, W - 1 - x >= 0)>
#row = affine_set<(n, j, y, x)[N, E, H, W, P, M, C, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j, y, x)[N, E, H, W, P, M, C] -> (n)>
#next = affine_map<(n, j, y, x)[N, E, H, W, P, M, C] -> (n + 1)>
#j = affine_map<(n, j, y, x)[N, E, H, W, P, M, C] -> (j)>
#at = affine_map<(n, j, y, x)[N, E, H, W, P, M, C, b, e, c, v] -> (c + y * P + x)>
#out = affine_map<(n, j, y, x)[N, E, H, W, P, M, C] -> (n, y, x)>
poly.kernel @spconv(
    %starts: memref<?xi32> {espalier.name = "starts", poly.monotonic,
        poly.shape = affine_map<()[N, E, H, W, P, M, C] -> (N + 1)>,
        poly.bounded_by = affine_map<()[N, E, H, W, P, M, C] -> (E + 1)>},
    %col: memref<?xi32> {espalier.name = "col",
        poly.bounded_by = affine_map<()[N, E, H, W, P, M, C] -> (C)>,
        poly.shape = affine_map<()[N, E, H, W, P, M, C] -> (E)>},
    %val: memref<?xf32> {espalier.name = "val",
        poly.shape = affine_map<()[N, E, H, W, P, M, C] -> (E)>},
    %in: memref<?xf32> {espalier.name = "in",
        poly.shape = affine_map<()[N, E, H, W, P, M, C] -> (M)>},
    %out: memref<?x?x?xf32> {espalier.name = "out",
        poly.shape = affine_map<()[N, E, H, W, P, M, C] -> (N, H, W)>},
    %N: index {espalier.name = "N"}, %E: index {espalier.name = "E"},
    %H: index {espalier.name = "H"}, %W: index {espalier.name = "W"},
    %P: index {espalier.name = "P"}, %M: index {espalier.name = "M"},
    %C: index {espalier.name = "C"}) {
  poly.compute @init dims ["n", "y", "x"] domain [#image] reads()
      writes(%out[affine_map<(n, y, x)[N, E, H, W, P, M, C] -> (n, y, x)>] : memref<?x?x?xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @acc dims ["n", "j", "y", "x"] domain [#taps] where #row
      reads(%starts[#n], %starts[#next], %col[#j], %val[#j], %in[#at], %out[#out]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>,
              memref<?x?x?xf32>)
      writes(%out[#out] : memref<?x?x?xf32>) reduction add {
  ^bb0(%b: i32, %e: i32, %c: i32, %v: f32, %i: f32, %o: f32):
    %product = arith.mulf %v, %i : f32
    %sum = arith.addf %o, %product : f32
    poly.yield %sum : f32
  }
}
"""


def check_spconv_text(program):
    for rows, columns, height, width, pitch in [
        (2, 30, 1, 1, 1),
        (6, 60, 3, 5, 9),
        (5, 40, 7, 16, 20),
    ]:
        _, starts, col, val = csr(rows, columns, rows)
        size = columns + height * pitch + width
        source = np.random.default_rng(1).integers(0, 9, size).astype(np.float32)
        out = np.full((rows, height, width), 7, np.float32)
        arguments = {"starts": starts, "col": col, "val": val, "out": out, "P": pitch}
        program(**arguments, C=columns, **{"in": source})
        expected = np.zeros_like(out)
        place = pitch * np.arange(height)[:, None] + np.arange(width)
        for i in range(rows):
            for j in range(starts[i], starts[i + 1]):
                expected[i] += val[j] * source[col[j] + place]
        np.testing.assert_array_equal(out, expected)
        with pytest.raises(EspalierError, match="with which @acc reads 'in' inside its extent"):
            program(**arguments, C=size + 1, **{"in": source})


def test_text_with_a_pitch_that_is_not_known():
    """What the largest offset reaches has to be inside, as sizes say it."""
    check_spconv_text(Schedule(SPCONV).compile(NO_CACHE))
    s = Schedule(SPCONV)
    s.tile("acc", ["y", "x"], [[2, 16]])
    s.interchange("acc", ["n", "y.0", "x.0", "j", "y.1", "x.1"])
    s.cache_write("acc", 0, "x.0")
    s.unroll("acc", "y.1")
    s.vectorize("acc", "x.1", 16)
    s.parallelize("acc", "n")
    check_spconv_text(s.compile(NO_CACHE))
