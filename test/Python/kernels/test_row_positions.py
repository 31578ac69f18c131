"""Values that are kept at their position in a row, `t[j - starts[n]]`."""

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.schedules import Schedule, ScheduleError

NO_CACHE = Options(cache=None)

# t[j - starts[n]] = 2 x[j], then y[j] = t[j - starts[n]] + z[n], row by row.
ROWS = """
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#rows = affine_set<(n)[N, E] : (n >= 0, N - 1 - n >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
!s = memref<?xi32>
!v = memref<?xf32>
poly.kernel @rows(
    %starts: !s {espalier.name = "starts", poly.shape = affine_map<()[N, E] -> (N + 1)>,
        poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
    %x: !v {espalier.name = "x", poly.shape = affine_map<()[N, E] -> (E)>},
    %z: !v {espalier.name = "z", poly.shape = affine_map<()[N, E] -> (N)>},
    %y: !v {espalier.name = "y", poly.shape = affine_map<()[N, E] -> (E)>},
    %N: index {espalier.name = "N"}, %E: index {espalier.name = "E"}) {
  %t = poly.array (%E) : !v
  poly.given @width dims ["n"] domain [#rows]
      reads(%starts[affine_map<(n)[N, E] -> (n)>], %starts[affine_map<(n)[N, E] -> (n + 1)>]
            : !s, !s)
      holds affine_set<(n)[N, E, b, e] : (b + 7 - e >= 0)>
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : !s, !s, !v)
      writes(%t[affine_map<(n, j)[N, E, b, e, v] -> (j - b)>] : !v) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    %r = arith.addf %v, %v : f32
    poly.yield %r : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[affine_map<(n, j)[N, E, b, e] -> (j - b)>], %z[#n]
            : !s, !s, !v, !v)
      writes(%y[#j] : !v) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32, %w: f32):
    %r = arith.addf %v, %w : f32
    poly.yield %r : f32
  }
}
"""


def inlined() -> Schedule:
    s = Schedule(ROWS)
    s.inline("make")
    assert "poly.array" not in str(s.module)
    return s


def fused_and_inlined() -> Schedule:
    s = Schedule(ROWS)
    s.fuse("make", "use", 1)
    s.inline("make")
    s.rebase("use", "j")
    s.vectorize("use", "j", 4)
    s.parallelize("use", "n")
    return s


def private() -> Schedule:
    s = Schedule(ROWS)
    s.privatize("make", "n")
    assert "memref<7xf32>" in str(s.module)
    s.parallelize("make", "n")
    return s


def private_in_lanes() -> Schedule:
    s = private()
    for name in ("make", "use"):
        s.vectorize(name, "j", 4)
    return s


@pytest.mark.parametrize(
    "schedule",
    [lambda: Schedule(ROWS), inlined, fused_and_inlined, private, private_in_lanes],
    ids=["plain", "inlined", "fused", "private", "lanes"],
)
def test_random_rows(schedule) -> None:
    program = schedule().compile(NO_CACHE)
    program.set_num_threads(2)
    random = np.random.default_rng(5)
    for _ in range(60):
        widths = random.integers(0, 8, random.integers(0, 9))
        starts = np.concatenate([[random.integers(0, 3)], widths]).cumsum().astype(np.int32)
        extent = int(starts[-1] + random.integers(0, 3))
        x = random.integers(-9, 9, extent).astype(np.float32)
        z = random.integers(-9, 9, len(widths)).astype(np.float32)
        y = random.integers(-9, 9, extent).astype(np.float32)
        expected = y.copy()
        rows = np.repeat(np.arange(len(widths)), widths)
        expected[starts[0] : starts[-1]] = 2 * x[starts[0] : starts[-1]] + z[rows]
        program.bind(starts=starts, x=x, z=z, y=y, N=len(widths), E=extent)()
        np.testing.assert_array_equal(y, expected)
    with pytest.raises(EspalierError, match=r"expects @width of @rows .* starts\[n \+ 1\] = 8"):
        program.bind(
            starts=np.array([0, 8], np.int32), x=np.ones(8, np.float32),
            z=np.ones(1, np.float32), y=np.ones(8, np.float32), N=1, E=8,
        )()  # fmt: skip


def test_refusals() -> None:
    apart = ROWS.replace(" interleaved 1", "")
    with pytest.raises(ScheduleError, match=r"expects @make not to write .* again before"):
        Schedule(apart).inline("make")
    with pytest.raises(ScheduleError, match="but @use is outside"):
        Schedule(apart).privatize("make", "n")
    further = ROWS.replace("b, e] -> (j - b)>], %z", "b, e] -> (j - b + 1)>], %z")
    assert further != ROWS
    with pytest.raises(ScheduleError, match="expects a point at which @make reads the same"):
        Schedule(further).inline("make")
    with pytest.raises(ScheduleError, match="to write what it reads of array #0 before"):
        Schedule(further).privatize("make", "n")


# A table has a row for each: t[n, j - starts[n]].
TABLE = (
    ROWS.replace("poly.array (%E) : !v", "poly.array (%N) : memref<?x7xf32>")
    .replace("-> (j - b)>] : !v)", "-> (n, j - b)>] : memref<?x7xf32>)")
    .replace("-> (j - b)>], %z[#n]", "-> (n, j - b)>], %z[#n]")
    .replace(": !s, !s, !v, !v)", ": !s, !s, memref<?x7xf32>, !v)")
    .replace(" interleaved 1", "")
)


def read_from_copies() -> Schedule:
    s = Schedule(TABLE)
    s.cache_read("use", 2, "n")
    assert "memref<1x7xf32>" in str(s.module)
    s.parallelize("use", "n")
    return s


def written_to_copies() -> Schedule:
    s = Schedule(TABLE)
    s.cache_write("make", 0, "n")
    s.parallelize("make", "n")
    return s


@pytest.mark.parametrize("schedule", [read_from_copies, written_to_copies])
def test_copies_of_rows_of_a_table(schedule) -> None:
    test_random_rows(schedule)


def test_copies_that_are_refused() -> None:
    """Rows in one place change between a copy and its uses."""
    with pytest.raises(ScheduleError, match=r"to stay as it is from the copy .* but @make"):
        Schedule(ROWS).cache_read("use", 2, "n")
    with pytest.raises(ScheduleError, match='in one iteration of "n"'):
        Schedule(ROWS).cache_write("make", 0, "n")
