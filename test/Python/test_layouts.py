"""Commands on the storage of arrays, blocks in registers, micro-kernels, in compiled code."""

import numpy as np
import pytest

import espalier
from espalier.compiler import Options
from espalier.kernels import f32, f64, kernel, label, local, sizes
from espalier.models import Net
from espalier.schedules import Schedule, ScheduleError

m, n, k = sizes("m n k")
NO_CACHE = Options(cache=None)
SHAPES = [(1, 1, 1), (37, 41, 13), (64, 48, 96), (3, 70, 2), (29, 1, 33)]


@kernel
def product(a: f32[m, k], b: f32[k, n], c: f32[m, n]) -> None:
    for i in range(m):
        for j in range(n):
            label("zero")
            c[i, j] = 0.0
    for i in range(m):
        for j in range(n):
            for p in range(k):
                label("acc")
                c[i, j] += a[i, p] * b[p, j]


def check_product(schedule: Schedule, threads: int = 1) -> None:
    program = schedule.compile(NO_CACHE)
    program.set_num_threads(threads)
    for rows, columns, depth in SHAPES:
        random = np.random.default_rng(rows)
        a = random.random((rows, depth), dtype=np.float32)
        b = random.random((depth, columns), dtype=np.float32)
        c = np.full((rows, columns), np.nan, np.float32)
        program(a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@pytest.mark.parametrize(("rows", "columns", "width"), [(6, 32, 16), (4, 8, 8), (1, 48, 16)])
def test_register_block(rows, columns, width):
    s = Schedule(product)
    made = s.register_block("acc", ["i", "j"], [rows, columns], width)
    assert made == ["acc_in", "acc_out"]
    check_product(s)


def test_register_block_of_packed_panels_on_two_threads():
    s = Schedule(product)
    s.split("acc", "p", [16])
    s.interchange("acc", ["p.0", "j", "i", "p.1"])
    s.register_block("acc", ["i", "j"], [6, 32], 16)
    s.interchange("acc", ["j.0", "i.0"])
    (copy,) = s.pack("acc", 2, [0, 32], order=[1, 0, 2], loop="p.0")
    s.vectorize(copy, "e1", 16)
    s.parallelize("acc", "i.0")
    check_product(s, threads=2)


def test_initialization_moves_to_the_block():
    s = Schedule(product)
    s.register_block("acc", ["i", "j"], [4, 16], 16)
    s.compute_at("zero", "acc_in", "j.0")
    check_product(s)


@pytest.mark.parametrize("loop", ["p", "j.0", "i.0"])
def test_decompose(loop):
    s = Schedule(product)
    s.tile("acc", ["i", "j"], [[4, 8]])
    s.decompose("acc", loop)
    lines = [line.strip() for line in s.loops().splitlines()]
    zero = next(number for number, line in enumerate(lines) if line.startswith("zero("))
    update = next(number for number, line in enumerate(lines) if line.startswith(f"for {loop} "))
    assert zero < update
    check_product(s)


def test_decompose_needs_a_loop():
    with pytest.raises(ScheduleError, match=r'expects a loop of @acc, one of .*, but got ""'):
        Schedule(product).decompose("acc", "")


@kernel
def rows(a: f64[m, n], out: f64[m, n]) -> None:
    """A temporary row, used again for every i."""
    t = local(f64[n])
    for i in range(m):
        for j in range(n):
            label("square")
            t[j] = a[i, j] * a[i, j]
        for j in range(n):
            label("mirror")
            out[i, j] = t[n - 1 - j]


def check_rows(program, threads: int = 1) -> None:
    program.set_num_threads(threads)
    for shape in [(1, 1), (5, 7), (33, 18)]:
        a = np.random.default_rng(3).random(shape)
        out = np.zeros(shape)
        program(a, out)
        np.testing.assert_array_equal(out, (a * a)[:, ::-1])


def test_contracted_rows_run_in_parallel():
    s = Schedule(rows)
    with pytest.raises(ScheduleError, match="dependence"):
        s.parallelize("square", "i")
    s.privatize("square", "i")
    s.parallelize("square", "i")
    program = s.compile(NO_CACHE)
    for threads in (1, 2):
        check_rows(program, threads)


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        ("(i, j) -> (j, i)", {}),
        ("(i, j) -> (j floordiv 4, i, j mod 4)", {"padding": [0, 1, 3]}),
        ("(i, j) -> (i, j)", {"multiples": [1, 16]}),
    ],
)
def test_layouts(layout, options):
    @kernel
    def twice(a: f64[m, n], out: f64[m, n]) -> None:
        t = local(f64[m, n])
        for i in range(m):
            for j in range(n):
                label("square")
                t[i, j] = a[i, j] * a[i, j]
        for i in range(m):
            for j in range(n):
                label("mirror")
                out[i, j] = t[i, n - 1 - j]

    s = Schedule(twice)
    s.layout("square", f"affine_map<{layout}>", **options)
    s.vectorize("square", "j", 4)
    check_rows(s.compile(NO_CACHE))


