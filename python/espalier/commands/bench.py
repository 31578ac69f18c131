"""Time a model on the arrays of an .npz file."""

import argparse
import json
from collections.abc import Callable

from espalier.commands.common import (
    ProgressLine,
    add_run_options,
    compile_for_run,
    duration,
    expect_onnx,
    load_arrays,
    positive,
)
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately, timed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_run_options(parser)
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    parser.add_argument("--seconds", type=duration, default=2.0, help="how long to repeat")
    parser.add_argument(
        "--baseline", action="store_true", help="time onnxruntime in the same session"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.baseline:
        expect_onnx(args.model, "--baseline")
    inputs = load_arrays(args.inputs)
    progress = ProgressLine()
    function, seconds = timed(lambda: compile_for_run(args, inputs, progress))
    function.set_num_threads(args.threads)
    progress.show("timing")
    calls: list[Callable[[], object]] = [lambda: function.run(inputs)]
    if args.baseline:
        session = OnnxRuntime(args.model, args.threads)
        calls.append(lambda: session.run(inputs))
    timing, *others = measure_alternately(calls, args.seconds)
    result = {
        "model": str(args.model),
        "threads": args.threads,
        "kernels": function.kernels,
        "compile_s": round(seconds, 3),
        **timing.as_dict(),
    }
    for other in others:
        result |= timing.compared_with("onnxruntime", other)
    progress.clear()
    if args.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name}: {value}")
    return 0
