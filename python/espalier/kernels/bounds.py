"""Bounds of index arrays, from the arrays that they are indices of."""

from __future__ import annotations

from collections.abc import Iterator

from espalier.kernels.affine import Affine, Loaded, Size
from espalier.kernels.tree import (
    Array,
    Computation,
    Load,
    Tree,
    computations,
)


def index_bounds(tree: Tree) -> dict[str, Affine]:
    """Return what the values of arguments have to be below, by name.

    For `x[c[i]]`, the values of `c` are from 0 to less than the extent of `x`. Nothing
    is returned for an array whose bound is stated, whose values are no indices, or for
    which several bounds cannot be told apart; the kernel's check reports what is then
    not known to be inside.
    """
    accesses = [access for c in computations(tree) for access in _accesses(c)]
    written = {target.array.name for c in computations(tree) for target in c.assign.targets}
    bounds: dict[str, Affine | None] = {}
    for access in accesses:
        for subscript, extent in zip(access.subscripts, access.array.type.extents, strict=False):
            loaded = [atom for atom in subscript.terms if isinstance(atom, Loaded)]
            for atom in loaded:
                source = atom.load.array
                rest = subscript - atom.affine()
                if source.name in written or source.type.bounded_by is not None:
                    continue
                bound = None if rest.number is None else _bound(extent - rest.number)
                before = bounds.get(source.name, bound)
                bounds[source.name] = _least(before, bound)
    names = {argument.name for argument in tree.arguments if isinstance(argument, Array)}
    return {name: bound for name, bound in bounds.items() if bound is not None and name in names}


def _accesses(computation: Computation) -> Iterator[Load]:
    """Yield all elements that a computation reads or writes."""
    assign, domain = computation.assign, computation.domain
    yield from assign.accesses()
    for case in domain.cases:
        for constraint in case:
            yield from constraint.value.loads()


def _bound(value: Affine) -> Affine | None:
    """Return a number, or a size plus a number."""
    is_size = isinstance((value - value.constant).atom, Size)
    return value if value.number is not None or is_size else None


def _least(first: Affine | None, second: Affine | None) -> Affine | None:
    """Return the least of two bounds, if it can be told."""
    if first is None or second is None:
        return None
    difference = (second - first).number
    if difference is None:
        return None
    return first if difference >= 0 else second
