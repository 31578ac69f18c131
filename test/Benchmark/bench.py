#!/usr/bin/env python3
"""Times the cases of the benchmark folders; prints one JSON object per case.

Usage: bench.py [--toy] [--seconds S] [--only TEXT] [--random SEED COUNT]
                [--models FOLDER] [--threads N] [--ablate]

The cases are those of cases.toml in each folder, and `cortex/mean` of that folder's;
`operators/ROW`: operators that others have measured, and `operators/mean` of those that
ran; and `polybench/KERNEL`: a kernel of PolyBench, with a schedule that a person wrote,
against plain C. With --random, they are instead operators that nobody chose, COUNT of a
seed. With --models, they are `models/NAME`: the ONNX files of a folder, such as
`exported/export.py` writes, with 1 for their symbolic dimensions; the line of one that
is not supported says why, and that of one in f16 has the time of ours in f32. They run on
N threads: 1 with --random and --models, else as the case says. --ablate also times
recursive models with one choice made otherwise.

A case passes if its results equal the baseline's and, but for --toy, its ratio
or limit holds. The exit status is 1 if a case fails, has nothing to be compared
with, or none is selected. Baselines run in the same
session with as many threads, those that are installed; the ratio is to the
fastest of them. Times of one thread are CPU time of the process, since some peers
compute in a thread of theirs; those of several are by the clock. OpenBLAS uses its
AVX-512 kernels where the machine can, whatever the environment says about it.
"""

import argparse
import itertools
import json
import os
import pathlib
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from machines import describe_machine, name_vectors

# OpenBLAS reads this when numpy is loaded. Its own choice of kernels is not the
# best on every machine, nor is what the environment may ask for.
if name_vectors() == "AVX-512":
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"

# The kernels of the suite are modules of a folder of their own.
sys.path += [str(path) for path in sorted(pathlib.Path(__file__).parent.iterdir()) if path.is_dir()]

import numpy as np
import onnx
from compare import compare
from folder_cases import SINGLE, model_cases, open_single
from onnx import numpy_helper
from operator_rows import ROWS, compute_in_double, operator_cases, summarize
from orders import run_orders
from peers import Peer, has_relu, open_peers
from random_rows import random_rows
from recurrent_rows import run_recurrent
from recursive_rows import run_recursive, summarize_rows
from sparse_layers import find_break_even, vary_density
from sparse_networks import SPARSE
from substitutions import run_search

from espalier.compiler import KERNEL_TIMES, Options, compile_for, default_cache
from espalier.errors import EspalierError
from espalier.function import Function
from espalier.models import MODELS, Net
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import Timing, measure, measure_alternately, timed

ROOT = pathlib.Path(__file__).parent
TOLERANCE = 1e-4
HALF_TOLERANCE = 2e-2
"""Of results in half precision: both sides round at most operators, not at the same."""
Case = dict[str, Any]
Arrays = dict[str, np.ndarray]


def matmul(m: int, k: int, n: int, constant_b: bool = False) -> onnx.ModelProto:
    """Build the product of two inputs, or of an input and a constant."""
    net = Net("matmul")
    a = net.input("a", [m, k])
    b = net.weight([k, n], 1.0) if constant_b else net.input("b", [k, n])
    return net.finish((net.node("MatMul", a, b), "y", [m, n]))


