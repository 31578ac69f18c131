"""Run a model on the arrays of an .npz file."""

import argparse
import json
from pathlib import Path

from espalier.commands.common import (
    ProgressLine,
    add_run_options,
    check_output,
    compile_for_run,
    load_arrays,
    positive,
    save_arrays,
)
from espalier.errors import naming


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_run_options(parser)
    parser.add_argument(
        "--outputs",
        type=Path,
        required=True,
        metavar="OUT.npz",
        help="arrays by the outputs' names",
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="number of threads")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    check_output(args.outputs)
    inputs = load_arrays(args.inputs)
    function = compile_for_run(args, inputs, ProgressLine())
    with naming(args.inputs):
        if args.threads:
            function.set_num_threads(args.threads)
        results = function.run(inputs)
    save_arrays(args.outputs, results)
    if args.json:
        print(json.dumps({name: list(array.shape) for name, array in results.items()}))
    return 0
