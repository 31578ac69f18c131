"""The benchmarks at toy size: the same code, with results compared."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

sys.path.append(str(Path(__file__).parents[2] / "Benchmark"))

import guard
from machines import name_machine, name_vectors

from espalier.models import MODELS, Net

BENCH = Path(__file__).parents[2] / "Benchmark" / "bench.py"
sys.path.append(str(BENCH.parent / "operators"))

# Benchmarks are no package.
from operator_rows import ROWS, compute_in_double  # noqa: E402
from random_rows import random_row, random_rows  # noqa: E402

FIELDS = {"commit", "machine", "threads", "expected", "kernels"}
COMPARED = {"baseline", "baseline_ms", "baselines_ms", "baseline_builds", "ratio", "median_ms"}


def bench(*arguments: str, toy: bool = True) -> dict[str, dict]:
    """Run cases in an environment that asks for a slow baseline; return the lines by case."""
    process = subprocess.run(
        [sys.executable, str(BENCH), *["--toy"] * toy, "--seconds", "0", *arguments],
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0 or not toy, process.stdout + process.stderr
    results = [json.loads(line) for line in process.stdout.splitlines()]
    return {result["case"]: result for result in results}


@pytest.fixture(scope="module")
def results() -> dict[str, dict]:
    """Return the result lines of all cases."""
    return bench()


def test_results_are_right_and_complete(results):
    for name, result in results.items():
        assert result["passed"], name
        if name.startswith(("polybench/", "layouts/")) or name.endswith("/mean"):
            continue
        assert result["error"] < 1e-4, name
        compiles = {"compile_s", "cached_compile_s"} & set(result)
        assert set(result) >= FIELDS | (compiles or COMPARED), name


def test_sums_of_many_terms_are_known_in_double_precision():
    x = np.linspace(-1, 1, 65536, dtype=np.float32).reshape(1, 256, 256)
    (norm,) = compute_in_double(ROWS["NRM0-b1"].model(), {"x": x}).values()
    np.testing.assert_allclose(norm.item(), np.sqrt((x.astype(np.float64) ** 2).sum()))


def test_every_class_of_operators_has_a_row(results):
    lines = {name: r for name, r in results.items() if name.startswith("operators/")}
    mean = lines.pop("operators/mean")
    assert len(lines) == len(mean["speedups"]) == mean["rows"] == 15


def test_random_operators_follow_from_the_seed():
    """Every class has a row; a row is the same whichever were drawn before it."""
    rows = random_rows(1, 50)
    assert len({row.kind for row in rows}) == 25
    assert [row.name for row in rows] == [random_row(1, number).name for number in range(50)]
    assert all(row.flops > 0 for row in rows)
    assert random_row(2, 7).name != rows[7].name


def test_random_operators_are_run():
    results = bench("--random", "1", "2", toy=False)
    assert [*results][-1] == "operators/mean"
    assert all(result["error"] < 1e-4 for result in results.values())


def test_recursive_models_have_a_bound(results):
    lines = {name: r for name, r in results.items() if name.startswith("cortex/")}
    mean = lines.pop("cortex/mean")
    assert len(lines) == mean["rows"] == 14
    for result in lines.values():
        assert result["bound_ms"] >= 0
        assert "GFLOP/s" in result["rates"]


def test_choices_of_recursive_models_are_varied():
    row = bench("--only", "cortex/dag_rnn_256", "--ablate")["cortex/dag_rnn_256"]
    assert set(row["ablated_ms"]) == {
        "without specialization",
        "without hoisting",
        "without batching",
        "without fusion",
        "with unrolling",
        "with refactoring",
        "without persistence",
    }
    assert row["error"] < 1e-4


def test_orders_of_a_kernel_are_compared_with_its_own(results):
    lines = [result for result in results.values() if "times_us" in result]
    assert lines
    for result in lines:
        assert result["error"] < 1e-4
        assert len(result["times_us"]) == 4
        assert next(iter(result["ratios"].values())) == 1


def test_orders_are_searched_for(results):
    for search in ("egraph", "backtracking"):
        assert "measured_speedup_1_threads" in results[f"layouts/one_feature_{search}"]


def test_networks_are_all_there(results):
    assert {f"Networks/{name}" for name in MODELS} <= set(results)


def test_searches_are_compared_with_the_unoptimized_program(results):
    lines = {name: r for name, r in results.items() if name.startswith("taso/")}
    assert len(lines) == 6 + 1
    for name, result in lines.items():
        assert {"measured_speedup_1_threads", "measured_speedup_2_threads"} <= set(result), name
        assert {"predicted_speedup", "search_s", "used"} <= set(result), name


def test_kernels_of_the_suite(results):
    lines = {name: r for name, r in results.items() if name.startswith("polybench/")}
    assert len(lines) == 30 + 3 + 1
    mean = lines.pop("polybench/mean")
    assert mean["kernels"] == 30
    for name, result in lines.items():
        assert result["error"] < 1e-5, name
        assert result["median_ms"] > 0, name
        assert ("speedup" if name.endswith("_wavefront") else "speedups") in result, name


def test_cases_are_selected_by_name():
    assert set(bench("--only", "50_compile")) == {
        "Networks/resnet50_compile",
        "Networks/resnet50_compile_cached",
    }


def test_models_of_a_folder(tmp_path):
    net = Net("tiny")
    x = net.input("x", ["batch", 4])
    onnx.save(net.finish((net.linear(x, 4, 3), "y", ["batch", 3])), tmp_path / "tiny.onnx")
    results = bench("--models", str(tmp_path), "--threads", "2")
    assert set(results) == {"models/tiny"}
    assert set(results["models/tiny"]) >= FIELDS | COMPARED | {"compile_s", "date"}
    command = [sys.executable, str(BENCH), "--models", str(tmp_path / "none")]
    empty = subprocess.run(command, capture_output=True, text=True, check=False)
    assert empty.returncode == 2
    assert "expects a folder of ONNX files" in empty.stderr


def test_half_precision_is_timed_beside_single(tmp_path):
    for name in ("tiny", "tiny-f16", "alone-f16"):
        kind = TensorProto.FLOAT16 if "f16" in name else TensorProto.FLOAT
        x, y = (helper.make_tensor_value_info(v, kind, ["batch", 4]) for v in "xy")
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "tiny", [x], [y])
        opset = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.save(model, tmp_path / f"{name}.onnx")
    results = bench("--models", str(tmp_path))
    assert results["models/tiny-f16"]["f32_ms"] > 0
    assert set(results["models/tiny-f16"]["baselines_ms"]) >= {"onnxruntime"}
    assert "ours in f32" not in results["models/tiny-f16"]["baselines_ms"]
    assert "f32_ms" not in results["models/tiny"]
    assert "f32_ms" not in results["models/alone-f16"]


def test_models_that_are_not_supported_have_a_line(tmp_path):
    """And the models after them are timed."""
    bad, good = Net("bad"), Net("good")
    rows = bad.node("Cast", bad.node("NonZero", bad.input("x", [2, 3])), to=1)
    onnx.save(bad.finish((rows, "y", [2, "count"])), tmp_path / "bad.onnx")
    onnx.save(
        good.finish((good.node("Neg", good.input("x", [2])), "y", [2])), tmp_path / "good.onnx"
    )
    command = [sys.executable, str(BENCH), "--models", str(tmp_path), "--seconds", "0.01"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refused, timed = map(json.loads, done.stdout.splitlines())
    assert refused["case"] == "models/bad"
    assert "NonZero has no counterpart" in refused["refused"]
    assert timed["case"] == "models/good"
    assert done.returncode == 1
    assert not refused["passed"]


def test_guarded_rows_exist():
    assert {case["name"] for case in guard.guarded_cases()} == set(guard.CASES)


@pytest.mark.parametrize(
    ("ratio", "error", "verdict", "status"),
    [
        (1.24, 0.0, "fine", 0),
        (1.26, 0.0, "slower", 1),
        (0.5, 1e-3, "wrong", 1),
        (0.5, float("nan"), "wrong", 1),
    ],
)
def test_guarded_rows_are_compared(ratio, error, verdict, status, tmp_path, monkeypatch, capsys):
    """With the kept ratio of this machine, which a run that fails does not replace."""

    def run(arguments, result):
        monkeypatch.setattr(guard, "run_all", lambda cases, **_: [{"case": "row", **result}])
        monkeypatch.setattr(sys, "argv", ["guard.py", *arguments])
        return guard.main()

    monkeypatch.setattr(guard, "KEPT", tmp_path / "guard.jsonl")
    assert run([], {"ratio": 9.0, "error": 0.0, "median_ms": 1.0}) == 0
    assert "before -     new" in capsys.readouterr().out
    assert run(["--keep"], {"ratio": 1.0, "error": 0.0, "median_ms": 1.0}) == 0
    kept = guard.KEPT.read_text(encoding="utf-8")
    assert run([], {"ratio": ratio, "error": error, "median_ms": 1.0}) == status
    assert f"ratio {ratio:.3f} before 1.000 {verdict}" in capsys.readouterr().out
    assert run(["--keep"], {"ratio": ratio, "error": error, "median_ms": 1.0}) == (
        1 if verdict == "wrong" else 0
    )
    assert (guard.KEPT.read_text(encoding="utf-8") == kept) == (verdict == "wrong")


def test_nothing_to_run_or_to_compare_with_is_an_error():
    command = [sys.executable, str(BENCH), "--toy", "--seconds", "0", "--only"]
    unknown = subprocess.run(
        [*command, "no-such-case"], capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert "expects part of a case's name, but got 'no-such-case'" in unknown.stderr
    # Without a compiler and without git.
    bare = subprocess.run(
        [*command, "sparse/"],
        env={"PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in bare.stderr
    results = [json.loads(line) for line in bare.stdout.splitlines()]
    assert {result["commit"] for result in results} == {""}
    compared = [bool(result["baselines_ms"]) for result in results]
    assert [result["passed"] for result in results] == compared
    assert bare.returncode == (0 if all(compared) else 1)


@pytest.mark.skipif(name_vectors() != "AVX-512", reason="a machine without AVX-512")
def test_environment_does_not_slow_the_baseline(results):
    build = results["blas/matmul_512x512x512"]["baseline_builds"]["openblas"]
    assert "SkylakeX" in build or "OpenBLAS" not in build


def test_lesson_is_measured():
    """Each step of the tutorial on schedules, at a size that its tiles do not divide."""
    process = subprocess.run(
        [sys.executable, str(BENCH.parent / "lesson.py"), "--size", "53", "--seconds", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    assert [line["step"] for line in lines][:3] == ["default", "edited", "plain loops"]
    assert all(line["right"] for line in lines)


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ("fpu avx avx2 avx512f avx512vl", "AMD EPYC, AVX-512"),
        ("fpu avx avx2 vaes", "AMD EPYC, AVX2"),
        ("fpu sse2", "AMD EPYC"),
    ],
)
def test_a_machine_is_named_by_its_vectors(flags: str, name: str):
    info = f"vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nflags\t\t: {flags}\n"
    assert name_machine(info * 2) == name
