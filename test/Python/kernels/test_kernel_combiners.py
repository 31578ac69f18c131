"""Reductions by functions of two states that are written in Python."""

import functools
import math
import re

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.kernels import (
    Combiner,
    KernelError,
    combiner,
    f32,
    f64,
    i32,
    i64,
    kernel,
    label,
    local,
    sizes,
)
from espalier.schedules import Schedule, ScheduleError

m, n = sizes("m n")
NO_CACHE = Options(cache=None)
LAST = 2**31 - 1


@combiner(neutral=(-math.inf, LAST))
def first_largest(v: f32, i: i32, w: f32, j: i32):
    """Take the larger number and where it is, the first of equal ones."""
    other = w > v or (w == v and j < i)
    return w if other else v, j if other else i


@combiner(neutral=(-math.inf, 0))
def join(top: f32, total: f32, other: f32, more: f32):
    most = max(top, other)
    a = 1.0 if top == most else math.exp(top - most)
    b = 1.0 if other == most else math.exp(other - most)
    return most, total * a + more * b


@kernel
def largest(x: f32[m, n], best: f32[m], place: i32[m]) -> None:
    for i in range(m):
        best[i] = -math.inf
        place[i] = LAST
    for i in range(m):
        for k in range(n):
            label("pick")
            best[i], place[i] = first_largest(best[i], place[i], x[i, k], i32(k))


@kernel
def log_sum_exp(x: f32[m, n], y: f32[m]) -> None:
    top = local(f32[m])
    total = local(f32[m])
    for i in range(m):
        top[i] = -math.inf
        total[i] = 0.0
    for i in range(m):
        for k in range(n):
            label("pick")
            top[i], total[i] = join(top[i], total[i], x[i, k], 1.0)
    for i in range(m):
        y[i] = top[i] + math.log(total[i])


@kernel
def log_sum_exp_by_row(x: f32[m, n], y: f32[m]) -> None:
    for i in range(m):
        top: f32 = -math.inf
        total: f32 = 0.0
        for k in range(n):
            top, total = join(top, total, x[i, k], 1.0)
        y[i] = top + math.log(total)


def plain(source) -> Schedule:
    return Schedule(source)


def in_lanes(source) -> Schedule:
    s = Schedule(source)
    s.split("pick", "k", [8])
    s.rfactor("pick", "k.1", placement="register")
    s.vectorize("pick", "k.1", 8)
    return s


SHAPES = [(1, 1), (3, 100), (7, 16), (5, 37), (0, 4), (2, 257)]


@pytest.mark.parametrize("schedule", [plain, Schedule.default, in_lanes])
def test_largest_and_its_place(schedule):
    program = schedule(largest).compile(NO_CACHE)
    random = np.random.default_rng(1)
    for rows, columns in [*SHAPES, (4, 0)]:
        x = random.integers(0, 5, (rows, columns)).astype(np.float32)
        x[random.random(x.shape) < 0.2] = -np.inf
        best, place = np.zeros(rows, np.float32), np.zeros(rows, np.int32)
        program(x, best, place)
        np.testing.assert_array_equal(best, x.max(1, initial=-np.inf))
        np.testing.assert_array_equal(place, x.argmax(1) if columns else np.full(rows, LAST))


@pytest.mark.parametrize(
    ("schedule", "source"),
    [
        (plain, log_sum_exp),
        (Schedule.default, log_sum_exp),
        (in_lanes, log_sum_exp),
        (plain, log_sum_exp_by_row),
        (Schedule.default, log_sum_exp_by_row),
    ],
)
def test_logarithm_of_a_sum(schedule, source):
    program = schedule(source).compile(NO_CACHE)
    random = np.random.default_rng(2)
    for shape in SHAPES:
        x = (50 * random.standard_normal(shape)).astype(np.float32)
        y = np.zeros(shape[0], np.float32)
        program(x, y)
        np.testing.assert_allclose(y, np.logaddexp.reduce(x.astype(np.float64), 1), 1e-5)


