"""Random cells on random structures equal their recursion in NumPy.

Levels have any number of nodes, and products any number of rows and columns: so tiles
have tails of every size.
"""

from collections.abc import Iterable

import numpy as np
import pytest
from structure_samples import WORDS, binary_tree, comb, dag, with_words

from espalier.compiler import Options
from espalier.recursion import (
    Node,
    Recursive,
    Structures,
    Tensor,
    concat,
    sigmoid,
    split,
    tanh,
)

TOLERANCE = 1e-5
HIDDEN = (1, 5, 16, 19, 33, 70)


def make_model(seed: int) -> Recursive:
    """Return a model whose cell a seed decides; all weights are of all of them."""

    def cell(node: Node, emb: Tensor, u: Tensor, v: Tensor, w: Tensor, b: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word]
        random = np.random.default_rng(seed)
        if structure == "dag":
            values = [node.sum(lambda h: h), node.sum(lambda h: tanh(h @ u))]
        else:
            values = [cell(child) for child in node.children]

        def any_value() -> Tensor:
            return values[int(random.integers(len(values)))]

        for _ in range(int(random.integers(2, 5))):
            kind = int(random.integers(6))
            if kind == 0:
                values.append(any_value() @ u)
            elif kind == 1:
                values.append(concat(any_value(), any_value()) @ w + b)
            elif kind == 2:
                one, other = split(any_value() @ v, 2)
                values.append(sigmoid(one) * tanh(other))
            elif kind == 3:
                values.append(any_value() + any_value())
            elif kind == 4:
                values.append(sigmoid(any_value()) * any_value())
            else:
                values.append((1 - any_value()) * b)
        return tanh(values[-1] + values[0])

    structure = "dag" if seed % 3 == 2 else "tree"
    model = Recursive(cell, structure, 0 if structure == "dag" else 2, Options(cache=None))
    cell = model
    return model


def make_structures(random: np.random.Generator, structure: str) -> Structures:
    """Return a batch with levels of one node and of many."""
    if structure == "dag":
        return with_words(random, [dag(random, int(n)) for n in random.integers(1, 30, size=3)])
    trees = [binary_tree(random, int(n)) for n in random.integers(1, 25, size=4)]
    return with_words(random, [*trees, comb(int(random.integers(1, 8)))])


def check(model: Recursive, seed: int, samples: Iterable[Structures]) -> None:
    """Compare a model with its recursion."""
    random = np.random.default_rng(seed)
    h = HIDDEN[seed % len(HIDDEN)]
    shapes = {"emb": (WORDS, h), "u": (h, h), "v": (h, 2 * h), "w": (2 * h, h), "b": (h,)}
    weights = {
        name: (random.standard_normal(shape) / h**0.5).astype(np.float32)
        for name, shape in shapes.items()
    }
    for structures in samples:
        got = model(structures, at="nodes", **weights)
        expected = model.reference(structures, at="nodes", **weights)
        np.testing.assert_allclose(got, expected, TOLERANCE, TOLERANCE)


@pytest.mark.parametrize("seed", range(6))
def test_equals_recursion(seed: int) -> None:
    random = np.random.default_rng(seed)
    model = make_model(seed)
    check(model, seed, (make_structures(random, model.structure) for _ in range(3)))


def test_levels_of_every_width() -> None:
    random = np.random.default_rng(7)
    triangle = [comb(leaves) for leaves in range(2, 42)]
    deep = [comb(10001)]
    check(make_model(3), 3, [with_words(random, tables) for tables in (triangle, deep)])
