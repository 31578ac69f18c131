"""Sums whose elements are found by numbers, and reductions of several values at once."""

from math import exp

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.kernels import f32, i32, kernel, label, sizes
from espalier.schedules import Schedule, ScheduleError

NO_CACHE = Options(cache=None)
m, n, p = sizes("m n p")
RANDOM = np.random.default_rng(0)
INDEX = RANDOM.integers(0, 7, 100).astype(np.int32)
VALUES = RANDOM.random(100, np.float32)


@kernel
def histogram(index: i32[n], v: f32[n], h: f32[m]) -> None:
    for i in range(n):
        label("add")
        h[index[i]] += v[i]


@kernel
def spread(index: i32[n].with_values(bounded_by=m, injective=True), v: f32[n], h: f32[m]) -> None:
    for i in range(n):
        label("add")
        h[index[i]] += v[i]


@kernel
def parts(index: i32[p, n], v: f32[p, n], part: f32[p, m], h: f32[m]) -> None:
    for t in range(p):
        for j in range(m):
            label("init")
            part[t, j] = 0.0
        for i in range(n):
            label("add")
            part[t, index[t, i]] += v[t, i]
    for j in range(m):
        for t in range(p):
            label("combine")
            h[j] += part[t, j]


def sums() -> np.ndarray:
    """Return what a histogram is."""
    expected = np.zeros(7, np.float32)
    np.add.at(expected, INDEX, VALUES)
    return expected


@pytest.mark.parametrize("command", ["split", "unroll"])
def test_histogram_in_sequence(command: str) -> None:
    schedule = Schedule(histogram)
    if command == "split":
        schedule.split("add", "i", [8])
    else:
        schedule.unroll("add", "i", 4)
    h = np.zeros(7, np.float32)
    schedule.compile(NO_CACHE)(INDEX, VALUES, h)
    np.testing.assert_array_equal(h, sums())


def test_histogram_in_parallel_is_refused() -> None:
    """The message has the iterations that meet, and what would make it legal."""
    message = (
        r"to carry no dependence, but got the flow dependence from @add\(0\) to @add\(1\).* on 'h'"
        r".*; the loops \[\"i\"\] may if no value of 'index' occurs twice \(poly.injective\)"
    )
    with pytest.raises(ScheduleError, match=message):
        Schedule(histogram).parallelize("add", "i")


@pytest.mark.parametrize("length", [25, 32, 100, 200])
def test_each_thread_has_a_copy(length: int) -> None:
    """A part of the terms is added to elements of its own, all of them."""
    schedule = Schedule(histogram)
    schedule.split("add", "i", [length], ["part", "i"])
    schedule.rfactor("add", "part")
    for name in ("add_init", "add"):
        schedule.parallelize(name, "part")
    schedule.parallelize("add_combine", "e0")
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(2)
    h = np.ones(7, np.float32)
    program(INDEX, VALUES, h)
    np.testing.assert_allclose(h, 1 + sums(), 1e-5)
    for wrong in (-1, 7):
        with pytest.raises(EspalierError, match="'index' expects values"):
            program(np.full(100, wrong, np.int32), VALUES, h)


@pytest.mark.parametrize("kind", ["sum", "count", "largest"])
def test_threads_meet_in_an_element(kind: str) -> None:
    """Memory makes each update at once, without copies."""

    @kernel
    def count(index: i32[n], v: f32[n], h: i32[m]) -> None:
        for i in range(n):
            label("add")
            h[index[i]] += 1

    @kernel
    def largest(index: i32[n], v: f32[n], h: f32[m]) -> None:
        for i in range(n):
            label("add")
            h[index[i]] = max(h[index[i]], v[i])

    schedule = Schedule({"sum": histogram, "count": count, "largest": largest}[kind])
    schedule.parallelize("add", "i", atomic=True)
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(2)
    index = RANDOM.integers(0, 7, 20000).astype(np.int32)
    values = RANDOM.random(20000, np.float32)
    if kind == "count":
        h = np.ones(7, np.int32)
        program(index, values, h)
        np.testing.assert_array_equal(h, 1 + np.bincount(index, minlength=7))
    else:
        h = np.zeros(7, np.float32)
        expected = np.zeros(7, np.float64 if kind == "sum" else np.float32)
        (np.add if kind == "sum" else np.maximum).at(expected, index, values)
        program(index, values, h)
        np.testing.assert_allclose(h, expected, 1e-4 if kind == "sum" else 0)


def test_atomic_updates_inside_of_rows() -> None:
    """Neither registers nor lanes hold what threads share."""

    @kernel
    def columns(x: f32[m, n], h: f32[n]) -> None:
        for j in range(n):
            for i in range(m):
                label("add")
                h[j] += x[i, j]

    schedule = Schedule(columns)
    schedule.split("add", "i", [50], ["part", "i"])
    schedule.interchange("add", ["part", "j", "i"])
    schedule.parallelize("add", "part", atomic=True)
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(2)
    x = RANDOM.integers(0, 9, (400, 5)).astype(np.float32)
    h = np.zeros(5, np.float32)
    program(x, h)
    np.testing.assert_array_equal(h, x.sum(0))


