"""What programs of recursive models refuse of callers without the linearizer."""

import numpy as np
import pytest

from espalier.compiler import Options, compile
from espalier.errors import EspalierError
from espalier.recursion import Node, Recursive, Scheduling, Structures, Tensor, recursive

TREE = Structures.from_nested([((1, 2), 0)])
EMB = np.ones((3, 4), np.float32)
NO_CACHE = Options(cache=None)


def add_up(arity: int, batch: str) -> Recursive:
    """Return a model that adds up embeddings."""

    @recursive("tree", arity=arity, options=NO_CACHE, scheduling=Scheduling(batch=batch))
    def f(node: Node, emb: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word]
        return node.sum(lambda h: h) if arity == 0 else f(node.children[0]) + f(node.children[1])

    return f


def test_levels_of_another_program() -> None:
    """A program that is called without the linearizer checks the levels.

    They are inside of the arrays, and no node is in none.
    """
    f = add_up(2, "soonest")
    program = compile(f.mlir(TREE, emb=EMB), options=NO_CACHE)
    inputs = f.inputs(TREE, emb=EMB)
    program.run(inputs)
    levels = inputs["levels"]
    assert levels.tolist() == [0, 1, 2]
    for place, value, name in (
        (-1, 3, "last_level"),
        (0, -1, "first_level"),
        (1, 2**31 - 1, "levels"),
        (0, 1, "first_level"),
        (-1, 1, "last_level"),
    ):
        inputs["levels"] = levels.copy()
        inputs["levels"][place] = value
        with pytest.raises(EspalierError, match=f"expects @{name} .* but got level = .* = {value}"):
            program.run(inputs)
    inputs["levels"] = levels[:0]
    with pytest.raises(EspalierError, match="expects a bound of levels at least"):
        program.run(inputs)


@pytest.mark.parametrize("batch", ["soonest", "post-order"])
@pytest.mark.parametrize("arity", [2, 0])
def test_children_of_another_program(arity: int, batch: str) -> None:
    """A program that is called without the linearizer checks that children come before."""
    f = add_up(arity, batch)
    program = compile(f.mlir(TREE, emb=EMB), options=NO_CACHE)
    inputs = f.inputs(TREE, emb=EMB)
    program.run(inputs)
    children, levels = inputs["children"], inputs["levels"]
    assert children.shape == (2, 2)
    first = 1 if children[1, 0] == 3 else 0  # The column of the root's child.
    # The node itself, the root, one of its own level, and outside of the array.
    for node, column, value in ((0, 0, 3), (0, 1, 4), (1, first, 4), (1, 1, 2**31 - 1)):
        inputs["children"] = children.copy()
        inputs["children"][node, column] = value
        message = rf"expects @earlier.* but got .*m = {node}\b.*\] = {value}$"
        with pytest.raises(EspalierError, match=message):
            program.run(inputs)
    inputs["children"] = children
    program.run(inputs)
    if batch == "post-order":
        return
    # Parent and child in one level.
    inputs["levels"] = levels[[0, -1]]
    with pytest.raises(EspalierError, match=r"expects @earlier.*got level = 0, m = 1.*\] = 3$"):
        program.run(inputs)
