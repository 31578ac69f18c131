"""Time a model on the arrays of an .npz file."""

import argparse
import json
from collections.abc import Callable, Mapping

import numpy as np

from espalier.commands.common import (
    ProgressLine,
    add_run_options,
    compile_for_run,
    duration,
    expect_onnx,
    load_arrays,
    make_options,
    parse_dims,
    positive,
)
from espalier.errors import ArgumentError, naming
from espalier.machine import measure_machine
from espalier.profiling import format_profile, profile
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately, timed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_run_options(parser)
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    parser.add_argument("--seconds", type=duration, default=2.0, help="how long to repeat")
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--baseline", action="store_true", help="time onnxruntime in the same session"
    )
    either.add_argument(
        "--profile",
        action="store_true",
        help="list what each kernel takes beside the least that this machine could",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.baseline:
        expect_onnx(args.model, "--baseline")
    inputs = load_arrays(args.inputs)
    progress = ProgressLine()
    if args.profile:
        return profile_kernels(args, inputs, progress)
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


def profile_kernels(
    args: argparse.Namespace, inputs: Mapping[str, np.ndarray], progress: ProgressLine
) -> int:
    """Print what each kernel takes."""
    progress.show("timing kernels")
    with naming(args.inputs, ArgumentError):
        times = profile(
            args.model,
            inputs,
            dynamic=args.dynamic,
            dims=parse_dims(args),
            options=make_options(args),
            seconds=args.seconds,
            threads=args.threads,
        )
    machine = measure_machine(args.threads)
    progress.clear()
    if args.json:
        rows = [{**vars(time), "bound_ms": time.bound_ms(machine)} for time in times]
        print(json.dumps({"kernels": rows, "machine": vars(machine)}))
    else:
        print(format_profile(times, machine))
    return 0