def test_what_memory_does_not_do_at_once() -> None:
    @kernel
    def products(index: i32[n], v: f32[n], h: f32[m]) -> None:
        for i in range(n):
            label("mul")
            h[index[i]] *= v[i]

    with pytest.raises(ScheduleError, match="expects 'atomic' on a reduction that adds"):
        Schedule(products).parallelize("mul", "i", atomic=True)


def test_copies_of_rows() -> None:
    """What data does not index is as with other reductions: a copy has one row."""

    @kernel
    def rows(index: i32[p, n], v: f32[p, n], h: f32[p, m]) -> None:
        for t in range(p):
            for i in range(n):
                label("max")
                h[t, index[t, i]] = max(h[t, index[t, i]], v[t, i])

    schedule = Schedule(rows)
    schedule.split("max", "i", [8], ["part", "i"])
    schedule.rfactor("max", "part")
    schedule.parallelize("max", "part")
    index, values = INDEX.reshape(4, 25), VALUES.reshape(4, 25)
    h = np.zeros((4, 7), np.float32)
    expected = h.copy()
    for t in range(4):
        np.maximum.at(expected[t], index[t], values[t])
    schedule.compile(NO_CACHE)(index, values, h)
    np.testing.assert_array_equal(h, expected)
    with pytest.raises(ScheduleError, match='expects "t" to run over the updates of an element'):
        Schedule(rows).rfactor("max", "t")


def test_lanes_that_may_meet_run_one_by_one() -> None:
    schedule = Schedule(histogram)
    schedule.vectorize("add", "i", 8)
    h = np.zeros(7, np.float32)
    schedule.compile(NO_CACHE)(INDEX, VALUES, h)
    np.testing.assert_allclose(h, sums(), 1e-5)


def test_an_array_that_says_where_it_is_changed_has_an_order() -> None:
    @kernel
    def chase(h: i32[m]) -> None:
        for i in range(m):
            label("add")
            h[h[i]] += 1

    with pytest.raises(ScheduleError, match="expects a reduction, but @add is not marked as one"):
        Schedule(chase).rfactor("add", "i")


def test_different_elements_in_parallel() -> None:
    schedule = Schedule(spread)
    schedule.parallelize("add", "i")
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(2)
    index, h = RANDOM.permutation(200)[:100].astype(np.int32), np.ones(200, np.float32)
    expected = h.copy()
    expected[index] += VALUES
    program(index, VALUES, h)
    np.testing.assert_array_equal(h, expected)
    with pytest.raises(EspalierError, match="'index' expects different values, but got"):
        program(INDEX, VALUES, np.zeros(7, np.float32))


def test_parts_in_parallel() -> None:
    """Each thread has its own copy; they are added up in the order of the text."""
    schedule = Schedule(parts)
    schedule.parallelize("add", "t")
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(2)
    h = np.zeros(7, np.float32)
    shape = (4, 25)
    program(INDEX.reshape(shape), VALUES.reshape(shape), np.zeros((4, 7), np.float32), h)
    np.testing.assert_allclose(h, sums(), 1e-5)


def test_largest_and_its_place() -> None:
    """A pair is two arrays; rows are apart, the elements of one are not."""

    @kernel
    def argmax(x: f32[m, n], best: f32[m], place: i32[m]) -> None:
        for i in range(m):
            for j in range(n):
                label("pick")
                place[i] = i32(j) if x[i, j] > best[i] else place[i]
                label("max")
                best[i] = max(best[i], x[i, j])

    schedule = Schedule(argmax)
    with pytest.raises(ScheduleError, match='expects the parallel loop "j" to carry no'):
        schedule.parallelize("pick", "j")
    schedule.parallelize("pick", "i")
    x = RANDOM.integers(0, 5, (6, 19)).astype(np.float32)
    best, place = np.full(6, -np.inf, np.float32), np.zeros(6, np.int32)
    schedule.compile(NO_CACHE)(x, best, place)
    np.testing.assert_array_equal(place, x.argmax(1))
    np.testing.assert_array_equal(best, x.max(1))


