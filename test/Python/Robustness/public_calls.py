"""Public calls, and what they may leave in their folders, for system calls to fail below."""

import contextlib
import io
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import espalier
from espalier.__main__ import main
from espalier.kernels import f32, kernel, sizes
from espalier.models import Net
from espalier.report import write_report
from espalier.tuning import judge_model
from shared_library import run_library

SIDE = 512
"""Arrays are as large as what fails in failing_calls.c."""
X = (np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE) * 7) % 3 - 1
Y = np.maximum(X @ X, 0) @ X
TYPE = f"tensor<{SIDE}x{SIDE}xf32>"
MODEL = f"""
func.func @main(%x: {TYPE} {{espalier.name = "x"}}) -> ({TYPE} {{espalier.name = "y"}}) {{
  %0 = graph.matmul %x, %x : ({TYPE}, {TYPE}) -> {TYPE}
  %1 = graph.relu %0 : ({TYPE}) -> {TYPE}
  %2 = graph.matmul %1, %x : ({TYPE}, {TYPE}) -> {TYPE}
  return %2 : {TYPE}
}}
"""
RELU = f"""
func.func @main(%x: {TYPE} {{espalier.name = "x"}}) -> ({TYPE} {{espalier.name = "y"}}) {{
  %0 = graph.relu %x : ({TYPE}) -> {TYPE}
  return %0 : {TYPE}
}}
"""
INPUTS = "--inputs ./in.npz"
PLAIN = espalier.Options(cache=None, kernel_times=None, records=None)
(N,) = sizes("n")


def tiny_network() -> onnx.ModelProto:
    """Build a network that takes little time, of less than protobuf cannot live without."""
    size = SIDE // 2
    net = Net("tiny")
    y = net.node("Relu", net.linear(net.input("x", [SIDE, size]), size, size))
    return net.finish((y, "y", [SIDE, size]))


@kernel
def _scaled(a: f32[N], r: f32[N]) -> None:
    for i in range(N):
        r[i] = a[i] + 1.0


@dataclass
class Call:
    """A public call.

    Arguments:
        run: makes the call and checks what it gives.
        files: names that it may leave in its folder.
        prepare: makes the call do all of its work again.
    """

    run: Callable[[], object]
    files: frozenset[str] = frozenset()
    prepare: Callable[[], object] = lambda: None


def remove_cache(folder: Path) -> None:
    """Remove the cache from the folder of a call."""
    shutil.rmtree(folder / "cache", ignore_errors=True)


def table(name: str) -> frozenset[str]:
    """Return the files of a table: SQLite keeps what it cannot merge yet."""
    return frozenset({name, f"{name}-wal", f"{name}-shm", f"{name}-journal"})


def same(y: np.ndarray, expected: np.ndarray = Y) -> None:
    """Compare a result."""
    np.testing.assert_array_equal(y, expected)


def compile_cached(folder: Path) -> Call:
    """Compile into an empty cache, and from it."""
    options = espalier.Options(cache=folder / "cache", kernel_times=None, records=None)

    def run() -> None:
        for _ in range(2):
            same(espalier.compile(MODEL, options=options)(X))

    return Call(run, frozenset({"cache"}), lambda: remove_cache(folder))


def compile_optimized(folder: Path) -> Call:
    """Compile with measured substitutions."""
    options = espalier.Options(
        cache=None,
        records=None,
        optimize="egraph",
        kernel_times=folder / "times.sqlite",
        measure_seconds=0.02,
    )
    return Call(lambda: same(espalier.compile(MODEL, options=options)(X)), table("times.sqlite"))


