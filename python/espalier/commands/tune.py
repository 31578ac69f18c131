"""Look for faster schedules of a model's kernels.

Other commands schedule kernels by what was found; it is also written as a transform
script for `espalier compile --schedule`, or compiled at once. All trials are kept: the
same command goes on where it was stopped.
"""

import argparse
import json
from pathlib import Path

from espalier.commands.common import (
    ProgressLine,
    add_compile_options,
    add_model_option,
    budget,
    check_output,
    duration,
    make_options,
    parse_dims,
    positive,
)
from espalier.commands.compile import load_named
from espalier.compiler import Options, apply_script, compile_module
from espalier.errors import EspalierError, naming
from espalier.files import write_text
from espalier.tuning import SEARCHES, Tuned, TuneProgress, tune

TRIALS = 64
"""Candidates where nobody says how many, nor for how long."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_model_option(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        required=True,
        metavar="OUT.mlir|OUT.so|OUT.o",
        help="the script, or the program that it makes with a C header; may be repeated",
    )
    parser.add_argument(
        "--trials",
        type=positive,
        metavar="N",
        help=f"candidates of all kernels together (default: {TRIALS}; with --budget any)",
    )
    parser.add_argument(
        "--budget",
        type=budget,
        default=0.0,
        metavar="TIME",
        help="how long to search at most: seconds, or a number with s, m or h",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from the records, which has to be possible; without it, that is done if it is",
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


def describe(now: TuneProgress, trials: int | None, seconds: float) -> str:
    """Return the line about how far a search of so many trials or seconds has come."""
    rate = now.trials / now.elapsed_s if now.elapsed_s > 0 else 0.0
    left = []
    if trials is not None and rate > 0:
        left.append((trials - now.trials) / rate)
    if seconds > 0:
        left.append(seconds - now.elapsed_s)
    line = f"trial {now.trials}, {rate:.1f}/s"
    if left:
        line += f", {max(min(left), 0):.0f} s left"
    return (
        f"{line}, {now.failures} failed: {now.best_s * 1e3:.3f} ms, "
        f"by default {now.original_s * 1e3:.3f} ms"
    )


def check_resumed(options: Options) -> None:
    """Refuse to go on from records that there are not."""
    if options.records is None:
        raise EspalierError("option --resume: expects --records with --no-cache, but there is none")
    if not Path(options.records).is_file():
        raise EspalierError(
            f"option --resume: expects records of a search, but there is no '{options.records}'"
        )


def write_output(
    args: argparse.Namespace, output: Path, script: str, progress: ProgressLine
) -> None:
    """Write a script, or what compiling by it makes."""
    if output.suffix == ".mlir":
        write_text(output, script)
        return
    options = make_options(args)
    module, bound = load_named(args, output)
    with naming(args.model):
        apply_script(module, script, args.model, options)
        function = compile_module(module, bound, options, progress.counter("compiling"))
    function.save(output)


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
    for output in args.output:
        check_output(output, (".mlir", ".so", ".o"))
    options = make_options(args)
    if args.resume:
        check_resumed(options)
    trials = args.trials or (None if args.budget else TRIALS)
    progress = ProgressLine()
    progress.show("measuring the default schedules")
    tuned = tune(
        args.model,
        dims=parse_dims(args),
        trials=2**32 - 1 if trials is None else trials,
        seconds=args.budget,
        patience=args.patience,
        target_s=args.target,
        seed=args.seed,
        search=args.search,
        algorithms=not args.no_algorithms,
        lengths=args.lengths,
        options=options,
        progress=lambda now: progress.show(describe(now, trials, args.budget)),
    )
    progress.clear()
    for output in args.output:
        write_output(args, output, tuned.script, progress)
    outputs = ", ".join(map(str, args.output))
    if args.json:
        made = {"output": outputs, "kernels": [vars(k) for k in tuned.kernels]}
        print(json.dumps(made))
        return 0
    print_table(tuned)
    for fault in tuned.rule_faults:
        print(f"note: {fault}")
    if tuned.model_fault:
        ranking = "trees that were trained before" if tuned.ranked_by_shipped else "an estimate"
        print(f"note: candidates were ranked by {ranking}: {tuned.model_fault}")
    print(f"{outputs}: {tuned.original_s * 1e3:.3f} ms -> {tuned.best_s * 1e3:.3f} ms")
    return 0
