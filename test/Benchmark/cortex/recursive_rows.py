"""Recursive models that others have measured, and the least time that each could take.

A case runs a model on all batches of structures that its workload has. Trees of words
have as many words as sentences have, and splits at random; the words of inner nodes are
not read. Linearization is part of our time, and none of the peers'.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import geometric_mean
from typing import Any, NamedTuple

import numpy as np
from peers import Peer
from torch_levels import Arrays, open_torch

from espalier.compiler import Options
from espalier.machine import Machine, measure_machine
from espalier.models import recursive as models
from espalier.recursion import (
    Node,
    Recursive,
    Scheduling,
    Structures,
    Tensor,
    recursive,
    sigmoid,
    split,
    tanh,
)
from espalier.testing.compare import error_relative_to_scale
from espalier.testing.timing import measure_alternately

LEAST = 2.6
"""How many times faster than the best peer rows should be in the mean."""
SEED = 20211
WORDS = 1000
Tree = tuple[list[list[int]], list[int]]
"""The children and the word of each node, children first."""


@recursive("tree", arity=2)
def tree_lstm(
    node: Node, emb: Tensor, u: Tensor, b: Tensor, uf: Tensor, bf: Tensor
) -> tuple[Tensor, Tensor]:
    """Child-sum TreeLSTM whose leaves' states are rows of a table, without other words."""
    if node.is_leaf:
        state = emb[node.word]
        return state[: state.shape[0] // 2], state[state.shape[0] // 2 :]
    (hl, cl), (hr, cr) = map(tree_lstm, node.children)
    i, o, g = split((hl + hr) @ u + b, 3)
    forget = sigmoid(hl @ uf + bf) * cl + sigmoid(hr @ uf + bf) * cr
    c = sigmoid(i) * tanh(g) + forget
    return sigmoid(o) * tanh(c), c


class Row(NamedTuple):
    """A model and what it takes, with h for the hidden size.

    Attributes:
        weights: the shape of each weight, with v words.
        inner: multiply-adds of an inner node.
        read: elements of weights that each level reads.
        hoisted: multiply-adds that a node takes before the recursion.
    """

    model: Recursive
    weights: str
    inner: Callable[[int], int]
    read: Callable[[int], int]
    hoisted: Callable[[int], int] = lambda h: 0


def _squares(count: int) -> Callable[[int], int]:
    return lambda h: count * h * h


ROWS = {
    "tree_fc": Row(models.tree_fc, "emb:v,h w:2h,h b:h", _squares(2), _squares(2)),
    "tree_gru": Row(models.tree_gru, "emb:v,h u:h,2h b:2h un:h,h bn:h", _squares(3), _squares(3)),
    "tree_lstm": Row(tree_lstm, "emb:v,2h u:h,3h b:3h uf:h,h bf:h", _squares(5), _squares(4)),
    "mv_rnn": Row(
        models.mv_rnn,
        "emb:v,h mats:v,h,h u:2h,h b:h um:h,2h bm:h,h",
        lambda h: 2 * h**3 + 4 * h * h,
        _squares(4),
    ),
    "dag_rnn": Row(models.dag_rnn, "emb:v,h u:h,h b:h", _squares(1), _squares(1)),
    "lstm": Row(models.lstm, "emb:v,h w:h,4h u:h,4h b:4h", _squares(4), _squares(4), _squares(4)),
    "gru": Row(
        models.gru, "emb:v,h w:h,3h u:h,2h b:3h un:h,h", _squares(3), _squares(3), _squares(3)
    ),
}


def make_weights(text: str, hidden: int, words: int) -> Arrays:
    """Return random weights of the shapes that a row has."""
    random = np.random.default_rng(SEED)
    weights = {}
    for entry in text.split():
        name, _, shape = entry.partition(":")
        extents = [
            words if extent == "v" else int(extent[:-1] or 1) * hidden
            for extent in shape.split(",")
        ]
        scale = extents[-2] ** -0.5 if len(extents) > 1 and name != "emb" else 1.0
        weights[name] = (random.standard_normal(extents) * scale).astype(np.float32)
    return weights


def _grow(random: np.random.Generator, count: int, words: int, halves: bool) -> Tree:
    """Return a tree over so many words, split in halves or anywhere."""
    children: list[list[int]] = []
    numbers: list[int] = []

    def build(size: int) -> int:
        if size == 1:
            row, word = [-1, -1], int(random.integers(words))
        else:
            left = size // 2 if halves else int(random.integers(1, size))
            row, word = [build(left), build(size - left)], 0
        children.append(row)
        numbers.append(word)
        return len(children) - 1

    build(count)
    return children, numbers


def _sentences(random: np.random.Generator, count: int, words: int, size: int) -> list[Tree]:
    """Return trees over sentences of at most `size` words."""
    lengths = np.rint(np.exp(random.normal(np.log(17.2), 0.5, count)))
    return [_grow(random, int(n), words, False) for n in np.clip(lengths, 2, size)]


def _perfect(random: np.random.Generator, count: int, words: int, size: int) -> list[Tree]:
    """Return perfect trees of height `size`."""
    return [_grow(random, 1 << size, words, True) for _ in range(count)]


def _grids(random: np.random.Generator, count: int, words: int, size: int) -> list[Tree]:
    """Return square grids in which each node's children are left and above."""
    rows = []
    for y, x in itertools.product(range(size), repeat=2):
        row = [y * size + x - 1] * (x > 0) + [(y - 1) * size + x] * (y > 0)
        rows.append(row + [-1] * (2 - len(row)))
    return [(rows, random.integers(words, size=len(rows)).tolist()) for _ in range(count)]


def _sequences(random: np.random.Generator, count: int, words: int, size: int) -> list[Tree]:
    """Return sequences of `size` words."""
    rows = [[i - 1] for i in range(size)]
    return [(rows, random.integers(words, size=size).tolist()) for _ in range(count)]


WORKLOADS = {
    "sentences": _sentences,
    "perfect": _perfect,
    "grids": _grids,
    "sequences": _sequences,
}


def _batches(sizes: Mapping[str, Any]) -> list[Structures]:
    """Return the batches of structures of a case."""
    random = np.random.default_rng(SEED)
    batch, count = sizes["batch"], sizes["calls"]
    trees = WORKLOADS[sizes["workload"]](random, batch * count, sizes["words"], sizes["size"])
    return [
        Structures.from_children(*zip(*trees[first : first + batch], strict=True))
        for first in range(0, len(trees), batch)
    ]


def bound_ms(row: Row, hidden: int, inputs: Arrays, machine: Machine) -> float:
    """Return the least time: products at the peak, weights read once in each level."""
    levels = [
        machine.bound_ms(2.0 * width * row.inner(hidden), 4.0 * row.read(hidden))
        for width in np.diff(inputs["levels"]).tolist()
    ]
    before = machine.bound_ms(2.0 * len(inputs["arity"]) * row.hoisted(hidden), 0)
    return sum(levels) + before


ABLATIONS: dict[str, dict[str, Any]] = {
    "without specialization": {"scheduling": Scheduling(specialize=False)},
    "without hoisting": {"scheduling": Scheduling(hoist=False)},
    "without batching": {"scheduling": Scheduling(batch="post-order")},
    "without fusion": {"fuse": False},
    "with unrolling": {"scheduling": Scheduling(unroll=2)},
    "with refactoring": {"scheduling": Scheduling(refactor=True)},
    "without persistence": {},
}
"""The options and choices that are other than by default.

Weights persist where they are bound.
"""


def _configure(
    row: Row, threads: int, scheduling: Scheduling | None = None, fuse: bool = True
) -> Recursive:
    """Return a row's model, compiled for one thread or for several."""
    return row.model.configure(
        options=Options(threads=threads > 1, fuse=fuse), scheduling=scheduling
    )


def _open_ablations(
    row: Row, weights: Arrays, batches: Sequence[Structures], threads: int
) -> list[Peer]:
    """Return our own program with one choice made otherwise, and what it returns."""

    def open_one(name: str, choices: Mapping[str, Any]) -> Peer:
        model = _configure(row, threads, **choices)
        given = weights if name == "without persistence" else {}
        if not given:
            model = model.bind(**weights)
        model.compile(batches[0], **given).set_num_threads(threads)
        last: Arrays = {}

        def call() -> None:
            for i, structures in enumerate(batches):
                last[str(i)] = _first(model(structures, **given))

        return Peer(name, "ours", call, lambda: last)

    return [open_one(name, choices) for name, choices in ABLATIONS.items()]


_machine = functools.cache(measure_machine)


def _first(results: np.ndarray | tuple[np.ndarray, ...]) -> np.ndarray:
    return results[0] if isinstance(results, tuple) else results


def _open_numpy(row: Row, weights: Arrays, batches: Sequence[Structures]) -> Peer:
    """Return the recursion as it is written, node by node."""
    last: Arrays = {}

    def call() -> None:
        for i, structures in enumerate(batches):
            last[str(i)] = _first(row.model.reference(structures, **weights))

    return Peer("numpy", f"numpy {np.__version__}", call, lambda: last)


def summarize_rows(results: Sequence[Mapping[str, Any]], toy: bool) -> dict[str, Any]:
    """Return geometric means of how many times faster rows are than the best peer."""
    speedups = [1 / result["ratio"] for result in results]
    mean = geometric_mean(speedups)
    return {
        "case": "cortex/mean",
        "threads": results[0]["threads"],
        "error": max(result["error"] for result in results),
        "rows": len(results),
        "speedup": round(mean, 3),
        "least_speedup": round(min(speedups), 3),
        "of_bound": round(geometric_mean([max(r["of_bound"], 1e-9) for r in results]), 3),
        "passed": toy or mean >= LEAST,
    }


def run_recursive(case: Mapping[str, Any], toy: bool, seconds: float) -> dict[str, Any]:
    """Compare and time a model; times are of one batch.

    On one thread, that of other programs does not count.
    """
    sizes = case["sizes"] | (case["toy"] if toy else {})
    row, hidden, threads = ROWS[case["row"]], sizes["hidden"], case["threads"]
    weights = make_weights(row.weights, hidden, sizes["words"])
    batches = _batches(sizes)
    model = _configure(row, threads).bind(**weights)
    model.compile(batches[0]).set_num_threads(threads)

    def run(structures: Structures) -> np.ndarray:
        return _first(model(structures))

    own = [run(structures) for structures in batches]
    expected = _first(row.model.reference(batches[0], **weights))
    error = error_relative_to_scale(own[0], expected)
    inputs = [row.model.inputs(structures, **weights) for structures in batches]
    peers = open_torch(case, weights, inputs) or [_open_numpy(row, weights, batches)]
    ablations = _open_ablations(row, weights, batches, threads) if case.get("ablate") else []
    for peer in (*peers, *ablations):
        peer.call()
        for ours, theirs in zip(own, peer.outputs().values(), strict=True):
            error = float(np.maximum(error, error_relative_to_scale(theirs, ours)))
    calls = [lambda: [run(structures) for structures in batches], *(peer.call for peer in peers)]
    calls += [ablation.call for ablation in ablations]
    clock = time.thread_time if threads == 1 else time.perf_counter
    timing, *others = measure_alternately(calls, seconds, clock)
    for one in (timing, *others):
        one.samples_ms = [ms / len(batches) for ms in one.samples_ms]
    machine = _machine(threads)
    bound = float(np.mean([bound_ms(row, hidden, i, machine) for i in inputs]))
    named = {peer.name: other for peer, other in zip(peers, others, strict=False)}
    ablated = {
        ablation.name: round(other.median_ms, 4)
        for ablation, other in zip(ablations, others[len(peers) :], strict=True)
    }
    return ({"ablated_ms": ablated} if ablated else {}) | {
        "error": error,
        "bound_ms": round(bound, 4),
        "of_bound": round(bound / timing.median_ms, 3),
        "rates": str(machine),
        "timing": timing,
        "others": named,
        "peers": peers,
    }
