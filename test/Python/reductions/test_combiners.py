"""Reductions to several values at once, by combiners that are proved."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import CompileError
from espalier.schedules import Schedule, ScheduleError

NO_CACHE = Options(cache=None)

# best[i], place[i] = the largest of x[i, :], and where it is.
LARGEST = """
#all = affine_set<(i, k)[M, N] : (i >= 0, M - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#at = affine_map<(i, k)[M, N] -> (i, k)>
#i = affine_map<(i, k)[M, N] -> (i)>
#row = affine_map<()[M, N] -> (M)>
!x = memref<?x?xf32>
!v = memref<?xf32>
!p = memref<?xi32>
poly.kernel @largest(
    %x: !x {espalier.name = "x", poly.shape = affine_map<()[M, N] -> (M, N)>},
    %best: !v {espalier.name = "best", poly.shape = #row},
    %place: !p {espalier.name = "place", poly.shape = #row},
    %M: index {espalier.name = "M"}, %N: index {espalier.name = "N"}) {
  poly.combiner @first COMMUTATIVE neutral [0xFF800000 : f32, 0x7FFFFFFF : i32] {
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    CHOICE
  }
  poly.compute @pick dims ["i", "k"] domain [#all]
      reads(%x[#at], %best[#i], %place[#i] : !x, !v, !p)
      writes(%best[#i], %place[#i] : !v, !p) combiner @first {
  ^bb0(%w: f32, %v: f32, %i: i32):
    %k = poly.index 1
    %j = arith.index_cast %k : index to i32
    CHOICE
  }
}
"""
STRICT = """%second = arith.cmpf ogt, %w, %v : f32
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32"""
TIES = """%more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1""" + STRICT.removeprefix(
    "%second = arith.cmpf ogt, %w, %v : f32"
)
FIRST = LARGEST.replace("CHOICE", TIES).replace("COMMUTATIVE", "commutative")
ORDERED = LARGEST.replace("CHOICE", STRICT).replace("COMMUTATIVE ", "")

# top[i], total[i] = the largest of x[i, :], and the sum of exp(x[i, k] - top[i]).
SUM_EXP = """
#all = affine_set<(i, k)[M, N] : (i >= 0, M - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#at = affine_map<(i, k)[M, N] -> (i, k)>
#i = affine_map<(i, k)[M, N] -> (i)>
#row = affine_map<()[M, N] -> (M)>
!x = memref<?x?xf32>
!v = memref<?xf32>
poly.kernel @sum_exp(
    %x: !x {espalier.name = "x", poly.shape = affine_map<()[M, N] -> (M, N)>},
    %top: !v {espalier.name = "top", poly.shape = #row},
    %total: !v {espalier.name = "total", poly.shape = #row},
    %M: index {espalier.name = "M"}, %N: index {espalier.name = "N"}) {
  poly.combiner @join commutative neutral [0xFF800000 : f32, 0.0 : f32] {
  ^bb0(%m: f32, %s: f32, %n: f32, %t: f32):
    %one = arith.constant 1.0 : f32
    %most = arith.maximumf %m, %n : f32
    %dm = arith.subf %m, %most : f32
    %em = math.exp %dm : f32
    %is_m = arith.cmpf oeq, %m, %most : f32
    %fm = arith.select %is_m, %one, %em : f32
    %dn = arith.subf %n, %most : f32
    %en = math.exp %dn : f32
    %is_n = arith.cmpf oeq, %n, %most : f32
    %fn = arith.select %is_n, %one, %en : f32
    %a = arith.mulf %s, %fm : f32
    %b = arith.mulf %t, %fn : f32
    %sum = arith.addf %a, %b : f32
    poly.yield %most, %sum : f32, f32
  }
  poly.compute @add dims ["i", "k"] domain [#all]
      reads(%x[#at], %top[#i], %total[#i] : !x, !v, !v)
      writes(%top[#i], %total[#i] : !v, !v) combiner @join {
  ^bb0(%n: f32, %m: f32, %s: f32):
    %most = arith.maximumf %m, %n : f32
    %dm = arith.subf %m, %most : f32
    %em = math.exp %dm : f32
    %dn = arith.subf %n, %most : f32
    %en = math.exp %dn : f32
    %a = arith.mulf %s, %em : f32
    %sum = arith.addf %a, %en : f32
    poly.yield %most, %sum : f32, f32
  }
}
"""


def in_lanes(text: str, name: str) -> Schedule:
    """Eight partial results of a row, which are lanes."""
    s = Schedule(text)
    s.split(name, "k", [8])
    s.rfactor(name, "k.1", placement="register")
    s.vectorize(name, "k.1", 8)
    return s


def in_parts(text: str, name: str) -> Schedule:
    """A partial result for 16 elements of a row; two threads have parts in turns."""
    s = Schedule(text)
    s.split(name, "k", [16], ["part", "k"])
    s.rfactor(name, "part")
    s.parallelize(name, "part")
    return s


def as_tree(text: str, name: str) -> Schedule:
    """Parts of parts: what combines is a reduction as well."""
    s = in_parts(text, name)
    s.split(f"{name}_combine", "part", [4], ["group", "part"])
    s.rfactor(f"{name}_combine", "group")
    s.parallelize(f"{name}_combine", "group")
    return s


def in_order_of_columns(text: str, name: str) -> Schedule:
    s = Schedule(text)
    s.interchange(name, ["k", "i"])
    s.reverse(name, "k")
    s.vectorize(name, "i", 8)
    return s


def plain(text: str, name: str) -> Schedule:
    return Schedule(text)


def default(text: str, name: str) -> Schedule:
    return Schedule.default(text)


SCHEDULES = [plain, default, in_lanes, in_parts, as_tree, in_order_of_columns]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_largest_and_its_place(schedule) -> None:
    """Of equal ones the first, whatever the order in which they are met."""
    program = schedule(FIRST, "pick").compile(NO_CACHE)
    program.set_num_threads(2)
    random = np.random.default_rng(1)
    for rows, columns in [(1, 1), (3, 100), (7, 16), (5, 37), (4, 0), (0, 4), (2, 257)]:
        x = random.integers(0, 5, (rows, columns)).astype(np.float32)
        x[random.random(x.shape) < 0.2] = -np.inf
        best = np.full(rows, -np.inf, np.float32)
        place = np.full(rows, np.iinfo(np.int32).max, np.int32)
        program.bind(x=x, best=best, place=place, M=rows, N=columns)()
        if columns > 0:
            np.testing.assert_array_equal(best, x.max(1))
            np.testing.assert_array_equal(place, x.argmax(1))
        else:
            assert (place == np.iinfo(np.int32).max).all()


@pytest.mark.parametrize("schedule", SCHEDULES[:-1])
def test_logarithm_of_a_sum(schedule) -> None:
    program = schedule(SUM_EXP, "add").compile(NO_CACHE)
    program.set_num_threads(2)
    random = np.random.default_rng(2)
    for rows, columns in [(1, 1), (3, 100), (7, 16), (5, 37), (2, 257)]:
        x = (50 * random.standard_normal((rows, columns))).astype(np.float32)
        top, total = np.full(rows, -np.inf, np.float32), np.zeros(rows, np.float32)
        program.bind(x=x, top=top, total=total, M=rows, N=columns)()
        expected = np.logaddexp.reduce(x.astype(np.float64), axis=1)
        np.testing.assert_allclose(top + np.log(total), expected, 1e-5)


def test_what_has_an_order_keeps_it() -> None:
    """The first that is met wins: parts may be apart, but neither their order changes nor lanes."""
    program = in_parts(ORDERED, "pick").compile(NO_CACHE)
    program.set_num_threads(2)
    x = np.random.default_rng(3).integers(0, 5, (6, 100)).astype(np.float32)
    best, place = np.full(6, -np.inf, np.float32), np.full(6, -1, np.int32)
    program.bind(x=x, best=best, place=place, M=6, N=100)()
    np.testing.assert_array_equal(place, x.argmax(1))
    s = Schedule(ORDERED)
    s.split("pick", "k", [8])
    with pytest.raises(ScheduleError, match="order stays as @first is not 'commutative'"):
        s.rfactor("pick", "k.1")
    with pytest.raises(ScheduleError, match="expects to keep the flow dependence"):
        s.reverse("pick", "k.0")


def test_threads_do_not_share_elements() -> None:
    s = Schedule(FIRST)
    with pytest.raises(ScheduleError, match='the parallel loop "k" to carry no'):
        s.parallelize("pick", "k")
    with pytest.raises(ScheduleError, match=r'"k.1" to carry no'):
        s.vectorize("pick", "k", 8)
    with pytest.raises(ScheduleError, match="each has all of its updates in one iteration"):
        s.rfactor("pick", "i")


def test_what_is_not_proved_is_refused() -> None:
    claimed = LARGEST.replace("CHOICE", STRICT).replace("COMMUTATIVE", "commutative")
    with pytest.raises(CompileError, match=r"combine\(b, a\), but this does not hold for a = \("):
        Schedule(claimed)
    naive = SUM_EXP.replace("mulf %s, %fm", "mulf %s, %em")
    with pytest.raises(CompileError, match="neutral values combined with themselves"):
        Schedule(naive)
    other = SUM_EXP.replace("mulf %t, %fn", "mulf %t, %fm")
    with pytest.raises(CompileError, match=r"combine\(combine\(a, b\), c\) = .* may not hold"):
        Schedule(other)
