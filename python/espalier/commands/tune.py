"""Look for faster schedules of a model's kernels.

Other commands schedule kernels by what was found; it is also written as a transform
script for `espalier compile --schedule`. All trials are kept: the same command goes on
where it was stopped.
"""

import argparse
import json
from pathlib import Path

from espalier.commands.common import (
    ProgressLine,
    add_compile_options,
    add_model_option,
    check_output,
    duration,
    make_options,
    parse_dims,
    positive,
)
from espalier.tuning import SEARCHES, Tuned, TuneProgress, tune


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_model_option(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT.mlir")
    parser.add_argument(
        "--trials",
        type=positive,
        default=64,
        metavar="N",
        help="candidates of all kernels together (default: %(default)d)",
    )
    parser.add_argument(
        "--budget", type=duration, default=0.0, metavar="S", help="seconds to search at most"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the choices made at random")
    parser.add_argument(
        "--search", choices=SEARCHES, default="model", help="how (default: %(default)s)"
    )
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    add_compile_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def describe(now: TuneProgress) -> str:
    """Return the line about how far a search has come."""
    return (
        f"trial {now.trials}, {now.failures} failed: {now.best_s * 1e3:.3f} ms, "
        f"by default {now.original_s * 1e3:.3f} ms"
    )


def print_table(tuned: Tuned) -> None:
    """Print what was found for each kernel."""
    for kernel in tuned.kernels:
        gain = kernel.reason or (
            f"{kernel.original_s * 1e6:.1f} us -> {kernel.best_s * 1e6:.1f} us ({kernel.rule})"
            if kernel.rule
            else f"{kernel.original_s * 1e6:.1f} us, the default schedule"
        )
        print(f"{kernel.name} x{kernel.calls}: {gain}; {kernel.trials} trials")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    check_output(args.output, (".mlir",))
    progress = ProgressLine()
    tuned = tune(
        args.model,
        dims=parse_dims(args),
        trials=args.trials,
        seconds=args.budget,
        seed=args.seed,
        search=args.search,
        options=make_options(args),
        progress=lambda now: progress.show(describe(now)),
    )
    progress.clear()
    tuned.save(args.output)
    if args.json:
        made = {"output": str(args.output), "kernels": [vars(k) for k in tuned.kernels]}
        print(json.dumps(made))
        return 0
    print_table(tuned)
    if tuned.model_fault:
        print(f"note: candidates were ranked by an estimate: {tuned.model_fault}")
    print(f"{args.output}: {tuned.original_s * 1e3:.3f} ms -> {tuned.best_s * 1e3:.3f} ms")
    return 0
