"""Products of sparse matrices in rows, and what they are compared with."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from peers import Peer, load_mkl, pointer
from plain_c import COMPILERS, compile_c, describe
from sparse_kernels import MAKE, Extent, w
from sparsifier import compile_sparsified

from espalier.compiler import Options
from espalier.testing.timing import Timing, measure_alternately

SEED = 7


_C = {
    "spmv": """
void spmv(const int *starts, const int *column, const float *value, const float *x,
          float *restrict y, int n, int w) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = starts[i]; j < starts[i + 1]; ++j)
      sum += value[j] * x[column[j]];
    y[i] = sum;
  }
}
""",
    "spmm": """
void spmm(const int *starts, const int *column, const float *value, const float *x,
          float *restrict y, int n, int w) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < w; ++k)
      y[(long)i * w + k] = 0;
    for (int j = starts[i]; j < starts[i + 1]; ++j)
      for (int k = 0; k < w; ++k)
        y[(long)i * w + k] += value[j] * x[(long)column[j] * w + k];
  }
}
""",
    "sddmm": """
void sddmm(const int *starts, const int *column, const float *value, const float *x,
           const float *z, float *restrict y, int n, int w) {
  for (int i = 0; i < n; ++i)
    for (int j = starts[i]; j < starts[i + 1]; ++j) {
      float sum = 0;
      for (int k = 0; k < w; ++k)
        sum += x[(long)i * w + k] * z[(long)column[j] * w + k];
      y[j] = value[j] * sum;
    }
}
""",
    "mttkrp": """
