"""Build networks, compile them and compare them with onnxruntime."""

import argparse
import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import onnx

from espalier.commands.common import ProgressLine, duration, positive
from espalier.compiler import Options, compile_for, default_cache
from espalier.errors import EspalierError
from espalier.files import replacing
from espalier.importers.onnx.loading import load
from espalier.models import MODELS, build
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately, timed

DEFAULT_MODELS = ["resnet50", "mobilenet_v2", "bert_base"]
TOLERANCE = 1e-4


@dataclass
class Row:
    """What is shown of one network."""

    model: str
    operators: int
    kernels: int
    compile_s: float
    espalier_ms: float
    onnxruntime_ms: float
    error: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"networks out of {', '.join(MODELS)}"
    )
    parser.add_argument(
        "--models", type=Path, metavar="FOLDER", help="also the ONNX files in this folder"
    )
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    parser.add_argument("--seconds", type=duration, default=2.0, help="how long to time each")
    parser.add_argument("--no-cache", action="store_true", help="compile anew, store nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object per network")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    rows = []
    with _folder() as folder:
        for path in _models(args, folder):
            row = _measure(args, path)
            rows.append(row)
            if args.json:
                print(json.dumps(asdict(row)), flush=True)
    if not args.json:
        _print_table(rows)
    return 0 if all(row.error <= TOLERANCE for row in rows) else 1


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """Give a folder for the networks, which goes with them."""
    try:
        folder = tempfile.TemporaryDirectory()
    except OSError as error:
        raise EspalierError(
            f"cannot make a folder in '{tempfile.gettempdir()}': {error.strerror}"
        ) from error
    try:
        yield Path(folder.name)
    finally:
        try:
            folder.cleanup()
        except OSError:
            # What failed once may work now.
            shutil.rmtree(folder.name, ignore_errors=True)


def _models(args: argparse.Namespace, folder: Path) -> Iterator[Path]:
    """Yield the networks as files: built ones, then those of --models."""
    files = sorted(args.models.glob("*.onnx")) if args.models is not None else []
    if args.models is not None and not files:
        raise EspalierError(
            f"option --models: expects a folder with .onnx files, but '{args.models}' has none"
        )
    if unknown := [name for name in args.names if name not in MODELS]:
        raise EspalierError(f"expects a model out of {', '.join(MODELS)}, but got '{unknown[0]}'")
    for name in args.names or DEFAULT_MODELS:
        path = folder / f"{name}.onnx"
        with replacing(path) as temporary:
            onnx.save(build(name), temporary)
        yield path
        path.unlink()
    yield from files


def _measure(args: argparse.Namespace, path: Path) -> Row:
    progress = ProgressLine()
    progress.show(f"{path.stem}: loading")
    session = OnnxRuntime(path, args.threads)
    inputs = session.random_inputs()
    options = Options(cache=None if args.no_cache else default_cache())
    counter = progress.counter(f"{path.stem}: compiling")
    function, seconds = timed(lambda: compile_for(path, inputs, options=options, progress=counter))
    progress.show(f"{path.stem}: running")
    function.set_num_threads(args.threads)
    error = largest_error(function.run(inputs), session.run(inputs))
    calls = [lambda: function.run(inputs), lambda: session.run(inputs)]
    ours, theirs = measure_alternately(calls, args.seconds)
    progress.clear()
    operators = len(load(path).model.graph.node)
    return Row(
        path.stem,
        operators,
        function.kernels,
        round(seconds, 2),
        round(ours.median_ms, 3),
        round(theirs.median_ms, 3),
        error,
    )


def _print_table(rows: list[Row]) -> None:
    heads = ["model", "operators", "kernels", "compile s", "espalier ms", "onnxruntime ms", "error"]
    lines = [
        [
            row.model,
            str(row.operators),
            str(row.kernels),
            f"{row.compile_s:.1f}",
            f"{row.espalier_ms:.2f}",
            f"{row.onnxruntime_ms:.2f}",
            f"{row.error:.1e}" + ("" if row.error <= TOLERANCE else " too large"),
        ]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    for line in [heads, *lines]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
