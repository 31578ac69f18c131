"""Layers with pruned weights: their models, and what they are compared with."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from peers import Peer, open_peers, pointer
from plain_c import COMPILERS, compile_c, describe
from sparse_kernels import MAKE
from sparse_rows import SEED, Comparison, make_mkl_rows, multiply_mkl, run_product

import espalier
from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.testing.timing import measure_alternately

_C = {
    "sparse_linear": """
void sparse_linear(const int *starts, const int *places, const float *value, const float *x,
            float *restrict y, int rows, int terms, int features) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < features; ++j) {
      float sum = 0;
      for (int e = starts[j]; e < starts[j + 1]; ++e)
        sum += value[e] * x[(long)i * terms + places[e]];
      y[(long)i * features + j] = sum;
    }
}
""",
    "sparse_conv": """
void sparse_conv(const int *starts, const int *places, const float *value, const float *x,
          float *restrict y, int batch, int channels, int features, int size) {
  int padded = size + 2;
  static float image[1 << 22];
  for (int n = 0; n < batch; ++n) {
    const float *source = x + (long)n * channels * size * size;
    for (int c = 0; c < channels; ++c)
      for (int r = 0; r < size; ++r)
        for (int s = 0; s < size; ++s)
          image[(c * padded + r + 1) * padded + s + 1] = source[(c * size + r) * size + s];
    for (int f = 0; f < features; ++f) {
      float *out = y + ((long)n * features + f) * size * size;
      for (int i = 0; i < size * size; ++i)
        out[i] = 0;
      for (int e = starts[f]; e < starts[f + 1]; ++e) {
        int channel = places[e] / 9, tap = places[e] % 9;
        const float *in = image + (channel * padded + tap / 3) * padded + tap % 3;
        for (int r = 0; r < size; ++r)
          for (int s = 0; s < size; ++s)
            out[r * size + s] += value[e] * in[r * padded + s];
      }
    }
  }
}
""",
}
"""Entries row by row (CSR) where a row is a feature; images with a border in it."""


def prune(features: int, terms: int, density: float | str) -> np.ndarray:
    """Return weights, a row for each feature, of which a share is kept, or N of M ("2:4")."""
    random = np.random.default_rng(SEED)
    weights = random.random((features, terms), np.float32) + 0.1
    if isinstance(density, float):
        return np.where(random.random(weights.shape) < density, weights, np.float32(0))
    kept, group = map(int, density.split(":"))
    order = random.random((features, terms // group, group)).argsort(axis=-1)
    return weights * (order < kept).reshape(weights.shape)


def make_layer(
    kind: str, sizes: dict[str, Any]
) -> tuple[onnx.ModelProto, np.ndarray, np.ndarray, list[int]]:
    """Return a layer's model, weights by feature, input, and extents that the C code takes."""
    if kind == "sparse_linear":
        rows, terms, features = (sizes[name] for name in ("rows", "terms", "features"))
        weights = prune(features, terms, sizes["density"])
        shape, stored, attributes = [rows, terms], np.ascontiguousarray(weights.T), {}
        extents = [rows, terms, features]
    else:
        batch, channels, features, size = (
            sizes[name] for name in ("images", "channels", "features", "size")
        )
        weights = prune(features, channels * 9, sizes["density"])
        shape, stored = [batch, channels, size, size], weights.reshape(features, channels, 3, 3)
        attributes = {"pads": [1, 1, 1, 1]}
        extents = [batch, channels, features, size]
    node = helper.make_node(
        "MatMul" if kind == "sparse_linear" else "Conv", ["x", "weight"], ["y"], **attributes
    )
    graph = helper.make_graph(
        [node],
        kind,
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(stored, "weight")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    x = np.random.default_rng(SEED).random(shape, np.float32)
    return model, weights, x, extents


def _list_entries(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where each row starts, and the places and values of its entries."""
    starts = np.zeros(len(weights) + 1, np.int32)
    np.cumsum(np.count_nonzero(weights, axis=1), out=starts[1:])
    return starts, np.nonzero(weights)[1].astype(np.int32), weights[weights != 0]


def _open_c(
    kind: str, weights: np.ndarray, x: np.ndarray, y: np.ndarray, extents: list[int]
) -> Peer | None:
    """Return the layer as plain C over its entries."""
    library = compile_c(_C[kind], COMPILERS["clang"])
    if library is None:
        return None
    arrays = [*_list_entries(weights), x, np.zeros_like(y)]
    pointers, numbers = [*map(pointer, arrays)], [*map(ctypes.c_int, extents)]

    def run(_: object = arrays) -> None:
        getattr(library, kind)(*pointers, *numbers)

    return Peer("c", describe(COMPILERS["clang"]), run)


def _open_mkl(weights: np.ndarray, x: np.ndarray, threads: int) -> Peer | None:
    """Return a product with entries by MKL: columns, of which each is a row of `x`."""
    starts, places, value = _list_entries(weights)
    made = make_mkl_rows(starts, places, value, weights.shape[1], threads)
    if made is None:
        return None
    library, build, matrix = made
    y = np.zeros((len(x), len(weights)), np.float32)

    def run(_: object = (starts, places, value)) -> None:
        multiply_mkl(library, matrix, x, y, by_rows=False)

    return Peer("mkl", build, run)


def run_layer(case: dict[str, Any], toy: bool, seconds: float) -> Comparison:
    """Compile a layer with sparse weights; compare and time it, also with our dense one."""
    kind, sizes = case["model"], dict(case["sizes"])
    if toy:
        sizes |= case["toy"]
    model, weights, x, extents = make_layer(kind, sizes)
    calls, results = [], []
    # The one layer is called as its result; sparse whatever its density is.
    for layers in ({"y": "sparse"}, {}):
        function = espalier.compile(model, options=Options(cache=None, sparse_layers=layers))
        with contextlib.suppress(EspalierError):  # Nothing in it may be parallel.
            function.set_num_threads(case["threads"])
        (name,) = (info.name for info in function.outputs)
        y = function(x)
        call = function.bind({"x": x}, out={name: y})
        call()
        calls.append(call)
        results.append(y)
    error = float(np.abs(results[0] - results[1]).max() / max(np.abs(results[1]).max(), 1e-30))
    peers = [Peer("dense", "ours", calls[1])]
    names = [name for name in case["baselines"] if name not in ("dense", "c", "mkl")]
    peers += open_peers(names, model, {"x": x}, case["threads"])
    compiled = _open_c(kind, weights, x, results[0], extents) if "c" in case["baselines"] else None
    product = _open_mkl(weights, x, case["threads"]) if "mkl" in case["baselines"] else None
    peers += [peer for peer in (compiled, product) if peer is not None]
    clock = time.process_time if case["threads"] == 1 else time.perf_counter
    own, *others = measure_alternately([calls[0], *(peer.call for peer in peers)], seconds, clock)
    timings = {peer.name: timing for peer, timing in zip(peers, others, strict=True)}
    return Comparison(error, own, timings, peers)


_SKIP_ZEROS = ("c", "mkl")
"""The baselines whose time depends on the density."""

SPARSE = dict.fromkeys(MAKE, run_product) | dict.fromkeys(_C, run_layer)
"""What runs a case of each model."""


def vary_density(case: dict[str, Any], toy: bool) -> list[dict[str, Any]]:
    """Return a case with each of its densities: a share of the weights, or N of M of them."""
    if toy or "densities" not in case:
        return [case]
    varied = []
    for density in case["densities"]:
        is_share = isinstance(density, float)
        what = f"{100 * density:g}_percent" if is_share else density.replace(":", "_of_")
        sizes = case["sizes"] | {"density": density}
        own = {"name": f"{case['name']}_{what}", "layer": case["name"], "sizes": sizes}
        varied.append(case | own)
    return varied


def find_break_even(results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield, for each layer with several densities, where our dense layer and others that
    multiply by zeros are as fast: between those densities that were measured, or at least
    or at most one of them.
    """
    for layer in dict.fromkeys(result["layer"] for result in results):
        points = []
        for result in (r for r in results if r["layer"] == layer):
            dense = [t for name, t in result["baselines_ms"].items() if name not in _SKIP_ZEROS]
            points.append((result["density"], result["median_ms"] / min(dense)))
        points.sort()
        if len(points) < 2:
            continue
        line = {"case": f"{layer}/break_even", "ratios": dict(points), "passed": True}
        slower = next((i for i, (_, ratio) in enumerate(points) if ratio >= 1), len(points))
        if slower in (0, len(points)):
            bound = "at_most" if slower == 0 else "at_least"
            yield line | {bound: points[0 if slower == 0 else -1][0]}
            continue
        (low, below), (high, above) = points[slower - 1 : slower + 1]
        yield line | {"density": round(low + (high - low) * (1 - below) / (above - below), 3)}
