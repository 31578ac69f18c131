"""Scalars that each iteration of a loop writes before it reads them.

Such a scalar carries nothing from one iteration to the next, but its memory
makes them wait. So it becomes an array with an element for each iteration, of
which one place in memory holds all: the kernel computes the same, and a schedule
may give the elements places of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from espalier.kernels.affine import Dim
from espalier.kernels.tree import (
    Array,
    Assign,
    Expr,
    Guard,
    Load,
    Loop,
    Node,
    Tree,
    change_leaves,
    loads,
)


def make_private(tree: Tree) -> Tree:
    """Give such scalars of a kernel an element per iteration."""
    for array in tree.locals:
        if array.type.extents:
            continue
        splitting = _Splitting(array)
        body = splitting.visit(tree.body, ())
        # What is left is read elsewhere, maybe after the loops.
        if splitting.arrays and not _uses(body, array):
            others = tuple(other for other in tree.locals if other != array)
            tree = replace(tree, body=body, locals=(*others, *splitting.arrays))
    return tree


@dataclass
class _Splitting:
    """Replaces one scalar in the outermost loops that write it first."""

    array: Array
    arrays: list[Array] = field(default_factory=list)

    def visit(self, nodes: Sequence[Node], dims: tuple[Dim, ...]) -> tuple[Node, ...]:
        return tuple(self.node(node, dims) for node in nodes)

    def node(self, node: Node, dims: tuple[Dim, ...]) -> Node:
        if isinstance(node, Guard):
            body, otherwise = self.visit(node.body, dims), self.visit(node.otherwise, dims)
            return replace(node, body=body, otherwise=otherwise)
        if not isinstance(node, Loop):
            return node
        own = (*dims, node.dim)
        if not _writes_first(node.body, self.array):
            return replace(node, body=self.visit(node.body, own))
        number = f".{len(self.arrays)}" if self.arrays else ""
        array = replace(self.array, name=self.array.name + number, iterations=len(own))
        self.arrays.append(array)
        element = Load(array, tuple(dim.affine() for dim in own))
        return replace(node, body=_replace(node.body, self.array, element))


def _writes_first(nodes: Sequence[Node], array: Array) -> bool:
    """Say whether the first use of a scalar is an assignment that always runs."""
    for node in nodes:
        if _uses([node], array):
            return (
                isinstance(node, Assign)
                and any(target.array == array for target in node.targets)
                and not any(load.array == array for value in node.values for load in loads(value))
            )
    return False


def _uses(nodes: Sequence[Node], array: Array) -> bool:
    for node in nodes:
        if isinstance(node, Loop):
            used = _uses(node.body, array)
        elif isinstance(node, Guard):
            used = _uses(node.body, array) or _uses(node.otherwise, array)
        else:
            used = any(load.array == array for load in node.accesses())
        if used:
            return True
    return False


def _replace(nodes: Sequence[Node], array: Array, element: Load) -> tuple[Node, ...]:
    """Put an element in the place of a scalar."""

    def change(expr: Expr) -> Expr:
        return in_load(expr) if isinstance(expr, Load) else expr

    def in_load(load: Load) -> Load:
        return element if load.array == array else load

    def in_node(node: Node) -> Node:
        if isinstance(node, Loop):
            return replace(node, body=tuple(map(in_node, node.body)))
        if isinstance(node, Guard):
            body, otherwise = tuple(map(in_node, node.body)), tuple(map(in_node, node.otherwise))
            return replace(node, body=body, otherwise=otherwise)
        return replace(
            node,
            targets=tuple(map(in_load, node.targets)),
            values=tuple(change_leaves(value, change) for value in node.values),
        )

    return tuple(map(in_node, nodes))
