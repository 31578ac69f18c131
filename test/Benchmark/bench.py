#!/usr/bin/env python3
"""Times the cases of the benchmark folders; prints one JSON object per case.

Usage: bench.py [--toy] [--seconds S] [--only TEXT]

A case passes if its results equal the baseline's and, but for --toy, its ratio
or limit holds. The exit status is 1 if a case fails. Baselines run in the same
session: onnxruntime with as many threads, or OpenBLAS as numpy links it, on one
thread and with its AVX-512 kernels where the machine can, whatever the
environment says about it.
"""

import argparse
import ctypes
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from typing import Any

# OpenBLAS reads these when numpy is loaded. Its own choice of kernels is not the
# best on every machine, nor is what the environment may ask for.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"):
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from espalier.compiler import Options, compile_for
from espalier.function import Function
from espalier.models import MODELS, Net
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import Timing, measure, measure_alternately, timed

ROOT = pathlib.Path(__file__).parent
TOLERANCE = 1e-4
Case = dict[str, Any]
Arrays = dict[str, np.ndarray]


def matmul(m: int, k: int, n: int, constant_b: bool = False) -> onnx.ModelProto:
    """Build the product of two inputs, or of an input and a constant."""
    net = Net("matmul")
    a = net.input("a", [m, k])
    b = net.weight([k, n], 1.0) if constant_b else net.input("b", [k, n])
    return net.finish((net.node("MatMul", a, b), "y", [m, n]))


BUILDERS: dict[str, Callable[..., onnx.ModelProto]] = {**MODELS, "matmul": matmul}


def load_cases(only: str | None) -> list[Case]:
    """Read the cases of all folders.

    What a case does not say, the one that it is `like` does, or the file's default.
    """
    cases = []
    for path in sorted(ROOT.glob("*/cases.toml")):
        text = tomllib.loads(path.read_text(encoding="utf-8"))
        known: dict[str, Case] = {"": text["default"]}
        for case in text["case"]:
            known[case["name"]] = known[case.get("like", "")] | case
            cases.append(known[case["name"]] | {"name": f"{path.parent.name}/{case['name']}"})
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


def describe_openblas() -> str:
    """Return OpenBLAS's build line, which ends in the kernels that it uses."""
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    for path in {line.split()[-1] for line in maps.splitlines() if "openblas" in line}:
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_config64_", "openblas_get_config"):
            if get := getattr(library, name, None):
                get.restype = ctypes.c_char_p
                return get().decode()
    return "another BLAS"


def describe_baseline(case: Case) -> dict[str, str]:
    """Return what a result line has about how the baseline was built."""
    if case["baseline"] == "openblas":
        return {"baseline_build": describe_openblas()}
    if case["baseline"] == "onnxruntime":
        return {"baseline_build": f"onnxruntime {onnxruntime.__version__}"}
    return {}


def run_baseline(case: Case, model: onnx.ModelProto) -> Callable[[Arrays], Arrays]:
    """Return the function to compare results, and mostly times, with."""
    if case["baseline"] == "openblas":
        product = model.graph.node[0]
        constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}

        def multiply(inputs: Arrays) -> Arrays:
            left, right = (({**constants, **inputs})[name] for name in product.input)
            return {"y": left @ right}

        return multiply
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
        function, seconds_taken = timed(
            lambda: compile_for(model, inputs, options=Options(cache=cache))
        )
        compile_seconds.append(seconds_taken)
    function.set_num_threads(case["threads"])
    baseline = run_baseline(case, model)
    error = largest_error(function.run(inputs), baseline(inputs))
    result = {"case": case["name"], "threads": case["threads"], "error": error}
    passed = error <= TOLERANCE
    if case["metric"] == "median_ms":
        timing, other = time_both(case, function, baseline, inputs, seconds)
        result |= timing.as_dict() | timing.compared_with(case["baseline"], other)
        result |= describe_baseline(case) | {"expected": case["ratio"]}
        passed &= toy or result["ratio"] <= case["ratio"]
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