void mttkrp(const int *starts, const int *row, const int *ends, const int *column,
            const float *value, const float *x, const float *z, float *restrict y,
            int n, int w) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < w; ++k)
      y[(long)i * w + k] = 0;
    for (int p = starts[i]; p < starts[i + 1]; ++p)
      for (int j = ends[p]; j < ends[p + 1]; ++j)
        for (int k = 0; k < w; ++k)
          y[(long)i * w + k] +=
              value[j] * x[(long)row[p] * w + k] * z[(long)column[j] * w + k];
  }
}
""",
}

Arrays = dict[str, np.ndarray]


def _fibers(n: int, m: int, o: int, density: float, w: int) -> Arrays:
    """Return a random tensor in fibers, two dense operands and room for the result."""
    random = np.random.default_rng(SEED)
    at = np.nonzero(random.random((n * m, o), np.float32) < density)
    fibers, ends = np.unique(at[0], return_index=True)
    return {
        "starts": np.searchsorted(fibers // m, np.arange(n + 1)).astype(np.int32),
        "row": (fibers % m).astype(np.int32),
        "ends": np.append(ends, len(at[0])).astype(np.int32),
        "column": at[1].astype(np.int32),
        "value": random.random(len(at[0]), np.float32),
        "x": random.random((m, w), np.float32),
        "z": random.random((o, w), np.float32),
        "y": np.zeros((n, w), np.float32),
    }


def _arguments(name: str, n: int, m: int, density: float, w: int | None = None) -> Arrays:
    """Return a random matrix in rows, dense operands and room for the result."""
    random = np.random.default_rng(SEED)
    present = random.random((n, m)) < density
    starts = np.zeros(n + 1, np.int32)
    np.cumsum(np.count_nonzero(present, axis=1), out=starts[1:])
    column = np.nonzero(present)[1].astype(np.int32)
    dense = [] if w is None else [w]
    arrays = {"starts": starts, "column": column, "value": random.random(len(column), np.float32)}
    if name == "sddmm":
        return arrays | {
            "x": random.random((n, *dense), np.float32),
            "z": random.random((m, *dense), np.float32),
            "y": np.zeros(len(column), np.float32),
        }
    return arrays | {
        "x": random.random((m, *dense), np.float32),
        "y": np.zeros((n, *dense), np.float32),
    }


def _reference(name: str, arrays: Arrays) -> np.ndarray:
    """Return the product, in the order of the text."""
    if name == "mttkrp":
        fiber = np.repeat(np.arange(len(arrays["row"])), np.diff(arrays["ends"]))
        node = np.repeat(np.arange(len(arrays["y"])), np.diff(arrays["starts"]))[fiber]
        terms = arrays["value"].astype(np.float64)[:, None] * arrays["x"][arrays["row"][fiber]]
        expected = np.zeros(arrays["y"].shape)
        np.add.at(expected, node, terms * arrays["z"][arrays["column"]])
        return expected
    if name == "sddmm":
        node = np.repeat(np.arange(len(arrays["x"])), np.diff(arrays["starts"]))
        products = arrays["x"][node].astype(np.float64) * arrays["z"][arrays["column"]]
        return arrays["value"] * products.sum(axis=1)
    expected = np.zeros(arrays["y"].shape)
    starts = arrays["starts"]
    for i, (begin, end) in enumerate(itertools.pairwise(starts)):
        value = arrays["value"][begin:end].astype(np.float64)
        expected[i] = value @ arrays["x"][arrays["column"][begin:end]]
    return expected


def _open_c(name: str, arrays: Arrays) -> Peer | None:
    """Return the loops as plain C."""
    library = compile_c(_C[name], COMPILERS["clang"])
    if library is None:
        return None
    y = np.zeros_like(arrays["y"])
    operands = [array for argument, array in arrays.items() if argument != "y"] + [y]
    extents = [ctypes.c_int(len(arrays["starts"]) - 1), ctypes.c_int(arrays["x"][:1].size)]

    def multiply() -> None:
        getattr(library, name)(*map(pointer, operands), *extents)

    return Peer("c", describe(COMPILERS["clang"]), multiply, lambda: {"y": y})


def _open_scipy(name: str, arrays: Arrays) -> Peer | None:
    """Return the product of scipy, which is compiled C++."""
    if importlib.util.find_spec("scipy") is None or name not in ("spmv", "spmm"):
        return None
    import scipy.sparse

    parts = (arrays["value"], arrays["column"], arrays["starts"])
    matrix = scipy.sparse.csr_matrix(parts, (len(arrays["y"]), len(arrays["x"])))
    last: Arrays = {}

    def multiply() -> None:
        last["y"] = matrix @ arrays["x"]

    return Peer("scipy", f"scipy {scipy.__version__}", multiply, lambda: last)


class _Description(ctypes.Structure):
    """MKL's `matrix_descr`."""

    _fields_ = [(name, ctypes.c_int) for name in ("type", "mode", "diag")]


def make_mkl_rows(
    starts: np.ndarray, places: np.ndarray, value: np.ndarray, columns: int, threads: int
) -> tuple[ctypes.CDLL, str, ctypes.c_void_p] | None:
    """Return MKL, its build, and rows that it has analysed, if it is installed."""
    loaded = load_mkl(threads)
    if loaded is None:
        return None
    library, build = loaded
    matrix, rows = ctypes.c_void_p(), len(starts) - 1
    arrays = [pointer(a) for a in (starts, starts[1:], places, value)]
    library.mkl_sparse_s_create_csr(ctypes.byref(matrix), 0, rows, columns, *arrays)
    library.mkl_sparse_optimize(matrix)
    return library, build, matrix


def multiply_mkl(
    library: ctypes.CDLL, matrix: ctypes.c_void_p, x: np.ndarray, y: np.ndarray, by_rows: bool
) -> None:
    """Multiply MKL's `matrix` by the rows, or by the columns that rows of an array are."""
    layout, width = (101, x.shape[1]) if by_rows else (102, len(x))
    zero, one, general = ctypes.c_float(0), ctypes.c_float(1), _Description(20, 0, 0)
    operand, result = (pointer(x), width, x.shape[1]), (pointer(y), y.shape[1])
    library.mkl_sparse_s_mm(10, one, matrix, general, layout, *operand, zero, *result)