def onnx_model(node: onnx.NodeProto, *weights: TensorProto) -> onnx.ModelProto:
    """Return a model of one operator."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, X.shape) for n in "xy")
    graph = helper.make_graph([node], "g", [x], [y], weights)
    opset = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opset, ir_version=10)


def compile_onnx(folder: Path) -> Call:
    """Compile an ONNX model with a weight."""
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    onnx.save(onnx_model(node, numpy_helper.from_array(X, "w")), folder / "m.onnx")

    def run() -> None:
        same(espalier.compile(folder / "m.onnx", options=PLAIN)(X), X @ X)

    return Call(run, frozenset({"m.onnx"}))


def compile_sparse(folder: Path) -> Call:
    """Measure whether weights that are mostly zero are better stored without zeros."""
    weight = np.where(np.arange(X.size).reshape(X.shape) % 9, 0, X).astype(np.float32)
    model = onnx_model(
        helper.make_node("MatMul", ["x", "w"], ["y"]), numpy_helper.from_array(weight, "w")
    )
    options = espalier.Options(
        cache=None,
        records=None,
        sparse="auto",
        kernel_times=folder / "times.sqlite",
        measure_seconds=0.02,
    )
    return Call(
        lambda: same(espalier.compile(model, options=options)(X), X @ weight),
        table("times.sqlite"),
    )


def run_function(_: Path) -> Call:
    """Run a compiled model."""
    function = espalier.compile(MODEL, options=PLAIN)

    def run() -> None:
        same(function(X))
        same(function.run({"x": X})["y"])
        same(function.bind({"x": X})()["y"])

    return Call(run)


def save_library(folder: Path) -> Call:
    """Save a library over another; what is there afterwards computes the same."""
    function = espalier.compile(MODEL, options=PLAIN)
    function.save(folder / "f.so")

    def run() -> None:
        function.save(folder / "f.so")

    return Call(run, frozenset({"f.so", "f.h"}))


def run_saved(folder: Path) -> Call:
    """Run a saved library through its C interface."""
    espalier.compile(MODEL, options=PLAIN).save(folder / "f.so")

    def run() -> None:
        y = np.zeros_like(X)
        run_library(folder / "f.so", "program", {"x": X}, {"y": y})
        same(y)

    return Call(run, frozenset({"f.so", "f.h"}))


def interpret(_: Path) -> Call:
    """Interpret a model."""
    return Call(lambda: same(espalier.interpret(MODEL, {"x": X})["y"]))


def run_kernel(_: Path) -> Call:
    """Compile and run a kernel."""
    flat, r = X.reshape(-1), np.zeros(X.size, np.float32)

    def run() -> None:
        r[:] = 0
        _scaled.compile(PLAIN)(flat, r)
        same(r, flat + 1)

    return Call(run)


def save_schedule(folder: Path) -> Call:
    """Save a schedule and load it."""
    schedule = espalier.Schedule(_scaled)
    schedule.save(folder / "s.mlir")

    def run() -> None:
        schedule.save(folder / "s.mlir")
        espalier.Schedule(_scaled).load(folder / "s.mlir")
        write_report(schedule, folder / "s.html")

    return Call(run, frozenset({"s.mlir", "s.html"}))


def tune(folder: Path) -> Call:
    """Tune a model, and judge by what was measured."""
    records = folder / "records.sqlite"
    options = espalier.Options(cache=None, kernel_times=None, records=records)

    def run() -> None:
        espalier.tune(RELU, trials=1, options=options).save(folder / "t.mlir")
        judge_model(records)

    return Call(run, table("records.sqlite") | {"t.mlir"})


class Failed(espalier.EspalierError):
    """A command that said why it failed."""


def commands(*lines: str) -> Callable[[Path], Call]:
    """Return what makes a call of the command line, in its folder."""

    def make(folder: Path) -> Call:
        (folder / "m.mlir").write_text(MODEL)
        (folder / "relu.mlir").write_text(RELU)
        onnx.save(onnx_model(helper.make_node("Relu", ["x"], ["y"])), folder / "relu.onnx")
        np.savez(folder / "in.npz", x=X)
        given = frozenset({"m.mlir", "relu.mlir", "relu.onnx", "in.npz"})
        written = {Path(word).name for line in lines for word in line.split() if "/made." in word}
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")

        def run() -> None:
            for line in lines:
                said = io.StringIO()
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                    status = main(line.replace("./", f"{folder}/").split())
                if status:
                    assert status == 1, status
                    assert said.getvalue().startswith("espalier: error: "), said.getvalue()
                    raise Failed(said.getvalue())

        made = frozenset(written | {f"{Path(name).stem}.h" for name in written if ".so" in name})
        return Call(run, given | made | {"cache"}, lambda: remove_cache(folder))

    return make


CALLS: dict[str, Callable[[Path], Call]] = {
    "compile": compile_cached,
    "onnx": compile_onnx,
    "optimize": compile_optimized,
    "sparse": compile_sparse,
    "run": run_function,
    "save": save_library,
    "saved": run_saved,
    "interpret": interpret,
    "kernel": run_kernel,
    "schedule": save_schedule,
    "tune": tune,
    "command-compile": commands("compile ./m.mlir -o ./made.so"),
    "command-run": commands("run ./m.mlir --inputs ./in.npz --outputs ./made.npz --no-cache"),
    "command-tune": commands("tune ./relu.mlir --trials 1 -o ./made.mlir", "judge"),
    "command-report": commands("report ./m.mlir --optimize egraph -o ./made.html"),
    "command-check": commands("check ./relu.onnx"),
    "command-bench": commands(f"bench ./relu.onnx {INPUTS} --baseline --seconds 0.01"),
    "command-profile": commands(f"bench ./relu.onnx {INPUTS} --profile --seconds 0.01 --no-cache"),
    "command-demo": commands("demo tiny --seconds 0.01"),
}
