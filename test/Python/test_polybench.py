"""The 30 kernels of the suite against NumPy."""

import pathlib
import sys

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.schedules import Schedule

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Benchmark" / "polybench"))

from suite import CASES, SCRATCH, Case

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


def test_there_are_thirty():
    assert len(CASES) == 30
