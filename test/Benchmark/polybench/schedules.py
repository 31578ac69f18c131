"""A schedule for each kernel of the suite, as a person wrote it.

Each is at most fifteen lines of commands for sizes that are not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from machines import name_vectors

from espalier.kernels import Kernel
from espalier.schedules import Schedule

LANES = 8
TILE_ROWS, TILE_VECTORS, TILE_LANES = (8, 3, 8) if name_vectors() == "AVX-512" else (4, 3, 4)
"""The register tile of 32 registers of 512 bits, and that of 16 registers of 256 bits."""
TRANSPOSED = "affine_map<(x, y) -> (y, x)>"


def maps(*texts: str) -> list[str]:
    """Return affine maps."""
    return [f"affine_map<{text}>" for text in texts]


def register_tile(
    s: Schedule, name: str, loops: str, rows: int = TILE_ROWS, vectors: int = TILE_VECTORS
) -> None:
    """Keep tiles of rows and vectors of a product, over loops `i j k`, in registers."""
    i, j, k = loops.split()
    s.tile(name, [i, j], [[rows, vectors * TILE_LANES]])
    s.interchange(name, [f"{i}.0", f"{j}.0", k, f"{i}.1", f"{j}.1"])
    s.unroll(name, f"{i}.1")
    s.vectorize(name, f"{j}.1", TILE_LANES)
    s.unroll(name, f"{j}.1.0")
    s.interchange(name, [k, f"{i}.1", f"{j}.1.0", f"{j}.1.1"])
    s.separate_full_tiles(name, [f"{i}.0", f"{j}.0"])


def vectorize_all(s: Schedule, names: Sequence[str], loop: str, lanes: int = LANES) -> None:
    """Run a loop of several computations in vectors."""
    for name in names:
        s.vectorize(name, loop, lanes, peel_tail=True)


def unroll_all(s: Schedule, names: Sequence[str], loop: str) -> None:
    """Unroll a loop of several computations."""
    for name in names:
        s.unroll(name, loop)


def arrange_filter(
    s: Schedule, names: Sequence[str], begin: str, step: str, loops: Sequence[str]
) -> None:
    """Let the computations of a filter, of which half set scalars first, share loops."""
    half = len(names) // 2
    s.arrange(names[0], names[1:], maps(*[begin] * half, *[step] * (half + 1)), loops)


def product(s: Schedule, name: str, loops: str) -> None:
    """Tile a product over loops `i j k` for caches and registers."""
    i, j, k = loops.split()
    s.tile(name, [j, k, i], [[240, 256, 480]])
    register_tile(s, name, f"{i}.1 {j}.1 {k}.1")


def gemm(s: Schedule) -> None:
    """Tile the product; scale before it."""
    s.fission("S0", "i")
    s.vectorize("S0", "j", LANES)
    product(s, "S1", "i j p")


def gemver(s: Schedule) -> None:
    """Read the matrix once for its update and the transposed product."""
    s.interchange("S1", ["j", "i"])
    s.fuse("S0", "S1", 2)
    s.vectorize("S0", "j", LANES, peel_tail=True)
    s.vectorize("S3", "j", LANES, peel_tail=True)


def gesummv(s: Schedule) -> None:
    """Sum rows in vectors."""
    s.vectorize("S2", "j", LANES, peel_tail=True)


def symm(s: Schedule) -> None:
    """Do the upper part's product, scale, then the lower part's."""
    s.unfold("S0")
    points, pairs = "(i, j, p) -> (i, j, p)", "(i, j) -> (i, j)"
    s.arrange("S0", ["S2", "S3", "S1"], maps(pairs, points, pairs, points), [])
    s.vectorize("S0", "j", LANES)
    s.vectorize("S3", "j", LANES)
    product(s, "S2", "i j p")
    product(s, "S1", "p j i")


def syrk(s: Schedule) -> None:
    """Transpose the factor, so that its columns are vectors."""
    s.fission("S0", "i")
    s.vectorize("S0", "j", LANES)
    s.cache_read("S1", 1, layout=TRANSPOSED)
    product(s, "S1", "i j p")


def syr2k(s: Schedule) -> None:
    """Transpose both factors, so that their columns are vectors."""
    s.fission("S0", "i")
    s.vectorize("S0", "j", LANES)
    s.cache_read("S1", 1, layout=TRANSPOSED)
    s.cache_read("S1", 2, layout=TRANSPOSED)
    product(s, "S1", "i j p")


def trmm(s: Schedule) -> None:
    """Tile the product; scale after it."""
    s.fission("S0", "i")
    s.vectorize("S1", "j", LANES)
    product(s, "S0", "i j p")


def k2mm(s: Schedule) -> None:
    """Tile both products."""
    for start, update in ("S0", "S1"), ("S2", "S3"):
        s.fission(start, "i")
        s.vectorize(start, "j", LANES)
        product(s, update, "i j k")


def k3mm(s: Schedule) -> None:
    """Tile all three products."""
    for start, update in ("S0", "S1"), ("S2", "S3"), ("S4", "S5"):
        s.fission(start, "i")
        s.vectorize(start, "j", LANES)
        product(s, update, "i j k")


def atax(s: Schedule) -> None:
    """Use each row twice while it is near."""
    s.vectorize("S2", "j", LANES, peel_tail=True)
    s.vectorize("S3", "j", LANES, peel_tail=True)


def bicg(s: Schedule) -> None:
    """Use each vector of a row twice."""
    s.vectorize("S2", "j", LANES, peel_tail=True)


def doitgen(s: Schedule) -> None:
    """Keep a row of the product, or much of it, in registers."""
    s.fission("S0", "k")
    s.vectorize("S0", "k", LANES)
    s.tile("S1", ["k"], [[20 * LANES]])
    s.interchange("S1", ["k.0", "h", "k.1"])
    s.vectorize("S1", "k.1", LANES)
    s.unroll("S1", "k.1.0")
    s.interchange("S1", ["h", "k.1.0", "k.1.1"])
    s.separate_full_tiles("S1", ["k.0"])
    s.vectorize("S2", "k", LANES)


def mvt(s: Schedule) -> None:
    """Read the matrix once for both products."""
    s.interchange("S1", ["j", "i"])
    s.fuse("S0", "S1", 2)
    s.vectorize("S0", "j", LANES, peel_tail=True)


def cholesky(s: Schedule) -> None:
    """Eliminate eight rows at once, which share the columns' rows."""
    own = maps("(i, j, k) -> (i, j, k)", "(i, k) -> (i, i, k)", "(i) -> (i, i)", "(i, j) -> (i, j)")
    s.arrange("S0", ["S2", "S3", "S1"], own, ["i", "j"])
    s.tile("S0", ["i"], [[8]])
    s.interchange("S0", ["i.0", "j", "i.1"])
    s.separate_full_tiles("S0", ["i.0", "j"])
    s.fission("S0", "i.1")
    s.split("S0", "k", [LANES])
    s.interchange("S0", ["k.0", "i.1", "k.1"])
    s.vectorize("S0", "k.1", LANES)
    s.unroll("S0", "i.1")
    s.separate_full_tiles("S0", ["k.0"])
    s.vectorize("S2", "k", LANES, peel_tail=True)


