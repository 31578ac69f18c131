"""Judge how well tuning predicts costs, by what it measured.

For each kernel, the model of costs is trained on the trials of all others. Printed are
rank correlations with the times that were measured, from -1 to 1.
"""

import argparse
from pathlib import Path
from statistics import fmean

from espalier.compiler import RECORDS, default_cache
from espalier.tuning import judge_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="of `espalier tune` (default: in the cache)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    kernels = judge_model(args.records or default_cache() / RECORDS)
    for kernel in kernels:
        print(
            f"{kernel.candidates} candidates: model {kernel.model:.2f}, "
            f"estimate {kernel.estimate:.2f}"
        )
    if not kernels:
        print("no kernel with enough candidates")
        return 0
    model, estimate = (
        fmean(kernel.model for kernel in kernels),
        fmean(kernel.estimate for kernel in kernels),
    )
    print(f"{len(kernels)} kernels: model {model:.2f}, estimate {estimate:.2f}")
    return 0
