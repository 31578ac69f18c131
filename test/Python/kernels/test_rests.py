"""What whole tiles leave, with the arrangement that they have."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import f32, kernel, label, sizes
from espalier.schedules import Schedule

NO_CACHE = Options(cache=None)
m, n, p = sizes("m n p")


@kernel
def product(a: f32[n, m], b: f32[m, p], c: f32[n, p]) -> None:
    for i in range(n):
        for j in range(p):
            for k in range(m):
                label("acc")
                c[i, j] += a[i, k] * b[k, j]


def check(schedule):
    """Compare the product with NumPy's, for sizes around those of the tiles."""
    program = schedule.compile(NO_CACHE)
    random = np.random.default_rng(1)
    for rows in (0, 1, 5, 6, 7, 8, 11, 12, 23):
        for columns in (1, 8, 15, 16, 17, 24):
            a = random.integers(-3, 4, (rows, 5)).astype(np.float32)
            b = random.integers(-3, 4, (5, columns)).astype(np.float32)
            c = np.ones((rows, columns), np.float32)
            program(a, b, c)
            np.testing.assert_array_equal(c, 1 + a @ b)


def tiled():
    """Return the product in tiles of 6 rows and 16 columns, written out."""
    s = Schedule(product)
    s.tile("acc", ["i", "j"], [[6, 16]])
    s.interchange("acc", ["i.0", "j.0", "k", "i.1", "j.1"])
    return s


def write_out(s):
    s.unroll("acc", "i.1")
    s.vectorize("acc", "j.1", 16)


@pytest.mark.parametrize("rows", [1, 2, 4, 5])
def test_rest_of_rows(rows):
    s = tiled()
    write_out(s)
    s.retile("acc", "i.0", rows)
    check(s)


def test_rests_of_rests():
    s = tiled()
    write_out(s)
    s.parallelize("acc", "i.0")
    s.retile("acc", "i.0", 2)
    s.retile("acc", "i.0.rest", 1)
    s.retile("acc", "j.0", 8)
    s.retile("acc", "j.0.rest", 4)
    check(s)


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_rest_of_a_tile_in_registers(rows):
    s = Schedule(product)
    s.cache_write("acc", 0)
    element = "affine_map<(i, j) -> (i floordiv 6, j floordiv 16, i mod 6, j mod 16)>"
    term = "affine_map<(i, j, k) -> (i floordiv 6, j floordiv 16, k, i mod 6, j mod 16)>"
    s.arrange("acc_in", ["acc", "acc_out"], [element, term, element], ["ti", "tj"])
    s.fold_storage("acc_in", 0, 6)
    s.fold_storage("acc_in", 1, 16)
    for name, row, column in (("acc_in", "e0", "e1"), ("acc", "i", "j"), ("acc_out", "e0", "e1")):
        s.unroll(name, row)
        s.vectorize(name, column, 16)
    s.place("acc_in", "register")
    s.retile("acc_in", "ti", rows)
    check(s)


def test_another_arrangement_for_the_rest():
    s = tiled()
    s.peel("acc", "i.0", last=1)
    s.arrange(
        "acc",
        [],
        ["affine_map<(i, j, k) -> (k, j floordiv 16, i, j mod 16)>"],
        ["kr", "jr", "ir", "lanes"],
        loop="i.0.peel",
    )
    check(s)
