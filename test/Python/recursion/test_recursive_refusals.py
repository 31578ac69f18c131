"""What recursive functions and structures must not be."""

import inspect
import re

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.recursion import (
    Node,
    Recursive,
    RecursiveError,
    Structures,
    Tensor,
    concat,
    recursive,
    split,
    tanh,
)

TREE = Structures.from_nested([((1, 2), 0)])
EMB = np.ones((3, 4), np.float32)
NO_CACHE = Options(cache=None)


def line_of(function: Recursive, text: str) -> int:
    """Return the number of the line of a function that contains a text."""
    lines, first = inspect.getsourcelines(function.function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def check(function: Recursive, text: str, message: str, **arrays: np.ndarray) -> None:
    """Check that tracing names the line, and the rule."""
    place = re.escape(f"{__file__}:{line_of(function, text)}: ")
    with pytest.raises(RecursiveError, match=f"^{place}.*{re.escape(message)}"):
        function(TREE, emb=EMB, **arrays)


@recursive("tree", arity=2, options=NO_CACHE)
def sum_of(node: Node, emb: Tensor) -> Tensor:
    """Add up embeddings."""
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    return sum_of(left) + sum_of(right)


def test_condition_on_data() -> None:
    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        x = emb[node.word]
        if x > 0:
            return x
        return tanh(x)

    check(f, "if x > 0", "expects operators on whole tensors, but got a use of their elements")

    @recursive("tree", arity=2)
    def g(node: Node, emb: Tensor) -> Tensor:
        x = emb[node.word]
        return x if x else tanh(x)

    check(g, "if x else", "expects conditions on the structure alone, such as `node.is_leaf`")


def test_equality_and_membership() -> None:
    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        x = emb[node.word]
        return tanh(x) if x == 0 else x

    check(f, "if x == 0", "expects operators on whole tensors")

    @recursive("tree", arity=2)
    def g(node: Node, emb: Tensor) -> Tensor:
        x = emb[node.word]
        return tanh(x) if 0 in x else x

    check(g, "if 0 in x", "expects operators on whole tensors")


def test_tensors_of_other_places() -> None:
    kept = []

    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        kept.append(emb[node.word])
        return kept[0]

    with pytest.raises(RecursiveError, match="expects tensors of this call"):
        f(TREE, emb=EMB)

    @recursive("tree")
    def g(node: Node, emb: Tensor) -> Tensor:
        x = emb[node.word]
        inner = []
        if not node.is_leaf:
            node.sum(lambda h: inner.append(h) or h)
        return inner[0] if inner else x

    with pytest.raises(RecursiveError, match="expects tensors of the node, but got one of a child"):
        g(TREE, emb=EMB)


def test_numbers_of_rows() -> None:
    @recursive("tree", options=NO_CACHE)
    def f(node: Node, emb: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[0:1].reshape(4)
        return node.sum(lambda h: h + emb[node.tag.reshape(1)].reshape(4))

    message = "feature 'tag', node 1: expects the number of one of 3 rows, but got 7"
    with pytest.raises(EspalierError, match=message):
        f(TREE, emb=EMB, tag=np.array([0, 7, 0, 0, 0], np.int32))
    with pytest.raises(EspalierError, match=r"node 1: .*, but got -1"):
        f.reference(TREE, emb=EMB, tag=np.array([0, -1, 0, 0, 0], np.int32))
    bare = Structures(TREE.starts, parents=TREE.parents)
    tag = np.array([0, 0, 7, 0, 0], np.int32)
    with pytest.raises(EspalierError, match=r"feature 'word', node 2: .* but got 7"):
        sum_of(bare, emb=EMB, word=tag)


def test_numbers_are_checked_where_they_are_used() -> None:
    """Leaves alone have words here: what stands at other nodes is nothing."""
    words = np.array([-5, 99, 0, 1, 2], np.int32)
    trees = Structures(TREE.starts, parents=TREE.parents, words=words)
    np.testing.assert_array_equal(sum_of(trees, emb=EMB), sum_of(TREE, emb=EMB))
    bare = Structures(TREE.starts, parents=TREE.parents)
    np.testing.assert_array_equal(sum_of(bare, emb=EMB, word=words), sum_of(TREE, emb=EMB))


def test_constants() -> None:
    @recursive("tree", arity=2, options=NO_CACHE)
    def f(node: Node, emb: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word] * 1e-5
        left, right = node.children
        return f(left) + f(right)

    np.testing.assert_allclose(f(TREE, emb=EMB), f.reference(TREE, emb=EMB), rtol=1e-5)

    @recursive("tree", arity=2)
    def g(node: Node, emb: Tensor) -> Tensor:
        return emb[node.word] * 10**400

    check(g, "10**400", "expects a constant of at most 3.40282e+38, but got a larger one")


def test_scalar_weight() -> None:
    @recursive("tree", arity=2, options=NO_CACHE)
    def f(node: Node, emb: Tensor, w: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word] * w
        left, right = node.children
        return f(left) + f(right)

    arrays = {"emb": EMB, "w": np.asarray(np.float32(2))}
    np.testing.assert_allclose(f(TREE, **arrays), f.reference(TREE, **arrays))


def test_loops_over_data() -> None:
    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        return sum(emb[node.word])

    check(f, "sum(", "expects operators on whole tensors")


def test_calls() -> None:
    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word]
        return f(node)

    check(f, "f(node)", "expects 'f' to be called with a child alone")

    @recursive("tree")
    def g(node: Node, emb: Tensor) -> Tensor:
        return emb[node.word] if node.is_leaf else node.children

    check(g, "node.children", "expects an interior node of fixed arity")

    @recursive("tree")
    def h(node: Node, emb: Tensor) -> Tensor:
        return node.sum(lambda x: x)

    check(h, "node.sum", "expects an interior node, and no other reduction around")

    @recursive("tree")
    def k(node: Node, emb: Tensor) -> Tensor:
        return emb[node.word] if node.is_leaf else node.reduce("mean", lambda x: x)

    check(k, "node.reduce", "expects one of add, mul, max, min, but got 'mean'")


def test_shapes() -> None:
    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        x = emb[node.word]
        return x if node.is_leaf else concat(x, x)

    with pytest.raises(RecursiveError, match=r"expects results of interior nodes as of leaves"):
        f(TREE, emb=EMB)

    @recursive("tree", arity=2)
    def g(node: Node, emb: Tensor) -> Tensor:
        return emb[node.word] @ emb

    check(g, "@ emb", "expects shapes that can be multiplied, but got (4,), (3, 4)")

    @recursive("tree", arity=2)
    def h(node: Node, emb: Tensor) -> Tensor:
        return split(emb[node.word], 3)[0]

    check(h, "split", "expects 3 equal parts, but got (4,)")

    @recursive("tree", arity=2)
    def k(node: Node, emb: Tensor, w: Tensor) -> Tensor:
        return emb[node.word] + w

    message = "expects shapes that agree, but got (4,), (3,)"
    check(k, "+ w", message, w=np.ones(3, np.float32))


def test_values() -> None:
    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        return node.color

    check(f, "node.color", "expects one of the features ['word'], but got 'color'")

    @recursive("tree", arity=2)
    def g(node: Node, emb: Tensor) -> int:
        return 3

    with pytest.raises(RecursiveError, match="expects tensors to be returned, but got int"):
        g(TREE, emb=EMB)

    @recursive("tree", arity=2)
    def h(node: Node, emb: Tensor) -> Tensor:
        return emb[node.word] + node.word

    check(h, "+ node.word", "expects floating-point numbers, but got words")


@pytest.mark.parametrize(
    ("structures", "message"),
    [
        (Structures.from_nested([(1, (2, 0)), (1, 2, 0)]), "structure #1, node 0: expects 0 or 2"),
        (Structures.from_nested([(1, 7)]), "structure #0, node 2: expects a word of the vocab"),
        (Structures.from_children([], []), "expects a structure, but got none"),
        (
            Structures.from_children([[[1, 5], [-1, -1]]], [[0, 0]]),
            "structure #0, node 0: expects a child out of the structure's nodes, but got 5",
        ),
        (
            Structures.from_children([[[1, 1], [-1, -1]]], [[0, 0]]),
            "structure #0, node 1: expects one parent in a tree, but got 2",
        ),
        (
            Structures.from_parents([([0, 0, 0], [1, 2, 0])]),
            "structure #0, node 0: expects nodes that are not below themselves",
        ),
        (
            Structures.from_children([[[1, 2], [2, 0], [-1, -1]]], [[0, 0, 0]]),
            "structure #0, node 2: expects one parent in a tree, but got 2",
        ),
    ],
)
def test_malformed_structures(structures: Structures, message: str) -> None:
    with pytest.raises(EspalierError, match=re.escape(message)):
        sum_of(structures, emb=EMB)


def test_cycle_is_named() -> None:
    @recursive("dag", options=NO_CACHE)
    def f(node: Node, emb: Tensor) -> Tensor:
        return emb[node.word] if node.is_leaf else node.sum(lambda h: h)

    cycle = Structures.from_children([[[1], [2], [0]]], [[0, 0, 0]])
    with pytest.raises(EspalierError, match=r"structure #0, node .*: expects nodes that are not"):
        f(cycle, emb=EMB)
    with pytest.raises(EspalierError, match="expects nodes that are not"):
        f.reference(cycle, emb=EMB)


def test_structures_are_numbers() -> None:
    with pytest.raises(EspalierError, match="structure #0: expects integers of 2 dimensions"):
        Structures.from_children([[1.5]])
    with pytest.raises(EspalierError, match="structure #0: expects an array without a mask"):
        Structures.from_children([np.ma.masked_array([[1], [0]], mask=[[0], [1]])])
    with pytest.raises(EspalierError, match="expects numbers of 32 bits, but got 4294967296"):
        Structures.from_children([[[2**32]]])
    with pytest.raises(EspalierError, match="children: expects numbers of 32 bits, but got 42949"):
        Structures(np.array([0, 1]), children=np.array([[2**32]]))
    with pytest.raises(EspalierError, match="starts: expects integers of 1 dimension, and an end"):
        Structures(np.array([0, 1.5]), children=np.array([[-1]]))
    with pytest.raises(EspalierError, match="expects a word for each of"):
        Structures.from_children([[[-1]]], [[1, 2]])
    with pytest.raises(EspalierError, match="node 2: expects children, but got none"):
        Structures.from_nested([(1, ())])
    with pytest.raises(EspalierError, match="node 1: expects a word or children, but got str"):
        Structures.from_nested([("a", 1)])


def test_arguments() -> None:
    with pytest.raises(EspalierError, match="argument 'emb': expects an array, but it is missing"):
        sum_of(TREE)
    with pytest.raises(EspalierError, match="argument 'emb': expects float32 or int32, but got f"):
        sum_of(TREE, emb=EMB.astype(np.float64))
    with pytest.raises(EspalierError, match="feature 'x': expects a row for each of 5 nodes"):
        sum_of(TREE, emb=EMB, x=np.ones((2, 2), np.float32))
    with pytest.raises(EspalierError, match=r"expects results at one of .* but got 'leaves'"):
        sum_of(TREE, emb=EMB, at="leaves")
    with pytest.raises(EspalierError, match=r"expects espalier\.Structures, but got list"):
        sum_of([1], emb=EMB)
    with pytest.raises(EspalierError, match="expects one of tree, sequence, dag, but got 'list'"):
        recursive("list")(sum_of.function)
    with pytest.raises(EspalierError, match="expects an arity of a sequence, but got 2"):
        recursive("sequence", arity=2)(sum_of.function)


def test_not_a_number_spreads_to_the_root() -> None:
    emb = EMB.copy()
    emb[2, 1] = np.nan
    root = sum_of(TREE, emb=emb)
    np.testing.assert_array_equal(root, sum_of.reference(TREE, emb=emb))
    assert np.isnan(root[0, 1])
    assert np.isfinite(root[0, 0])


def test_vocabularies_of_leaves_and_others() -> None:
    """Words of leaves are rows of one array, those of interior nodes of another."""

    @recursive("tree", arity=2, options=NO_CACHE)
    def f(node: Node, emb: Tensor, inner: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word]
        left, right = node.children
        return f(left) + f(right) + inner[node.word]

    arrays = {"emb": EMB, "inner": EMB[:2]}
    for words, wrong in (
        ([1, 0, 2], None),
        ([2, 0, 2], 0),
        ([0, 0, 3], 2),
        ([0, -1, 1], 1),
        ([-1, 0, 0], 0),
    ):
        structures = Structures.from_children([[[1, 2], [-1, -1], [-1, -1]]], [words])
        if wrong is None:
            assert f(structures, **arrays).tolist() == [[3.0] * 4]
            continue
        message = f"node {wrong}: expects a word of the vocabulary, but got {words[wrong]}$"
        with pytest.raises(EspalierError, match=message):
            f(structures, **arrays)
