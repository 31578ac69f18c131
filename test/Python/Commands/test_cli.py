"""The command line: what it prints, writes and exits with."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

from espalier.__main__ import main
from espalier.commands import bench, check, compile, demo, run
from espalier.models import build
from espalier.models.recursive import tree_rnn
from espalier.recursion import Structures
from support import one_op

F32 = np.float32
SMALL = {"width": 4, "latent": 8}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return a folder with two models and their inputs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model = one_op("Add", {"x": (F32, ["n", 3])}, {"c": np.arange(3, dtype=F32)})
    onnx.save(model, tmp_path / "model.onnx")
    onnx.save(one_op("Det", {"x": (F32, ["n", "m"])}), tmp_path / "unsupported.onnx")
    np.savez(tmp_path / "in.npz", x=np.ones((2, 3), F32))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def espalier(*arguments: str) -> int:
    try:
        return main(arguments)
    except SystemExit as error:
        return int(error.code or 0)


RUN = ("run", "model.onnx", "--inputs", "in.npz", "--outputs", "out.npz")


@pytest.mark.parametrize("extra", [(), ("--dynamic",), ("--threads", "2"), ("--no-cache",)])
def test_run(folder, capsys, extra):
    assert espalier(*RUN, *extra) == 0
    with np.load("out.npz") as results:
        assert results["y"].tolist() == [[1, 2, 3], [1, 2, 3]]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", [RUN, ("check", *RUN[1:4], "--against", "interpreter")])
def test_inputs_of_another_layout(folder: Path, capsys, command: tuple[str, ...]) -> None:
    """Files have arrays in any order of dimensions and of bytes."""
    for x in (np.ones((2, 3), F32, order="F"), np.ones((2, 3), ">f4")):
        np.savez("in.npz", x=x)
        assert espalier(*command) == 0, capsys.readouterr()


def test_run_prints_json(folder, capsys):
    assert espalier(*RUN, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"y": [2, 3]}


def test_run_of_unsupported_operators_exits_with_3(folder, capsys):
    arguments = ["run", "unsupported.onnx", "--inputs", "in.npz", "--outputs", "out.npz"]
    assert espalier(*arguments) == 3
    assert "node 'node': Det has no counterpart" in capsys.readouterr().err
    assert not Path("out.npz").exists()


def test_compile_makes_a_library_and_a_header(folder, capsys):
    assert espalier("compile", "model.onnx", "-o", "out.so", "--json") == 0
    made = json.loads(capsys.readouterr().out)
    assert made["output"] == "out.so"
    assert made["kernels"] == 1
    assert Path("out.so").read_bytes()[:4] == b"\x7fELF"
    assert "espalier_status" in Path("out.h").read_text()


def test_compile_explains_recursive_models(folder, capsys):
    trees = Structures.from_nested([((1, 2), 0)])
    weights = {"emb": np.ones((3, 4), F32), "w": np.ones((8, 4), F32), "b": np.ones(4, F32)}
    Path("tree.mlir").write_text(tree_rnn.mlir(trees, **weights), encoding="utf-8")
    arguments = ["compile", "tree.mlir", "-o", "tree.o", "--explain-batching"]
    assert espalier(*arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith("'@tree_rnn' computes leaves first, then interior nodes level by level")
    assert "  graph.tanh: " in text
    assert espalier(*arguments, "--json") == 0
    assert json.loads(capsys.readouterr().out)["batching"] == text.splitlines()[:-1]
    assert espalier("compile", "model.onnx", "-o", "model.o", "--explain-batching") == 0
    assert capsys.readouterr().out == "model.o, model.h: 1 kernels\n"


def test_bench_lists_what_kernels_take(folder, capsys):
    arguments = ["bench", "model.onnx", "--inputs", "in.npz", "--seconds", "0.01", "--profile"]
    assert espalier(*arguments) == 0
    head, row, total = capsys.readouterr().out.splitlines()
    assert head.split() == ["ms", "%", "GFLOP/s", "GB/s", "of", "bound", "kernel:", "nodes"]
    assert row.split()[-2].startswith("add_")
    assert row.split()[-1] == "node"
    assert "all kernels" in total
    assert "KiB" in total


def test_bench_of_kernels_as_json(folder, capsys):
    arguments = ["bench", "model.onnx", "--inputs", "in.npz", "--seconds", "0.01", "--profile"]
    assert espalier(*arguments, "--json", "--dynamic") == 0
    result = json.loads(capsys.readouterr().out)
    (kernel,) = result["kernels"]
    assert kernel["operators"] == ["add"]
    assert kernel["nodes"] == ["node"]
    # Six sums of two rows of three numbers, one number for each column.
    assert kernel["operations"] == 6
    assert kernel["bytes"] == 4 * (6 + 3 + 6)
    assert kernel["ms"] > 0
    assert kernel["bound_ms"] > 0
    assert result["machine"]["gflops"] > 0


def test_bench_profiles_or_compares(folder, capsys):
    arguments = ["bench", "model.onnx", "--inputs", "in.npz", "--profile", "--baseline"]
    assert espalier(*arguments) == 1
    assert "not allowed with argument" in capsys.readouterr().err


def test_bench_ends_in_a_json_object(folder, capsys):
    arguments = ["bench", "model.onnx", "--inputs", "in.npz", "--threads", "1"]
    assert espalier(*arguments, "--seconds", "0.01", "--baseline", "--json") == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {"median_ms", "compile_s", "kernels", "baseline_ms", "ratio"} <= set(result)
    assert result["repeats"] >= 5


def test_check_compares_with_both_references(folder, capsys):
    assert espalier("check", "model.onnx", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["passed"]
    assert set(result["errors"]) == {"onnxruntime", "interpreter"}


def test_check_fails_beyond_the_tolerance(folder, capsys):
    assert espalier("check", "model.onnx", "--tolerance", "-1") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "failed"


def test_check_of_a_suite_counts(folder, capsys):
    assert espalier("check", "--suite", "onnx-node", "--only", "test_abs", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["passed"], result["failed"], result["unsupported"]) == (1, 0, 0)
    assert "Abs" in result["operators"]


def test_demo_prints_a_row_per_network(folder, capsys):
    Path("models").mkdir()
    onnx.save(build("dcgan", **SMALL), "models/small.onnx")
    options = ["--models", "models", "--seconds", "0.01", "--json"]
    assert espalier("demo", "squeezenet", *options) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["model"] for row in rows] == ["squeezenet", "small"]
    assert all(row["error"] < 1e-4 and row["kernels"] > 0 for row in rows)


@pytest.mark.parametrize("command", [bench, check, compile, demo, run])
def test_help(capsys, command):
    name = command.__name__.rpartition(".")[2]
    assert espalier(name, "--help") == 0
    assert command.__doc__.splitlines()[0] in capsys.readouterr().out


def test_progress_is_shown_on_a_terminal_only(folder):
    """The command as a process, its standard error a pseudo-terminal."""
    master, slave = pty.openpty()
    process = subprocess.run(_command(*RUN, "--no-cache"), stderr=slave, check=False)
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert process.returncode == 0
    assert "compiling 1/" in shown
    piped = subprocess.run(_command(*RUN, "--no-cache"), capture_output=True, check=False)
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, b"", b"")


def _command(*arguments: str) -> Sequence[str]:
    return [sys.executable, "-m", "espalier", *arguments]
