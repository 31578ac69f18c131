"""The benchmarks at toy size: the same code, with results compared."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from espalier.models import MODELS

BENCH = Path(__file__).parents[1] / "Benchmark" / "bench.py"
COMPARED = {"baseline", "baseline_ms", "ratio", "median_ms"}
CASES = {
    "Kernels/matmul_512": {"baseline_build"} | COMPARED,
    "Kernels/matmul_512_constant": {"baseline_build"} | COMPARED,
    **{f"Networks/{name}": {"baseline_build"} | COMPARED for name in MODELS},
    "Networks/resnet50_two_threads": COMPARED,
    "Networks/mobilenet_v2_two_threads": COMPARED,
    "Networks/bert_base_two_threads": COMPARED,
    "Networks/resnet50_compile": {"compile_s"},
    "Networks/resnet50_compile_cached": {"cached_compile_s"},
}


def bench(*arguments: str) -> dict[str, dict]:
    """Run cases in an environment that asks for a slow baseline; return the lines by case."""
    process = subprocess.run(
        [sys.executable, str(BENCH), "--toy", "--seconds", "0", *arguments],
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    results = [json.loads(line) for line in process.stdout.splitlines()]
    return {result["case"]: result for result in results}


@pytest.fixture(scope="module")
def results() -> dict[str, dict]:
    """Return the result lines of all cases."""
    return bench()


@pytest.mark.parametrize("name", CASES)
def test_case(results, name):
    result = results[name]
    assert result["passed"]
    assert result["error"] < 1e-4
    assert {"commit", "machine", "threads", "expected"} | CASES[name] <= set(result)


def test_every_case_is_listed(results):
    assert set(results) == set(CASES)


def test_cases_are_selected_by_name():
    assert set(bench("--only", "50_compile")) == {
        "Networks/resnet50_compile",
        "Networks/resnet50_compile_cached",
    }


@pytest.mark.skipif(
    "avx512f" not in Path("/proc/cpuinfo").read_text(), reason="a machine without AVX-512"
)
def test_environment_does_not_slow_the_baseline(results):
    build = results["Kernels/matmul_512"]["baseline_build"]
    assert "SkylakeX" in build or "OpenBLAS" not in build