def test_runs_in_python():
    states = [(2.0, 0), (3.0, 1), (3.0, 2), (1.0, 3)]
    assert isinstance(first_largest, Combiner)
    assert functools.reduce(lambda a, b: first_largest(*a, *b), states) == (3.0, 1)
    assert first_largest.__doc__.startswith("Take the larger number")


def test_state_of_one_number():
    @combiner(neutral=(0,))
    def either(a: i64, b: i64):
        return max(a, b) if a > 0 and b > 0 else a + b

    @combiner(neutral=[1.0])
    def product(a: f64, b: f64):
        return a * b

    @kernel
    def product_of(x: f64[n], r: f64[1]) -> None:
        r[0] = 1
        for i in range(n):
            r[0] = product(r[0], x[i])

    r = np.zeros(1)
    product_of.compile(NO_CACHE)(np.array([2.0, 3.0, 7.0]), r)
    assert r[0] == 42.0

    @kernel
    def either_of(x: i64[n], r: i64[1]) -> None:
        for i in range(n):
            r[0] = either(r[0], x[i])

    # Sums of numbers of both signs depend on their groups.
    line = either.__wrapped__.__code__.co_firstlineno + 1
    with pytest.raises(EspalierError, match=re.escape(f"{__file__}:{line}")) as error:
        either_of.module()
    assert "expects combine(combine(a, b), c) = combine(a, combine(b, c))" in str(error.value)


def choose(v: f32, i: i32, w: f32, j: i32):
    return w if w > v else v, j if w > v else i


def test_order_is_kept_or_refused():
    ordered = combiner(neutral=(-math.inf, LAST), commutative=False)(choose)
    free = combiner(neutral=(-math.inf, LAST))(choose)

    @kernel
    def in_order(x: f32[n], best: f32[1], place: i32[1]) -> None:
        for k in range(n):
            label("pick")
            best[0], place[0] = ordered(best[0], place[0], x[k], i32(k))

    @kernel
    def in_any(x: f32[n], best: f32[1], place: i32[1]) -> None:
        for k in range(n):
            best[0], place[0] = free(best[0], place[0], x[k], i32(k))

    s = Schedule(in_order)
    s.split("pick", "k", [8])
    with pytest.raises(ScheduleError, match="order stays as @choose is not 'commutative'"):
        s.rfactor("pick", "k.1")
    x = np.random.default_rng(3).integers(0, 5, 100).astype(np.float32)
    best, place = np.full(1, -np.inf, np.float32), np.full(1, LAST, np.int32)
    s.compile(NO_CACHE)(x, best, place)
    assert place[0] == x.argmax()
    with pytest.raises(EspalierError, match=r"expects combine\(a, b\) = combine\(b, a\)"):
        in_any.module()


def test_neutral_state_has_to_change_nothing():
    wrong = combiner(neutral=(-math.inf, 7))(first_largest.__wrapped__)

    @kernel
    def pick(x: f32[n], best: f32[1], place: i32[1]) -> None:
        for k in range(n):
            best[0], place[0] = wrong(best[0], place[0], x[k], i32(k))

    with pytest.raises(EspalierError, match=r"expects combine\(a, neutral\) = a"):
        pick.module()


def odd(a: f32, b: f32, c: f32):
    return a


def mixed(a: f32, i: i32, j: i32, b: f32):
    return a, i


def untyped(a, b: f32):
    return a


def default(a: f32, b: f32 = 1.0):
    return a


def of_a_size(a: i64, b: i64):
    return a + b + i64(n)


def loop(a: f32, b: f32):
    for _ in range(3):
        a = a + b
    return a


def endless(a: f32, b: f32):
    c = a + b  # noqa: F841


def short(a: f32, i: i32, b: f32, j: i32):
    return a


def other_type(a: f32, b: f32):
    return a < b


def twice(a: f32, b: f32):
    a = a + b
    return a