BODY = """reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
"""
ARGUMENT = '{{espalier.name = "{}", poly.shape = affine_map<()[m] -> ({})>}}'
KERNELS = f"""
#small = affine_set<(i, j, k) : (i >= 0, 3 - i >= 0, j >= 0, 15 - j >= 0, k >= 0, 7 - k >= 0)>
#large = affine_set<(i, j, k)[m] : (i >= 0, 4 * m - 1 - i >= 0, j >= 0, 31 - j >= 0,
                                    k >= 0, 63 - k >= 0)>
poly.kernel private @micro(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {{
  poly.compute @m dims ["i", "j", "k"] domain [#small]
      reads(%c[affine_map<(i, j, k) -> (i, j)>], %a[affine_map<(i, j, k) -> (i, k)>],
            %b[affine_map<(i, j, k) -> (k, j)>]
            : memref<4x16xf32>, memref<4x8xf32>, memref<8x16xf32>)
      writes(%c[affine_map<(i, j, k) -> (i, j)>] : memref<4x16xf32>) {BODY}
  poly.schedule {{
    poly.band [@m] maps [affine_map<(i, j, k) -> (k, i, j)>]
        loops [sequential, unroll, vector(16)] names ["k", "i", "j"]
  }}
}}
poly.kernel @product(%A: memref<?x64xf32> {ARGUMENT.format("a", "4 * m, 64")},
                     %B: memref<64x32xf32> {ARGUMENT.format("b", "64, 32")},
                     %C: memref<?x32xf32> {ARGUMENT.format("c", "4 * m, 32")},
                     %m: index {{espalier.name = "m"}}) {{
  poly.compute @acc dims ["i", "j", "k"] domain [#large]
      reads(%C[affine_map<(i, j, k)[m] -> (i, j)>], %A[affine_map<(i, j, k)[m] -> (i, k)>],
            %B[affine_map<(i, j, k)[m] -> (k, j)>]
            : memref<?x32xf32>, memref<?x64xf32>, memref<64x32xf32>)
      writes(%C[affine_map<(i, j, k)[m] -> (i, j)>] : memref<?x32xf32>) {BODY}
}}
"""


def test_tiles_of_a_product():
    """Tiles are full for all sizes: there are a multiple of four rows."""
    s = Schedule(KERNELS, "product")
    s.tile("acc", ["i", "j", "k"], [[4, 16, 8]])
    s.tensorize("acc", "i.1", "micro")
    s.parallelize("acc", "i.0")
    program = s.compile(NO_CACHE)
    for blocks in (0, 1, 5):
        random = np.random.default_rng(blocks)
        a = random.random((4 * blocks, 64), dtype=np.float32)
        b = random.random((64, 32), dtype=np.float32)
        c = np.zeros((4 * blocks, 32), np.float32)
        program(a, b, c, m=blocks)
        np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_tiles_of_another_size_are_not_it():
    s = Schedule(KERNELS, "product")
    s.tile("acc", ["i", "j", "k"], [[3, 16, 8]])
    with pytest.raises(ScheduleError, match="but they take others or fewer"):
        s.tensorize("acc", "i.1", "micro")


@pytest.mark.parametrize(("cpu", "width"), [("x86-64-v3", 16), ("x86-64-v4", 32)])
def test_layouts_are_for_the_cpu_that_is_named(cpu, width):
    """Whatever machine lowers: a tile of the other has other panels of weights."""
    net = Net("product")
    x = net.input("x", [100, 96])
    model = net.finish((net.node("MatMul", x, net.weight([96, 128], 0.1)), "y", [100, 128]))
    text = str(espalier.lower(model, options=Options(cache=None, cpu=cpu)))
    assert f'poly.target<cpu = "{cpu}"' in text
    assert f"(d1 floordiv {width}, d2, d1 mod {width})" in text
