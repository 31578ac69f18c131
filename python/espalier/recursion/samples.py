"""Inputs of programs that apply recursive models, for checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from espalier import _espalier
from espalier.arrays import TensorInfo
from espalier.errors import EspalierError
from espalier.recursion.arguments import KINDS
from espalier.recursion.structures import Structures
from espalier.recursion.trace import STRUCTURE

SAMPLE_NODES = 23


def takes_structures(inputs: Sequence[TensorInfo]) -> bool:
    """Say whether a program takes the arrays of the linearizer."""
    return set(STRUCTURE) <= {info.name for info in inputs}


def sample_inputs(inputs: Sequence[TensorInfo], seed: int = 0) -> dict[str, np.ndarray]:
    """Return random trees, and random numbers for all else.

    A further numbering, with names such as `arity_down`, has the same nodes with parents
    first; `order_down` is then which node of the first numbering each of its nodes is.
    Other integers are 0 or 1, which are words of any vocabulary but one of a single word.
    """
    random = np.random.default_rng(seed)
    infos = {info.name: info for info in inputs}
    arity = _arity(infos["children"])
    parents = [np.array([-1], np.int32), _random_parents(random, arity)]
    trees = Structures.from_parents((np.zeros(len(p), np.int32), p) for p in parents)
    first = _numbered(trees, "tree", arity)
    arrays = {name: first[name] for name in STRUCTURE}
    for suffix in (name.removeprefix("arity") for name in infos if name.startswith("arity")):
        if suffix and {name + suffix for name in STRUCTURE} <= infos.keys():
            down = _parents_first(first, infos["children" + suffix])
            arrays |= {name + suffix: array for name, array in down.items()}
    sizes = {
        extent: size
        for info in inputs
        if info.name in arrays
        for extent, size in zip(info.shape, arrays[info.name].shape, strict=True)
    }
    for info in inputs:
        if info.name in arrays:
            continue
        shape = [sizes.get(extent, extent) for extent in info.shape]
        for extent in shape:
            if not isinstance(extent, int):
                raise EspalierError(
                    f"input '{info.name}': expects a known extent or that of nodes, "
                    f"but got '{extent}'; give arrays with --inputs"
                )
        if info.dtype.kind == "f":
            arrays[info.name] = random.standard_normal(shape).astype(info.dtype)
        else:
            arrays[info.name] = random.integers(2, size=shape).astype(info.dtype)
    return arrays


def _arity(children: TensorInfo) -> int:
    """Return how many children nodes of a numbering have; 0 for any number."""
    return columns if isinstance(columns := children.shape[1], int) else 0


def _numbered(structures: Structures, kind: str, arity: int) -> dict[str, np.ndarray]:
    """Return the arrays of a numbering, and `order`: which of the given nodes each is."""
    numbers = _espalier.Linearizer().run(structures.arrays(), KINDS.index(kind), arity, 0, 0)
    return dict(zip((*STRUCTURE, "order"), numbers, strict=False))


def _parents_first(first: Mapping[str, np.ndarray], children: TensorInfo) -> dict[str, np.ndarray]:
    """Return a numbering of the nodes of another one, with parents first."""
    if _arity(children) > 1:
        raise EspalierError(
            f"input '{children.name}': expects one column, or any number, as nodes of trees have "
            f"one parent, but got {children.shape[1]}; give arrays with --inputs"
        )
    counts, table = first["arity"], first["children"]
    used = np.arange(table.shape[1]) < counts[len(counts) - len(table) :, None]
    trees = Structures(
        np.array([0, len(counts)]),
        children=table[used],
        row_starts=np.concatenate([[0], np.cumsum(counts)]),
    )
    return _numbered(trees.parents_first(), "dag", _arity(children))


def _random_parents(random: np.random.Generator, arity: int) -> np.ndarray:
    """Return a tree whose nodes have `arity` children or none; 0 for any number."""
    if not arity:
        return np.array([-1, *(random.integers(i) for i in range(1, SAMPLE_NODES))], np.int32)
    parents, leaves = [-1], [0]
    while len(parents) + arity <= max(SAMPLE_NODES, arity + 1):
        parent = leaves.pop(int(random.integers(len(leaves))))
        leaves += range(len(parents), len(parents) + arity)
        parents += [parent] * arity
    return np.array(parents, np.int32)
