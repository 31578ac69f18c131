"""Models that are tuned, beside their default schedules and others' programs.

A line is one of `bench.py`, whose page takes it, and says more: how much faster the tuned
program is than that of the default schedules (`of_default`), which rules and choices won,
how many trials failed, and how long the search took. Calls are timed in turns. Trials stay
in the file of records: the same command goes on where it was stopped.
"""

import argparse
import time
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import onnx
from machines import describe_machine
from peers import PEERS, open_peers

import espalier
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately

TOLERANCE = 1e-3
Line = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what all programs that tune have."""
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--budget", type=float, default=0, help="seconds of a search; 0: any")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--search", choices=espalier.tuning.SEARCHES, default="model")
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), metavar="PEER")
    parser.add_argument("--seconds", type=float, default=0.5, help="to time each program for")


def get_options(args: argparse.Namespace, is_tuned: bool = True) -> espalier.Options:
    """Return how models are compiled."""
    records = args.records if is_tuned else None
    return espalier.Options(cache=None, records=records, run_threads=args.threads)


def tune(model: onnx.ModelProto, args: argparse.Namespace) -> tuple[espalier.Tuned, float]:
    """Tune a model; return what was found, and the seconds that it took."""
    start = time.monotonic()
    tuned = espalier.tune(
        model,
        trials=args.trials,
        seconds=args.budget,
        seed=args.seed,
        search=args.search,
        options=get_options(args),
    )
    return tuned, time.monotonic() - start


def tune_and_compare(case: str, model: onnx.ModelProto, args: argparse.Namespace) -> Line:
    """Tune a model; compare it with its default schedules and with peers."""
    tuned, search_s = tune(model, args)
    functions = [
        espalier.compile(model, options=get_options(args, is_tuned)) for is_tuned in (True, False)
    ]
    reference = OnnxRuntime(model, args.threads)
    inputs = reference.random_inputs()
    expected = reference.run(inputs)
    error = max(largest_error(function.run(inputs), expected) for function in functions)
    for function in functions:
        function.set_num_threads(args.threads)
    peers = open_peers(args.peers, model, inputs, args.threads)
    calls = [*(function.bind(inputs) for function in functions), *(peer.call for peer in peers)]
    clock = time.process_time if args.threads == 1 else time.perf_counter
    own, default, *others = measure_alternately(calls, args.seconds, clock)
    times = {peer.name: other.median_ms for peer, other in zip(peers, others, strict=True)}
    return {
        "case": f"tuned/{case}",
        "threads": args.threads,
        "error": error,
        "median_ms": round(own.median_ms, 4),
        "of_default": round(default.median_ms / own.median_ms, 3),
        "ratio": round(own.median_ms / min(times.values()), 3) if times else None,
        "baselines_ms": {name: round(value, 4) for name, value in times.items()},
        "baseline_builds": {peer.name: peer.build for peer in peers},
        "rules": sorted({kernel.rule for kernel in tuned.kernels if kernel.rule}),
        "choices": [choice.option for choice in tuned.statements if choice.is_chosen],
        "failures": sum(kernel.failures for kernel in tuned.kernels),
        "search_s": round(search_s, 1),
        **describe_machine(),
    }


def summarize(lines: list[Line]) -> Line:
    """Return the geometric means of lines."""
    ratios = [line["ratio"] for line in lines if line["ratio"]]
    return {
        "case": "tuned/mean",
        "of_default": round(geometric_mean([line["of_default"] for line in lines]), 3),
        "speedup": round(1 / geometric_mean(ratios), 3) if ratios else None,
        "least_speedup": round(1 / max(ratios), 3) if ratios else None,
    }


def has_wrong(lines: list[Line]) -> bool:
    """Return whether results differ from onnxruntime's."""
    return any(not line["error"] <= TOLERANCE for line in lines)
