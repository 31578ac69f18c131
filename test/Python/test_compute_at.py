"""Producers computed where they are used, in compiled code."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import f64, kernel, label, local, sizes
from espalier.schedules import Schedule, ScheduleError

h, w, c, k, n = sizes("h w c k n")
NO_CACHE = Options(cache=None)


@kernel
def conv_relu_pool(x: f64[c, h, w], filters: f64[k, c, 3, 3], out: f64[k, h, w]) -> None:
    """A maximum over 3 x 3 with stride 2, of what a 3 x 3 convolution leaves."""
    t = local(f64[k, h, w])
    for o in range(k):
        for y in range(h - 2):
            for z in range(w - 2):
                label("init")
                t[o, y, z] = 0.0
    for o in range(k):
        for y in range(h - 2):
            for z in range(w - 2):
                for i in range(c):
                    for r in range(3):
                        for s in range(3):
                            label("conv")
                            t[o, y, z] += x[i, y + r, z + s] * filters[o, i, r, s]
    for o in range(k):
        for y in range(h - 2):
            for z in range(w - 2):
                label("relu")
                t[o, y, z] = max(t[o, y, z], 0.0)
    for o in range(k):
        for y in range((h - 3) // 2):
            for z in range((w - 3) // 2):
                for r in range(3):
                    for s in range(3):
                        label("pool")
                        out[o, y, z] = max(out[o, y, z], t[o, 2 * y + r, 2 * z + s])


def check_pool(program) -> None:
    for height, width, channels, filters in [(13, 17, 3, 5), (5, 5, 1, 1), (4, 9, 2, 2)]:
        random = np.random.default_rng(height)
        x = random.standard_normal((channels, height, width))
        weights = random.standard_normal((filters, channels, 3, 3))
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
        t = np.maximum(np.einsum("cyxrs,kcrs->kyx", windows, weights), 0)
        out = np.zeros((filters, height, width))
        expected = out.copy()
        for y in range((height - 3) // 2):
            for z in range((width - 3) // 2):
                expected[:, y, z] = t[:, 2 * y : 2 * y + 3, 2 * z : 2 * z + 3].max((1, 2))
        program(x, weights, out)
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loop", ["o", "y.0", "z.0", "y.1", "z.1"])
def test_convolution_in_tiles_of_its_pooling(loop):
    s = Schedule(conv_relu_pool)
    s.tile("pool", ["y", "z"], [[2, 3]])
    s.compute_at("conv", "pool", loop)
    assert s.computations["relu"][0] == "o"
    s.interchange("conv", ["s", "r", "i"])
    check_pool(s.compile(NO_CACHE))


@kernel
def blur(a: f64[n, n], out: f64[n, n]) -> None:
    b = local(f64[n, n])
    for i in range(n):
        for j in range(n - 2):
            label("rows")
            b[i, j] = a[i, j] + a[i, j + 1] + a[i, j + 2]
    for i in range(n - 2):
        for j in range(n - 2):
            label("columns")
            out[i, j] = b[i, j] + b[i + 1, j] + b[i + 2, j]


def test_overlapped_tiles_on_two_threads():
    s = Schedule(blur)
    s.tile("columns", ["i", "j"], [[8, 4]])
    s.compute_at("rows", "columns", "j.0", placement="stack")
    assert s.computations["rows"] == ["i.0", "j.0", "i.rows", "j.rows"]
    s.vectorize("rows", "j.rows", 4)
    s.parallelize("columns", "i.0")
    program = s.compile(NO_CACHE)
    for size in (2, 3, 10, 21):
        a = np.random.default_rng(size).random((size, size))
        rows = a[:, :-2] + a[:, 1:-1] + a[:, 2:]
        expected = np.zeros_like(a)
        expected[:-2, :-2] = rows[:-2] + rows[1:-1] + rows[2:]
        for threads in (1, 2):
            out = np.zeros_like(a)
            program.set_num_threads(threads)
            program(a, out)
            np.testing.assert_allclose(out, expected, rtol=1e-14)


@kernel
def scaled(a: f64[n, n], b: f64[n, n], sums: f64[n]) -> None:
    for i in range(n):
        for j in range(n):
            label("scale")
            b[i, j] = 2 * a[i, j]
    for i in range(n):
        label("zero")
        sums[i] = 0.0
    for i in range(n):
        for j in range(n):
            label("add")
            sums[i] += b[i, j]


def test_results_that_others_see_are_moved():
    s = Schedule(scaled)
    s.tile("add", ["i", "j"], [[4, 8]])
    s.compute_at("scale", "add", "j.0")
    s.compute_at("zero", "add", "i.1")
    assert "zero(" in s.loops().partition("for i.1")[2]
    assert s.computations == {"scale": ["i", "j"], "zero": ["i"], "add": ["i", "j"]}
    program = s.compile(NO_CACHE)
    for size in (1, 5, 19):
        a = np.random.default_rng(size).random((size, size))
        b, sums = np.zeros_like(a), np.zeros(size)
        program(a, b, sums)
        np.testing.assert_array_equal(b, 2 * a)
        np.testing.assert_allclose(sums, b.sum(1), rtol=1e-14)


def test_refusals_change_nothing():
    s = Schedule(blur)
    before = s.loops()
    with pytest.raises(ScheduleError, match='expects a loop of @columns, one of \\["i", "j"\\]'):
        s.compute_at("rows", "columns", "x")
    assert s.loops() == before
