"""Tune rows of operators, and compare what was found with the default schedule and peers.

Each line has the time of the tuned program (`median_ms`), that of the default over it
(`of_default`), and ours over that of the best peer (`ratio`). Times are CPU times of one
thread, in turns; outputs are compared with onnxruntime's. The last line has geometric
means. Trials stay in the file of records: the same command goes on where it was stopped.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
from operators.operator_rows import ROWS, Row
from peers import open_peers

import espalier
from espalier.testing.compare import error_relative_to_scale
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately

NAMES = (
    "GMM1-b1",
    "DENSE768x768-T62-b1",
    "C1D1-b1",
    "C2D1-b1",
    "DEP2-b1",
    "GRP2-b1",
    "T2D1-b1",
    "CAP2-b1",
    "NRM1-b1",
    "TBS0-b1",
)
"""One of each of ten classes."""
TOLERANCE = 1e-3


def run_row(row: Row, args: argparse.Namespace) -> dict[str, Any]:
    """Tune, compare and time one row."""
    model = row.model()
    options = espalier.Options(cache=None, records=args.records)
    start = time.monotonic()
    tuned = espalier.tune(
        model, trials=args.trials, seed=args.seed, search=args.search, options=options
    )
    seconds = time.monotonic() - start
    functions = [
        espalier.compile(model, options=one)
        for one in (options, espalier.Options(cache=None, records=None))
    ]
    random = np.random.default_rng(3)
    inputs = {
        value.name: random.standard_normal(
            [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for value in model.graph.input
    }
    expected = OnnxRuntime(model).run(inputs)
    error = max(
        error_relative_to_scale(function.run(inputs)[name], array)
        for function in functions
        for name, array in expected.items()
    )
    for function in functions:
        function.set_num_threads(1)
    peers = open_peers(["onnxruntime"], model, inputs, 1)
    calls = [*(function.bind(inputs) for function in functions), *(peer.call for peer in peers)]
    own, default, *others = measure_alternately(calls, args.seconds, time.process_time)
    best = min(other.median_ms for other in others)
    return {
        "case": f"tuned/{row.name}",
        "error": error,
        "median_ms": round(own.median_ms, 4),
        "of_default": round(default.median_ms / own.median_ms, 3),
        "ratio": round(own.median_ms / best, 3),
        "rules": sorted({kernel.rule for kernel in tuned.kernels if kernel.rule}),
        "choices": [choice.algorithm for choice in tuned.statements if choice.is_chosen],
        "failures": sum(kernel.failures for kernel in tuned.kernels),
        "search_s": round(seconds, 1),
    }


def main() -> int:
    """Run rows, ten or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", default=NAMES, metavar="ROW")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--search", choices=espalier.tuning.SEARCHES, default="model")
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.5, help="to time each line for")
    args = parser.parse_args()
    if unknown := set(args.rows) - set(ROWS):
        parser.error(f"expects rows such as {NAMES[0]}, but got '{min(unknown)}'")
    results = []
    for name in args.rows:
        results.append(run_row(ROWS[name], args))
        print(json.dumps(results[-1]), flush=True)
    summary = {
        "case": "tuned/mean",
        "of_default": round(geometric_mean([result["of_default"] for result in results]), 3),
        "speedup": round(geometric_mean([1 / result["ratio"] for result in results]), 3),
    }
    print(json.dumps(summary))
    return int(max(result["error"] for result in results) > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
