"""Tune rows of operators, and let TVM's MetaSchedule tune them, too.

Each line has two comparisons of a row: with as many trials, and with as much time for the
search as TVM took for these. Programs are timed in turns; times of one thread are CPU times.
TVM is looked for in the folder `--tvm`, apart from our packages:

    $ pip install --target tvm --no-deps apache-tvm==0.27.0 apache-tvm-ffi==0.1.14.post0 \
          cloudpickle psutil xgboost-cpu ml_dtypes scipy typing_extensions
"""

import argparse
import contextlib
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
import onnx
from machines import describe_machine
from operators.operator_rows import ROWS
from tune_rows import NAMES
from tuned import TOLERANCE, Line, get_options

import espalier
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately

MANY_TRIALS = 1 << 20
"""More than any time is enough for."""
PATIENCE_S = 120.0
"""Of TVM with the process that builds a candidate, which may have to load TVM first."""
Arrays = dict[str, np.ndarray]


@dataclass
class Rival:
    """What MetaSchedule found for a model."""

    build: str
    trials: int
    """Those that it keeps; none is what it has without a search."""
    search_s: float
    call: Callable[[], Any]
    outputs: Callable[[], list[np.ndarray]]


def tune_module(
    module: object, target: dict[str, str | int], args: argparse.Namespace, folder: str
) -> object:
    """Apply the best of so many trials, and the layouts of weights that it likes."""
    tvm = importlib.import_module("tvm")
    relax = importlib.import_module("tvm.relax")
    schedule = importlib.import_module("tvm.s_tir.meta_schedule")
    passes = relax.transform
    # The steps of `static_shape_tuning_pipeline`, which has no seed and no limits.
    with tvm.target.Target(target) as machine:
        before = [
            passes.DecomposeOpsForInference(),
            passes.CanonicalizeBindings(),
            relax.get_pipeline("zero"),
            passes.AttachAttrLayoutFreeBuffers(),
        ]
        module = tvm.transform.Sequential(before)(module)
        schedule.relax_integration.tune_relax(
            module,
            {},
            machine,
            folder,
            max_trials_global=args.trials,
            builder=schedule.builder.LocalBuilder(timeout_sec=PATIENCE_S),
            seed=args.seed,
        )
        after = [
            passes.MetaScheduleApplyDatabase(folder),
            passes.SplitLayoutRewritePreproc(),
            passes.LiftTransformParams(),
            passes.FoldConstant(),
        ]
        return tvm.transform.Sequential(after)(module)


def tune_with_tvm(
    model: onnx.ModelProto, inputs: Arrays, args: argparse.Namespace, folder: str
) -> Rival:
    """Let MetaSchedule tune a model."""
    tvm = importlib.import_module("tvm")
    relax = importlib.import_module("tvm.relax")
    frontend = importlib.import_module("tvm.relax.frontend")
    from_onnx = importlib.import_module("tvm.relax.frontend.onnx").from_onnx
    cpu = tvm.target.codegen.llvm_get_system_cpu()
    target = {"kind": "llvm", "mcpu": cpu, "num-cores": args.threads}
    start = time.monotonic()
    module, weights = frontend.detach_params(from_onnx(model, keep_params_in_input=True))
    # It prints what it does.
    with contextlib.redirect_stdout(sys.stderr):
        module = tune_module(module, target, args, folder)
    search_s = time.monotonic() - start
    trials = (Path(folder) / "database_tuning_record.json").read_text().splitlines()
    machine = relax.VirtualMachine(tvm.compile(module, target=tvm.target.Target(target)), tvm.cpu())
    operands = [tvm.runtime.tensor(array) for array in inputs.values()]
    if constants := weights.get("main"):
        operands += list(machine["main_transform_params"](constants))
    # A function's arguments are looked up once.
    machine.set_input("main", *operands)

    def outputs() -> list[np.ndarray]:
        result = machine.get_outputs("main")
        return [tensor.numpy() for tensor in ([result] if hasattr(result, "numpy") else result)]

    build = f"TVM {tvm.__version__}, MetaSchedule, {cpu}"
    return Rival(build, len(trials), search_s, lambda: machine.invoke_stateful("main"), outputs)