REFUSED = {
    odd: "expects two states of the same types as arguments, but got (f32, f32, f32)",
    mixed: "expects two states of the same types as arguments, but got (f32, i32, i32, f32)",
    untyped: "expects a type such as f64 for argument 'a', but got None",
    default: "expects plain arguments without defaults",
    of_a_size: "expects a combiner to use no size, but it uses 'n'",
    loop: "expects 'name = value' or 'return' in a combiner, but got 'for _ in range(3):'",
    endless: "expects a combiner to end with 'return' of a state",
    short: "expects a state of 2 to be returned, but got 1",
    other_type: "expects a value of type f32, but got i1; convert it, as in 'f32(x)'",
    twice: "expects a name that is not taken, but got 'a' again",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refused(function):
    with pytest.raises(KernelError, match=re.escape(REFUSED[function])) as error:
        combiner(neutral=(0,) * (2 if function is short else 1))(function)
    file, line, _ = str(error.value).split(":", 2)
    first = function.__code__.co_firstlineno
    assert file == __file__
    assert first <= int(line) <= first + 2


@pytest.mark.parametrize(
    ("neutral", "message"),
    [
        ((0.0,), "expects a neutral value for each of (v: f32, i: i32), but got (0.0,)"),
        (0.0, "expects a neutral value for each of (v: f32, i: i32), but got 0.0"),
        ((0.0, 1.5), "expects a number of type i32 as the neutral value of 'i', but got 1.5"),
        ((0.0, 2**31), "expects a number of type i32 as the neutral value of 'i', but got 2147483"),
        (("x", 0), "expects a number of type f32 as the neutral value of 'v', but got 'x'"),
    ],
)
def test_neutral_state_is_of_its_types(neutral, message):
    with pytest.raises(KernelError, match=re.escape(message)):
        combiner(neutral=neutral)(first_largest.__wrapped__)


def test_no_function():
    with pytest.raises(KernelError, match="expects a function as a combiner, but got type"):
        combiner(neutral=(0,))(int)


def too_few(x: f32[n], best: f32[1], place: i32[1]) -> None:
    for k in range(n):
        best[0], place[0] = first_largest(best[0], place[0], x[k])


def another_element(x: f32[n], best: f32[2], place: i32[2]) -> None:
    for k in range(n):
        best[0], place[0] = first_largest(best[1], place[0], x[k], i32(k))


def another_type(x: f32[n], best: f32[1], place: i32[1]) -> None:
    for k in range(n):
        best[0], place[0] = first_largest(best[0], place[0], x[k], k)


def uses_itself(x: f32[n], best: f32[1], place: i32[1]) -> None:
    for k in range(n):
        best[0], place[0] = first_largest(best[0], place[0], best[0] + x[k], i32(k))


def name_taken(x: f32[n], best: f32[1], place: i32[1]) -> None:
    for k in range(n):
        label("first_largest")
        best[0], place[0] = first_largest(best[0], place[0], x[k], i32(k))


def no_combiner(x: f32[n], best: f32[1], place: i32[1]) -> None:
    for k in range(n):
        best[0], place[0] = x[k], k


USES = {
    too_few: "expects 2 elements to be combined with 2 values by 'first_largest', but got",
    another_element: "expects 'first_largest' to be called with what it is assigned to, '(best[0], "
    "place[0])', before other values, but got 'first_largest(best[1], place[0], x[k], i32(k))'",
    another_type: "expects a value of type i32, but got index; convert it, as in 'i32(x)'",
    uses_itself: "expects values that do not depend on '(best[0], place[0])', but got",
    name_taken: "expects a combiner with a name of its own, but got 'first_largest'",
    no_combiner: "expects a call of a combiner for '(best[0], place[0])', but got '(x[k], k)'",
}


@pytest.mark.parametrize("function", USES, ids=lambda f: f.__name__)
def test_uses_that_are_refused(function):
    with pytest.raises(KernelError, match=re.escape(USES[function])) as error:
        kernel(function)
    _, line, _ = str(error.value).split(":", 2)
    assert 2 <= int(line) - function.__code__.co_firstlineno <= 3
