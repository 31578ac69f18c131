"""What operators, helpers and parameters of recursive functions must not be given."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.recursion import (
    Node,
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


@recursive("tree", arity=2, options=Options(cache=None))
def sum_of(node: Node, emb: Tensor) -> Tensor:
    """Add up embeddings."""
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    return sum_of(left) + sum_of(right)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x, word: tanh(word), "expects floating-point numbers, but got words"),
        (lambda x, word: -word, "expects floating-point numbers, but got words"),
        (lambda x, word: x @ word.reshape(1), "expects floating-point numbers, but got words"),
        (lambda x, word: EMB @ x, "expects a tensor, but got ndarray"),
        (lambda x, word: x + EMB, "expects tensors and numbers, but got ndarray"),
        (lambda x, word: concat(x, word.reshape(1)), "one type of elements, but got f32, i32"),
        (lambda x, word: concat(x, x, axis=1), "expects an axis of (4,), but got 1"),
        (lambda x, word: concat(x, EMB), "expects tensors to be joined, but got ndarray"),
        (lambda x, word: concat(), "concat expects a tensor, but got none"),
        (lambda x, word: tanh(3.0), "tanh expects a tensor, but got float"),
        (lambda x, word: split(x, 0)[0], "expects a number of parts, but got 0"),
        (lambda x, word: split(word, 2)[0], "expects 2 equal parts, but got ()"),
        (lambda x, word: x.reshape(-1), "expects extents of 31 bits and no negative ones"),
        (lambda x, word: x.reshape(2, 3), "expects a shape for (4,), but got (2, 3)"),
        (lambda x, word: x @ concat(x, x), "expects shapes that can be multiplied"),
        (
            lambda x, word: x.reshape(2, 2, 1, 1) @ concat(x, x, x).reshape(3, 4, 1, 1),
            "expects shapes that agree, but got",
        ),
    ],
)
def test_operands(body: Callable[[Tensor, Tensor], Tensor], message: str) -> None:
    @recursive("tree", arity=2)
    def f(node: Node, emb: Tensor) -> Tensor:
        return body(emb[node.word], node.word)

    with pytest.raises(RecursiveError, match=re.escape(message)):
        f(TREE, emb=EMB)


def test_helpers_of_nodes() -> None:
    @recursive("tree")
    def f(node: Node, emb: Tensor) -> Tensor:
        return node.zeros(-1)

    with pytest.raises(RecursiveError, match=r"extents of 31 bits .*, but got -1"):
        f(TREE, emb=EMB)

    @recursive("tree")
    def g(node: Node, emb: Tensor) -> Tensor:
        return emb[node.word] if node.is_leaf else node.sum(3)

    with pytest.raises(RecursiveError, match="expects a function of a child's results"):
        g(TREE, emb=EMB)
    with pytest.raises(EspalierError, match=r"'sum': .* since `node\.sum` is no feature"):
        sum_of(TREE, emb=EMB, sum=np.ones((5, 2), np.float32))


def test_parameters() -> None:
    with pytest.raises(EspalierError, match=r'as in `@recursive\("tree"\)`, but got none'):
        recursive(sum_of.function)
    with pytest.raises(EspalierError, match="expects an arity of a tree, but got '2'"):
        recursive("tree", arity="2")
    with pytest.raises(RecursiveError, match="expects a function, but got type"):
        recursive("tree")(int)
    with pytest.raises(RecursiveError, match="expects the node as its first parameter"):
        recursive("tree")(lambda: None)
    with pytest.raises(RecursiveError, match=r"expects parameters with names, but got \*w"):
        recursive("tree")(lambda node, *w: None)
    with pytest.raises(RecursiveError, match="by name, but 'w' has a position alone"):
        recursive("tree")(lambda node, w, /: None)
    with pytest.raises(RecursiveError, match="weights that are not called 'at'"):
        recursive("tree")(lambda node, at: None)
    with pytest.raises(EspalierError, match="options of type"):
        recursive("tree", options={})(sum_of.function)
    with pytest.raises(EspalierError, match="weights and features by name, but got 1 more"):
        sum_of(TREE, EMB)
    with pytest.raises(EspalierError, match="'word': expects no such array, since the structures"):
        sum_of(TREE, emb=EMB, word=np.zeros(5, np.int32))
