"""Squares that are transposed in registers: nothing beside an array is touched."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import Kernel, ScalarType, f16, f32, f64, i8, i16, i64, kernel, label
from espalier.schedules import Schedule
from espalier.testing.guarded import SIDES, guarded, guarded_empty

FEATURES = ["", "-avx512f"]


def transposition(element: ScalarType, rows: int, columns: int) -> Kernel:
    @kernel
    def transposed(x: element[rows, columns], y: element[columns, rows]) -> None:
        for i in range(rows):
            for j in range(columns):
                label("copy")
                y[j, i] = x[i, j]

    return transposed


def check(element: ScalarType, lanes: int, extents: tuple[int, int], loop: str, features: str):
    """Run with lanes along a loop, whose extent is the first; the other one is written out."""
    rows, columns = extents if loop == "i" else extents[::-1]
    s = Schedule(transposition(element, rows, columns))
    other = "j" if loop == "i" else "i"
    s.interchange("copy", [other, loop])
    s.unroll("copy", other)
    s.vectorize("copy", loop, lanes)
    program = s.compile(Options(cache=None, features=features))
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
    check(element, lanes, (lanes, lanes), loop, features)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("loop", ["i", "j"])
@pytest.mark.parametrize("extents", [(7, 7), (8, 3), (3, 8), (5, 2), (24, 8), (19, 5), (8, 13)])
@pytest.mark.parametrize("element", [i8, f32, f64], ids=lambda e: e.name)
def test_parts_of_squares(element, extents, loop, features):
    check(element, 8, extents, loop, features)
