"""Squares that are transposed in registers: nothing beside an array is touched."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import ScalarType, f16, f32, f64, i8, i16, i64, kernel, label, sizes
from espalier.schedules import Schedule
from espalier.testing.guarded import SIDES, guarded, guarded_empty

n, m = sizes("n m")
FEATURES = ["", "-avx512f"]


def transpose(element: ScalarType):
    @kernel
    def transposed(x: element[n, m], y: element[m, n]) -> None:
        for i in range(n):
            for j in range(m):
                label("copy")
                y[j, i] = x[i, j]

    return transposed


def compile_squares(element: ScalarType, lanes: int, copies: int, loop: str, features: str):
    """Return the program whose lanes are along a loop, while the other one is written out."""
    s = Schedule(transpose(element))
    s.tile("copy", ["i", "j"], [[lanes, copies] if loop == "i" else [copies, lanes]])
    other = "j" if loop == "i" else "i"
    s.interchange("copy", ["i.0", "j.0", f"{other}.1", f"{loop}.1"])
    s.unroll("copy", f"{other}.1")
    s.vectorize("copy", f"{loop}.1", lanes)
    return s.compile(Options(cache=None, features=features))


def check(program, element: ScalarType, rows: int, columns: int) -> None:
    x = np.random.default_rng(1).integers(-100, 100, (rows, columns)).astype(element.dtype)
    for side in SIDES:
        y = guarded_empty((columns, rows), element.dtype, side)
        program(guarded(x, side), y)
        np.testing.assert_array_equal(y, x.T)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("loop", ["i", "j"])
@pytest.mark.parametrize("lanes", [2, 8, 16, 64])
@pytest.mark.parametrize("element", [i8, i16, f16, f32, f64, i64], ids=lambda e: e.name)
def test_squares(element, lanes, loop, features):
    if lanes * element.dtype.itemsize > 128:
        pytest.skip("no such vector is asked for")
    program = compile_squares(element, lanes, lanes, loop, features)
    for rows, columns in [(lanes, lanes), (2 * lanes, lanes), (lanes + 1, 2 * lanes - 1), (1, 1)]:
        check(program, element, rows, columns)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("loop", ["i", "j"])
@pytest.mark.parametrize("copies", [2, 3, 5, 7])
@pytest.mark.parametrize("element", [i8, f32, f64], ids=lambda e: e.name)
def test_parts_of_squares(element, copies, loop, features):
    program = compile_squares(element, 8, copies, loop, features)
    for rows, columns in [(8, copies), (copies, 8), (16, 3 * copies), (11, 13)]:
        check(program, element, rows, columns)
