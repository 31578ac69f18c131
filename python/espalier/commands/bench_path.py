"""Measure what trying one candidate of each kernel costs when a network is tuned.

Printed are medians of processor time: of choosing it, of starting a process, of its steps
there, and of all together but for its runs.
"""

import argparse
import json

from espalier.candidates import KernelPath, bench_path
from espalier.commands.common import (
    add_compile_options,
    add_model_option,
    make_options,
    parse_dims,
    positive,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_model_option(parser)
    parser.add_argument(
        "--repeat", type=positive, default=20, metavar="N", help="times (default: %(default)d)"
    )
    parser.add_argument(
        "--lengths",
        type=parse_lengths,
        default=[],
        metavar="N,...",
        help="what stands for dimensions that are not known: a candidate runs with each",
    )
    add_compile_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def parse_lengths(text: str) -> list[int]:
    """Parse numbers that are separated by commas."""
    return [positive(length) for length in text.split(",")]


def print_path(path: KernelPath) -> None:
    """Print the steps of one kernel."""
    if path.reason:
        print(f"{path.name}: {path.reason}")
        return
    print(f"{path.name}: {path.seconds * 1e3:.1f} ms")
    for name, seconds in path.steps.items():
        print(f"  {name:<12}{seconds * 1e3:8.2f} ms")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    paths = bench_path(
        args.model,
        dims=parse_dims(args),
        repeats=args.repeat,
        lengths=args.lengths,
        options=make_options(args),
    )
    if args.json:
        print(json.dumps({"kernels": [vars(path) for path in paths]}))
        return 0
    for path in paths:
        print_path(path)
    return 0
