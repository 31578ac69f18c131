"""Compare one program for all lengths with programs for one length, and with peers.

The rows are the products with weights of a BERT layer, of `--lengths` rows. Each line has
the time of the program whose length is symbolic (`median_ms`), that of one that is compiled
for the length over it (`of_static`), and ours over that of the best peer, which takes all
lengths too (`ratio`). Times are CPU times of one thread, in turns. The last line has
geometric means and the worst. With `--tune N` both are tuned before, the program for all
lengths by N trials on some of them, each other one by N trials of its own.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
import onnx
from peers import open_peers

import espalier
from espalier.models.net import Net
from espalier.testing.compare import error_relative_to_scale
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately

LAYERS = {"qkv": (768, 2304), "out": (768, 768), "up": (768, 3072), "down": (3072, 768)}
TUNED_LENGTHS = (1, 5, 16, 48, 128)
LENGTHS = (1, 2, 3, 5, 8, 13, 16, 24, 32, 48, 64, 65, 96, 100, 127, 128)
TOLERANCE = 1e-4


def dense(length: int | str, terms: int, features: int) -> onnx.ModelProto:
    """Build the product of an input and a weight."""
    net = Net("dense")
    y = net.node("MatMul", net.input("x", [length, terms]), net.weight([terms, features], 0.03))
    return net.finish((y, "y", [length, features]))


def compile_once(
    model: onnx.ModelProto, trials: int, records: Path | None, lengths: Sequence[int] = ()
) -> espalier.Function:
    """Compile a model for one thread, after a search if there are trials."""
    options = espalier.Options(cache=None, records=records if trials else None)
    if trials:
        espalier.tune(model, trials=trials, lengths=lengths, options=options)
    function = espalier.compile(model, options=options)
    function.set_num_threads(1)
    return function


def run_layer(
    name: str, lengths: Sequence[int], seconds: float, trials: int, records: Path | None
) -> list[dict[str, Any]]:
    """Compare and time a layer at all lengths."""
    terms, features = LAYERS[name]
    model = dense("T", terms, features)
    dynamic = compile_once(model, trials, records, TUNED_LENGTHS)
    results = []
    for length in lengths:
        x = np.random.default_rng(length).standard_normal((length, terms)).astype(np.float32)
        static = compile_once(dense(length, terms, features), trials, records)
        expected = OnnxRuntime(model).run({"x": x})["y"]
        error = max(
            error_relative_to_scale(function.run({"x": x})["y"], expected)
            for function in (dynamic, static)
        )
        peers = open_peers(["onnxruntime", "openvino"], model, {"x": x}, 1)
        calls = [dynamic.bind({"x": x}), static.bind({"x": x}), *(peer.call for peer in peers)]
        own, one, *others = measure_alternately(calls, seconds, time.process_time)
        best = min(other.median_ms for other in others)
        results.append(
            {
                "case": f"dynamic/{name}_{length}",
                "error": error,
                "median_ms": round(own.median_ms, 4),
                "of_static": round(one.median_ms / own.median_ms, 3),
                "ratio": round(own.median_ms / best, 3),
            }
        )
        print(json.dumps(results[-1]), flush=True)
    return results


def main() -> int:
    """Run all layers, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("layers", nargs="*", default=list(LAYERS), metavar="LAYER")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, metavar="T")
    parser.add_argument("--seconds", type=float, default=0.5, help="to time each line for")
    parser.add_argument("--tune", type=int, default=0, metavar="N", help="trials (default: none)")
    parser.add_argument("--records", type=Path, help="where trials are kept, with --tune")
    args = parser.parse_args()
    if bool(args.tune) != bool(args.records):
        parser.error("expects both --tune and --records, or none of them")
    results = [
        result
        for layer in args.layers
        for result in run_layer(layer, args.lengths, args.seconds, args.tune, args.records)
    ]

    def get(key: str) -> list[float]:
        return [result[key] for result in results]

    summary = {
        "case": "dynamic/mean",
        "of_static": round(geometric_mean(get("of_static")), 3),
        "least_of_static": min(get("of_static")),
        "speedup": round(geometric_mean([1 / ratio for ratio in get("ratio")]), 3),
        "least_speedup": round(1 / max(get("ratio")), 3),
    }
    print(json.dumps(summary))
    return int(max(get("error")) > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
