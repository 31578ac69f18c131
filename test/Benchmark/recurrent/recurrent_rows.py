"""Stacks of recurrent layers, dense and pruned, and the least time that each could take."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from time import perf_counter, process_time
from typing import Any

import numpy as np
import onnx
from peers import Arrays, Peer, open_peers

import espalier
from espalier import Options
from espalier.machine import Machine, measure_machine
from espalier.models import Net
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
SEED = 20261125
ENTRY_BYTES = 8
"""What an entry of a sparse matrix takes: a number of f32 and its place."""


def prune(weights: np.ndarray, density: float) -> np.ndarray:
    """Return the weights of which the largest stay, a share of all."""
    limit = np.quantile(np.abs(weights), 1 - density)
    return np.where(np.abs(weights) >= limit, weights, np.float32(0))


def recurrent(
    kind: str,
    layers: int,
    hidden: int,
    steps: int | str,
    batch: int | str = 1,
    density: float = 1.0,
    direction: str = "forward",
) -> onnx.ModelProto:
    """Build layers of one size, each over the results of the one before.

    Arguments:
        density: the share of the weights that is not zero.
    """
    net, random = Net(kind.lower(), SEED), np.random.default_rng(SEED)
    both = 2 if direction == "bidirectional" else 1
    features, gates, scale = hidden, GATES[kind], hidden**-0.5
    y = net.input("x", [steps, batch, features])

    def weight(*shape: int) -> str:
        values = random.standard_normal((both, *shape), np.float32) * np.float32(scale)
        return net.constant(prune(values, density) if density < 1 else values)

    for _ in range(layers):
        operands = [weight(gates * hidden, n) for n in (features, hidden)]
        bias = net.weight([both, 2 * gates * hidden], 0.1)
        more = {"linear_before_reset": 1} if kind == "GRU" else {}
        y = net.node(kind, y, *operands, bias, hidden_size=hidden, direction=direction, **more)
        features = both * hidden
        order = net.node("Transpose", y, perm=[0, 2, 1, 3])
        y = net.node("Reshape", order, net.constant([0, 0, features]))
    return net.finish((y, "y", [steps, batch, features]))


def bound_ms(sizes: Mapping[str, Any], machine: Machine) -> float:
    """Return the least time: products at the peak, weights read once in each step."""
    hidden, steps, batch = (sizes[name] for name in ("hidden", "steps", "batch"))
    both = 2 if sizes.get("direction") == "bidirectional" else 1
    density = sizes.get("density", 1.0)
    total = 0.0
    for layer in range(sizes["layers"]):
        features = hidden * (both if layer else 1)
        gates = GATES[sizes["kind"]] * hidden * both * density
        size = ENTRY_BYTES if density < 1 else 4
        of_inputs = 2.0 * gates * features * steps * batch
        total += machine.bound_ms(of_inputs, size * gates * features)
        step = 2.0 * gates * hidden * batch
        total += steps * machine.bound_ms(step, size * gates * hidden)
    return total


_machine = functools.cache(measure_machine)


def run_recurrent(case: Mapping[str, Any], toy: bool, seconds: float) -> dict[str, Any]:
    """Compare and time a stack of layers."""
    sizes = case["sizes"] | (case["toy"] if toy else {})
    threads, density = case["threads"], sizes.get("density", 1.0)
    shape = (sizes["steps"], sizes["batch"], sizes["hidden"])
    x = np.random.default_rng(SEED).standard_normal(shape).astype(np.float32)
    model = recurrent(**sizes | {"steps": "steps"})
    options = Options(cache=None, sparse="all" if density < 1 else "off")
    function = espalier.compile(model, options=options)
    function.set_num_threads(threads)
    inputs: Arrays = {"x": x}
    error = largest_error(function.run(inputs), OnnxRuntime(model).run(inputs))
    peers: list[Peer] = open_peers(case["baselines"], model, inputs, threads)
    clock = process_time if threads == 1 else perf_counter
    calls = [function.bind(inputs), *(peer.call for peer in peers)]
    timing, *others = measure_alternately(calls, seconds, clock)
    machine = _machine(threads)
    bound = bound_ms(sizes, machine)
    return {
        "error": error,
        "bound_ms": round(bound, 4),
        "of_bound": round(bound / timing.median_ms, 3),
        "rates": str(machine),
        "timing": timing,
        "others": {peer.name: other for peer, other in zip(peers, others, strict=True)},
        "peers": peers,
        "kernels": function.kernels,
    }
