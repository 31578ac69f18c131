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
    parser.add_argument(
        "--patience",
        type=positive,
        default=0,
        metavar="N",
        help="trials that find nothing faster before a kernel is left alone (default: any)",
    )
    parser.add_argument(
        "--target",
        type=duration,
        default=0.0,
        metavar="S",
        help="seconds of all calls of kernels that are good enough",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the choices made at random")
    parser.add_argument(
        "--search", choices=SEARCHES, default="model", help="how (default: %(default)s)"
    )
    parser.add_argument(
        "--no-algorithms",
        action="store_true",
        help="leave convolutions as they are computed by default",
    )
    parser.add_argument(
        "--lengths",
        type=parse_lengths,
        default={},
        metavar="N[:WEIGHT],...",
        help="what stands for dimensions that are not known: the geometric mean counts",
    )
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    add_compile_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def parse_lengths(text: str) -> dict[int, float]:
    """Parse numbers with weights, or without, that are separated by commas."""
    lengths: dict[int, float] = {}
    for one in text.split(","):
        length, colon, weight = one.partition(":")
        try:
            lengths[positive(length)] = float(weight) if colon else 1.0
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"expects numbers with weights, such as 1:2,64, but got '{text}'"
            ) from error
    return lengths


def describe(now: TuneProgress) -> str:
    """Return the line about how far a search has come."""
    return (
        f"trial {now.trials}, {now.failures} failed: {now.best_s * 1e3:.3f} ms, "
        f"by default {now.original_s * 1e3:.3f} ms"
    )


def print_table(tuned: Tuned) -> None:
    """Print what was found for each statement and kernel."""
    for choice in tuned.statements:
        print(
            f"{choice.name}: {choice.algorithm}: {choice.original_s * 1e6:.1f} us -> "
            f"{choice.best_s * 1e6:.1f} us, {'chosen' if choice.is_chosen else 'left'}"
        )
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
        patience=args.patience,
        target_s=args.target,
        seed=args.seed,
        search=args.search,
        algorithms=not args.no_algorithms,
        lengths=args.lengths,
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
    for fault in tuned.rule_faults:
        print(f"note: {fault}")
    if tuned.model_fault:
        ranking = "trees that were trained before" if tuned.ranked_by_shipped else "an estimate"
        print(f"note: candidates were ranked by {ranking}: {tuned.model_fault}")
    print(f"{args.output}: {tuned.original_s * 1e3:.3f} ms -> {tuned.best_s * 1e3:.3f} ms")
    return 0
