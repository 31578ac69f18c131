"""Micro-kernels in compiled code."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.schedules import Schedule, ScheduleError

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
    program = s.compile(Options(cache=None))
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
