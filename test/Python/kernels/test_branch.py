"""Kernels with schedules by size: values at all sizes around each branch."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import f32, kernel, label, sizes
from espalier.schedules import Schedule

(n,) = sizes("n")
DEPTH, COLUMNS = 24, 40


@kernel
def product(a: f32[n, DEPTH], b: f32[DEPTH, COLUMNS], c: f32[n, COLUMNS]) -> None:
    for i in range(n):
        for j in range(COLUMNS):
            label("init")
            c[i, j] = 0.0
    for i in range(n):
        for j in range(COLUMNS):
            for k in range(DEPTH):
                label("acc")
                c[i, j] += a[i, k] * b[k, j]


def up_to(*limits: int) -> list[str]:
    """Return sets of sizes."""
    return [f"affine_set<()[n] : ({limit} - n >= 0)>" for limit in limits]


def check(schedule: Schedule, numbers: range) -> None:
    """Compare what is compiled with NumPy."""
    for threads in (1, 2):
        program = schedule.compile(Options(cache=None))
        program.set_num_threads(threads)
        for rows in numbers:
            random = np.random.default_rng(rows)
            a = random.random((rows, DEPTH), np.float32)
            b = random.random((DEPTH, COLUMNS), np.float32)
            c = np.full((rows, COLUMNS), np.nan, np.float32)
            program(a, b, c)
            np.testing.assert_allclose(c, a @ b, rtol=1e-5, err_msg=f"{rows} rows")


def test_plans_by_size() -> None:
    schedule = Schedule(product)
    schedule.branch("acc", up_to(3, 17), ["few", "some"])
    assert set(schedule.computations) == {
        f"{name}{copy}" for name in ("init", "acc") for copy in ("", ".few", ".some")
    }
    plans = {".few": (1, 40), ".some": (4, 24), "": (6, 16)}
    for copy, (rows, columns) in plans.items():
        schedule.plan(
            f"init{copy}",
            2,
            others=[f"acc{copy}"],
            loops=["j", "i"],
            parallel=1,
            tile=["i", "j"],
            by=[rows, columns],
            lanes="j",
            width=8,
        )
    check(schedule, range(40))


def test_other_commands_by_size() -> None:
    schedule = Schedule(product)
    schedule.branch("acc", ["affine_set<()[n] : (n mod 4 == 0)>"], ["whole"])
    schedule.tile("acc.whole", ["i", "j"], [[4, 8]])
    schedule.unroll("acc.whole", "i.1")
    schedule.vectorize("acc.whole", "j.1", 8)
    schedule.parallelize("acc", "i")
    schedule.branch("acc", up_to(6), ["few"])
    schedule.reverse("acc.whole.few", "k")
    check(schedule, range(20))


def test_a_dependence_is_still_one() -> None:
    schedule = Schedule(product)
    schedule.branch("acc", up_to(3), ["few"])
    with pytest.raises(Exception, match="expects"):
        schedule.move("acc.few", "init.few")
    check(schedule, range(6))