def conv(
    channels: tuple[int, int],
    extents: list[int],
    kernel: list[int],
    batch: int = 1,
    stride: int = 1,
    dilation: int = 1,
    groups: int = 1,
    relu: bool = True,
    pool: int = 1,
    source: list[int] | None = None,
    transposed: bool = False,
) -> onnx.ModelProto:
    """Build a convolution that keeps its extents but for the stride, a Relu, a MaxPool.

    Arguments:
        source: the extents of the input, which is resized first.
        transposed: whether the stride multiplies the extents.
    """
    net = Net("conv")
    x = net.input("x", [batch, channels[0], *(source or extents)])
    if source:
        size = net.constant(np.array([batch, channels[0], *extents]))
        x = net.node("Resize", x, "", "", size, mode="linear")
    first, second = channels if transposed else reversed(channels)
    weights = net.weight([first, second // groups, *kernel], 0.05)
    pads = [dilation * (k - 1) // 2 for k in kernel]
    attributes = {
        "kernel_shape": kernel,
        "strides": [stride] * len(kernel),
        "dilations": [dilation] * len(kernel),
        "pads": [*pads, *pads],
        "group": groups,
    }
    y = net.node("ConvTranspose" if transposed else "Conv", x, weights, **attributes)
    if relu:
        y = net.node("Relu", y)
    results = [
        stride * (extent - 1) + dilation * (k - 1) + 1 - 2 * pad
        if transposed
        else (extent + 2 * pad - dilation * (k - 1) - 1) // stride + 1
        for extent, pad, k in zip(extents, pads, kernel, strict=True)
    ]
    if pool > 1:
        y = net.node("MaxPool", y, kernel_shape=[pool] * len(kernel), strides=[pool] * len(kernel))
        results = [extent // pool for extent in results]
    return net.finish((y, "y", [batch, channels[1], *results]))


def one_feature(channels: int, extent: int) -> onnx.ModelProto:
    """Build convolutions that end in a map of one feature, as networks for masks do."""
    net = Net("one_feature")
    y = net.input("x", [1, 16, extent, extent])
    features = [16, channels, channels, 1]
    for before, after in itertools.pairwise(features):
        weights = net.weight([after, before, 3, 3], 0.05)
        y = net.node("Conv", y, weights, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        y = net.node("Relu" if after > 1 else "Sigmoid", y)
    return net.finish((y, "y", [1, 1, extent, extent]))


def channels_last(model: onnx.ModelProto, inputs: Arrays) -> tuple[onnx.ModelProto, Arrays]:
    """Return a convolution as a network has it inside: channels last, and padded.

    The kernel that computes an operand writes it into padded memory.
    """
    conv = model.graph.node[0]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in conv.attribute}
    pads = attributes.pop("pads")
    rank = 2 + len(pads) // 2
    last, first = [0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)]
    around = [(0, 0), (0, 0), *zip(pads[: rank - 2], pads[rank - 2 :], strict=True)]
    image = np.ascontiguousarray(np.pad(inputs["x"], around).transpose(last))
    net = Net("conv")
    weights = numpy_helper.to_array(model.graph.initializer[0])
    x = net.node("Transpose", net.input("x", image.shape), perm=first)
    y = net.node("Conv", x, net.constant(weights), **attributes)
    if has_relu(model):
        y = net.node("Relu", y)
    shape = [d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]
    y = net.node("Transpose", y, perm=last)
    return net.finish((y, "y", [shape[axis] for axis in last])), {"x": image}


BUILDERS: dict[str, Callable[..., onnx.ModelProto]] = {
    **MODELS,
    "matmul": matmul,
    "conv": conv,
    "one_feature": one_feature,
    "operator": lambda row: row.model(),
    "file": onnx.load,
}


def load_cases(toy: bool) -> list[Case]:
    """Read the cases of all folders.

    What a case does not say, the one that it is `like` does, or the file's default.
    A case with `batches`, `densities` or `searches` stands for one with each of them, at
    toy size with one batch, one density and `toy_searches`.
    """
    cases = []
    for path in sorted(ROOT.glob("*/cases.toml")):
        text = tomllib.loads(path.read_text(encoding="utf-8"))
        known: dict[str, Case] = {"": text["default"]}
        for case in text["case"]:
            full = known[case["name"]] = known[case.get("like", "")] | case
            for batch in [1] if toy else full.get("batches", [1]):
                name = f"{path.parent.name}/{case['name']}" + f"_b{batch}" * (batch > 1)
                sizes = full["sizes"] | ({"batch": batch} if "batches" in full else {})
                variant = full | {"name": name, "sizes": sizes}
                searches = full.get("toy_searches" if toy else "searches", [])
                cases += [variant | {"name": f"{name}_{s}", "search": s} for s in searches]
                cases += [] if searches else vary_density(variant, toy)
    return cases + operator_cases(ROWS.values(), toy)


def select(cases: list[Case], only: str | None, given: Case) -> list[Case]:
    """Return the cases whose name contains `only`, with what is given instead of their own."""
    return [case | given for case in cases if only is None or only in case["name"]]


def time_all(
    case: Case, function: Function, inputs: Arrays, peers: list[Peer], seconds: float
) -> tuple[Timing, dict[str, Timing]]:
    """Time the program and what it is compared with, one after the other in turns."""
    bound = function.bind(inputs)
    if case["baselines"] != ["one thread"]:
        calls = [bound, *(peer.call for peer in peers)]
        clock = time.process_time if case["threads"] == 1 else time.perf_counter
        own, *others = measure_alternately(calls, seconds, clock)
        return own, {peer.name: timing for peer, timing in zip(peers, others, strict=True)}
    # The number of threads is a state, so these take no turns.
    timings = []
    for threads in (case["threads"], 1):
        function.set_num_threads(threads)
        timings.append(measure(bound, seconds))
    return timings[0], {"one thread": timings[1]}


def compare_times(own: Timing, others: dict[str, Timing], peers: list[Peer]) -> dict[str, Any]:
    """Return what a result line has about times: all, and the ratio to the best, or infinity."""
    if not others:
        return own.as_dict() | {"ratio": float("inf"), "baselines_ms": {}, "baseline_builds": {}}
    best = min(others, key=lambda name: others[name].median_ms)
    result = own.as_dict() | own.compared_with(best, others[best])
    result["baselines_ms"] = {name: round(t.median_ms, 4) for name, t in others.items()}
    result["baseline_builds"] = {peer.name: peer.build for peer in peers}
    return result


def run_case(case: Case, toy: bool, seconds: float, cache: pathlib.Path) -> dict[str, Any]:
    """Compile, compare and time one case."""
    model = BUILDERS[case["model"]](**case["toy" if toy else "sizes"])
    plain_inputs = OnnxRuntime(model).random_inputs()
    own, inputs = (
        channels_last(model, plain_inputs) if case["channels_last"] else (model, plain_inputs)
    )
    compile_seconds = []
    for _ in range(2):
        function, seconds_taken = timed(
            lambda: compile_for(
                own, inputs, dynamic=case["model"] == "file", options=Options(cache=cache)
            )
        )
        compile_seconds.append(seconds_taken)
    function.set_num_threads(case["threads"])
    expected = OnnxRuntime(model).run(plain_inputs)
    actual = function.run(inputs)
    if case["channels_last"]:
        actual = {name: np.moveaxis(array, -1, 1) for name, array in actual.items()}
    error = largest_error(actual, expected)
    if error > TOLERANCE and "class" in case:
        # A peer that adds up millions of terms one by one is not what counts.
        error = largest_error(actual, compute_in_double(model, plain_inputs))
    result = {"case": case["name"], "threads": case["threads"], "error": error}
    half = any(array.dtype == np.float16 for array in expected.values())
    passed = error <= (HALF_TOLERANCE if half else TOLERANCE)
    if case["metric"] == "median_ms":
        names = [name for name in case["baselines"] if name != "one thread"]
        peers = open_peers(names, model, plain_inputs, case["threads"])
        own_peers = open_single(case, inputs, Options(cache=cache))
        timing, others = time_all(case, function, inputs, peers + own_peers, seconds)
        if single := others.pop(SINGLE, None):
            result["f32_ms"] = round(single.median_ms, 4)
            passed &= toy or timing.median_ms <= single.median_ms
        result |= compare_times(timing, others, peers) | {"expected": case["ratio"]}
        result |= {"compile_s": round(compile_seconds[0], 3)}
        passed &= toy or result["ratio"] <= case["ratio"]
    else:
        value = compile_seconds[case["metric"] == "cached_compile_s"]
        result |= {case["metric"]: round(value, 3), "expected": case["limit"]}
        passed &= toy or value <= case["limit"]
    return {**result, "kernels": function.kernels, "passed": bool(passed)}


def run_sparse(case: Case, toy: bool, seconds: float) -> dict[str, Any]:
    """Compare and time a product of a sparse matrix, or a layer with sparse weights."""
    error, own, others, peers, any_width = SPARSE[case["model"]](case, toy, seconds)
    result = {"case": case["name"], "threads": case["threads"], "error": error}
    result |= compare_times(own, others, peers) | {"expected": case["ratio"]}
    if any_width is not None:
        result["any_width_ms"] = round(any_width.median_ms, 4)
    passed = error <= TOLERANCE and (toy or result["ratio"] <= case["ratio"])
    return {**result, "kernels": [case["model"]], "passed": bool(passed)}


def run_rows(case: Case, toy: bool, seconds: float) -> dict[str, Any]:
    """Compare and time a recursive model, or layers over a sequence."""
    run = run_recursive if case["model"] == "recursive" else run_recurrent
    measured = {"kernels": [case.get("row", "")]} | run(case, toy, seconds)
    own, others, peers = (measured.pop(name) for name in ("timing", "others", "peers"))
    result = {"case": case["name"], "threads": case["threads"], **measured}
    result |= compare_times(own, others, peers) | {"expected": case["ratio"]}
    passed = result["error"] <= TOLERANCE and (toy or result["ratio"] <= case["ratio"])
    return {**result, "passed": bool(passed)}


def main() -> int:
    """Run the cases that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--toy", action="store_true", help="toy sizes; times do not count")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to time each")
    parser.add_argument("--only", metavar="TEXT", help="cases whose name contains TEXT")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--random", nargs=2, type=int, metavar=("SEED", "COUNT"), help="operators of random shapes"
    )
    which.add_argument("--models", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--threads", metavar="N", type=int, help="instead of those of a case")
    parser.add_argument("--ablate", action="store_true", help="recursive models, varied")
    args = parser.parse_args()
    if args.random:
        cases = operator_cases(random_rows(*args.random), toy=False)
    elif args.models:
        cases = model_cases(args.models)
    else:
        cases = load_cases(args.toy)
    given = {name: value for name in ("ablate", "threads") if (value := vars(args)[name])}
    results = run_all(select(cases, args.only, given), args.toy, args.seconds)
    if not (args.random or args.models):
        results = itertools.chain(results, compare(args.only, args.toy, args.seconds))
    machine = describe_machine()
    count, failed = 0, False
    for result in results:
        # Without a baseline there is no ratio, and nothing that could pass.
        if result.get("ratio") == float("inf"):
            result |= {"ratio": None, "passed": False}
        count, failed = count + 1, failed or not result["passed"]
        print(json.dumps({**result, **machine}), flush=True)
    if not count and args.models and args.only is None:
        parser.error(f"argument --models: expects a folder of ONNX files, but got '{args.models}'")
    if not count:
        parser.error(f"argument --only: expects part of a case's name, but got '{args.only}'")
    return 1 if failed else 0


def run_all(cases: list[Case], toy: bool, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the result line of each case."""
    kernel_times = default_cache() / KERNEL_TIMES
    operators, recursive, layers = [], [], []
    for case in cases:
        if "search" in case:
            model = BUILDERS[case["model"]](**case["toy" if toy else "sizes"])
            yield run_search(case, model, toy, seconds, kernel_times)
        elif case.get("metric") == "orders":
            result = run_orders(case, toy, seconds)
            yield {**result, "passed": bool(result["error"] <= TOLERANCE)}
        elif case["model"] == "recursive":
            recursive.append(run_rows(case, toy, seconds))
            yield recursive[-1]
        elif case["model"] == "recurrent":
            yield run_rows(case, toy, seconds)
        elif case["model"] in SPARSE:
            result = run_sparse(case, toy, seconds)
            if case["model"] == "sparse_conv" and "layer" in case:
                which = {"layer": case["layer"], "density": case["sizes"]["density"]}
                layers.append(result | which)
            yield result
        else:
            with tempfile.TemporaryDirectory() as cache:
                try:
                    result = run_case(case, toy, seconds, pathlib.Path(cache))
                except EspalierError as refusal:
                    if case["model"] != "file":
                        raise
                    result = {"case": case["name"], "refused": str(refusal), "passed": False}
            if "class" in case:
                result["class"] = case["class"]
                operators.append(result)
            yield result
    if operators:
        yield summarize(operators, toy)
    if recursive:
        yield summarize_rows(recursive, toy)
    yield from find_break_even(layers)


if __name__ == "__main__":
    sys.exit(main())