def test_parts_are_combined_as_pairs() -> None:
    """Each thread has the largest of its part; how parts are combined is the text's."""

    @kernel
    def argmax(x: f32[p, m, n], top: f32[p, m], at: i32[p, m], best: f32[m], place: i32[m]) -> None:
        for t in range(p):
            for i in range(m):
                for j in range(n):
                    label("pick")
                    at[t, i] = i32(n * t + j) if x[t, i, j] > top[t, i] else at[t, i]
                    label("max")
                    top[t, i] = max(top[t, i], x[t, i, j])
        for i in range(m):
            for t in range(p):
                label("pick_part")
                place[i] = at[t, i] if top[t, i] > best[i] else place[i]
                label("max_part")
                best[i] = max(best[i], top[t, i])

    schedule = Schedule(argmax)
    schedule.parallelize("pick", "t")
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(2)
    x = RANDOM.integers(0, 50, (4, 6, 19)).astype(np.float32)
    top, best = np.full((4, 6), -np.inf, np.float32), np.full(6, -np.inf, np.float32)
    place = np.zeros(6, np.int32)
    program(x, top, np.zeros((4, 6), np.int32), best, place)
    rows = x.transpose(1, 0, 2).reshape(6, -1)
    np.testing.assert_array_equal(place, rows.argmax(1))
    np.testing.assert_array_equal(best, rows.max(1))


def test_logarithm_of_a_sum_in_one_pass() -> None:
    """The largest so far, and the sum relative to it."""

    @kernel
    def sum_exp(x: f32[m, n], top: f32[m], next_top: f32[m, n], total: f32[m]) -> None:
        for i in range(m):
            for j in range(n):
                label("max")
                next_top[i, j] = max(top[i], x[i, j])
                label("sum")
                total[i] = total[i] * exp(top[i] - next_top[i, j]) + exp(x[i, j] - next_top[i, j])
                label("keep")
                top[i] = next_top[i, j]

    schedule = Schedule(sum_exp)
    with pytest.raises(ScheduleError, match=r"the loops of @sum that may be lanes are \[\"i\"\]"):
        schedule.vectorize("sum", "j", 8)
    schedule.parallelize("sum", "i")
    x = (50 * RANDOM.standard_normal((6, 19))).astype(np.float32)
    top, total = np.full(6, -1e30, np.float32), np.zeros(6, np.float32)
    schedule.compile(NO_CACHE)(x, top, np.zeros_like(x), total)
    np.testing.assert_allclose(
        top + np.log(total), np.logaddexp.reduce(x.astype(np.float64), axis=1), 1e-5
    )


def test_interleaved_sums_are_factored_one_by_one() -> None:
    @kernel
    def both(x: f32[m, n], a: f32[m], b: f32[m]) -> None:
        for i in range(m):
            for j in range(n):
                label("sum")
                a[i] += x[i, j]
                label("squares")
                b[i] += x[i, j] * x[i, j]

    schedule = Schedule(both)
    schedule.split("sum", "j", [8])
    schedule.rfactor("sum", "j.1")
    x, a, b = RANDOM.random((5, 19), np.float32), *np.zeros((2, 5), np.float32)
    schedule.compile(NO_CACHE)(x, a, b)
    np.testing.assert_allclose(a, x.sum(1), 1e-5)
    np.testing.assert_allclose(b, (x * x).sum(1), 1e-5)


def test_fission_is_of_all_parts_or_at_one() -> None:
    """Loops that need each other stay one, and others may be cut from them."""

    @kernel
    def steps(a: f32[n], b: f32[n], c: f32[n]) -> None:
        for i in range(1, n):
            label("one")
            b[i] = a[i] + 1.0
            label("two")
            c[i] = b[i] * 2.0

    schedule = Schedule(steps)
    schedule.fission("two", "i")
    assert schedule.loops().count("for i") == 2

    @kernel
    def chain(a: f32[n], b: f32[n]) -> None:
        for i in range(1, n):
            label("one")
            b[i] = a[i - 1] + 1.0
            label("two")
            a[i] = b[i] * 2.0

    with pytest.raises(ScheduleError, match="expects to keep the flow dependence from @two"):
        Schedule(chain).fission("two", "i")

    @kernel
    def three(a: f32[n], b: f32[n], c: f32[n]) -> None:
        for i in range(1, n):
            label("one")
            b[i] = a[i - 1] + 1.0
            label("two")
            a[i] = b[i] * 2.0
            label("last")
            c[i] = a[i] - b[i]

    schedule = Schedule(three)
    with pytest.raises(ScheduleError, match="expects to keep the flow dependence from @two"):
        schedule.fission("two", "i", at=1)
    with pytest.raises(ScheduleError, match="between 1 and 2 parts before the cut, out of 3"):
        schedule.fission("two", "i", at=3)
    schedule.fission("two", "i", at=2)
    assert schedule.loops().count("for i") == 2
    a, b, c = np.arange(5, dtype=np.float32), np.zeros(5, np.float32), np.zeros(5, np.float32)
    schedule.compile(NO_CACHE)(a, b, c)
    np.testing.assert_equal(b, [0, 1, 3, 7, 15])
    np.testing.assert_equal(a, [0, 2, 6, 14, 30])
    np.testing.assert_equal(c, a - b)
