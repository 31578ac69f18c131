"""Draw what a kernel's schedule or a network's optimization does, as an HTML page.

Of recursive models, the page says when each operator is computed; of records of
`espalier tune`, what was tried, how well that was predicted, what won and what failed.
"""

import argparse
from pathlib import Path

from espalier import _espalier
from espalier.commands.common import check_output, duration
from espalier.compiler import OPTIMIZATIONS, Options, load_module, optimize_module, read_text
from espalier.errors import EspalierError, naming
from espalier.files import write_text
from espalier.records import describe_records
from espalier.report import (
    make_network_page,
    make_page,
    make_recursive_page,
    make_tuning_page,
)
from espalier.sandbox import check_text
from espalier.schedules import Schedule, ScheduleError
from espalier.tuning import find_model_library, judge_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "kernel",
        type=Path,
        metavar="KERNEL.mlir|MODEL|RECORDS",
        help="a kernel or recursive models in a .mlir file; with --optimize, an ONNX model "
        "or MLIR; with --tuning, the file of records of `espalier tune`",
    )
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="OUT.html")
    parser.add_argument("--tuning", action="store_true", help="show what searches tried")
    parser.add_argument("--name", metavar="NAME", help="one of several kernels")
    parser.add_argument("--script", type=Path, metavar="SCRIPT.mlir", help="commands to apply")
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="a size (default: 6)"
    )
    parser.add_argument(
        "--axes",
        action="append",
        default=[],
        metavar="COMPUTATION=I,J",
        help="the dimensions to show",
    )
    parser.add_argument(
        "--optimize",
        choices=[name for name in OPTIMIZATIONS if name != "none"],
        help="of a model: show the substitutions that are found, and their proofs",
    )
    parser.add_argument(
        "--measure-seconds",
        type=duration,
        default=0.0,
        metavar="S",
        help="with --optimize, for measuring kernels (default: costs are estimates)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; a refused script is shown and is no error."""
    check_output(args.output)
    if args.tuning:
        return _report_tuning(args)
    if args.optimize:
        return _report_network(args)
    if args.kernel.suffix != ".mlir":
        raise EspalierError(
            f"option --optimize: expects a search for the network '{args.kernel}', but there "
            "is none; kernels are in .mlir files"
        )
    sizes = {name: _number(value) for name, value in _pairs("size", args.size)}
    axes = {name: value.split(",") for name, value in _pairs("axes", args.axes)}
    with naming(args.kernel):
        text = read_text(args.kernel)
        check_text(text)
        if explanation := _explain(text):
            write_text(args.output, make_recursive_page(args.kernel.name, explanation))
            print(f"{args.output}: drawn")
            return 0
        schedule = Schedule(text, args.name)
        refused = _replay(schedule, args.script) if args.script else ""
        page = make_page(schedule, sizes, axes, refused)
    write_text(args.output, page)
    print(f"{args.output}: {'refused' if refused else 'drawn'}")
    return 0


def _explain(text: str) -> str:
    """Return what there is to say of recursive models, nothing if there are none."""
    if "rec.model" not in text:
        return ""
    module, _ = load_module(text)
    return _espalier.explain_batching(module)


def _replay(schedule: Schedule, path: Path) -> str:
    """Apply the script of a file; return why it is refused, or nothing."""
    with naming(path):
        script = read_text(path)
        check_text(script)
        try:
            schedule.replay(script)
        except ScheduleError as error:
            return str(error)
    return ""


def _report_network(args: argparse.Namespace) -> int:
    """Write the page about a network before and after optimization."""
    for option in ("name", "script", "size", "axes"):
        if getattr(args, option):
            raise EspalierError(f"option --{option}: expects a kernel, but got --optimize")
    module, _ = load_module(str(args.kernel))
    measured = args.measure_seconds > 0
    options = Options(
        optimize=args.optimize,
        kernel_times=Options().kernel_times if measured else None,
        measure_seconds=args.measure_seconds,
    )
    with naming(args.kernel):
        report = optimize_module(module, options)
    page = make_network_page(args.kernel.name, report)
    write_text(args.output, page)
    made = sum(substitution["count"] for substitution in report["substitutions"])
    print(f"{args.output}: {made} substitutions; {report['result']} network: {report['reason']}")
    return 0


def _report_tuning(args: argparse.Namespace) -> int:
    """Write the page about what searches tried."""
    for option in ("name", "script", "size", "axes", "optimize"):
        if getattr(args, option):
            raise EspalierError(f"option --{option}: expects a kernel, but got --tuning")
    kernels = describe_records(args.kernel)
    judged = judge_model(args.kernel) if find_model_library() else []
    write_text(args.output, make_tuning_page(args.kernel.name, kernels, judged))
    print(f"{args.output}: {len(kernels)} kernels")
    return 0


def _pairs(option: str, texts: list[str]) -> list[tuple[str, str]]:
    """Split NAME=VALUE."""
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise EspalierError(f"option --{option}: expects NAME=VALUE, but got '{text}'")
        pairs.append((name, value))
    return pairs


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise EspalierError(f"option --size: expects a number, but got '{text}'")
    return int(text)