def gramschmidt(s: Schedule) -> None:
    """Walk the columns behind row by row."""
    s.fission("S4", "j")
    for name in "S5", "S6":
        s.interchange(name, ["i", "j"])
        s.vectorize(name, "j", LANES, peel_tail=True)


def lu(s: Schedule) -> None:
    """Eliminate eight rows at once, along rows."""
    by_row = maps("(i, j) -> (i, j)", *["(i, j, k) -> (i, k, j)"] * 2)
    s.arrange("S1", ["S0", "S2"], by_row, ["i", "k"])
    s.fuse("S0", "S2", 1)
    s.tile("S0", ["i"], [[8]])
    s.interchange("S0", ["i.0", "k", "i.1"])
    s.vectorize("S0", "j", LANES, peel_tail=True)


def ludcmp(s: Schedule) -> None:
    """Eliminate eight rows at once, along rows; sum rows in vectors."""
    s.unfold("S0")
    s.unfold("S3")
    start, end, points = "(i, j) -> (i, 0, j)", "(i, j) -> (i, i, j)", "(i, j, k) -> (i, k, j)"
    by_row = maps(start, start, "(i, j) -> (i, j)", points, points, end)
    s.arrange("S0", ["S3", "S2", "S1", "S4", "S5"], by_row, ["i", "k"])
    s.fuse("S1", "S4", 1)
    s.tile("S1", ["i"], [[8]])
    s.interchange("S1", ["i.0", "k", "i.1"])
    for name in "S0", "S1", "S3", "S5", "S7", "S10":
        s.vectorize(name, "j", LANES, peel_tail=True)


def durbin(s: Schedule) -> None:
    """Run the recursion's loops in vectors."""
    for name in "S5", "S7", "S8":
        s.vectorize(name, "i", LANES, peel_tail=True)


def trisolv(s: Schedule) -> None:
    """Sum rows in vectors."""
    s.vectorize("S1", "j", LANES, peel_tail=True)


def correlation(s: Schedule) -> None:
    """Walk columns row by row; tile the product."""
    for name, update in ("S0", "S1"), ("S3", "S4"):
        s.fission(name, "j")
        s.interchange(update, ["i", "j"])
        s.vectorize(update, "j", LANES)
    s.vectorize("S7", "j", LANES)
    s.fission("S10", "i")
    s.fission("S10", "i")
    product(s, "S11", "i j k")


def covariance(s: Schedule) -> None:
    """Walk columns row by row; tile the product."""
    s.fission("S0", "j")
    s.interchange("S1", ["i", "j"])
    s.vectorize("S1", "j", LANES)
    s.vectorize("S3", "j", LANES)
    s.fission("S4", "i")
    s.vectorize("S6", "j", LANES)
    product(s, "S5", "i j k")


