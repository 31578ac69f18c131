"""Models that run from the roots down, on what another one returns from the leaves up."""

from pathlib import Path

import numpy as np
import pytest
from structure_samples import DAGS, SEQUENCES, TREES, WORDS, Sample, comb, with_words

from espalier.arrays import TensorInfo
from espalier.compiler import Options, compile, interpret
from espalier.errors import EspalierError
from espalier.models.recursive import tree_rnn
from espalier.recursion import Node, Scheduling, Structures, Tensor, recursive, tanh
from espalier.recursion.samples import sample_inputs
from espalier.recursion.trace import STRUCTURE

PROGRAM = Path(__file__).parents[2] / "Integration" / "inside-outside.mlir"
TOLERANCE = 1e-5
NO_CACHE = Options(cache=None)
SAMPLES = DAGS | SEQUENCES
HIDDEN = 5


@recursive("dag", options=NO_CACHE)
def inside(node: Node, emb: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """Return what is inside of a node, and the sum of its children's."""
    x = emb[node.word]
    if node.is_leaf:
        return x, node.zeros(HIDDEN)
    total = node.sum(lambda h, s: h)
    return tanh(x + total @ u), total


@recursive("dag", options=NO_CACHE)
def outside(node: Node, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return what is around a node: its parents' outside and its siblings' inside."""
    if node.is_leaf:
        return node.h * 0 + 1, node.total
    return node.sum(lambda d, total: tanh((d + total - node.h) @ v)), node.total


@recursive("dag", arity=1, options=NO_CACHE)
def path(node: Node, v: Tensor) -> Tensor:
    """Return what is on the path from the root."""
    if node.is_leaf:
        return node.h
    (above,) = node.children
    return tanh(node.h + path(above) @ v)


def make_weights(random: np.random.Generator) -> dict[str, np.ndarray]:
    """Return words' rows, and weights of both directions."""
    shapes = {"emb": (WORDS, HIDDEN), "u": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN)}
    return {
        name: (random.standard_normal(shape) / 2).astype(np.float32)
        for name, shape in shapes.items()
    }


def bottom_up(rows: list[list[int]]) -> list[int]:
    """Return the nodes, each after its children."""
    order: list[int] = []
    stack = list(range(len(rows)))
    while stack:
        missing = [c for c in rows[stack[-1]] if c not in order]
        if missing:
            stack += missing
        elif (node := stack.pop()) not in order:
            order.append(node)
    return order


def recurse(
    structures: Structures, emb: np.ndarray, u: np.ndarray, v: np.ndarray
) -> dict[str, np.ndarray]:
    """Return what the models above compute for each node, by their names."""
    assert structures.words is not None
    rows = structures.rows()
    h = emb[structures.words].astype(np.float64)
    total = np.zeros_like(h)
    order = bottom_up(rows)
    for node in order:
        if rows[node]:
            total[node] = sum(h[c] for c in rows[node])
            h[node] = np.tanh(h[node] + total[node] @ u)
    around, below = np.zeros_like(h), h.copy()
    has_parent = {c for row in rows for c in row}
    around[[n for n in order if n not in has_parent]] = 1
    for parent in reversed(order):
        for child in rows[parent]:
            around[child] += np.tanh((around[parent] + total[parent] - h[child]) @ v)
            below[child] = np.tanh(h[child] + below[parent] @ v)
    return {"inside": h, "outside": around, "path": below}


def close(got: np.ndarray, expected: np.ndarray, what: str = "") -> None:
    """Compare two arrays."""
    np.testing.assert_allclose(got, expected, TOLERANCE, TOLERANCE, err_msg=what)


@pytest.mark.parametrize("batch", ["soonest", "latest", "post-order"])
def test_outside_of_any_graph(batch: str) -> None:
    random = np.random.default_rng(11)
    weights = make_weights(random)
    down = outside.configure(scheduling=Scheduling(batch=batch))
    for sample, make in SAMPLES.items():
        structures = make(random)
        expected = recurse(structures, **weights)
        h, total = inside(structures, at="nodes", emb=weights["emb"], u=weights["u"])
        close(h, expected["inside"], sample)
        features = {"h": h, "total": total, "v": weights["v"]}
        turned = structures.parents_first()
        around, _ = down(turned, at="nodes", **features)
        close(around, expected["outside"], sample)
        # Roots of these are the leaves.
        leaves = [node for node, row in enumerate(structures.rows()) if not row]
        close(down(turned, **features)[0], expected["outside"][leaves], sample)
        close(down.reference(turned, at="nodes", **features)[0], expected["outside"], sample)


@pytest.mark.parametrize("samples", [TREES, SEQUENCES], ids=["trees", "sequences"])
def test_path_from_the_root(samples: dict[str, Sample]) -> None:
    random = np.random.default_rng(12)
    weights = make_weights(random)
    for sample, make in samples.items():
        structures = make(random)
        expected = recurse(structures, **weights)
        h, _ = inside(structures, at="nodes", emb=weights["emb"], u=weights["u"])
        got = path(structures.parents_first(), at="nodes", h=h, v=weights["v"])
        close(got, expected["path"], sample)


def check_numberings(inputs: dict[str, np.ndarray], results: list[dict[str, np.ndarray]]) -> None:
    """Compare results of the program with a recursion over the first numbering."""
    counts, table = inputs["arity"], inputs["children"]
    leaves = len(counts) - len(table)
    h, total = inputs["x"].astype(np.float64), np.zeros(inputs["x"].shape)
    around = np.ones(h.shape)
    for node, row in enumerate(table, leaves):
        total[node] = h[row[0]] + h[row[1]]
        h[node] = np.tanh(total[node] @ inputs["w"])
    for node in range(len(counts) - 1, leaves - 1, -1):
        for child in table[node - leaves]:
            around[child] = np.tanh((around[node] + total[node] - h[child]) @ inputs["v"])
    for got in results:
        close(got["inside"], h)
        close(got["outside"], around[inputs["order_down"]])


def test_program_of_two_numberings() -> None:
    """One program for both directions equals the recursion, and the interpreter."""
    program = compile(PROGRAM, options=NO_CACHE)
    for seed in range(4):
        inputs = sample_inputs(program.inputs, seed)
        check_numberings(inputs, [program.run(inputs), interpret(PROGRAM, inputs)])


def numbering(suffix: str, columns: int | str) -> list[TensorInfo]:
    """Return the inputs of a program that are a numbering."""
    shapes: dict[str, tuple[int | str, ...]] = {name: (name + suffix,) for name in STRUCTURE}
    shapes["children"] = ("interior" + suffix, columns)
    return [TensorInfo(name + suffix, np.dtype(np.int32), s) for name, s in shapes.items()]


def test_samples_of_a_second_numbering() -> None:
    """It has the same edges; nodes have one parent, so more columns than one are refused."""
    first = numbering("", "any")
    inputs = sample_inputs([*first, *numbering("2", "more")])
    order, table, children = inputs["order2"], inputs["children2"], inputs["children"]
    assert sorted(order.tolist()) == list(range(len(order)))
    leaves = len(order) - len(table)
    assert leaves == 2  # The roots of both trees.
    counts = inputs["arity"][-len(children) :]
    edges = {
        (len(order) - len(children) + node, child)
        for node, row in enumerate(children.tolist())
        for child in row[: counts[node]]
    }
    down = {(order[parent], order[leaves + node]) for node, (parent,) in enumerate(table)}
    assert down == edges
    message = "input 'children2': expects one column, or any number, .* but got 2"
    with pytest.raises(EspalierError, match=message):
        sample_inputs([*first, *numbering("2", 2)])


def test_edges_are_turned_round() -> None:
    """Tables, rows, parents: the same edges; several parents are in their order."""
    table = Structures.from_children([[[1, 2], [2, 2], []], [[]]], [[5, 6, 7], [8]])
    rows = Structures.from_rows([([0, 2, 4, 4], [1, 2, 2, 2]), ([0, 0], [])])
    for graph in (table, rows):
        assert graph.parents_first().rows() == [[], [0], [0, 1, 1], []]
        assert graph.parents_first().parents_first().rows() == graph.rows()
    assert table.parents_first().words is table.words
    trees = Structures.from_parents([([1], [-1]), ([1, 2, 3], [2, 2, -5])])
    assert trees.parents_first().rows() == [[], [3], [3], []]
    assert trees.parents_first().parents_first().rows() == trees.rows()


def test_deep_and_wide() -> None:
    """A comb of 10,000 leaves, and a node of as many children."""
    random = np.random.default_rng(13)
    deep = with_words(random, [comb(10_000)])
    wide = Structures.from_nested([tuple([1] * 10_000)])
    ones = np.eye(HIDDEN, dtype=np.float32)
    for structures in (deep, wide):
        h = random.standard_normal((structures.num_nodes, HIDDEN)).astype(np.float32)
        got = path(structures.parents_first(), at="nodes", h=h, v=ones)
        expected = h.astype(np.float64)
        for parent, row in enumerate(structures.rows()):  # Parents are before children.
            for child in row:
                expected[child] = np.tanh(h[child] + expected[parent])
        close(got, expected)


@pytest.mark.parametrize(
    ("structures", "message"),
    [
        (Structures.from_children([]), "expects a structure, but got none"),
        (
            Structures.from_children([[[-1]], [[1], [7]]]),
            "structure #1, node 1: expects a child out of the structure's nodes, but got 7",
        ),
        (
            Structures.from_children([[[-1, 1], [-1, -1]]]),
            "structure #0, node 0: expects no child after a negative number, but got 1",
        ),
        (
            Structures.from_children([[[1], [2], [1]]]),
            "structure #0, node [12]: expects nodes that are not below themselves",
        ),
        (
            Structures.from_rows([([0, 2, 1, 2], [1, 2])]),
            "node 1: expects children that end where they begin, or later, but got 1",
        ),
        (
            Structures.from_parents([([0, 0], [-1, 2])]),
            "structure #0, node 1: expects a parent out of the structure's nodes, but got 2",
        ),
        (Structures(np.array([0, 1])), "expects either children or parents, but got none"),
    ],
)
def test_what_is_no_graph_is_refused(structures: Structures, message: str) -> None:
    with pytest.raises(EspalierError, match=message):
        structures.parents_first()


def test_other_models_refuse_these() -> None:
    """A node with two children is no node of a tree, and one with two parents has no path."""
    tree = Structures.from_nested([((1, 2), 0)])
    weights = {"emb": np.ones((3, 4), np.float32), "w": np.ones((8, 4), np.float32)}
    with pytest.raises(EspalierError, match="node 1: expects 0 or 2 children, but got 1"):
        tree_rnn(tree.parents_first(), b=np.ones(4, np.float32), **weights)
    v = np.ones((HIDDEN, HIDDEN), np.float32)
    h = np.ones((3, HIDDEN), np.float32)
    two = Structures.from_children([[[1, 2], [2], []]])
    with pytest.raises(EspalierError, match="node 2: expects 0 or 1 children, but got 2"):
        path(two.parents_first(), h=h, v=v)
    with pytest.raises(EspalierError, match="feature 'h': expects a row for each of 3 nodes"):
        path(two.parents_first(), h=h[:2], v=v)
