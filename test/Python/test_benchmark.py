"""The benchmarks at toy size: the same code, with results compared."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "Benchmark" / "bench.py"
CASES = {
    "Kernels/matmul_512": {"openblas", "ratio"},
    "Networks/resnet50": {"onnxruntime", "ratio"},
    "Networks/mobilenet_v2": {"onnxruntime", "ratio"},
    "Networks/bert_base": {"onnxruntime", "ratio"},
    "Networks/resnet50_two_threads": {"one thread", "ratio"},
    "Networks/resnet50_compile": {"compile_s"},
    "Networks/resnet50_compile_cached": {"cached_compile_s"},
}


def bench(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(BENCH), "--toy", "--seconds", "0", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    process = bench("--only", name)
    assert process.returncode == 0, process.stdout + process.stderr
    results = [json.loads(line) for line in process.stdout.splitlines()]
    result = next(r for r in results if r["case"] == name)
    assert result["passed"]
    assert result["error"] < 1e-4
    assert {"commit", "machine", "threads", "expected"} <= set(result)
    assert CASES[name] <= set(result) | {result.get("baseline")}


def test_every_case_is_listed():
    text = "".join(path.read_text() for path in BENCH.parent.glob("*/cases.toml"))
    names = {name.rpartition("/")[2] for name in CASES}
    assert text.count("[[case]]") == len(names)
    assert all(f'name = "{name}"' in text for name in names)