def tune(
    model: onnx.ModelProto, args: argparse.Namespace, trials: int, seconds: float, records: Path
) -> tuple[espalier.Function, float]:
    """Tune a model; return the program, and the seconds that the search took."""
    options = get_options(argparse.Namespace(records=records, threads=args.threads))
    start = time.monotonic()
    espalier.tune(model, trials=trials, seconds=seconds, seed=args.seed, options=options)
    search_s = time.monotonic() - start
    function = espalier.compile(model, options=options)
    function.set_num_threads(args.threads)
    return function, search_s


def compare(case: str, model: onnx.ModelProto, args: argparse.Namespace) -> Line:
    """Tune a model by either, and time what was found."""
    reference = OnnxRuntime(model, args.threads)
    inputs = reference.random_inputs()
    expected = reference.run(inputs)
    with tempfile.TemporaryDirectory() as folder:
        rival = tune_with_tvm(model, inputs, args, folder)
        of_trials, trials_s = tune(model, args, args.trials, 0, Path(folder) / "trials.sqlite")
        of_time, time_s = tune(
            model, args, MANY_TRIALS, rival.search_s, Path(folder) / "time.sqlite"
        )
    functions = [of_trials, of_time]
    calls = [rival.call, *(function.bind(inputs) for function in functions)]
    clock = time.process_time if args.threads == 1 else time.perf_counter
    other, *own = (timing.median_ms for timing in measure_alternately(calls, args.seconds, clock))
    error = max(largest_error(function.run(inputs), expected) for function in functions)
    rival_outputs = dict(zip(expected, rival.outputs(), strict=True))
    return {
        "case": f"metaschedule/{case}",
        "threads": args.threads,
        "error": error,
        "rival_error": largest_error(rival_outputs, expected),
        "trials": args.trials,
        "rival_trials": rival.trials,
        "rival_ms": round(other, 4),
        "same_trials_ms": round(own[0], 4),
        "same_time_ms": round(own[1], 4),
        "same_trials_speedup": round(other / own[0], 3),
        "same_time_speedup": round(other / own[1], 3),
        "rival_search_s": round(rival.search_s, 1),
        "same_trials_search_s": round(trials_s, 1),
        "same_time_search_s": round(time_s, 1),
        "rival_build": rival.build,
        **describe_machine(),
    }


def summarize(lines: list[Line]) -> Line:
    """Return the geometric means of lines."""
    names = ("same_trials_speedup", "same_time_speedup")
    means = {name: round(geometric_mean([line[name] for line in lines]), 3) for name in names}
    return {"case": "metaschedule/mean", **means}


def find_tvm(folder: Path | None) -> str:
    """Make TVM importable; return why it is not, or nothing."""
    if folder:
        sys.path.insert(0, str(folder.resolve()))
        # Of the processes that it builds and runs candidates in.
        paths = [str(folder.resolve()), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    try:
        importlib.import_module("tvm.s_tir.meta_schedule")
    except ImportError as error:
        place = f"in '{folder}'" if folder else "among Python's packages"
        return f"expects TVM with MetaSchedule {place}, but got: {error}"
    return ""


def main() -> int:
    """Run rows: ten, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", default=NAMES, metavar="ROW")
    parser.add_argument("--tvm", type=Path, help="the folder that it was installed into")
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="to time each program for")
    args = parser.parse_args()
    if unknown := set(args.rows) - set(ROWS):
        parser.error(f"expects rows such as {NAMES[0]}, but got '{min(unknown)}'")
    # TVM reads it when it is loaded.
    os.environ["TVM_NUM_THREADS"] = str(args.threads)
    if reason := find_tvm(args.tvm):
        parser.error(reason)
    lines = []
    for name in args.rows:
        lines.append(compare(name, ROWS[name].model(), args))
        print(json.dumps(lines[-1]), flush=True)
    print(json.dumps(summarize(lines)))
    return int(any(not line["error"] <= TOLERANCE for line in lines))


if __name__ == "__main__":
    sys.exit(main())