def _open_mkl(name: str, arrays: Arrays) -> Peer | None:
    """Return the product of MKL, after its own analysis of the matrix."""
    if name not in ("spmv", "spmm"):
        return None
    starts, x, y = arrays["starts"], arrays["x"], np.zeros_like(arrays["y"])
    made = make_mkl_rows(starts, arrays["column"], arrays["value"], len(x), 1)
    if made is None:
        return None
    library, build, matrix = made
    zero, one, general = ctypes.c_float(0), ctypes.c_float(1), _Description(20, 0, 0)

    def multiply(_: object = arrays) -> None:
        if name == "spmv":
            library.mkl_sparse_s_mv(10, one, matrix, general, pointer(x), zero, pointer(y))
        else:
            multiply_mkl(library, matrix, x, y, by_rows=True)

    return Peer("mkl", build, multiply, lambda: {"y": y})


def _open_sparsifier(name: str, arrays: Arrays) -> Peer | None:
    """Return what MLIR's sparsifier makes of it: with as many lanes as is fastest."""
    columns = {"sddmm": ("z",), "mttkrp": ("x", "z")}.get(name, ("x",))
    shape = (len(arrays["starts"]) - 1, *(len(arrays[array]) for array in columns))
    own = arrays | {"y": np.zeros_like(arrays["y"])}
    found = [compile_sparsified(name, own, shape, lanes) for lanes in (0, 8, 16)]
    peers = [Peer("sparsifier", *compiled) for compiled in found if compiled is not None]
    if not peers:
        return None
    times = measure_alternately([peer.call for peer in peers], 0.3, time.process_time)
    _, fastest = min(enumerate(peers), key=lambda peer: times[peer[0]].median_ms)
    return Peer(fastest.name, fastest.build, fastest.call, lambda: own)


OPEN = {"c": _open_c, "scipy": _open_scipy, "mkl": _open_mkl, "sparsifier": _open_sparsifier}


class Comparison(NamedTuple):
    """What a case has measured.

    Attributes:
        error: the largest one of a result, ours or a peer's.
        any_width: ours, where the number of columns is not known when compiling.
    """

    error: float
    own: Timing
    others: dict[str, Timing]
    peers: list[Peer]
    any_width: Timing | None = None


def _bind(
    name: str, arrays: Arrays, width: Extent, threads: int
) -> tuple[Callable[[], None], Arrays]:
    """Compile our kernel for so many columns; return a call of it, and its arrays."""
    own = arrays | {"y": np.zeros_like(arrays["y"])}
    program = MAKE[name](width).compile(Options(cache=None))
    program.set_num_threads(threads)
    return program.bind(**own), own


def run_product(case: dict[str, Any], toy: bool, seconds: float) -> Comparison:
    """Compile a product; compare and time it."""
    name = case["model"]
    sizes = case["toy" if toy else "sizes"]
    arrays = _fibers(**sizes) if name == "mttkrp" else _arguments(name, **sizes)
    call, result = _bind(name, arrays, sizes.get("w", w), case["threads"])
    call()
    found = [OPEN[peer](name, arrays) for peer in case["baselines"]]
    peers = [peer for peer in found if peer is not None]
    any_width, other = _bind(name, arrays, w, case["threads"])
    any_width()
    results = [result, other]
    for peer in peers:
        peer.call()
        assert peer.outputs is not None, "each knows its result"
        results.append(peer.outputs())
    expected = _reference(name, arrays)
    wrong = max(float(np.abs(result["y"] - expected).max()) for result in results)
    error = wrong / max(float(np.abs(expected).max()), 1e-30)
    clock = time.process_time if case["threads"] == 1 else time.perf_counter
    calls = [call, any_width, *(peer.call for peer in peers)]
    own, of_any_width, *others = measure_alternately(calls, seconds, clock)
    timings = {peer.name: timing for peer, timing in zip(peers, others, strict=True)}
    return Comparison(error, own, timings, peers, of_any_width if "w" in sizes else None)
