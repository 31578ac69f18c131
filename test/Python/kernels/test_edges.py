"""Kernels at their edges: special numbers, indices outside, numbers and sizes too large."""

import contextlib
import time

import numpy as np
import pytest
from random_kernels import run_cases

from espalier import _espalier
from espalier.compiler import Options
from espalier.errors import ArgumentError, CompileError, EspalierError
from espalier.kernels import f32, f64, i8, i32, i64, kernel, label, local, sizes
from espalier.schedules import Schedule, ScheduleError

m, n, p, e = sizes("m n p e")
NO_CACHE = Options(cache=None)


def run(scheduled, *arrays, **dims):
    """Run a kernel or a schedule."""
    scheduled.compile(NO_CACHE)(*arrays, **dims)


# Reductions.


@kernel
def scaled_sum(a: f32[n], s: f32[1]) -> None:
    for i in range(n):
        label("acc")
        s[0] += a[i] * s[i % 1]


@kernel
def scaled_rows(a: f32[n, m], s: f32[n]) -> None:
    for i in range(n):
        for j in range(m):
            label("acc")
            s[i] += a[i, j] * s[(2 * i) // 2]


def test_an_element_that_is_read_twice_is_no_reduction():
    a = np.array([1, 2, 3, 0.5, -2.5, 1, 1, -0.5, 2] * 4, np.float32)
    expected = np.float32(1)
    for value in a:
        expected += value * expected
    s = np.ones(1, np.float32)
    run(scaled_sum, a, s)
    assert s[0] == expected
    s = np.ones(2, np.float32)
    run(scaled_rows, np.stack([a, a]), s)
    assert (s == expected).all()
    with pytest.raises(ScheduleError, match="carry no dependence"):
        Schedule(scaled_sum).vectorize("acc", "i", 4)


@kernel
def total(x: f32[n], w: f32[1]) -> None:
    for i in range(n):
        label("s")
        w[0] += x[i]


@pytest.mark.parametrize("name", ["none", "vectorize", "rfactor", "cache_write"])
def test_a_sum_of_negative_zeros_is_one(name):
    schedule = Schedule(total)
    if name == "vectorize":
        schedule.vectorize("s", "i", 8)
    if name == "rfactor":
        schedule.split("s", "i", [4])
        schedule.rfactor("s", "i.1")
    if name == "cache_write":
        schedule.split("s", "i", [4])
        schedule.cache_write("s", 0, "i.0")
    w = np.full(1, -0.0, np.float32)
    run(schedule, np.full(9, -0.0, np.float32), w)
    assert np.signbit(w[0])


# Indices.


@kernel
def gather(c: i32[n], x: f32[m], y: f32[n]) -> None:
    for i in range(n):
        y[i] = x[c[i]]


@kernel
def scatter(c: i32[n], x: f32[n], y: f32[m]) -> None:
    for i in range(n):
        y[c[i]] = x[i]


@kernel
def two_arrays(c: i32[n], x: f32[m], y: f32[m + 2], z: f32[n]) -> None:
    for i in range(n):
        z[i] = x[c[i]] + y[c[i] + 1]


@kernel
def two_sizes(c: i32[n], x: f32[m], y: f32[p], z: f32[n]) -> None:
    for i in range(n):
        z[i] = x[c[i]] + y[c[i]]


@kernel
def histogram(c: i32[n], v: f32[n], h: f32[m]) -> None:
    for i in range(n):
        h[c[i]] += v[i]


def test_index_arrays_are_checked_without_being_asked_for():
    x = np.arange(4, dtype=np.float32)
    y = np.zeros(3, np.float32)
    run(gather, np.array([3, 0, 1], np.int32), x, y)
    assert y.tolist() == [3, 0, 1]
    for bad in ([0, 4, 1], [0, 1, -1], [0, 100000000, -7]):
        with pytest.raises(EspalierError, match=r"'c' expects values from 0 to less than 4"):
            run(gather, np.array(bad, np.int32), x, y)
        with pytest.raises(EspalierError, match=r"'c' expects values from 0 to less than 4"):
            run(scatter, np.array(bad, np.int32), np.ones(3, np.float32), np.zeros(4, np.float32))


def test_the_least_bound_counts():
    c = np.array([2], np.int32)
    z = np.zeros(1, np.float32)
    run(two_arrays, c, np.ones(3, np.float32), np.ones(5, np.float32), z)
    assert z[0] == 2
    with pytest.raises(EspalierError, match="less than 2"):
        run(two_arrays, c, np.ones(2, np.float32), np.ones(4, np.float32), z)
    with pytest.raises(CompileError, match="inside its extent"):
        run(two_sizes, c, np.ones(3, np.float32), np.ones(5, np.float32), z)


def test_elements_chosen_by_data_may_be_updated():
    h = np.zeros(3, np.float32)
    run(histogram, np.array([2, 0, 2, 2], np.int32), np.array([1, 2, 4, 8], np.float32), h)
    assert h.tolist() == [2, 0, 13]


@kernel
def places(
    starts: i32[n + 1].with_values(bounded_by=m + 1, monotonic=True), x: f32[m], tmp: f32[m]
) -> None:
    for row in range(n):
        for v in range(starts[row], starts[row + 1]):
            tmp[v - starts[row]] = x[v]


def test_a_place_in_a_row_is_inside():
    tmp = np.zeros(6, np.float32)
    run(places, np.array([0, 2, 5, 6], np.int32), np.arange(6, dtype=np.float32), tmp, n=3)
    assert tmp.tolist() == [5, 3, 4, 0, 0, 0]


@kernel
def row_updates(starts: i32[n + 1].with_values(bounded_by=m + 1), x: f32[m], y: f32[m]) -> None:
    for row in range(n):
        for v in range(starts[row], starts[row + 1]):
            label("s")
            y[v] += x[v]


def test_lanes_add_to_memory_of_an_iteration():
    schedule = Schedule(row_updates)
    schedule.parallelize("s", "v")
    schedule.vectorize("s", "v", 8)
    schedule.cache_write("s", 0, "v.0")
    y = np.ones(11, np.float32)
    run(schedule, np.array([0, 4, 11], np.int32), np.arange(11, dtype=np.float32), y, n=2)
    assert y.tolist() == list(range(1, 12))


# Division.


@kernel
def divide(a: i32[n], b: i32[n], q: i32[n], r: i32[n]) -> None:
    for i in range(n):
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


@kernel
def divide_by_numbers(a: i64[n], q: i64[n]) -> None:
    for i in range(n):
        label("s")
        q[i] = a[i] // -1 + a[i] // 0 + a[i] % 0 + a[i] // 3


def test_division_is_total():
    low, high = -(2**31), 2**31 - 1
    numbers = [low, low + 1, -7, -1, 0, 1, 7, high]
    a, b = (np.array(x.ravel(), np.int32) for x in np.meshgrid(numbers, numbers))
    q, r = np.zeros_like(a), np.zeros_like(a)
    run(divide, a, b, q, r)
    for x, y, quotient, rest in zip(a.tolist(), b.tolist(), q.tolist(), r.tolist(), strict=True):
        assert quotient == (low if (x, y) == (low, -1) else x // y if y else 0)
        assert rest == (x % y if y else 0)


def test_division_by_numbers_is_total_in_lanes():
    a = np.array([-(2**63), -5, 0, 7, 2**63 - 1], np.int64)
    for lanes in (1, 4):
        schedule = Schedule(divide_by_numbers)
        if lanes > 1:
            schedule.vectorize("s", "i", lanes)
        q = np.zeros_like(a)
        run(schedule, a, q)
        with np.errstate(over="ignore"):
            assert q.tolist() == (-a + a // 3).tolist()


# Sizes and numbers.


@kernel
def add_one(x: f32[n, m], y: f32[n, m]) -> None:
    for i in range(n):
        for j in range(m):
            label("s")
            y[i, j] = x[i, j] + 1.0


def test_the_stack_is_small():
    schedule = Schedule(add_one)
    with pytest.raises(ScheduleError, match="static extents in stack memory"):
        schedule.cache_read("s", 0, placement="stack")
    with pytest.raises(ScheduleError, match="static extents in register memory"):
        schedule.cache_write("s", 0, "i", placement="register")
    schedule.tile("s", ["i", "j"], [[4096, 4096]])
    with pytest.raises(ScheduleError, match=r"at most 1048576 bytes .* takes 67108864"):
        schedule.cache_read("s", 0, loop="j.0", placement="stack")


@pytest.mark.parametrize("count", [0, -1, 1025, 10**6, 2**40])
def test_threads_are_bounded(count):
    program = add_one.compile(NO_CACHE)
    with pytest.raises(ArgumentError, match=f"expects 1 to 1024 threads, but got {count}"):
        program.set_num_threads(count)


@kernel
def moduli(x: f32[99991]) -> None:
    for i in range(n):
        for j in range(n):
            label("s")
            x[(7919 * i + 104729 * j) % 99991] = x[(104743 * i + 7907 * j) % 99989] + 1.0


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("interchange", [["j", "i"]]),
        ("parallelize", ["i"]),
        ("tile", [["i", "j"], [[8, 8]]]),
        ("cache_read", [0, "i"]),
        ("cache_write", [0, "i"]),
        ("skew", ["j", [1], ["i"]]),
        ("vectorize", ["j", 8]),
    ],
)
def test_large_moduli_take_bounded_time(name, arguments):
    begin = time.process_time()
    with contextlib.suppress(ScheduleError):
        getattr(Schedule(moduli), name)("s", *arguments)
    assert time.process_time() - begin < 20


# Scripts.

SCRIPT = """module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  transform.annotate %module "note" : !transform.any_op
  transform.yield
}
}"""


def test_a_script_keeps_the_definition():
    with pytest.raises(ScheduleError, match=r"'transform\.annotate' may change it"):
        Schedule(add_one).replay(SCRIPT)


def test_a_module_without_kernels_takes_any_script():
    module = _espalier.Module.parse("func.func @main() { return }")
    _espalier.transform(module, SCRIPT)


# Loops that scanning finds.


@kernel
def sides(b: i64[m]) -> None:
    for i in range(0, m, 2):
        if i >= m - 1 or i >= 2:
            b[i] = 5


def test_loops_begin_at_a_step():
    for size in range(7):
        b = np.zeros(size, np.int64)
        run(sides, b)
        expected = [5 * (i % 2 == 0 and (i >= size - 1 or i >= 2)) for i in range(size)]
        assert b.tolist() == expected


@kernel
def add_some(c: i8[m]) -> None:
    some = local(i8[n])
    for q in range(n):
        some[q] = 1
    for i in range(m):
        if i < n:
            c[i] += some[i]


def test_lanes_that_are_left_may_be_many():
    c = np.zeros(2, np.int8)
    run(add_some, c, n=2**31 + 64)
    assert c.tolist() == [1, 1]


@kernel
def between(c: f64[n], d: f64[m]) -> None:
    for _p in range(e):
        x: f64 = 0.5
        for i in range(m):
            d[i] += 1.0
        for q in range(n):
            c[q] = x


def test_memory_of_an_iteration_stays_its_own():
    c, d = np.zeros(5), np.zeros(3)
    run(between, c, d, e=2)
    assert [*c, *d] == [0.5] * 5 + [2] * 3


def test_random_kernels_agree_with_python():
    faults, counts = run_cases(cases=25, seed=5)
    assert not faults, "\n\n".join(faults)
    assert counts["run"] > 20
