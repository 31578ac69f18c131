#!/usr/bin/env python3
"""Times the cases of the benchmark folders; prints one JSON object per case.

Usage: bench.py [--toy] [--seconds S] [--only TEXT]

A case passes if its results equal the baseline's and, but for --toy, its ratio
or limit holds. The exit status is 1 if a case fails. Baselines run in the same
session, OpenBLAS as numpy links it.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from typing import Any

# OpenBLAS reads these when numpy is loaded; its own choice of a kernel is not the
# best on every machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"):
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")

import numpy as np
import onnx

from espalier.compiler import Options, compile_for
from espalier.function import Function
from espalier.models import MODELS, Net
from espalier.testing.compare import error_relative_to_scale
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import Timing, measure, measure_alternately

ROOT = pathlib.Path(__file__).parent
TOLERANCE = 1e-4
Case = dict[str, Any]
Arrays = dict[str, np.ndarray]


def matmul(m: int, k: int, n: int) -> onnx.ModelProto:
    """Build the product of two inputs."""
    net = Net("matmul")
    a, b = net.input("a", [m, k]), net.input("b", [k, n])
    return net.finish((net.node("MatMul", a, b), "y", [m, n]))


BUILDERS: dict[str, Callable[..., onnx.ModelProto]] = {**MODELS, "matmul": matmul}


def load_cases(only: str | None) -> list[Case]:
    """Read the cases of all folders."""
    cases = []
    for path in sorted(ROOT.glob("*/cases.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            cases.append({**case, "name": f"{path.parent.name}/{case['name']}"})
    return [case for case in cases if only is None or only in case["name"]]


def describe_machine() -> dict[str, str]:
    """Return what a result line has about where it was measured."""
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next(
        (li.partition(":")[2].strip() for li in info.splitlines() if "model name" in li), ""
    )
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {"commit": commit, "machine": model or platform.machine()}


def run_baseline(case: Case, model: onnx.ModelProto) -> Callable[[Arrays], Arrays]:
    """Return the function to compare results, and mostly times, with."""
    if case.get("baseline") == "openblas":
        return lambda inputs: {"y": inputs["a"] @ inputs["b"]}
    return OnnxRuntime(model, case["threads"]).run


def time_both(
    case: Case,
    function: Function,
    baseline: Callable[[Arrays], Arrays],
    inputs: Arrays,
    seconds: float,
) -> list[Timing]:
    """Time the program and what it is compared with."""
    if case["baseline"] != "one thread":
        calls = [lambda: function.run(inputs), lambda: baseline(inputs)]
        return measure_alternately(calls, seconds)
    # The number of threads is a state, so these take no turns.
    timings = []
    for threads in (case["threads"], 1):
        function.set_num_threads(threads)
        timings.append(measure(lambda: function.run(inputs), seconds))
    return timings


def run_case(case: Case, toy: bool, seconds: float, cache: pathlib.Path) -> dict[str, Any]:
    """Compile, compare and time one case."""
    model = BUILDERS[case["model"]](**case["toy" if toy else "sizes"])
    inputs = OnnxRuntime(model).random_inputs()
    compile_seconds = []
    for _ in range(2):
        start = time.perf_counter()
        function = compile_for(model, inputs, options=Options(cache=cache))
        compile_seconds.append(time.perf_counter() - start)
    function.set_num_threads(case["threads"])
    baseline = run_baseline(case, model)
    actual, expected = function.run(inputs), baseline(inputs)
    error = max(error_relative_to_scale(actual[name], expected[name]) for name in expected)
    result = {"case": case["name"], "threads": case["threads"], "error": error}
    passed = error <= TOLERANCE
    if case["metric"] == "median_ms":
        timing, other = time_both(case, function, baseline, inputs, seconds)
        ratio = timing.median_ms / other.median_ms
        result |= timing.as_dict()
        result |= {"baseline": case["baseline"], "baseline_ms": round(other.median_ms, 4)}
        result |= {"ratio": round(ratio, 4), "expected": case["ratio"]}
        passed &= toy or ratio <= case["ratio"]
    else:
        value = compile_seconds[case["metric"] == "cached_compile_s"]
        result |= {case["metric"]: round(value, 3), "expected": case["limit"]}
        passed &= toy or value <= case["limit"]
    return {**result, "kernels": function.kernels, "passed": bool(passed)}


def main() -> int:
    """Run the cases that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--toy", action="store_true", help="toy sizes; times do not count")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to time each")
    parser.add_argument("--only", metavar="TEXT", help="cases whose name contains TEXT")
    args = parser.parse_args()
    machine = describe_machine()
    failed = False
    for case in load_cases(args.only):
        with tempfile.TemporaryDirectory() as cache:
            result = run_case(case, args.toy, args.seconds, pathlib.Path(cache))
        failed |= not result["passed"]
        print(json.dumps({**result, **machine}), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
