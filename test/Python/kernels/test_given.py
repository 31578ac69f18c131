"""Statements on data: a schedule relies on them, and a program checks them before it runs."""

import re
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from espalier.compiler import Options
from espalier.errors import CompileError, EspalierError
from espalier.schedules import Schedule, ScheduleError

NO_CACHE = Options(cache=None)

# Nodes of a tree, level by level: y[node] = x[node] + y[left[node]] + y[right[node]].
TREE = """
#node = affine_map<(l, n)[N, L] -> (n)>
#begin = affine_map<(l, n)[N, L] -> (l)>
#end = affine_map<(l, n)[N, L] -> (l + 1)>
#all = affine_set<(l, n)[N, L] : (l >= 0, L - 1 - l >= 0, n >= 0, N - 1 - n >= 0)>
#level = affine_set<(l, n)[N, L, b, e] : (n - b >= 0, e - 1 - n >= 0)>
poly.kernel @tree(
    %levels: memref<?xi32> {espalier.name = "levels", poly.monotonic,
        poly.shape = affine_map<()[N, L] -> (L + 1)>,
        poly.bounded_by = affine_map<()[N, L] -> (N + 1)>},
    %child: memref<?xi32> {espalier.name = "child",
        poly.shape = affine_map<()[N, L] -> (N)>,
        poly.bounded_by = affine_map<()[N, L] -> (N)>},
    %x: memref<?xf32> {espalier.name = "x", poly.shape = affine_map<()[N, L] -> (N)>},
    %y: memref<?xf32> {espalier.name = "y", poly.shape = affine_map<()[N, L] -> (N)>},
    %N: index {espalier.name = "N"}, %L: index {espalier.name = "L"}) {
  %s = poly.array(%N) : memref<?xf32>
  poly.given @below dims ["l", "n"] domain [#all] where #level
      reads(%levels[#begin], %levels[#end], %child[#node]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>)
      holds affine_set<(l, n)[N, L, b, e, c] : (b - 1 - c >= 0)>
  poly.compute @take dims ["l", "n"] domain [#all] where #level
      reads(%levels[#begin], %levels[#end], %child[#node],
            %y[affine_map<(l, n)[N, L, b, e, c] -> (c)>]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%s[#node] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %c: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @add dims ["l", "n"] domain [#all] where #level
      reads(%levels[#begin], %levels[#end], %x[#node], %s[#node]
            : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#node] : memref<?xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32, %w: f32):
    %r = arith.addf %v, %w : f32
    poly.yield %r : f32
  }
}
"""
WITHOUT = re.sub(
    r"  poly\.given.*?\n  poly\.compute @take", "  poly.compute @take", TREE, flags=re.S
)

Int = npt.NDArray[np.int32]


def make_tree(random: np.random.Generator) -> tuple[Int, Int]:
    """Levels of random widths over leaves; and a child of each node, in a level before."""
    widths = random.integers(0, 6, size=random.integers(1, 6))
    leaves = int(random.integers(1, 4))
    levels = (leaves + np.concatenate([[0], np.cumsum(widths)])).astype(np.int32)
    child = np.zeros(levels[-1], np.int32)
    for begin, end in pairwise(levels):
        child[begin:end] = random.integers(0, begin, size=end - begin)
    return levels, child


def test_schedules_that_rely_on_it() -> None:
    s = Schedule(TREE)
    s.fuse("take", "add", 1)  # A node at a time: children are in levels before.
    s.parallelize("take", "n")
    s.fold_storage("take", 0, 1)  # Of what is taken, one number for each thread.
    program = s.compile(NO_CACHE)
    program.set_num_threads(2)
    random = np.random.default_rng(1)
    for _ in range(50):
        levels, child = make_tree(random)
        n = len(child)
        x = random.standard_normal(n).astype(np.float32)
        y = random.standard_normal(n).astype(np.float32)
        expected = y.copy()
        for node in range(levels[0], n):
            expected[node] = x[node] + expected[child[node]]
        program.bind(levels=levels, child=child, x=x, y=y, N=n, L=len(levels) - 1)()
        np.testing.assert_array_equal(y, expected)


def test_nothing_is_believed() -> None:
    program = Schedule(TREE).compile(NO_CACHE)
    levels = np.array([1, 3, 4], np.int32)
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    for child in [[0, 0, 0, 3], [0, 0, 1, 2]]:
        call = program.bind(levels=levels, child=np.array(child, np.int32), x=x, y=y, N=4, L=2)
        with pytest.raises(
            EspalierError,
            match=r"expects @below of @tree to hold for its data, but got l = \d, n = \d, "
            r"levels\[l\] = \d, levels\[l \+ 1\] = \d, child\[n\] = \d",
        ):
            call()
        assert not y.any()
    with pytest.raises(ScheduleError, match=r"anti dependence from @take\(0, 1\) to @add\(0, 0\)"):
        Schedule(WITHOUT).fuse("take", "add", 1)
    with pytest.raises(ScheduleError, match=r"anti dependence from @take\(0, 1\) to @add\(0, 0\)"):
        Schedule(TREE.replace("b - 1 - c >= 0", "b - c >= 0")).fuse("take", "add", 1)


def test_statements_that_nobody_can_check() -> None:
    shape = """poly.shape = affine_map<()[N, L] -> (N)>,
        poly.bounded"""
    for old, new, message in [
        ("(L + 1)>,", "(L)>,", "inside its extent"),
        (shape, "poly.bounded", "expects the extents of 'child'"),
    ]:
        assert old in TREE
        with pytest.raises(CompileError, match=message):
            Schedule(TREE.replace(old, new)).compile(NO_CACHE)


GATHER = """
#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
poly.kernel @gather(
    %index: memref<?xi64> {espalier.name = "a%b", poly.shape = #n},
    %x: memref<?xf32> {espalier.name = "x", poly.shape = #n},
    %y: memref<?xf32> {espalier.name = "y", poly.shape = #n}, %N: index {espalier.name = "N"}) {
  poly.given @inside dims ["i"] domain [#all] reads(%index[#i] : memref<?xi64>)
      holds affine_set<(i)[N, c] : (c >= 0, 4 * N - 4 - c * 4 >= 0)>
  poly.compute @take dims ["i"] domain [#all]
      reads(%index[#i], %x[affine_map<(i)[N, c] -> (c)>] : memref<?xi64>, memref<?xf32>)
      writes(%y[#i] : memref<?xf32>) {
  ^bb0(%c: i64, %v: f32):
    poly.yield %v : f32
  }
}
""".replace("#n", "affine_map<()[N] -> (N)>")


def test_values_that_do_not_fit() -> None:
    program = Schedule(GATHER).compile(NO_CACHE)

    def run(value: int) -> None:
        index = np.array([0, value])
        x, y = np.ones(2, np.float32), np.zeros(2, np.float32)
        program.bind(**{"a%b": index}, x=x, y=y, N=2)()
        assert y.all()

    run(1)
    for value in [2, -1, 2**31 - 1, -(2**31)]:
        with pytest.raises(EspalierError, match=rf"got i = 1, a%b\[i\] = {value}"):
            run(value)
    for value in [2**31, 2**61, 2**61 + 2**40, 2**62, 2**63 - 1, -(2**31) - 1, -(2**62), -(2**63)]:
        with pytest.raises(EspalierError, match=rf"to less than 2\^31, but got {value}"):
            run(value)
