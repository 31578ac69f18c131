"""Kernels from Python functions, run in place and compared with NumPy."""

import math

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import f32, f64, i32, i64, kernel, label, local, sizes
from espalier.kernels.program import KernelProgram
from espalier.schedules import Schedule

m, n, k, t = sizes("m n k t")
SEED = 1


@kernel
def matmul(a: f64[m, k], b: f64[k, n], c: f64[m, n], alpha: f64) -> None:
    for i in range(m):
        for j in range(n):
            label("init")
            c[i, j] = 0
            for p in range(k):
                label("acc")
                c[i, j] += alpha * a[i, p] * b[p, j]


@kernel
def jacobi(a: f32[n], b: f32[n]) -> None:
    for _s in range(t):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3


def run(kernel, *args, **kwargs) -> None:
    kernel.compile(Options(cache=None))(*args, **kwargs)


def random(*shape, dtype=np.float64) -> np.ndarray:
    return np.random.default_rng(SEED).random(shape).astype(dtype)


@pytest.fixture(scope="module")
def product() -> KernelProgram:
    return matmul.compile(Options(cache=None))


@pytest.mark.parametrize("shape", [(7, 5, 3), (1, 1, 1), (0, 3, 2), (3, 17, 0), (33, 64, 31)])
@pytest.mark.parametrize("threads", [1, 2])
def test_matmul(product, shape, threads):
    rows, columns, depth = shape
    a, b, c = random(rows, depth), random(depth, columns), random(rows, columns)
    product.set_num_threads(threads)
    product(a, b, c, 2.0)
    np.testing.assert_allclose(c, 2 * a @ b, rtol=1e-12)


