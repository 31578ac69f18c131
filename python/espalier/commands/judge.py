"""Judge how well tuning predicts costs, by what it measured.

For each kernel, the model of costs is trained on the trials of all others. Printed are
rank correlations with the times that were measured, from -1 to 1; also of an estimate,
and of the trees that Espalier ships with, which may have seen the kernel.
"""

import argparse
from pathlib import Path
from statistics import fmean

from espalier.commands.common import check_output
from espalier.compiler import RECORDS, default_cache
from espalier.files import write_text
from espalier.tuning import judge_model, train_trees


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="of `espalier tune` (default: in the cache)"
    )
    parser.add_argument(
        "--train",
        type=Path,
        metavar="OUT.json",
        help="also write the trees that are trained by all kernels",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    records = args.records or default_cache() / RECORDS
    if args.train:
        check_output(args.train, (".json",))
        write_text(args.train, train_trees(records))
    kernels = judge_model(records)
    for kernel in kernels:
        print(
            f"{kernel.candidates} candidates: model {kernel.model:.2f}, "
            f"estimate {kernel.estimate:.2f}, shipped {kernel.shipped:.2f}"
        )
    if not kernels:
        print("no kernel with enough candidates")
        return 0
    means = (
        f"{name} {fmean(getattr(kernel, name) for kernel in kernels):.2f}"
        for name in ("model", "estimate", "shipped")
    )
    print(f"{len(kernels)} kernels: {', '.join(means)}")
    return 0
