"""Einsum, as products of matrices."""

import re
from collections.abc import Iterable

from espalier.importers.onnx.emitter import Emitter, broadcast
from espalier.importers.onnx.registry import Node, Unsupported, op
from espalier.importers.onnx.symbolic import Dim, Expr, product
from espalier.importers.onnx.values import Tensor, Value

Labelled = tuple[Value, str]
ELLIPSIS = "".join(map(chr, range(0xE000, 0xE040)))
"""Labels of the dimensions that "..." stands for; those of an equation are letters."""
TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


@op("Einsum")
def _einsum(e: Emitter, node: Node) -> Tensor:
    values = [value for value in node.inputs if value is not None]
    terms, result = _parse(node, values)
    operands = [_diagonals(e, node, v, t) for v, t in zip(values, terms, strict=True)]
    while len(operands) > 1:
        first, second, *rest = operands
        needed = set(result).union(*(labels for _, labels in rest))
        operands = [_contract(e, first, second, needed), *rest]
    x, labels = _keep(e, operands[0], set(result))
    return e.transpose(x, [labels.index(label) for label in result])


def _parse(node: Node, values: list[Value]) -> tuple[list[str], str]:
    """Return the labels of the operands and of the result."""
    equation = node["equation"].replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if not all(TERM.fullmatch(term) for term in [*terms, result]):
        raise node.error(f"expects terms of letters and '...', but got '{equation}'")
    if len(terms) != len(values):
        raise node.error(f"expects {len(values)} terms, but got '{equation}'")
    widths = [0]
    for index, (term, value) in enumerate(zip(terms, values, strict=True)):
        width = value.rank - len(term.replace("...", ""))
        if width < 0 or (width > 0 and "..." not in term):
            raise node.error(f"expects {value.rank} labels for input #{index}, but got '{term}'")
        if width > len(ELLIPSIS):
            raise Unsupported(f"has '...' for {width} dimensions, more than {len(ELLIPSIS)}")
        terms[index] = term.replace("...", ELLIPSIS[len(ELLIPSIS) - width :])
        widths.append(width)
    dots = ELLIPSIS[len(ELLIPSIS) - max(widths) :]
    if arrow:
        result = result.replace("...", dots)
    else:
        joined = "".join(terms)
        result = dots + "".join(sorted(c for c in set(joined) - set(dots) if joined.count(c) == 1))
    if len(set(result)) != len(result) or not set(result) <= set("".join(terms)):
        raise node.error(
            f"expects a result of labels that the operands have, each once, but got '{equation}'"
        )
    return terms, result


def _diagonals(e: Emitter, node: Node, x: Value, labels: str) -> Labelled:
    """Take the diagonal over each label that a term has twice."""
    while len(set(labels)) < len(labels):
        second = next(i for i, label in enumerate(labels) if label in labels[:i])
        first = labels.index(labels[second])
        extent, other = x.dims[first], x.dims[second]
        if isinstance(extent, Expr) or isinstance(other, Expr):
            raise Unsupported(f"has '{labels[second]}' twice, of a size that is not known")
        if extent != other:
            raise node.error(
                f"expects one extent for '{labels[second]}', but got {extent} and {other}"
            )
        rest = [i for i in range(x.rank) if i not in (first, second)]
        moved = e.transpose(x, [*rest, first, second])
        lead = moved.dims[:-2]
        line = e.reshape(moved, [*lead, extent * extent])
        steps = [1] * len(lead) + [extent + 1]
        x = e.slice(line, [0] * line.rank, [*lead, extent], steps)
        labels = "".join(labels[i] for i in rest) + labels[first]
    return x, labels


def _keep(e: Emitter, operand: Labelled, needed: set[str]) -> Labelled:
    """Sum over the labels that nothing else needs."""
    x, labels = operand
    axes = [axis for axis, label in enumerate(labels) if label not in needed]
    return e.reduce("sum", x, axes, keepdims=False), "".join(c for c in labels if c in needed)


def _contract(e: Emitter, first: Labelled, second: Labelled, needed: set[str]) -> Labelled:
    """Multiply two operands, summing over the labels that nothing else needs."""
    first = _keep(e, first, needed | set(second[1]))
    second = _keep(e, second, needed | set(first[1]))
    (a, la), (b, lb) = first, second
    batch = [c for c in la if c in lb and c in needed]
    inner = [c for c in la if c in lb and c not in needed]
    rows, columns = [c for c in la if c not in lb], [c for c in lb if c not in la]
    sizes = _sizes([first, second])
    left = _group(e, a, la, [batch, rows, inner], sizes)
    right = _group(e, b, lb, [batch, inner, columns], sizes)
    lead: list[Dim] = [sizes[c] for c in batch]
    m, n = (product([sizes[c] for c in group]) for group in (rows, columns))
    x = e.op("matmul", left, right, dims=[*broadcast([left.dims[:-2], right.dims[:-2]]), m, n])
    labels = [*batch, *rows, *columns]
    return e.reshape(x, [*lead, *(sizes[c] for c in [*rows, *columns])]), "".join(labels)


def _sizes(operands: Iterable[Labelled]) -> dict[str, Dim]:
    sizes: dict[str, Dim] = {}
    for x, labels in operands:
        for label, dim in zip(labels, x.dims, strict=True):
            if sizes.get(label, 1) == 1:
                sizes[label] = dim
    return sizes


def _group(
    e: Emitter, x: Value, labels: str, groups: list[list[str]], sizes: dict[str, Dim]
) -> Tensor:
    """Reorder dimensions by groups; each group but the first becomes one."""
    order = [labels.index(label) for group in groups for label in group]
    moved = e.transpose(x, order)
    batch = moved.dims[: len(groups[0])]
    start = len(batch)
    dims: list[Dim] = list(batch)
    for group in groups[1:]:
        own = moved.dims[start : start + len(group)]
        start += len(group)
        wanted = [sizes[label] for label in group]
        if any(o == 1 and w != 1 for o, w in zip(own, wanted, strict=True)):
            raise Unsupported("broadcasts a dimension that it sums over")
        dims.append(product(own))
    return e.reshape(moved, dims)
