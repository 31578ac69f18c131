"""Time a model on the arrays of an .npz file."""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

from espalier.commands.common import (
    ProgressLine,
    add_compile_options,
    load_arrays,
    make_options,
    parse_dims,
    positive,
)
from espalier.compiler import compile_for
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model, or MLIR in a .mlir file")
    parser.add_argument("--inputs", type=Path, required=True, metavar="IN.npz")
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long to repeat")
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="keep symbolic dimensions instead of compiling for the given shapes",
    )
    parser.add_argument(
        "--baseline", action="store_true", help="time onnxruntime in the same session"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_compile_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    inputs = load_arrays(args.inputs)
    progress = ProgressLine()
    start = time.perf_counter()
    function = compile_for(
        args.model,
        inputs,
        dynamic=args.dynamic,
        dims=parse_dims(args),
        options=make_options(args),
        progress=progress.counter("compiling"),
    )
    seconds = time.perf_counter() - start
    function.set_num_threads(args.threads)
    progress.show("timing")
    calls: list[Callable[[], object]] = [lambda: function.run(inputs)]
    if args.baseline:
        session = OnnxRuntime(args.model, args.threads)
        calls.append(lambda: session.run(inputs))
    timing, *baseline = measure_alternately(calls, args.seconds)
    result = {
        "model": str(args.model),
        "threads": args.threads,
        "kernels": function.kernels,
        "compile_s": round(seconds, 3),
        **timing.as_dict(),
    }
    for other in baseline:
        result["onnxruntime_median_ms"] = round(other.median_ms, 4)
        result["ratio"] = round(timing.median_ms / other.median_ms, 4)
    progress.clear()
    if args.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name}: {value}")
    return 0
