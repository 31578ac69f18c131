"""The 30 kernels of the suite against NumPy."""

import pathlib
import sys

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.schedules import Schedule

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Benchmark"))
sys.path.append(str(pathlib.Path(__file__).parents[1] / "Benchmark" / "polybench"))

import schedules
from plain_c import to_c
from suite import CASES, SCRATCH, Case

LARGER = [61, 70, 53, 30, 41]
"""Full tiles, and some that are not."""
SIZES = [[5, 7, 3, 4, 6], [13, 11, 17, 2, 19], [1, 1, 1, 1, 1]]


def sizes_of(case: Case, numbers: list[int]) -> dict[str, int]:
    sizes = {size.name: n for size, n in zip(case.kernel.tree.sizes, numbers, strict=False)}
    if case.name == "gramschmidt":
        sizes["m"] = max(sizes.values())
    if case.name == "covariance":
        sizes["n"] = max(sizes["n"], 2)
    return sizes


def check(case: Case, program, numbers: list[int]) -> None:
    sizes = sizes_of(case, numbers)
    actual, expected = case.arguments(sizes), case.arguments(sizes)
    case.reference(expected, sizes)
    program(**actual, **case.own_sizes(sizes))
    for name, value in expected.items():
        if isinstance(value, np.ndarray) and name not in SCRATCH.get(case.name, []):
            scale = 1e-5 if value.dtype == np.float32 else 1e-10
            np.testing.assert_allclose(actual[name], value, rtol=scale, atol=scale, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_default_schedule(name):
    program = CASES[name].kernel.compile(Options(cache=None))
    for numbers in SIZES:
        check(CASES[name], program, numbers)


@pytest.mark.parametrize("name", CASES)
def test_program_order(name):
    program = Schedule(CASES[name].kernel).compile(Options(cache=None))
    check(CASES[name], program, SIZES[0])


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(schedules, name)])
def test_written_schedule(name):
    program = schedules.schedule(CASES[name].kernel).compile(Options(cache=None))
    for numbers in [*SIZES, LARGER]:
        check(CASES[name], program, numbers)


@pytest.mark.parametrize("name", schedules.PARALLEL)
@pytest.mark.parametrize("threads", [1, 2])
def test_wavefront(name, threads):
    written = schedules.schedule(CASES[name].kernel, parallel=True)
    assert " parallel" in written.loops()
    program = written.compile(Options(cache=None))
    program.set_num_threads(threads)
    for numbers in [*SIZES, LARGER]:
        check(CASES[name], program, numbers)


def test_plain_c():
    source = to_c(CASES["nussinov"].kernel.tree, {"n": 5})
    assert "int table[restrict static 5][5]" in source
    assert "for (int i = (5 - 1); i > (-1); i += -1) {" in source
    assert "table[i][j] = MOST(table[i][j], table[i][(j - 1)]);" in source


def test_there_are_thirty():
    assert len(CASES) == 30
