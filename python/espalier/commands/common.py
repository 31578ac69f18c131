"""What the subcommands share: files, progress and common options."""

import argparse
import math
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from espalier import _espalier
from espalier.compiler import (
    KERNEL_TIMES,
    OPTIMIZATIONS,
    RECORDS,
    Options,
    Progress,
    compile_for,
    default_cache,
    is_mlir,
)
from espalier.errors import ArgumentError, EspalierError, naming, reason_of
from espalier.files import replacing
from espalier.function import Function
from espalier.sparsity import SPARSITIES, check_sparse

SPARSE_OPTIONS = ("sparse", "entries")
"""Switches of a compilation that `--sparse` sets."""


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add the model."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model, or MLIR in a .mlir file")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, its inputs, and the options that say how to compile for them."""
    add_model_option(parser)
    parser.add_argument(
        "--inputs", type=Path, required=True, metavar="IN.npz", help="arrays by the inputs' names"
    )
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="keep symbolic dimensions instead of compiling for the given shapes",
    )
    add_compile_options(parser)


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to compile."""
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="fix a symbolic dimension; may be repeated",
    )
    parser.add_argument("--cpu", default="", help="LLVM's name of the CPU (default: this one)")
    parser.add_argument("--features", default="", help='differences to it, such as "-avx512f"')
    for name, summary in _espalier.PIPELINE_OPTIONS.items():
        if name in SPARSE_OPTIONS:  # Which are none of two.
            continue
        parser.add_argument(
            f"--no-{name}", dest=f"use_{name}", action="store_false", help=f"do not {summary}"
        )
    parser.add_argument(
        "--sparse",
        default=Options.sparse,
        metavar="|".join((*SPARSITIES, "REPORT.json")),
        help="store weights without their zeros: constants whose type says so, all with few "
        "others, those that are faster so when measured, or what the output of compile --json "
        "says; products with these zeros are left out (default: %(default)s)",
    )
    parser.add_argument(
        "--sparse-layer",
        action="append",
        default=[],
        metavar="NODE=dense|sparse|FORMAT",
        help="what becomes of one node's weights, whatever --sparse says; may be repeated",
    )
    parser.add_argument("--no-cache", action="store_true", help="compile anew, store nothing")
    parser.add_argument(
        "--cache-limit",
        type=positive,
        metavar="MIB",
        help="size of the folder of compiled programs (default: 8 GiB)",
    )
    parser.add_argument(
        "--records",
        type=Path,
        metavar="FILE",
        help="what was tuned (default: in the user's cache; none with --no-cache)",
    )
    parser.add_argument(
        "--optimize",
        choices=OPTIMIZATIONS,
        default="none",
        help="look for substitutions of operators; use them if that is faster when run",
    )
    parser.add_argument(
        "--measure-seconds",
        type=duration,
        default=Options.measure_seconds,
        metavar="S",
        help="with --optimize, for measuring kernels (default: %(default)g)",
    )


def parse_dims(args: argparse.Namespace) -> dict[str, int]:
    """Return the values of --dim."""
    dims = {}
    for text in args.dim:
        name, equals, number = text.rpartition("=")
        if not equals or not (number.isascii() and number.isdecimal()):
            raise EspalierError(f"option --dim: expects NAME=N, but got '{text}'")
        if dims.setdefault(name, int(number)) != int(number):
            raise EspalierError(f"option --dim: expects one number for '{name}', but got two")
    return dims


def parse_layers(args: argparse.Namespace) -> dict[str, str]:
    """Return the values of --sparse-layer."""
    layers: dict[str, str] = {}
    for text in args.sparse_layer:
        node, equals, choice = text.rpartition("=")
        if not equals or not node or not choice:
            raise EspalierError(
                f"option --sparse-layer: expects NODE=dense, NODE=sparse or NODE=FORMAT, "
                f"but got '{text}'"
            )
        if layers.setdefault(node, choice) != choice:
            raise EspalierError(
                f"option --sparse-layer: expects one choice for '{node}', but got two"
            )
    check_sparse(args.sparse, layers)
    return layers


def make_options(args: argparse.Namespace) -> Options:
    """Return the compile options of a command line."""
    cache = None if args.no_cache else default_cache()
    limit = args.cache_limit and args.cache_limit << 20
    return Options(
        cpu=args.cpu,
        features=args.features,
        cache=cache,
        cache_limit=limit,
        optimize=args.optimize,
        kernel_times=None if args.no_cache else default_cache() / KERNEL_TIMES,
        measure_seconds=args.measure_seconds,
        records=args.records or (None if args.no_cache else default_cache() / RECORDS),
        run_threads=getattr(args, "threads", None) or 1,
        sparse=args.sparse,
        sparse_layers=parse_layers(args),
        **{
            name: getattr(args, f"use_{name}")
            for name in _espalier.PIPELINE_OPTIONS
            if name not in SPARSE_OPTIONS
        },
    )


