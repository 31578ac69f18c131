"""Subscripts that are computed from data and sizes: inside, or an error."""

import re

import numpy as np
import pytest
from random_subscripts import run_cases

from espalier import _espalier
from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.kernels import f32, i32, kernel, sizes
from espalier.kernels.program import KernelProgram, compile_kernel
from espalier.schedules import Schedule, ScheduleError

n, m = sizes("n m")


def test_random_subscripts_stay_inside():
    faults, counts = run_cases(cases=60, seed=4)
    assert not faults, "\n\n".join(faults)
    assert counts["run"] > 20
    assert counts["checked"] > 20


def program(subscript: str, shape: str = "", bound: str = "m") -> KernelProgram:
    """Compile a kernel that writes at a subscript of `i`, `n`, `m` and a value `v`."""
    stated = f", poly.shape = affine_map<()[n, m] -> ({shape})>" if shape else ""
    text = f"""poly.kernel @k(
    %q: memref<?xi32> {{espalier.name = "q", poly.bounded_by = affine_map<()[n, m] -> ({bound})>}},
    %y: memref<?xf32> {{espalier.name = "y"{stated}}},
    %n: index {{espalier.name = "n"}}, %m: index {{espalier.name = "m"}}) {{
  poly.compute @s dims ["i"] domain [affine_set<(i)[n, m] : (i >= 0, n - 1 - i >= 0)>]
      reads(%q[affine_map<(i)[n, m] -> (i)>] : memref<?xi32>)
      writes(%y[affine_map<(i)[n, m, v] -> ({subscript})>] : memref<?xf32>) {{
  ^bb0(%v: i32):
    %one = arith.constant 1.0 : f32
    poly.yield %one : f32
  }}
}}"""
    return compile_kernel(_espalier.Module.parse(text), ["q", "y"], Options(cache=None))


@pytest.mark.parametrize(
    ("subscript", "shape", "extent"),
    [
        ("i * m + v", "", 12),
        ("i * m + v", "n * m", 12),
        ("v * n + i", "", 12),
        ("v * 2 + i", "", 8),
        ("(v * n + i) floordiv m", "", 4),
        ("(v * n) mod m", "", 3),
    ],
)
def test_a_product_is_inside_or_refused(subscript, shape, extent):
    """All extents from the least one on: 4 * 3 elements, or those of the last one."""
    q = np.array([2, 0, 1, 2], np.int32)
    compiled = program(subscript, shape)
    y = np.zeros(extent, np.float32)
    compiled(q, y, n=4, m=3)
    places = [eval(subscript.replace("floordiv", "//").replace("mod", "%"), {"n": 4, "m": 3},
                   {"i": i, "v": int(v)}) for i, v in enumerate(q)]  # fmt: skip
    assert set(np.flatnonzero(y)) == set(places)
    for wrong in (0, extent - 1):
        with pytest.raises(EspalierError, match=r"expects"):
            compiled(q, np.zeros(wrong, np.float32), n=4, m=3)


def test_the_message_names_the_access():
    compiled = program("i * m + v")
    message = "expects sizes with which @s writes 'y' inside its extent in dimension 0; got q: 4"
    with pytest.raises(EspalierError, match=re.escape(message)):
        compiled(np.zeros(4, np.int32), np.zeros(11, np.float32), n=4, m=3)


def test_nothing_is_outside_where_nothing_runs():
    program("i * m + v")(np.zeros(0, np.int32), np.zeros(0, np.float32), n=0, m=3)


def test_sizes_that_overflow_are_refused():
    with pytest.raises(EspalierError, match="expects sizes"):
        program("i * m + v", "n * m")(
            np.zeros(0, np.int32), np.zeros(0, np.float32), n=2**32, m=2**32
        )


def test_an_index_array_may_be_empty():
    """A bound of its values does not say that there are any."""

    @kernel
    def first(q: i32[m].with_values(bounded_by=m), y: f32[m], x: f32[n]) -> None:
        for i in range(n):
            x[i] = y[q[0]]

    with pytest.raises((ScheduleError, EspalierError), match=r"inside its extent 0"):
        Schedule(first).compile(Options(cache=None))
