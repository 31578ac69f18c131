"""Run a model on the arrays of an .npz file."""

import argparse
import json
from pathlib import Path

from espalier.commands.common import (
    ProgressLine,
    add_compile_options,
    load_arrays,
    make_options,
    parse_dims,
    positive,
    save_arrays,
)
from espalier.compiler import compile_for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model, or MLIR in a .mlir file")
    parser.add_argument("--inputs", type=Path, required=True, metavar="IN.npz")
    parser.add_argument("--outputs", type=Path, required=True, metavar="OUT.npz")
    parser.add_argument("--threads", type=positive, metavar="N", help="number of threads")
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="keep symbolic dimensions instead of compiling for the given shapes",
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    add_compile_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    inputs = load_arrays(args.inputs)
    function = compile_for(
        args.model,
        inputs,
        dynamic=args.dynamic,
        dims=parse_dims(args),
        options=make_options(args),
        progress=ProgressLine().counter("compiling"),
    )
    if args.threads:
        function.set_num_threads(args.threads)
    results = function.run(inputs)
    save_arrays(args.outputs, results)
    if args.json:
        print(json.dumps({name: list(array.shape) for name, array in results.items()}))
    return 0