def deriche(s: Schedule) -> None:
    """Filter eight rows at once, then columns side by side in vectors."""
    for number in 7, 8, 9, 14, 15, 16, 17, 24, 25, 26, 31, 32, 33, 34:
        s.unfold(f"S{number}")
    row, column = "(i, j) -> (i floordiv 8, j, i mod 8)", "(j, i) -> (i, j)"
    for scalars, first, start in (3, 7, "0"), (4, 14, "1 - h"):
        names = [f"S{first + number}" for number in range(2 * scalars + 1)]
        begin = f"(i)[w, h] -> (i floordiv 8, {start}, i mod 8)"
        arrange_filter(s, names, begin, row, ["strip", "j"])
        unroll_all(s, names, "i")
        s.separate_full_tiles(names[0], ["strip", "j"])
    for scalars, first, start in (3, 24, "0"), (4, 31, "1 - w"):
        names = [f"S{first + number}" for number in range(2 * scalars + 1)]
        arrange_filter(s, names, f"(j)[w, h] -> ({start}, j)", column, ["i"])
        vectorize_all(s, names, "j", 2 * LANES)
    vectorize_all(s, ["S23", "S40"], "j", 2 * LANES)


def floyd_warshall(s: Schedule) -> None:
    """Run in vectors what is before and behind the element that a row reads."""
    s.peel("S0", "j", at="affine_map<(k) -> (k)>", of=["k"])
    s.peel("S0", "j.peel", at="affine_map<(k) -> (k + 1)>", of=["k"])
    for loop in "j", "j.peel.peel":
        s.vectorize("S0", loop, 2 * LANES, peel_tail=True)


def adi(s: Schedule) -> None:
    """Sweep eight rows at once, whose recurrences do not wait for one another."""
    ends, points = "(s, i) -> ((i - 1) floordiv 8, (i - 1) mod 8)", "(s, i, j) -> "
    points += "((i - 1) floordiv 8, j, (i - 1) mod 8)"
    for first in 6, 13:
        names = [f"S{first + number}" for number in range(7)]
        by_strip = maps(ends, ends, ends, points, points, ends, points)
        s.arrange(names[0], names[1:], by_strip, ["strip"])
        s.fuse(names[3], names[4], 2)
        s.unroll(names[3], "i")
        s.unroll(names[6], "i")
        s.separate_full_tiles(names[3], ["strip"])


def fdtd_2d(s: Schedule) -> None:
    """Tile time and rows, skewed; vectors along rows."""
    rows = maps(
        "(s, j) -> (s, 0, j)", *["(s, i, j) -> (s, i, j)"] * 2, "(s, i, j) -> (s, i + 1, j)"
    )
    s.arrange("S0", ["S1", "S2", "S3"], rows, ["s", "i"])
    s.skew("S1", "i", [1], ["s"])
    s.tile("S1", ["s", "i"], [[16, 16]])
    s.shift("S2", "j", -1)
    for name in "S1", "S2", "S3":
        s.vectorize(name, "j", LANES, peel_tail=True)


def heat_3d(s: Schedule, parallel: bool = False) -> None:
    """Tile time and two dimensions, skewed; vectors along the third."""
    s.fuse("S0", "S1", 2)
    s.shift("S1", "j", 1)
    for name in "S0", "S1":
        s.shift(name, "k", -1)
    for loop in "i", "j":
        s.skew("S0", loop, [2], ["_s"])
    s.tile("S0", ["_s", "i", "j"], [[8, 8, 16]])
    if parallel:
        s.wavefront("S0", ["_s.0", "i.0"])
    for name in "S0", "S1":
        s.vectorize(name, "k", LANES, peel_tail=True)


def jacobi_2d(s: Schedule, parallel: bool = False) -> None:
    """Tile time and rows, skewed; vectors along rows."""
    s.fuse("S0", "S1", 1)
    s.skew("S0", "i", [2], ["_s"])
    s.tile("S0", ["_s", "i"], [[16, 16]])
    if parallel:
        s.wavefront("S0", ["_s.0", "i.0"])
    for name in "S0", "S1":
        s.vectorize(name, "j", LANES, peel_tail=True)


def seidel_2d(s: Schedule, parallel: bool = False) -> None:
    """Tile time and rows, skewed; sixteen rows at once."""
    s.skew("S0", "i", [1], ["_s"])
    s.skew("S0", "j", [2], ["i"])
    s.tile("S0", ["_s", "i"], [[16, 64]])
    if parallel:
        s.wavefront("S0", ["_s.0", "i.0"])
    # Rows that are two columns behind the one above do not wait for one another.
    s.split("S0", "i.1", [16])
    s.interchange("S0", ["j", "i.1.1"])
    s.unroll("S0", "i.1.1")
    s.separate_full_tiles("S0", ["i.1.0", "j"])


PARALLEL = ("heat_3d", "jacobi_2d", "seidel_2d")
"""Kernels that also run as a wavefront, on several threads."""


def schedule(kernel: Kernel, parallel: bool = False) -> Schedule | None:
    """Return a kernel's schedule; none if its default schedule is the best one."""
    write = globals().get(kernel.name)
    if write is None:
        return None
    s = Schedule(kernel)
    if parallel:
        write(s, parallel=True)
    else:
        write(s)
    return s
