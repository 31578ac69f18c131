"""Layers of a recurrent network in one kernel: a wavefront over layers and time.

Which orders are legal depends on how many places of time the states have.
"""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.schedules import Schedule, ScheduleError

NO_CACHE = Options(cache=None)

# h[l, t] = tanh(w[l] x h[l - 1, t] + u[l] x h[l, t - 1]), where h[-1] is x.
STACK = (
    """
#unit = affine_set<(l, t, j)[L, T, N] : (l >= 0, L - 1 - l >= 0, t >= 0, T - 1 - t >= 0,
                                         j >= 0, N - 1 - j >= 0)>
#last = affine_set<(l, t, j)[L, T, N] : (l - L + 1 == 0, l >= 0, t >= 0, T - 1 - t >= 0,
                                         j >= 0, N - 1 - j >= 0)>
#input = affine_set<(l, t, j, k)[L, T, N] : (l == 0, L - 1 - l >= 0, t >= 0, T - 1 - t >= 0,
                                             j >= 0, N - 1 - j >= 0, k >= 0, N - 1 - k >= 0)>
#below = affine_set<(l, t, j, k)[L, T, N] : (l - 1 >= 0, L - 1 - l >= 0, t >= 0, T - 1 - t >= 0,
                                             j >= 0, N - 1 - j >= 0, k >= 0, N - 1 - k >= 0)>
#before = affine_set<(l, t, j, k)[L, T, N] : (l >= 0, L - 1 - l >= 0, t - 1 >= 0, T - 1 - t >= 0,
                                              j >= 0, N - 1 - j >= 0, k >= 0, N - 1 - k >= 0)>
#own = affine_map<(l, t, j)[L, T, N] -> (l, t, j)>
#sum = affine_map<(l, t, j, k)[L, T, N] -> (l, t, j)>
#weight = affine_map<(l, t, j, k)[L, T, N] -> (l, j, k)>
poly.kernel @stack(
    %x: memref<?x?xf32> {espalier.name = "x", poly.shape = affine_map<()[L, T, N] -> (T, N)>},
    %w: memref<?x?x?xf32> {espalier.name = "w",
        poly.shape = affine_map<()[L, T, N] -> (L, N, N)>},
    %u: memref<?x?x?xf32> {espalier.name = "u",
        poly.shape = affine_map<()[L, T, N] -> (L, N, N)>},
    %y: memref<?x?xf32> {espalier.name = "y", poly.shape = affine_map<()[L, T, N] -> (T, N)>},
    %L: index {espalier.name = "L"}, %T: index {espalier.name = "T"},
    %N: index {espalier.name = "N"}) {
  %h = poly.array(%L, %T, %N) : memref<?x?x?xf32>
  %s = poly.array(%L, %T, %N) : memref<?x?x?xf32>
  poly.compute @init dims ["l", "t", "j"] domain [#unit] reads()
      writes(%s[#own] : memref<?x?x?xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
"""
    + "".join(
        f"""
  poly.compute @{name} dims ["l", "t", "j", "k"] domain [#{name}]
      reads(%{weight}[#weight], %{array}[affine_map<(l, t, j, k)[L, T, N] -> ({element})>],
            %s[#sum] : memref<?x?x?xf32>, {kind}, memref<?x?x?xf32>)
      writes(%s[#sum] : memref<?x?x?xf32>) reduction add interleaved 2 {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %sum, %p : f32
    poly.yield %r : f32
  }}
"""
        for name, weight, array, element, kind in (
            ("input", "w", "x", "t, k", "memref<?x?xf32>"),
            ("below", "w", "h", "l - 1, t, k", "memref<?x?x?xf32>"),
            ("before", "u", "h", "l, t - 1, k", "memref<?x?x?xf32>"),
        )
    )
    + """
  poly.compute @step dims ["l", "t", "j"] domain [#unit]
      reads(%s[#own] : memref<?x?x?xf32>) writes(%h[#own] : memref<?x?x?xf32>) interleaved 2 {
  ^bb0(%sum: f32):
    %r = math.tanh %sum : f32
    poly.yield %r : f32
  }
  poly.compute @result dims ["l", "t", "j"] domain [#last]
      reads(%h[#own] : memref<?x?x?xf32>)
      writes(%y[affine_map<(l, t, j)[L, T, N] -> (t, j)>] : memref<?x?xf32>) interleaved 2 {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
"""
)


def expected(x: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the results of the last layer, one layer after the other."""
    for weights, own in zip(w, u, strict=True):
        h, rows = np.zeros(x.shape[1], np.float32), []
        for row in x:
            h = np.tanh(weights @ row + own @ h)
            rows.append(h)
        x = np.array(rows)
    return x


def check(s: Schedule, threads: int = 1) -> None:
    program = s.compile(NO_CACHE)
    program.set_num_threads(threads)
    random = np.random.default_rng(0)
    for layers, steps, units in [(4, 7, 5), (1, 3, 8), (3, 1, 4), (2, 20, 16)]:
        x = random.standard_normal((steps, units)).astype(np.float32)
        w, u = random.standard_normal((2, layers, units, units)).astype(np.float32) / 4
        y = np.zeros_like(x)
        program(x, w, u, y)
        np.testing.assert_allclose(y, expected(x, w, u), 1e-5, 1e-5)


def fold_time(s: Schedule, places: int) -> None:
    """Keep the states of so many steps, and the sums of one."""
    s.fold_storage("step", 1, places)


def test_a_wavefront_needs_two_places_of_time() -> None:
    s = Schedule(STACK)
    s.wavefront("step", ["t", "l"])
    fold_time(s, 2)
    s.fold_storage("init", 1, 1)
    check(s, threads=2)


def test_one_place_of_time_is_refused_with_the_wavefront() -> None:
    """A layer would overwrite the state that the layer above has not read."""
    s = Schedule(STACK)
    s.wavefront("step", ["t", "l"])
    with pytest.raises(ScheduleError, match=r"in one place and alive .*; legal with 2 places"):
        fold_time(s, 1)
    check(s)


def test_two_places_are_refused_layer_by_layer() -> None:
    """The layer above reads all steps of the one below: time has to be outside first."""
    s = Schedule(STACK)
    with pytest.raises(ScheduleError, match=r"\(0, 0, 0\) and \(0, 2, 0\) are in one place"):
        fold_time(s, 2)
    s.interchange("step", ["t", "l"])
    fold_time(s, 1)  # A state is overwritten by the next one, when its sums are there.
    check(s)
