"""Calls of recursive models, for system calls to fail below."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from public_calls import PLAIN, SIDE, Call, commands, remove_cache, same

import espalier
from espalier.models.recursive import tree_fc
from espalier.recursion import Structures

TREES = Structures.from_nested([((1, 2), 3), 0])
RANDOM = np.random.default_rng(0)
# Small integers, whose sums are exact in any order.
EMBEDDING = RANDOM.integers(-1, 2, (SIDE, SIDE)).astype(np.float32)
WEIGHT = RANDOM.integers(-1, 2, (2 * SIDE, SIDE)).astype(np.float32)
WEIGHTS = {"emb": EMBEDDING, "w": WEIGHT, "b": EMBEDDING[5]}
MODEL = tree_fc.configure(options=PLAIN)


def _node(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.maximum(np.concatenate([left, right]) @ WEIGHT + EMBEDDING[5], 0)


ROOTS = np.stack([_node(_node(EMBEDDING[1], EMBEDDING[2]), EMBEDDING[3]), EMBEDDING[0]])


def compile_model(folder: Path) -> Call:
    """Compile into an empty cache, and from it."""
    options = espalier.Options(cache=folder / "cache", kernel_times=None, records=None)

    def run() -> None:
        for _ in range(2):
            same(tree_fc.configure(options=options)(TREES, **WEIGHTS), ROOTS)

    return Call(run, frozenset({"cache"}), lambda: remove_cache(folder))


def call_model(_: Path) -> Call:
    """Number nodes, run, and run node by node."""

    def run() -> None:
        trees = Structures.from_nested([((1, 2), 3), 0])
        same(MODEL(trees, **WEIGHTS), ROOTS)
        same(MODEL(trees, at="nodes", **WEIGHTS)[0], ROOTS[0])
        same(MODEL.reference(trees, **WEIGHTS), ROOTS)
        inputs = MODEL.inputs(trees, **WEIGHTS)
        function = MODEL.compile(trees, **WEIGHTS)
        same(next(iter(function.run(inputs).values())), ROOTS)

    return Call(run)


def bind_model(_: Path) -> Call:
    """Bind weights, which the compiler then brings into order."""

    def run() -> None:
        bound = MODEL.bind(w=WEIGHT, b=EMBEDDING[5])
        for _ in range(2):
            same(bound(TREES, emb=EMBEDDING), ROOTS)

    return Call(run)


def save_model(folder: Path) -> Call:
    """Save a library, and what explains a model."""

    def run() -> None:
        MODEL.compile(TREES, **WEIGHTS).save(folder / "f.so")
        assert "levels" in MODEL.explain(TREES, **WEIGHTS)
        assert MODEL.draw(TREES, **WEIGHTS).startswith("<!DOCTYPE html>")

    return Call(run, frozenset({"f.so", "f.h"}))


def check_model(folder: Path) -> Call:
    """Compare a model in a file with the interpreter."""
    small = {"emb": EMBEDDING[:5, :8], "w": WEIGHT[:16, :8], "b": EMBEDDING[5, :8]}
    (folder / "tree.mlir").write_text(tree_fc.mlir(TREES, **small))
    call = commands("check ./tree.mlir --no-cache")(folder)
    return Call(call.run, call.files | {"tree.mlir"}, call.prepare)


CALLS: dict[str, Callable[[Path], Call]] = {
    "recursive-compile": compile_model,
    "recursive-call": call_model,
    "recursive-bind": bind_model,
    "recursive-save": save_model,
    "command-check-recursive": check_model,
}
