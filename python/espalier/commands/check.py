"""Compare compiled programs with other implementations.

With a model: with onnxruntime and the reference interpreter; a recursive model in
MLIR, with the interpreter on random trees. With --suite
onnx-node: with the expected results of the node tests in the onnx package.
"""

import argparse
import functools
import json
import math
import os
from collections import Counter
from pathlib import Path

import numpy as np

from espalier.commands.common import (
    ProgressLine,
    add_compile_options,
    compile_for_run,
    expect_onnx,
    load_arrays,
    make_options,
    parse_dims,
    positive,
)
from espalier.compiler import compile, interpret, is_mlir
from espalier.errors import EspalierError, naming
from espalier.importers.onnx import operators
from espalier.recursion.samples import sample_inputs, takes_structures
from espalier.testing.compare import error_relative_to_scale
from espalier.testing.onnxruntime import OnnxRuntime

REFERENCES = ("onnxruntime", "interpreter")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help="an ONNX model, or a recursive one in MLIR"
    )
    parser.add_argument("--suite", choices=["onnx-node"], help="a suite of tests instead")
    parser.add_argument("--only", metavar="TEXT", help="tests whose name contains TEXT")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--inputs", type=Path, metavar="IN.npz", help="default: random")
    parser.add_argument(
        "--against", choices=REFERENCES, action="append", help="default: both; may be repeated"
    )
    parser.add_argument("--tolerance", type=_tolerance, default=1e-4, help="relative to the scale")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_compile_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if (args.model is None) == (args.suite is None):
        raise EspalierError("expects either a model or --suite")
    for option in ("inputs", "against", "dim") if args.suite else ("only",):
        if getattr(args, option):
            expected = "a model" if args.suite else "--suite"
            raise EspalierError(f"option --{option}: expects {expected}, but there is none")
    return _check_suite(args) if args.suite else _check_model(args)


def _tolerance(text: str) -> float:
    value = float(text)
    if math.isnan(value):
        raise argparse.ArgumentTypeError(f"expects a number, but got '{text}'")
    return value


def _check_suite(args: argparse.Namespace) -> int:
    # This loads the tests, which takes seconds.
    from espalier.testing.node_worker import run_suite

    progress = ProgressLine()
    counts: Counter[str] = Counter(passed=0, failed=0, unsupported=0)
    failures: dict[str, str] = {}
    reasons: Counter[str] = Counter()
    for total, outcome in run_suite(args.only, args.jobs):
        counts[outcome.verdict] += 1
        progress.show(f"{counts.total()}/{total} {outcome.name}")
        if outcome.verdict == "failed":
            failures[outcome.name] = outcome.message
        elif outcome.verdict == "unsupported":
            reasons[outcome.message.split("': ", 1)[-1].splitlines()[0]] += 1
    progress.clear()
    if not counts.total():
        raise EspalierError(f"option --only: expects part of a test's name, but got '{args.only}'")
    if args.json:
        print(json.dumps({**counts, "operators": operators(), "failures": failures}))
    else:
        print(f"operators: {' '.join(operators())}")
        for reason, count in reasons.most_common():
            print(f"refused {count}: {reason}")
        for name, message in sorted(failures.items()):
            print(f"FAILED {name}: {message}")
        print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if failures else 0


def _check_model(args: argparse.Namespace) -> int:
    if is_mlir(args.model):
        return _check_recursive(args)
    expect_onnx(args.model, "check")
    dims = parse_dims(args)
    inputs = load_arrays(args.inputs) if args.inputs else None
    session = None
    if inputs is None or (args.against or REFERENCES) != ["interpreter"]:
        with naming(args.model):
            session = OnnxRuntime(args.model)
            inputs = session.random_inputs(dims) if inputs is None else inputs
    progress = ProgressLine()
    function = compile_for_run(args, inputs, progress)
    with naming(args.inputs):
        actual = function.run(inputs)
    interpreted = functools.partial(interpret, args.model)
    errors: dict[str, dict[str, float]] = {}
    for reference in args.against or REFERENCES:
        progress.show(f"running {reference}")
        run_reference = session.run if session and reference == "onnxruntime" else interpreted
        expected = run_reference(inputs)
        errors[reference] = {
            name: _error(name, actual[name], array) for name, array in expected.items()
        }
    progress.clear()
    return _report(args, errors)


def _check_recursive(args: argparse.Namespace) -> int:
    """Compare a program that applies recursive models with the interpreter."""
    if "onnxruntime" in (args.against or []):
        raise EspalierError("option --against: expects the interpreter for MLIR")
    function = compile(args.model, options=make_options(args))
    if args.inputs:
        inputs = load_arrays(args.inputs)
    elif takes_structures(function.inputs):
        inputs = sample_inputs(function.inputs)
    else:
        raise EspalierError(
            f"{args.model}: expects an ONNX model, a recursive model or --inputs, but got none"
        )
    with naming(args.inputs):
        actual = function.run(inputs)
    expected = interpret(args.model, inputs)
    errors = {name: _error(name, actual[name], array) for name, array in expected.items()}
    return _report(args, {"interpreter": errors})


def _report(args: argparse.Namespace, errors: dict[str, dict[str, float]]) -> int:
    """Print the errors by reference and output, and return the exit status."""
    failed = any(
        not error <= args.tolerance for named in errors.values() for error in named.values()
    )
    if args.json:
        print(json.dumps({"errors": errors, "tolerance": args.tolerance, "passed": not failed}))
    else:
        for reference, named in errors.items():
            for name, error in named.items():
                print(f"{reference}: {name}: error {error:.2e}")
        print("failed" if failed else "passed")
    return 1 if failed else 0


def _error(name: str, actual: np.ndarray, expected: np.ndarray) -> float:
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise EspalierError(
            f"output '{name}': expects {expected.dtype}{list(expected.shape)}, "
            f"but got {actual.dtype}{list(actual.shape)}"
        )
    return error_relative_to_scale(actual, expected)
