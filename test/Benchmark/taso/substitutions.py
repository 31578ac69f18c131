"""What optimization by substitutions gains on a network."""

import time
from pathlib import Path
from typing import Any

import onnx

from espalier.compiler import Options, compile_module, load_module, optimize_module, shapes_of
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately

TOLERANCE = 1e-4
# Noise makes either program a little faster; what `--optimize` takes for a gain.
GAIN = 0.99


def run_search(
    case: dict[str, Any], model: onnx.ModelProto, toy: bool, seconds: float, kernel_times: Path
) -> dict[str, Any]:
    """Optimize a model, and time it against the unoptimized one on one and two threads.

    One thread is timed by its own time, two by the clock.
    The optimized program is timed whether or not it is faster; `ratio` is that of the
    program that `--optimize` would use.
    """
    inputs = OnnxRuntime(model).random_inputs()
    limit = case["limit" if case["search"] == "egraph" else "longest"]
    options = Options(
        optimize=case["search"],
        cache=None,
        kernel_times=None if toy else kernel_times,
        measure_seconds=0.0 if toy else 600.0,
    )
    plain = Options(cache=None)
    modules = [load_module(model, shapes=shapes_of(inputs), values=inputs) for _ in range(2)]
    report = optimize_module(modules[1][0], options)
    functions = [compile_module(module, bound, plain) for module, bound in modules]
    expected, actual = (function.run(inputs) for function in functions)
    result: dict[str, Any] = {
        "case": case["name"],
        "threads": case["threads"],
        "error": largest_error(actual, expected),
        "predicted_speedup": round(
            report.get("kernels_before_s", 1) / report.get("kernels_after_s", 1), 4
        ),
        "search_s": round(report["search_s"], 3),
        "measuring_s": round(report["measuring_s"], 3),
        "substitutions": {made["rule"]: made["count"] for made in report["substitutions"]},
        "kernels": functions[1].kernels,
        "expected": case["ratio"],
        "limit_s": limit,
    }
    for threads in (2, case["threads"]):
        for function in functions:
            function.set_num_threads(threads)
        calls = [function.bind(inputs) for function in functions]
        clock = time.thread_time if threads == 1 else time.perf_counter
        before, after = measure_alternately(calls, seconds, clock)
        speedup = before.median_ms / after.median_ms if report["substitutions"] else 1.0
        result[f"measured_speedup_{threads}_threads"] = round(speedup, 4)
    used = speedup > 1 / GAIN
    result |= (after if used else before).as_dict()
    result |= {
        "used": "optimized" if used else "original",
        "baseline": "unoptimized",
        "baseline_ms": round(before.median_ms, 4),
        "baselines_ms": {"unoptimized": round(before.median_ms, 4)},
        "baseline_builds": {"unoptimized": "this compiler with --optimize=none"},
        "ratio": round(1 / speedup if used else 1.0, 4),
    }
    passed = result["error"] <= TOLERANCE
    fast = result["ratio"] <= case["ratio"] and result["search_s"] <= limit
    return {**result, "passed": bool(passed and (toy or fast))}
