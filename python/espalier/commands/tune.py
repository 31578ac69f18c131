"""Look for faster schedules of the kernels of a model, or of several together.

Other commands schedule kernels by what was found; it is also written as a transform
script for `espalier compile --schedule`, or compiled at once. All trials are kept: the
same command goes on where it was stopped. Of several processes that mpirun or srun starts,
the first one searches, and the others measure candidates, each on its machine.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from espalier.commands.common import (
    ProgressLine,
    add_compile_options,
    budget,
    check_output,
    duration,
    make_options,
    parse_dims,
    positive,
)
from espalier.commands.compile import load_named
from espalier.commands.launcher import find_messenger
from espalier.compiler import Options, apply_script, compile_module
from espalier.errors import EspalierError, naming
from espalier.files import write_text
from espalier.ranks import Messenger, measure_for_ranks
from espalier.tuning import OBJECTIVES, SEARCHES, Tuned, TuneProgress, tune

TRIALS = 64
"""Candidates where nobody says how many, nor for how long."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "model",
        nargs="+",
        metavar="MODEL",
        help="an ONNX model, or MLIR in a .mlir file; what several have in common is tuned once",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        required=True,
        metavar="OUT.mlir|OUT.so|OUT.o",
        help="the script, or the program that it makes with a C header; may be repeated; of "
        "several models one for each, in their order",
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
        type=lambda text: parse_list(text, duration),
        default=[],
        metavar="S,...",
        help="seconds of all calls of kernels that are good enough, for each model",
    )
    parser.add_argument(
        "--weights",
        type=lambda text: parse_list(text, float),
        default=[],
        metavar="W,...",
        help="how much the time of each model counts (default: 1)",
    )
    parser.add_argument(
        "--objective",
        choices=OBJECTIVES,
        help="what becomes small of the seconds of models: their sum; that of those beyond their "
        "target; their geometric mean (default: the target if there is one, else the sum)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the choices made at random")
    parser.add_argument(
        "--search", choices=SEARCHES, default="model", help="how (default: %(default)s)"
    )
    parser.add_argument(
        "--no-algorithms",
        action="store_true",
        help="leave convolutions, and what is one kernel, as they are by default",
    )
    parser.add_argument(
        "--lengths",
        type=parse_lengths,
        default={},
        metavar="N[:WEIGHT],...",
        help="what stands for dimensions that are not known: the geometric mean counts",
    )
    parser.add_argument(
        "--sizes",
        type=parse_sizes,
        action="append",
        default=[],
        metavar="NAME=N,...[:WEIGHT]",
        help="the same by the names of dimensions, all of them at once; may be repeated",
    )
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    add_compile_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def parse_list(text: str, parse: Callable[[str], float]) -> list[float]:
    """Parse numbers that are separated by commas."""
    try:
        return [parse(one) for one in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"expects numbers, such as 1,2, but got '{text}'"
        ) from error


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


def parse_sizes(text: str) -> tuple[dict[str, int], float]:
    """Parse numbers by name, with a weight or without."""
    named, colon, weight = text.partition(":")
    try:
        pairs = [pair.split("=") for pair in named.split(",")]
        return {name: positive(number) for name, number in pairs}, float(weight) if colon else 1.0
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"expects numbers by name, such as batch=1,length=64:2, but got '{text}'"
        ) from error


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
    args: argparse.Namespace, model: str, output: Path, script: str, progress: ProgressLine
) -> None:
    """Write a script, or what compiling by it makes."""
    if output.suffix == ".mlir":
        write_text(output, script)
        return
    options = make_options(args)
    module, bound = load_named(argparse.Namespace(**(vars(args) | {"model": model})), output)
    with naming(model):
        apply_script(module, script, model, options)
        function = compile_module(module, bound, options, progress.counter("compiling"))
    function.save(output)


def assign_outputs(args: argparse.Namespace) -> list[list[Path]]:
    """Return the outputs of each model."""
    for output in args.output:
        check_output(output, (".mlir", ".so", ".o"))
    if len(args.model) == 1:
        return [args.output]
    if len(args.output) != len(args.model):
        raise EspalierError(
            f"option -o: expects one for each of {len(args.model)} models, but got "
            f"{len(args.output)}"
        )
    if again := [output for output in args.output if args.output.count(output) > 1]:
        raise EspalierError(
            f"option -o: expects a file of its own for each model, but got '{again[0]}' again"
        )
    return [[output] for output in args.output]


def print_table(tuned: Tuned) -> None:
    """Print what was found for each statement and kernel."""
    for choice in tuned.statements:
        print(
            f"{choice.name}: {choice.option}: {choice.original_s * 1e6:.1f} us -> "
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
    """Run the command, or measure for the process that does."""
    messenger = find_messenger()
    if messenger is None:
        return search(args, None)
    with messenger:
        if messenger.rank == 0:
            return search(args, messenger)
        measure_for_ranks(messenger, make_options(args))
        return 0


def search(args: argparse.Namespace, messenger: Messenger | None) -> int:
    """Search, and write what was found."""
    outputs = assign_outputs(args)
    options = make_options(args)
    if args.resume:
        check_resumed(options)
    trials = args.trials or (None if args.budget else TRIALS)
    progress = ProgressLine()
    progress.show("measuring the default schedules")
    all_tuned = tune(
        args.model,
        dims=parse_dims(args),
        trials=2**32 - 1 if trials is None else trials,
        seconds=args.budget,
        patience=args.patience,
        target_s=args.target or 0.0,
        weights=args.weights or 1.0,
        objective=args.objective,
        seed=args.seed,
        search=args.search,
        algorithms=not args.no_algorithms,
        lengths=args.lengths,
        sizes=args.sizes,
        options=options,
        progress=lambda now: progress.show(describe(now, trials, args.budget)),
        messenger=messenger,
    )
    progress.clear()
    made = []
    for model, tuned, paths in zip(args.model, all_tuned, outputs, strict=True):
        for output in paths:
            write_output(args, model, output, tuned.script, progress)
        written = ", ".join(map(str, paths))
        made.append({"output": written, "kernels": [vars(k) for k in tuned.kernels]})
        if not args.json:
            print_table(tuned)
            print(f"{written}: {tuned.original_s * 1e3:.3f} ms -> {tuned.best_s * 1e3:.3f} ms")
    if args.json:
        print(json.dumps(made[0] if len(made) == 1 else {"models": made}))
        return 0
    for fault in (*tuned.rule_faults, *tuned.rank_faults):
        print(f"note: {fault}")
    if tuned.model_fault:
        ranking = "trees that were trained before" if tuned.ranked_by_shipped else "an estimate"
        print(f"note: candidates were ranked by {ranking}: {tuned.model_fault}")
    return 0