@pytest.mark.parametrize(("size", "steps"), [(13, 4), (1, 3), (2, 1), (30, 0)])
def test_time_steps_in_place(size, steps):
    a, b = random(size, dtype=np.float32), random(size, dtype=np.float32)
    expected, other = a.copy(), b.copy()
    for _ in range(steps):
        for x, y in [(expected, other), (other, expected)]:
            y[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    run(jacobi, a, b, t=steps)
    np.testing.assert_allclose(a, expected, rtol=1e-5)


def test_text_of_a_kernel():
    text = matmul.mlir
    assert "poly.kernel @matmul(" in text
    assert 'poly.compute @acc dims ["i", "j", "p"]' in text
    assert "reduction add interleaved 2" in text
    assert f'loc("{__file__}":25:0)' in text


def test_conditions_steps_and_bounds():
    @kernel
    def fill(a: i64[n, n], b: i64[n], first: i64) -> None:
        for i in range(n):
            for j in range(max(0, i - 2), min(n, i + 3)):
                if i == j or (i > j and not (j < 1 or j > 1)):
                    a[i, j] = first
                elif (i + j) % 2 == 0:
                    a[i, j] = i64(i) * 10 + i64(j // 2)
                else:
                    a[i, j] = -1
        for i in range(n - 1, -1, -1):
            if i + 1 < n:
                b[i] = b[i + 1] + 1
            else:
                b[i] = 1
        for i in range(1, n, 3):
            b[i] *= 100
        for i in range(n - 1, 1, -2):
            b[i] = b[i - 1] * 2

    size = 11
    a, b = np.zeros((size, size), np.int64), np.zeros(size, np.int64)
    a2, b2 = a.copy(), b.copy()
    for i in range(size):
        for j in range(max(0, i - 2), min(size, i + 3)):
            if i == j or (i > j and j == 1):
                a2[i, j] = 7
            else:
                a2[i, j] = i * 10 + j // 2 if (i + j) % 2 == 0 else -1
    for i in range(size - 1, -1, -1):
        b2[i] = (b2[i + 1] if i + 1 < size else 0) + 1
    b2[1::3] *= 100
    for i in range(size - 1, 1, -2):
        b2[i] = b2[i - 1] * 2
    run(fill, a, b, 7)
    assert a.tolist() == a2.tolist()
    assert b.tolist() == b2.tolist()


def test_values_functions_and_locals():
    scale = 0.5

    @kernel
    def values(x: f64[n], y: f64[n, 4], picked: i32[n], r: f32[n + 1]) -> None:
        """Text is skipped."""
        mean: f64 = 0.0
        squares = local(f64[n])
        for i in range(n):
            mean += x[i] / f64(n)
        for i in range(n):
            squares[i] = (x[i] - mean) ** 2.0
        for i in range(n):
            y[i, 0] = math.sqrt(squares[picked[i]])
            y[i, 1] = max(abs(-x[i]), math.exp(x[i]) * scale, 0.25)
            y[i, 2] = x[i] if 0.2 < x[i] <= 0.7 and not (x[i] > 0.5 and x[i] < 0.6) else f64(i) - 1
            y[i, 3] = -math.floor(x[i] * 10) - f64(picked[i] % 2 * 3 - picked[i] // 2)
        for i in range(n + 1):
            r[i] = f32(2 * i - n // 2)

    size = 9
    x, y, r = random(size), np.zeros((size, 4)), np.zeros(size + 1, np.float32)
    picked = np.random.default_rng(SEED).permutation(size).astype(np.int32)
    run(values, x, y, picked, r)
    expected = np.stack(
        [
            abs(x - x.mean())[picked],
            np.maximum(np.maximum(abs(x), np.exp(x) * scale), 0.25),
            np.where((x > 0.2) & (x <= 0.7) & ~((x > 0.5) & (x < 0.6)), x, np.arange(size) - 1),
            -np.floor(x * 10) - (picked % 2 * 3 - picked // 2),
        ],
        axis=1,
    )
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    assert r.tolist() == [2 * i - size // 2 for i in range(size + 1)]


def test_reductions_are_marked_where_they_are_some():
    @kernel
    def reductions(a: f64[n], r: f64[4]) -> None:
        for i in range(n):
            r[0] -= a[i]
            r[1] = max(r[1], a[i])
            r[2] += r[2] * a[i]
            r[3] = r[3] + a[i]

    lines = [line for line in reductions.mlir.splitlines() if line.strip().endswith("{")]
    marks = [line.split()[1] if "reduction" in line else "" for line in lines[2:]]
    assert marks == ["add", "max", "", ""]
    a, r = random(5), np.zeros(4)
    r[2] = 1
    run(reductions, a, r)
    np.testing.assert_allclose(r, [-a.sum(), a.max(), np.prod(1 + a), a.sum()])


def test_sizes_may_be_given():
    @kernel
    def ramp(a: f64[2 * n + 1]) -> None:
        for i in range(2 * n + 1):
            a[i] = f64(i)

    a = np.zeros(7)
    run(ramp, a, n=3)
    assert a.tolist() == list(range(7))


@kernel
def scaled(a: f64[m, n], s: f64[m]) -> None:
    assert m >= 1
    w: f64
    last: f64 = 0.0
    for i in range(m):
        w = s[i]
        for j in range(n):
            a[i, j] = a[i, j] * w
            last = a[i, j]
    for j in range(n - 1, -1, -1):
        w = a[0, j] if j >= 2 else 0.0
        a[0, j] = a[0, j] + w
        s[0] = last


def test_scalars_that_iterations_write_first_are_private():
    text = scaled.mlir
    private = ": memref<?xf64> storage affine_map<(d0) -> ()>"
    assert f'%v.w = poly.array stack {{espalier.name = "w"}} {private}' in text
    assert f'%v.w.1 = poly.array stack {{espalier.name = "w.1"}} {private}' in text
    # This one is read after the loop that writes it.
    assert '%v.last = poly.array stack {espalier.name = "last"} : memref<f64>\n' in text
    a, s = random(3, 4), random(3)
    expected = a * s[:, None]
    last = expected[-1, -1]
    expected[0, 2:] *= 2
    schedule = Schedule(scaled)
    schedule.unfold("S1")
    schedule.unfold("S4")
    schedule.compile(Options(cache=None))(a, s)
    np.testing.assert_allclose(a, expected)
    assert s[0] == last


@kernel
def carried(a: f64[n], b: f64[n]) -> None:
    w: f64 = 0.0
    for i in range(n):
        b[i] = w
        w = a[i]


def test_scalars_that_iterations_hand_on_are_not_private():
    assert '%v.w = poly.array stack {espalier.name = "w"} : memref<f64>' in carried.mlir
    a, b = random(5), np.zeros(5)
    run(carried, a, b)
    np.testing.assert_array_equal(b, [0, *a[:-1]])
