"""Structures of every shape, for tests."""

from collections.abc import Callable

import numpy as np

from espalier.recursion import Structures

WORDS = 11


def words(random: np.random.Generator, tables: list[np.ndarray]) -> list[np.ndarray]:
    """Return a random word for each node."""
    return [random.integers(WORDS, size=len(t)).astype(np.int32) for t in tables]


def with_words(random: np.random.Generator, tables: list[np.ndarray]) -> Structures:
    """Return structures with random words."""
    return Structures.from_children(tables, words(random, tables))


def binary_tree(random: np.random.Generator, leaves: int) -> np.ndarray:
    """Return a tree whose root is node 0 and whose shape is random."""
    rows: list[list[int]] = [[-1, -1]]
    stack = [(0, leaves)]
    while stack:
        node, count = stack.pop()
        if count == 1:
            continue
        left = int(random.integers(1, count))
        rows[node] = [len(rows), len(rows) + 1]
        stack += [(len(rows), left), (len(rows) + 1, count - left)]
        rows += [[-1, -1], [-1, -1]]
    return np.array(rows, np.int32)


def comb(leaves: int) -> np.ndarray:
    """Return a tree in which one child of each node is a leaf."""
    rows = [[-1, -1] for _ in range(2 * leaves - 1)]
    for i in range(leaves - 1):
        rows[2 * i] = [2 * i + 1, 2 * i + 2]
    return np.array(rows, np.int32)


def wide_tree(random: np.random.Generator, nodes: int) -> np.ndarray:
    """Return a tree in which each node has any number of children."""
    rows: list[list[int]] = [[] for _ in range(nodes)]
    for node in range(1, nodes):
        rows[int(random.integers(node))].append(node)
    return pad(rows)


def dag(random: np.random.Generator, nodes: int) -> np.ndarray:
    """Return a graph with numbers in a random order."""
    place = random.permutation(nodes)
    rows: list[list[int]] = [[] for _ in range(nodes)]
    for node in range(1, nodes):
        for _ in range(int(random.integers(4))):
            rows[place[node]].append(int(place[random.integers(node)]))
    return pad(rows)


def grid(height: int, width: int) -> np.ndarray:
    """Return a graph in which each node's children are above and left of it."""
    rows = [
        [c for c in ((y - 1) * width + x if y else -1, y * width + x - 1 if x else -1) if c >= 0]
        for y in range(height)
        for x in range(width)
    ]
    return pad(rows)


def pad(rows: list[list[int]]) -> np.ndarray:
    """Return rows of equal length."""
    columns = max(1, *map(len, rows)) if len(rows) > 1 else 1
    return np.array([row + [-1] * (columns - len(row)) for row in rows], np.int32)


def sequences(random: np.random.Generator) -> Structures:
    """Return sequences of several lengths."""
    return Structures.from_sequences(random.integers(WORDS, size=n) for n in (1, 7, 3, 12))


Sample = Callable[[np.random.Generator], Structures]
BINARY: dict[str, Sample] = {
    "node": lambda random: with_words(random, [comb(1)]),
    "comb": lambda random: with_words(random, [comb(9)]),
    "batch": lambda random: with_words(
        random, [binary_tree(random, n) for n in (1, 13, 2, 8)] + [comb(5)]
    ),
}
TREES: dict[str, Sample] = BINARY | {
    "wide": lambda random: with_words(random, [wide_tree(random, n) for n in (1, 20, 7)]),
}
DAGS: dict[str, Sample] = TREES | {
    "grid": lambda random: with_words(random, [grid(4, 5), grid(1, 1)]),
    "random": lambda random: with_words(random, [dag(random, n) for n in (17, 1, 9)]),
}
SEQUENCES: dict[str, Sample] = {"sequences": sequences}
