"""Whether nodes have so much to do that a level of them gains nothing."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from espalier.recursion.tensors import Block, Tensor

MIN_ROWS = 8
"""A node's own product has so many rows, at least: they fill registers without others'."""
MIN_OWN = 48
"""How many times the work is in nodes' own products, at least, that in all others."""


def has_own_products(interior: Block) -> bool:
    """Return whether nearly all of the work is in products with rows enough at each node.

    Nodes of a level read weights once, and are the rows of products. A level computes
    such products no better, and what all of its nodes gather leaves the cache before it
    is read.
    """
    own = others = 0
    for work, is_own in _products(interior, set()):
        own += work * is_own
        others += work * (not is_own)
    return own > MIN_OWN * others


def _products(block: Block, results: set[Tensor]) -> Iterator[tuple[int, bool]]:
    """Yield each product's multiply-adds, and whether a node has rows enough by itself.

    Products that depend on no child stand before the recursion.

    Arguments:
        results: the tensors known so far that depend on a child.
    """
    for op in block.operations:
        if op.body:
            results.update(op.body.arguments)
            yield from _products(op.body, results)
        depends = [operand in results for operand in op.operands]
        if any(depends) or op.name in ("call", "children"):
            results.update(op.results)
        if op.name == "matmul" and any(depends):
            left, right = op.operands
            # What a product shares with those of other nodes is the operand of no child.
            own = [left.shape[-2]] * (not depends[1]) + [right.shape[-1]] * (not depends[0])
            yield prod(op.results[0].shape) * left.shape[-1], min(own, default=MIN_ROWS) >= MIN_ROWS
