"""Names, threads and sizes that recursive functions are used with."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from espalier import _espalier
from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.models.recursive import tree_gru
from espalier.recursion import (
    Node,
    Scheduling,
    Structures,
    Tensor,
    recursive,
    tanh,
)

TREE = Structures.from_nested([((1, 2), 0)])
EMB = np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32)
NO_CACHE = Options(cache=None)


def test_any_name_is_a_name() -> None:
    """Weights may be called as what the program has beside them, and as Python allows."""

    @recursive("tree", arity=2, options=NO_CACHE)
    def main(
        node: Node, n: Tensor, levels: Tensor, levels_: Tensor, structures: Tensor, größe: Tensor
    ) -> Tensor:
        if node.is_leaf:
            return n[node.word] * levels + node.größe_2
        left, right = map(main, node.children)
        return tanh(left + right * levels_) * größe + structures

    ones = {name: np.full(4, value, np.float32) for name, value in (("levels", 2), ("levels_", 3))}
    arrays = ones | {"n": EMB, "structures": EMB[0], "größe": EMB[1]}
    arrays["größe_2"] = np.ones((5, 4), np.float32)
    got = main(TREE, **arrays)
    np.testing.assert_allclose(got, main.reference(TREE, **arrays), 1e-5, 1e-5)
    structure = {"arity", "children", "levels", "roots"}
    assert set(main.inputs(TREE, **arrays)) == structure | {
        *("n", "levels_", "levels__", "structures", "größe", "größe_2", "word")
    }


def test_a_lambda_is_a_function() -> None:
    twice = recursive("tree", options=NO_CACHE)(
        lambda node, emb: emb[node.word] if node.is_leaf else node.sum(lambda h: h * 2)
    )
    np.testing.assert_allclose(twice(TREE, emb=EMB), twice.reference(TREE, emb=EMB), 1e-5)


def test_the_order_of_arguments_is_nothing() -> None:
    traces = []

    @recursive("tree", options=NO_CACHE)
    def f(node: Node, emb: Tensor) -> Tensor:
        traces.append(node.is_leaf)
        x = emb[node.word] * node.a + node.b
        return x if node.is_leaf else x + node.sum(lambda h: h)

    a, b = np.ones((5, 1), np.float32), np.ones((5, 4), np.float32)
    first = f(TREE, emb=EMB, a=a, b=b)
    np.testing.assert_array_equal(first, f(TREE, b=b, a=a, emb=EMB))
    assert len(traces) == 2


def test_threads_trace_and_run_at_once() -> None:
    @recursive("tree", arity=2, options=NO_CACHE)
    def f(node: Node, emb: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word]
        left, right = node.children
        return f(left) - f(right)

    def run(rows: int) -> bool:
        emb = np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32)
        return bool(np.allclose(f(TREE, emb=emb), f.reference(TREE, emb=emb), 1e-5))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, [3, 3, 4, 4, 3, 4] * 3))


def test_a_call_is_explained() -> None:
    @recursive("tree", options=NO_CACHE)
    def f(node: Node, emb: Tensor, w: Tensor) -> Tensor:
        x = emb[node.word]
        return x if node.is_leaf else tanh(x + node.sum(lambda h: h @ w))

    arrays = {"emb": EMB, "w": np.ones((4, 4), np.float32)}
    lines = f.explain(TREE, **arrays).splitlines()
    assert lines[:3] == [
        "1 structures: 3 leaves, 2 others in 2 levels of 1, 1 nodes",
        "'@f' computes leaves first, then interior nodes level by level",
        "  rec.yield: result #0 is stored for each leaf",
    ]
    product = [line for line in lines if "graph.matmul" in line]
    assert "is computed in the recursion, for all nodes of a level" in product[0]
    assert "could be computed with the child" in product[1]
    place = f"({Path(__file__).name}:{f.function.__code__.co_firstlineno + 3})"
    assert all(line.endswith(place) for line in product)
    assert lines[lines.index("each step of the recurrence is 5 loop nests:") + 1 :] == [
        "  over m, k: places to read at; places to read at",
        "  over m, k, j0: a choice of what is read; a choice of what is read"
        " (it has other loops than what is before)",
        "  over m, k, j: mulf, addf reduced over k_1"
        " (it needs what is before at other points of these loops)",
        "  over m, j0: addf reduced over k (it has other loops than what is before)",
        "  over m, b0: addf, tanh (it reads rows that are computed before the recurrence)",
    ]
    moved = f.configure(scheduling=Scheduling(refactor=True))
    assert "could be computed with the child" not in moved.explain(TREE, **arrays)
    comb = Structures.from_sequences([np.zeros(30, np.int32)])
    assert "29 others in 29 levels of 1, 1, " in f.explain(comb, **arrays)
    page = f.draw(TREE, **arrays)
    assert "could be computed with the child" in page
    assert page.count('<rect class="bar"') == len(np.diff(f.inputs(TREE, **arrays)["levels"]))


def test_one_wide_node_is_no_square() -> None:
    """A tree of a million leaves below one node takes memory for a million numbers."""
    wide = Structures.from_nested([(0,) * 1_000_000])
    assert wide.num_nodes == 1_000_001
    assert wide.children is None
    assert wide.parents is not None
    assert wide.parents.size == wide.num_nodes


def test_bound_weights_are_constants() -> None:
    """Results are the same; the program takes what is left, and arrays may change."""
    weights = {
        name: np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
        for name, shape in (("u", (4, 8)), ("b", (8,)), ("un", (4, 4)), ("bn", (4,)))
    }
    expected = tree_gru(TREE, emb=EMB, **weights)
    some = tree_gru.bind(u=weights["u"], bn=weights["bn"])
    rest = {name: weights[name] for name in ("b", "un")}
    np.testing.assert_array_equal(some(TREE, emb=EMB, **rest), expected)
    everything = some.bind(emb=EMB, **rest)
    for value in weights.values():
        value[...] = 0
    np.testing.assert_array_equal(everything(TREE), expected)
    np.testing.assert_allclose(everything.reference(TREE), expected, 1e-5, 1e-5)
    structure = ["arity", "children", "levels", "roots", "word"]
    assert [i.name for i in everything.compile(TREE).inputs] == structure
    assert list(everything.inputs(TREE)) == structure
    assert "u" in tree_gru.inputs(TREE, emb=EMB, **weights)


def test_what_is_bound_is_checked() -> None:
    with pytest.raises(EspalierError, match=r"'x': expects a weight out of \['emb', 'u'"):
        tree_gru.bind(x=EMB)
    with pytest.raises(EspalierError, match="'emb': expects float32 or int32, but got float64"):
        tree_gru.bind(emb=EMB.astype(np.float64))
    with pytest.raises(EspalierError, match="'emb': expects no array, since one is bound"):
        tree_gru.bind(emb=EMB)(TREE, emb=EMB)
    with pytest.raises(EspalierError, match="'u': expects an array, but it is missing"):
        tree_gru.bind(emb=EMB)(TREE)


def test_inputs_of_a_module_become_constants() -> None:
    head = 'func.func @main(%x: tensor<2xf32> {espalier.name = "x"}) -> tensor<2xf32>'
    text = f"{head} {{\n  return %x : tensor<2xf32>\n}}"
    module = _espalier.Module.parse(text)
    data = np.ones(2, np.float32).view(np.uint8)
    with pytest.raises(EspalierError, match="expects an input called 'y'"):
        module.bind_input("y", data)
    with pytest.raises(EspalierError, match="expects data that fills the shape, but got 4 bytes"):
        module.bind_input("x", data[:4])
    module.bind_input("x", data)
    assert module.input_names == []
    assert "dense<1.000000e+00>" in str(module)


def test_children_come_as_lists() -> None:
    """Nodes of a structure have lists of any length, as rows of a table that is padded."""

    @recursive("dag", options=NO_CACHE)
    def total(node: Node, emb: Tensor) -> Tensor:
        x = emb[node.word]
        return x if node.is_leaf else x + node.sum(lambda h: h)

    lists = [[[1, 2, 3], [], [3], []], [[]]]
    words = [[0, 1, 2, 1], [2]]
    table = [[[1, 2, 3], [-1, -1, -1], [3, -1, -1], [-1, -1, -1]], [[-1, -1, -1]]]
    one, other = (Structures.from_children(given, words) for given in (lists, table))
    np.testing.assert_array_equal(one.children, other.children)
    expected = [EMB[0] + EMB[1] + (EMB[2] + EMB[1]) + EMB[1], EMB[2]]
    np.testing.assert_allclose(total(one, emb=EMB), expected, 1e-6, 1e-6)
    with pytest.raises(EspalierError, match="structure #0: expects integers of 2 dimensions"):
        Structures.from_children([[[1.5], []]])


@recursive("dag", options=NO_CACHE)
def total_of(node: Node, emb: Tensor) -> Tensor:
    """Return the sum of the words below a node."""
    x = emb[node.word]
    return x if node.is_leaf else x + node.sum(lambda h: h)


@pytest.mark.parametrize("batch", ["soonest", "latest", "post-order"])
def test_children_come_as_rows(batch: str) -> None:
    """As rows of a sparse matrix, children are side by side, and nothing is padded."""
    total = total_of.configure(scheduling=Scheduling(batch=batch))
    lists = [[[1, 2, 3], [], [3], []], [[]], [[], [0]]]
    words = [[0, 1, 2, 1], [2], [0, 1]]
    pairs = [([0, 3, 3, 4, 4], [1, 2, 3, 3]), ([0, 0], []), ([0, 0, 1], [0])]
    rows = Structures.from_rows([(a, np.array(b, np.int32)) for a, b in pairs], words)
    table = Structures.from_children(lists, words)
    assert rows.rows() == table.rows()
    np.testing.assert_array_equal(total(rows, emb=EMB), total(table, emb=EMB))
    np.testing.assert_allclose(
        total.reference(rows, emb=EMB), total.reference(table, emb=EMB), 1e-6, 1e-6
    )


def test_rows_of_children_are_checked() -> None:
    none = np.zeros(0, np.int32)
    with pytest.raises(EspalierError, match=r"structure #0: expects numbers from 0 to 1, but got"):
        Structures.from_rows([([0, 2], [0])])
    with pytest.raises(EspalierError, match="row_starts: expects 2 integers, but got int64 of sha"):
        Structures(np.array([0, 1]), children=none, row_starts=np.zeros(1, np.int64))
    with pytest.raises(EspalierError, match="row_starts: expects an end of 0, but got 1"):
        Structures(np.array([0, 1]), children=none, row_starts=np.array([0, 1]))
    falling = Structures.from_rows([([0, 2, 1, 2], [1, 2])], [[0, 0, 0]])
    with pytest.raises(EspalierError, match="node 1: expects children that end where they begin"):
        total_of(falling, emb=EMB)


def test_calls_like_earlier_ones_are_checked_again() -> None:
    """What a call without arrays has found out holds for other structures, not for all."""
    weights = {"u": (4, 8), "b": (8,), "un": (4, 4), "bn": (4,)}
    model = tree_gru.bind(emb=EMB, **{k: np.ones(s, np.float32) for k, s in weights.items()})
    first = model(TREE)
    assert model(TREE, at="nodes").shape == (5, 4)
    np.testing.assert_array_equal(model(TREE), first)
    with pytest.raises(EspalierError, match="word"):
        model(Structures.from_nested([((1, 3), 0)]))
    with pytest.raises(EspalierError, match="word"):
        model(Structures(TREE.starts, parents=TREE.parents))
    with pytest.raises(EspalierError, match="'word': expects a row for each of 5 nodes"):
        model(Structures(TREE.starts, parents=TREE.parents, words=TREE.words[:-1]))
    np.testing.assert_array_equal(model(TREE), first)
