"""Wrong usages of the commands: each has one line that says what was expected."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

import espalier
from espalier.__main__ import main
from espalier.importers.onnx import import_model
from numpy_builder import NumpyBuilder
from support import one_op

F32 = np.float32
RUN = ("run", "model.onnx", "--inputs", "in.npz", "--outputs", "out.npz")
COMPILE = ("compile", "model.onnx", "-o", "out.so")
REPORT = ("report", "kernel.mlir", "-o", "out.html")

KERNEL = """
poly.kernel @k(%a: memref<?xf32>, %n: index) {
  poly.compute @set domain [affine_set<(i)[n] : (i >= 0, n - 1 - i >= 0)>]
      reads() writes(%a[affine_map<(i)[n] -> (i)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Return a folder with a model and files that are wrong in one way each."""
    folder = tmp_path_factory.mktemp("files")
    model = one_op("Add", {"x": (F32, ["n", 3])}, {"c": np.arange(3, dtype=F32)})
    onnx.save(model, folder / "model.onnx")
    x = np.ones((2, 3), F32)
    for name, array in {"in": x, "double": x.astype(np.float64), "rank": x[0]}.items():
        np.savez(folder / f"{name}.npz", x=array)
    np.savez(folder / "other.npz", z=x)
    np.savez(folder / "pickle.npz", x=np.array([{}], object))
    np.save(folder / "array.npy", x)
    (folder / "noise").write_bytes(bytes(range(256)))
    (folder / "noise.mlir").write_bytes(bytes(range(256)))
    (folder / "kernel.mlir").write_text(KERNEL)
    (folder / "wrong.mlir").write_text("func.func @main() { return 1 }")
    (folder / "graph.mlir").write_text("func.func @main() { return }")
    (folder / "folder.so").mkdir()
    (folder / "empty").mkdir()
    return folder


def inputs(name: str) -> list[str]:
    return [*RUN[:3], name, *RUN[4:]]


# By what is wrong: the command line, and what its one line has to say.
USAGES: dict[str, tuple[Sequence[str], str]] = {
    "no command": ([], "the following arguments are required: COMMAND"),
    "unknown command": (["fly"], "invalid choice: 'fly'"),
    "unknown option": ([*RUN, "--fast"], "unrecognized arguments: --fast"),
    "model that is missing": (["run", "no.onnx", *RUN[2:]], "cannot read 'no.onnx': No such file"),
    "model that is a folder": (["run", "empty", *RUN[2:]], "cannot read 'empty': Is a directory"),
    "model that is noise": (["run", "noise", *RUN[2:]], "noise: expects an ONNX model"),
    "MLIR that is missing": (["run", "no.mlir", *RUN[2:]], "cannot read 'no.mlir': No such file"),
    "MLIR that is noise": (
        ["run", "noise.mlir", *RUN[2:]],
        "cannot read 'noise.mlir': expects text in UTF-8",
    ),
    "inputs that are missing": (inputs("no.npz"), "cannot read 'no.npz': No such file"),
    "inputs that are no archive": (
        inputs("model.onnx"),
        "cannot read 'model.onnx': expects an .npz file with arrays by name",
    ),
    "inputs that are pickled": (inputs("pickle.npz"), "cannot read 'pickle.npz'"),
    "inputs that are one array": (inputs("array.npy"), "array.npy': expects an .npz file"),
    "inputs of another name": (
        inputs("other.npz"),
        "error: other.npz: expects names of inputs out of ['x'], but got ['z']",
    ),
    "inputs of another type": (
        inputs("double.npz"),
        "double.npz: argument 'x': expects element type float32, but got float64",
    ),
    "inputs of another rank": (
        inputs("rank.npz"),
        "model.onnx: graph input 'x': expects a shape of rank 2",
    ),
    "folder of outputs": ([*RUN[:5], "no/out.npz"], "'no/out.npz': there is no folder 'no'"),
    "outputs that are a folder": ([*RUN[:5], "empty"], "'empty': expects a file"),
    "threads": ([*RUN, "--threads", "0"], "--threads: expects a number of at least 1, but got '0'"),
    "threads in words": ([*RUN, "--threads", "two"], "--threads: expects a number of at least 1"),
    "dimension without number": ([*RUN, "--dim", "n"], "--dim: expects NAME=N, but got 'n'"),
    "dimension that is negative": ([*RUN, "--dim", "n=-1"], "--dim: expects NAME=N, but got"),
    "dimension beyond memory": (
        ["check", "model.onnx", "--dim", f"n={10**20}"],
        "input 'x': expects at most 1152921504606846975 elements, but got shape [1000000",
    ),
    "dimension of two numbers": (
        [*RUN, "--dim", "n=2", "--dim", "n=3"],
        "--dim: expects one number for 'n', but got two",
    ),
    "dimension that contradicts": (
        [*RUN, "--dim", "n=5"],
        "model.onnx: graph input 'x': expects the shape",
    ),
    "dimension that is misspelt": (
        [*RUN, "--dim", "m=2"],
        "model.onnx: dimension 'm': expects a symbolic dimension out of ['n']",
    ),
    "dimension of a library": ([*COMPILE, "--dim", "batch=2"], "out of ['n']"),
    "dimension of MLIR": (
        ["compile", "graph.mlir", "-o", "out.so", "--dim", "n=1"],
        "graph.mlir: expects an ONNX model for shapes to be given",
    ),
    "name of a library": (["compile", "model.onnx", "-o", "out"], "a name that ends in .so or .o"),
    "folder of a library": (
        ["compile", "model.onnx", "-o", "no/out.so"],
        "there is no folder 'no'",
    ),
    "library that is a folder": (["compile", "model.onnx", "-o", "folder.so"], "expects a file"),
    "CPU": ([*COMPILE, "--cpu", "i8080"], "expects the name of a CPU that LLVM knows"),
    "feature": ([*COMPILE, "--features", "+fly"], "expects the name of a CPU feature"),
    "cache limit": ([*COMPILE, "--cache-limit", "0"], "--cache-limit: expects a number"),
    "optimization": ([*COMPILE, "--optimize", "luck"], "--optimize: invalid choice: 'luck'"),
    "time for measuring": (
        [*COMPILE, "--measure-seconds", "-1"],
        "--measure-seconds: expects a number of seconds, but got '-1'",
    ),
    "script that is missing": (
        [*COMPILE, "--schedule", "no.mlir"],
        "cannot read 'no.mlir': No such file",
    ),
    "script that is noise": (
        [*COMPILE, "--schedule", "noise"],
        "'noise': expects text",
    ),
    "script that is no script": (
        [*COMPILE, "--schedule", "graph.mlir"],
        "graph.mlir: expects a script with a sequence @__transform_main",
    ),
    "seconds": (["bench", *RUN[1:4], "--seconds", "nan"], "--seconds: expects a number of seconds"),
    "baseline for MLIR": (
        ["bench", "graph.mlir", *RUN[2:4], "--baseline"],
        "--baseline: expects an ONNX model, but got 'graph.mlir'",
    ),
    "nothing to check": (["check"], "expects either a model or --suite"),
    "two things to check": (
        ["check", "model.onnx", "--suite", "onnx-node"],
        "expects either a model or --suite",
    ),
    "MLIR to check": (["check", "graph.mlir"], "graph.mlir: expects the definition of a func.func"),
    "MLIR for onnxruntime": (
        ["check", "graph.mlir", "--against", "onnxruntime"],
        "--against: expects the interpreter for MLIR",
    ),
    "model to check that is missing": (["check", "no.onnx"], "no.onnx"),
    "tests of a model": (
        ["check", "model.onnx", "--only", "abs"],
        "--only: expects --suite",
    ),
    "inputs of a suite": (
        ["check", "--suite", "onnx-node", "--inputs", "in.npz"],
        "option --inputs: expects a model",
    ),
    "test that is not there": (
        ["check", "--suite", "onnx-node", "--only", "no-such-test"],
        "option --only: expects part of a test's name",
    ),
    "tolerance": (["check", "model.onnx", "--tolerance", "nan"], "--tolerance: expects a number"),
    "network": (["demo", "resnet9000"], "expects a model out of"),
    "folder of networks": (["demo", "--models", "empty"], "expects a folder with .onnx files"),
    "report of a network": (
        ["report", "model.onnx", "-o", "out.html"],
        "option --optimize: expects a search for the network 'model.onnx'",
    ),
    "report of noise": (
        ["report", "noise.mlir", "-o", "out.html"],
        "cannot read 'noise.mlir': expects text in UTF-8",
    ),
    "report without kernels": (
        ["report", "graph.mlir", "-o", "out.html"],
        "graph.mlir: expects a module with kernels, but it has none",
    ),
    "report on a kernel": ([*REPORT, "--name", "l"], "kernel.mlir: expects a kernel, one of [k]"),
    "report to a folder": (["report", "kernel.mlir", "-o", "no/out.html"], "there is no folder"),
    "report with a size": ([*REPORT, "--size", "n"], "--size: expects NAME=VALUE, but got 'n'"),
    "report with a size in words": ([*REPORT, "--size", "n=x"], "--size: expects a number"),
    "report with a size of nothing": (
        [*REPORT, "--size", "m=3"],
        "kernel.mlir: expects sizes out of ['arg1'], but got 'm'",
    ),
    "report with a script": ([*REPORT, "--script", "no.mlir"], "cannot read 'no.mlir'"),
    "report of what is not optimized": (
        ["report", "model.onnx", "-o", "out.html", "--optimize", "egraph", "--size", "n=3"],
        "option --size: expects a kernel, but got --optimize",
    ),
}


@pytest.mark.parametrize("name", USAGES)
def test_wrong_usage_has_one_line_and_writes_nothing(files, monkeypatch, capsys, name):
    arguments, message = USAGES[name]
    monkeypatch.chdir(files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(files / "cache"))
    before = sorted(p for p in files.iterdir() if p.name != "cache")
    try:
        status = main(arguments)
    except SystemExit as error:
        status = error.code
    output = capsys.readouterr()
    assert status == 1, output
    assert message in output.err
    assert output.err.count("\n") == 1, output.err
    assert output.out == ""
    assert sorted(p for p in files.iterdir() if p.name != "cache") == before


# By what is wrong: the call, and what its error has to say.
CALLS = {
    "model": (lambda: espalier.compile(3), "as a model, but got int"),
    "model that is missing": (lambda: espalier.compile("no.onnx"), "cannot read 'no.onnx'"),
    "dims": (
        lambda: espalier.compile("model.onnx", dims={"batch": 1}),
        "model.onnx: dimension 'batch': expects a symbolic dimension out of ['n']",
    ),
    "extent": (
        lambda: espalier.compile("model.onnx", dims={"n": "1"}),
        "dimension 'n': expects a number of at least 0, but got '1'",
    ),
    "negative extent": (
        lambda: espalier.compile("model.onnx", dims={"n": -1}),
        "dimension 'n': expects a number of at least 0, but got -1",
    ),
    "shapes": (lambda: espalier.compile("model.onnx", shapes={"y": (1, 3)}), "out of ['x']"),
    "shape": (
        lambda: espalier.compile("model.onnx", shapes={"x": (-1, 3)}),
        "graph input 'x': expects numbers of at least 0 as a shape",
    ),
    "script": (lambda: espalier.compile("model.onnx", schedule="no.mlir"), "cannot read 'no.mlir'"),
    "null character": (
        lambda: espalier.compile("a\0b.onnx"),
        "cannot read 'a\0b.onnx': embedded null byte",
    ),
    "null character of MLIR": (
        lambda: espalier.compile("a\0b.mlir"),
        "cannot read 'a\0b.mlir': embedded null byte",
    ),
    "null character of a library": (
        lambda: espalier.compile("model.onnx").save("a\0.so"),
        "expects a path without null characters, but got 'a\\x00.so'",
    ),
    "values": (
        lambda: espalier.compile("model.onnx", values={"q": np.ones(1)}),
        "expects names of inputs out of ['x'], but got ['q']",
    ),
    "values of MLIR": (
        lambda: espalier.compile("graph.mlir", values={"q": np.ones(1)}),
        "expects names of inputs out of [], but got ['q']",
    ),
    "values without names": (
        lambda: espalier.compile("model.onnx", values=[np.ones(1)]),
        "expects a mapping of names as values, but got list",
    ),
    "cpu": (
        lambda: espalier.compile("model.onnx", options=espalier.Options(cpu="i")),
        "a CPU that",
    ),
    "method": (
        lambda: espalier.compile("model.onnx", options=espalier.Options(optimize="luck")),
        "expects an optimization out of",
    ),
    "interpreted inputs": (lambda: espalier.interpret("model.onnx", {}), "argument 'x': expects"),
    "interpreted type": (
        lambda: espalier.interpret("model.onnx", {"x": np.ones((1, 3))}),
        "expects input #0 of type 'tensor<1x3xf32>'",
    ),
    "stray interpreted inputs": (
        lambda: espalier.interpret("model.onnx", {"x": np.ones((1, 3), F32), "z": np.ones(1)}),
        "out of ['x'], but got ['z']",
    ),
    "lower": (lambda: espalier.lower("no.mlir"), "cannot read 'no.mlir'"),
    "threads": (
        lambda: espalier.compile("model.onnx").set_num_threads("2"),
        "expects 1 to 1024 threads, but got '2'",
    ),
    "name": (
        lambda: espalier.compile("model.onnx").save("out"),
        "expects a name that ends in .so or .o, but got 'out'",
    ),
    "folder": (lambda: espalier.compile("model.onnx").save("no/out.so"), "no/out.so"),
    "output": (
        lambda: espalier.compile("model.onnx").run({"x": np.ones((1, 3), F32)}, out={"z": None}),
        "expects outputs out of ['y'], but got 'z'",
    ),
    "inputs that are no mapping": (
        lambda: espalier.compile("model.onnx").run(np.ones((1, 3), F32)),
        "expects arrays by name, but got ndarray",
    ),
    "source of a schedule": (lambda: espalier.Schedule(3), "expects a kernel"),
    "kernel of a schedule": (
        lambda: espalier.Schedule(espalier.lower("model.onnx"), "k"),
        "expects a kernel, one of [add_",
    ),
    "function that is no kernel": (lambda: espalier.kernel(3), "expects a function"),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_call_raises_an_error_of_ours(files, monkeypatch, name):
    call, message = CALLS[name]
    monkeypatch.chdir(files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(files / "cache"))
    with pytest.raises(espalier.EspalierError) as error:
        call()
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"run_threads": -1}, "run_threads: expects a number from 1 to 1024, but got -1"),
        ({"run_threads": "2"}, "run_threads: expects a number from 1 to 1024, but got '2'"),
        ({"cache_limit": -1}, f"cache_limit: expects a number from 0 to {2**64 - 1}, but got -1"),
        ({"cache_limit": 2**70}, f"cache_limit: expects a number from 0 to {2**64 - 1}, but got "),
        ({"measure_seconds": float("nan")}, "measure_seconds: expects a number from 0 to inf"),
        ({"cpu": 3}, "cpu: expects text without null characters, but got 3"),
        ({"features": "a\0b"}, "features: expects text without null characters"),
        ({"cache": 3}, "cache: expects a path without null characters, but got 3"),
        ({"records": Path("a\0b")}, "records: expects a path without null characters"),
        ({"threads": 2}, "threads: expects True or False, but got 2"),
    ],
)
def test_options_that_do_not_fit(option: dict[str, object], message: str) -> None:
    with pytest.raises(espalier.EspalierError) as error:
        espalier.Options(**option).native()
    assert str(error.value).startswith(f"option {message}")


def test_options_of_numpy() -> None:
    options = espalier.Options(run_threads=np.int64(2), measure_seconds=np.float32(0.5))
    native = options.native()
    assert (native.run_threads, native.measure_seconds) == (2, 0.5)


def test_dimensions_are_checked_without_a_compiler():
    model = one_op("Relu", {"x": (F32, ["n", "m"])})
    with pytest.raises(espalier.ModelError, match=r"'k': expects a symbolic dimension out of"):
        import_model(model, NumpyBuilder([]), dims={"k": 1})


# onnxruntime and the tests of `onnx` take seconds to load.
SLOW = ("onnxruntime", "onnx.backend.test", "onnx.reference")
WITHOUT: dict[str, list[str]] = {
    "--help": ["--help"],
    "check --help": ["check", "--help"],
    "compile": [*COMPILE[:3], "made.so"],
    "run": [*RUN[:5], "made.npz"],
    "report": ["report", "model.onnx", "-o", "made.html", "--optimize", "egraph"],
    "bench": ["bench", "model.onnx", "--inputs", "in.npz", "--seconds", "0"],
}


@pytest.mark.parametrize("name", WITHOUT)
def test_commands_load_only_what_they_need(files, name):
    program = (
        "import sys; from espalier.__main__ import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        f"print(sorted(set({SLOW!r}) & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *WITHOUT[name]],
        cwd=files,
        env={**os.environ, "XDG_CACHE_HOME": str(files / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines()[-1] == "[]"


def test_onnxruntime_writes_nothing_to_the_cache(files):
    home = files / "cache" / "home"
    run = subprocess.run(
        [sys.executable, "-m", "espalier", "check", "model.onnx", "--no-cache"],
        cwd=files,
        env={k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"} | {"HOME": str(home)},
        check=True,
        capture_output=True,
    )
    assert run.stdout.endswith(b"passed\n")
    assert not list(home.rglob("*"))
