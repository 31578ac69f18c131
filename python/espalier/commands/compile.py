"""Compile a model to a shared library or an object, and a C header.

With --cpu, for another machine than this one.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from espalier import _espalier
from espalier.commands.common import (
    ProgressLine,
    add_compile_options,
    add_model_option,
    check_output,
    describe_optimization,
    describe_sparsity,
    make_options,
    parse_dims,
)
from espalier.compiler import (
    apply_script,
    compile_module,
    is_mlir,
    load_module,
    lower,
    read_text,
)
from espalier.errors import EspalierError, naming
from espalier.files import write_text
from espalier.names import check_identifier, to_identifier


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_model_option(parser)
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="OUT.so|OUT.o")
    parser.add_argument(
        "--schedule",
        type=Path,
        metavar="SCRIPT.mlir",
        help="transform script for the kernels; those that it leaves out get the default schedule",
    )
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="CHOICE=VALUE",
        help="what is selected for a choice of the script; may be repeated",
    )
    parser.add_argument(
        "--name", help="what the program is called in C (default: module @NAME, or as OUT)"
    )
    parser.add_argument("--json", action="store_true", help="print what was made as JSON")
    parser.add_argument(
        "--print-schedule",
        type=Path,
        metavar="FILE",
        help="write what the compiler does by itself as a script, to be edited and given "
        "to compile(schedule=...)",
    )
    parser.add_argument(
        "--explain-batching",
        action="store_true",
        help="say when operators of recursive models are computed, and why",
    )
    add_compile_options(parser)


def print_schedule(args: argparse.Namespace) -> None:
    """Write the script of the default schedule."""
    if args.optimize != "none":
        raise EspalierError(
            "option --print-schedule: expects --optimize none, because substitutions make "
            f"other kernels, but got '{args.optimize}'"
        )
    options = make_options(args)
    module = lower(args.model, dims=parse_dims(args), options=options)
    script = _espalier.default_schedule(module, "", options.native())
    write_text(args.print_schedule, script)


def parse_select(args: argparse.Namespace) -> dict[str, Any]:
    """Return what is selected, by the names of choices."""
    values: dict[str, Any] = {}
    for text in args.select:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise EspalierError(f"option --select: expects CHOICE=VALUE, but got '{text}'")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    if values and args.schedule is None:
        raise EspalierError("option --select: expects --schedule, but there is none")
    return values


def load_named(
    args: argparse.Namespace, output: Path, name: str | None = None
) -> tuple[_espalier.Module, dict[str, np.ndarray]]:
    """Load the model of a command line; call it `name`, or as itself or `output` is called."""
    module, bound = load_module(args.model, parse_dims(args))
    if name is not None:
        module.name = name
    elif not (is_mlir(args.model) and module.name):
        module.name = to_identifier(output.stem)
    return module, bound


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    check_output(args.output, (".so", ".o"))
    if args.print_schedule:
        print_schedule(args)
    progress = ProgressLine().counter("compiling")
    options = make_options(args)
    values = parse_select(args)
    script = None if args.schedule is None else read_text(args.schedule)
    name = None if args.name is None else check_identifier(args.name)
    module, bound = load_named(args, args.output, name)
    batching = _espalier.explain_batching(module) if args.explain_batching else ""
    with naming(args.model):
        layers = None
        if script is not None:
            layers = apply_script(module, script, args.schedule, options, values)
        function = compile_module(module, bound, options, progress, layers)
    function.save(args.output)
    header = args.output.with_suffix(".h")
    if args.json:
        made = {
            "output": str(args.output),
            "header": str(header),
            "kernels": function.kernels,
            "compile_s": round(function.compile_seconds, 3),
        }
        if function.optimization:
            made["optimization"] = function.optimization
        if args.sparse != "off" or args.sparse_layer:
            made["sparsity"] = function.sparsity
        if args.explain_batching:
            made["batching"] = batching.splitlines()
        print(json.dumps(made))
    else:
        print(batching, end="")
        for line in describe_sparsity(function.sparsity):
            print(line)
        for line in describe_optimization(function.optimization):
            print(line)
        print(f"{args.output}, {header}: {function.kernels} kernels")
    return 0