def describe_sparsity(layers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each entry of `Function.sparsity`."""
    for layer in layers:
        line = f"{layer['node']}: {layer['density']:.1%} of the weights: {layer['choice']}"
        if layer["choice"] == "sparse" and "format" in layer:
            line += f" ({layer['format']})"
        if "reason" in layer:
            yield f"{line}, {layer['reason']}"
        else:
            yield f"{line}, {layer['sparse_s']:.3e} s; dense {layer['dense_s']:.3e} s"


def describe_optimization(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about what `Function.optimization` says; none if it is empty."""
    if not report:
        return
    yield f"{report['optimize']}: searched {report['search_s']:.2f} s with {report['rules']} rules"
    for made in report["substitutions"]:
        yield f"  {made['rule']}: {made['count']}"
    for condition in report.get("checks", ()):
        yield f"  checked when run: {condition}"
    for what, start in (("predicted", "kernels"), ("measured", "measured")):
        before, after = (report.get(f"{start}_{when}_s") for when in ("before", "after"))
        if before and after:
            yield f"  {what}: {before * 1e3:.3f} ms before, {after * 1e3:.3f} ms after"
    yield f"  uses the {report['result']} graph: {report['reason']}"
    for warning in report["warnings"]:
        yield f"  warning: {warning}"


def compile_for_run(
    args: argparse.Namespace, inputs: Mapping[str, np.ndarray], progress: "ProgressLine"
) -> Function:
    """Compile a model for its inputs as the command line says."""
    with naming(args.inputs, ArgumentError):
        return compile_for(
            args.model,
            inputs,
            dynamic=getattr(args, "dynamic", False),
            dims=parse_dims(args),
            options=make_options(args),
            progress=progress.counter("compiling"),
        )


def expect_onnx(model: str, why: str) -> None:
    """Refuse MLIR, which onnxruntime does not read."""
    if is_mlir(model):
        raise EspalierError(f"{why}: expects an ONNX model, but got '{model}'")


def positive(text: str) -> int:
    """Parse a positive number."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expects a number of at least 1, but got '{text}'")
    return int(text)


UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
"""Seconds of the units of durations."""


def duration(text: str) -> float:
    """Parse a number of seconds, or one with a unit, such as 2m."""
    unit = text[-1:] if text[-1:] in UNITS else ""
    try:
        seconds = float(text.removesuffix(unit)) * UNITS.get(unit, 1.0)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"expects a number of seconds, but got '{text}'")
    return seconds


def budget(text: str) -> float:
    """Parse a duration that is not zero."""
    seconds = duration(text)
    if seconds == 0:
        raise argparse.ArgumentTypeError(
            f"expects a time above 0, such as 60s or 2m, but got '{text}'"
        )
    return seconds


def check_output(path: Path, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse, before the work is done, a file that cannot be written at its end."""
    if suffixes and path.suffix not in suffixes:
        raise EspalierError(
            f"cannot write '{path}': expects a name that ends in {' or '.join(suffixes)}"
        )
    if path.is_dir():
        raise EspalierError(f"cannot write '{path}': expects a file, but it is a folder")
    if not path.parent.is_dir():
        raise EspalierError(f"cannot write '{path}': there is no folder '{path.parent}'")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise EspalierError(f"cannot write '{path}': nothing may be written to '{path.parent}'")


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read an .npz file; nothing in it is executed."""
    try:
        with path.open("rb") as file:
            # NumPy takes any other file for a pickled one, and says how to load that.
            if not zipfile.is_zipfile(file):
                raise EspalierError(
                    f"cannot read '{path}': expects an .npz file with arrays by name, which "
                    "numpy.savez writes"
                )
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except EspalierError:
        raise
    # A header is read as a Python expression, so an odd one raises nearly anything.
    except Exception as error:
        raise EspalierError(f"cannot read '{path}': {reason_of(error)}") from error
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise EspalierError(f"cannot read '{path}': expects arrays, but '{name}' is none")
    # Files keep the order of dimensions and of bytes that arrays had where they were written.
    return {
        name: array.astype(array.dtype.newbyteorder("="), order="C", copy=False)
        for name, array in arrays.items()
    }


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an .npz file that appears complete or not at all."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


class ProgressLine:
    """One line on standard error that is rewritten; silent without a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Replace the line."""
        if self._shown:
            width = os.get_terminal_size(sys.stderr.fileno()).columns
            print(f"\r\x1b[K{text[: width - 1]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        self.show("")

    def counter(self, what: str) -> Progress:
        """Return a function that shows how much of something is done."""

        def count(done: int, total: int) -> None:
            self.show(f"{what} {done}/{total}")
            if done == total:
                self.clear()

        return count
