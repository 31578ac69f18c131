"""Inputs of programs that apply recursive models, for checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier import _espalier
from espalier.arrays import TensorInfo
from espalier.errors import EspalierError
from espalier.recursion.trace import STRUCTURE

SAMPLE_NODES = 23


def takes_structures(inputs: Sequence[TensorInfo]) -> bool:
    """Say whether a program takes the arrays of the linearizer."""
    return set(STRUCTURE) <= {info.name for info in inputs}


def sample_inputs(inputs: Sequence[TensorInfo], seed: int = 0) -> dict[str, np.ndarray]:
    """Return random trees, and random numbers for all else.

    Integers are 0 or 1, which are words of any vocabulary but one of a single word.
    """
    random = np.random.default_rng(seed)
    columns = {info.name: info for info in inputs}["children"].shape[1]
    arity = columns if isinstance(columns, int) else 0
    parents = [np.array([-1], np.int32), _random_parents(random, arity)]
    starts = np.cumsum([0, *map(len, parents)])
    trees = _espalier.StructureArrays(starts, None, np.concatenate(parents), None)
    linearized = _espalier.Linearizer().run(trees, 0, arity, 0, 0)
    arrays = dict(zip(STRUCTURE, linearized, strict=False))
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
