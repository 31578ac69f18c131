"""Elements of an array that take turns in memory, in compiled code."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import f64, kernel, label, local, sizes
from espalier.schedules import Schedule, ScheduleError

m, n, t = sizes("m n t")
NO_CACHE = Options(cache=None)


@kernel
def blur(a: f64[m, n], out: f64[m, n]) -> None:
    rows = local(f64[m, n])
    for i in range(m):
        for j in range(1, n - 1):
            label("across")
            rows[i, j] = a[i, j - 1] + a[i, j] + a[i, j + 1]
    for i in range(1, m - 1):
        for j in range(1, n - 1):
            label("down")
            out[i, j] = rows[i - 1, j] + rows[i, j] + rows[i + 1, j]


def check_blur(schedule: Schedule, threads: int = 1) -> None:
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(threads)
    for shape in [(7, 9), (3, 3), (64, 33), (2, 5), (1, 1), (0, 4)]:
        a, out = np.random.default_rng(1).random(shape), np.zeros(shape)
        program(a, out)
        expected = np.zeros(shape)
        if min(shape) > 2:
            rows = a[:, :-2] + a[:, 1:-1] + a[:, 2:]
            expected[1:-1, 1:-1] = rows[:-2] + rows[1:-1] + rows[2:]
        np.testing.assert_allclose(out, expected)


def fused() -> Schedule:
    s = Schedule(blur)
    s.fuse("across", "down", 1)
    return s


def test_rows_of_a_stencil():
    s = fused()
    s.fold_storage("across", 0, 3)
    assert "memref<3x?xf64>" in str(s.module)
    check_blur(s)
    s.vectorize("across", "j", 4)
    s.parallelize("down", "j")
    check_blur(s, threads=2)
    again = Schedule(blur)
    again.replay(str(s))
    assert str(again.module) == str(s.module)
    s.unfold("across")
    check_blur(s)


@pytest.mark.parametrize("places", [3, 4, 64])
def test_columns_first(places):
    s = fused()
    s.layout("across", "affine_map<(i, j) -> (j, i)>")
    s.fold_storage("across", 1, places)
    assert f"memref<?x{places}xf64>" in str(s.module)
    check_blur(s)


def test_refusals():
    s = fused()
    for places in (1, 2):
        with pytest.raises(ScheduleError, match=r"alive at the same time, .*; legal with 3 places"):
            s.fold_storage("across", 0, places)
    with pytest.raises(ScheduleError, match=r"the storage of 'rows' to suit .* with m = "):
        Schedule(blur).fold_storage("across", 0, 3)
    with pytest.raises(ScheduleError, match=r"expects one of the 1 writes of @across, but got 1"):
        s.fold_storage("across", 0, 3, write=1)


@kernel
def means(x: f64[n]) -> None:
    assert t >= 1
    u = local(f64[t, n])
    for i in range(n):
        label("start")
        u[0, i] = x[i]
    for s in range(1, t):
        for i in range(n - s):
            label("step")
            u[s, i] = (u[s - 1, i] + u[s - 1, i + 1]) / 2
    for i in range(n - t + 1):
        label("end")
        x[i] = u[t - 1, i]


def test_one_step_in_place():
    """A step may overwrite the one before, as long as it runs from left to right."""
    s = Schedule(means)
    s.fold_storage("step", 0, 1)
    for loop in ("i", "s"):
        with pytest.raises(ScheduleError, match=r"'transform\.poly\.reverse' op expects "):
            s.reverse("step", loop)
    for steps, width in [(1, 5), (2, 2), (6, 30), (30, 31)]:
        x = np.random.default_rng(1).random(width)
        expected = x.copy()
        for _ in range(1, steps):
            expected = (expected[:-1] + expected[1:]) / 2
        s.compile(NO_CACHE)(x, t=steps)
        np.testing.assert_allclose(x[: len(expected)], expected)
    with_two = Schedule(means)
    with_two.fold_storage("step", 0, 2)
    with_two.reverse("step", "i")
