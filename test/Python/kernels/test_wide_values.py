"""Conditions and subscripts on values of any size are what they are without 64 bits' limits."""

import itertools

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.schedules import Schedule

NO_CACHE = Options(cache=None)
POWERS = [2**31, 2**60, 2**61, 2**61 + 2**40, 2**62, 2**63 - 3, -(2**31), -(2**61), -(2**62)]
EDGES = [edge + step for edge in [0, *POWERS] for step in range(-2, 3)]
EDGES += [2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1]
N = 16

# y[i] = 1 at the points i of 0, .., N - 1 where CONDITION holds of a = first[k], b = second[k].
POINTS = """
#k = affine_map<(k, i)[K, N] -> (k)>
#all = affine_set<(k, i)[K, N] : (k >= 0, K - 1 - k >= 0, i >= 0, N - 1 - i >= 0)>
poly.kernel @mark(
    %first: memref<?xTYPE> {espalier.name = "first", poly.shape = affine_map<()[K, N] -> (K)>},
    %second: memref<?xTYPE> {espalier.name = "second", poly.shape = affine_map<()[K, N] -> (K)>},
    %y: memref<?x?xf32> {espalier.name = "y", poly.shape = affine_map<()[K, N] -> (K, N)>},
    %K: index {espalier.name = "K"}, %N: index {espalier.name = "N"}) {
  poly.compute @one dims ["k", "i"] domain [#all]
      where affine_set<(k, i)[K, N, a, b] : (CONDITION)>
      reads(%first[#k], %second[#k] : memref<?xTYPE>, memref<?xTYPE>)
      writes(%y[affine_map<(k, i)[K, N] -> (k, i)>] : memref<?x?xf32>) {
  ^bb0(%v: TYPE, %w: TYPE):
    %one = arith.constant 1.0 : f32
    poly.yield %one : f32
  }
}
"""
CONDITIONS = [
    "a * 8 + i >= 0, N - 1 - (a * 8 + i) >= 0",
    "i - a >= 0, b - 1 - i >= 0",
    "a - i >= 0",
    "-a - i >= 0",
    "a - b + i == 0",
    "3 * a - 5 * b + 2 * i >= 0, 7 * b - 3 * i - a >= 0",
    "2147483647 * a + 2147483647 * b + 2147483647 * a + i >= 0",
    "(a * 8 + i) floordiv 3 - b >= 0",
    "(a + i) mod 5 - 2 >= 0, (b - a) ceildiv 7 + i >= 0",
    "i - (a + b) floordiv N >= 0",
    "(-a - i) mod N - 3 >= 0",
]


def holds(condition: str, **values: int) -> bool:
    """Evaluate a condition in integers without limits."""
    for part in condition.split(","):
        text = part.replace("floordiv", "//").replace("mod", "%")
        if "ceildiv" in text:
            left, right = text.split("ceildiv")
            text = f"-(-{left} // {right.strip()[0]}) {right.strip()[1:]}"
        if not eval(text, {}, values):
            return False
    return True


@pytest.mark.parametrize("type_", ["i32", "i64"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_points_that_conditions_choose(condition: str, type_: str) -> None:
    dtype = np.dtype(type_.replace("i", "int"))
    limits = np.iinfo(dtype)
    pairs = [
        pair
        for pair in itertools.product(EDGES, EDGES)
        if all(limits.min <= value <= limits.max for value in pair)
    ]
    first, second = (np.array(values, dtype) for values in zip(*pairs, strict=True))
    expected = np.array(
        [[holds(condition, a=a, b=b, i=i, N=N) for i in range(N)] for a, b in pairs], np.float32
    )
    text = POINTS.replace("CONDITION", condition).replace("TYPE", type_)
    plain, lanes = Schedule(text), Schedule(text)
    lanes.vectorize("one", "i", 8)
    for schedule in (plain, lanes):
        y = np.zeros((len(pairs), N), np.float32)
        schedule.compile(NO_CACHE).bind(first=first, second=second, y=y, K=len(pairs), N=N)()
        np.testing.assert_array_equal(y, expected)
