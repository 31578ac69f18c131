"""From a recursive function to the cells of a model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from types import FunctionType

from espalier.recursion.batching import has_own_products
from espalier.recursion.tensors import (
    Block,
    Cell,
    Operation,
    RecursiveError,
    Shape,
    Tensor,
)

REDUCTIONS = ("add", "mul", "max", "min")
STRUCTURE = ("arity", "children", "levels", "roots")
"""The arguments of a program that say what the structures are."""
CALL_PARAMETERS = ("at",)
"""What a model's call takes by name beside arrays."""


@dataclass(frozen=True)
class Signature:
    """What a trace depends on.

    Attributes:
        structure: "tree", "sequence" or "dag".
        arity: of interior nodes, 0 for any.
        weights: shapes of weights by name.
        features: shapes of the rows of features by name.
        dtypes: element types of weights and features, by name.
    """

    structure: str
    arity: int
    weights: Mapping[str, Shape]
    features: Mapping[str, Shape]
    dtypes: Mapping[str, str]


@dataclass(eq=False)
class Trace:
    """A model: a cell for leaves and one for interior nodes.

    Attributes:
        file: where the function is that it was made of.
    """

    name: str
    file: str
    signature: Signature
    leaf: Block
    interior: Block

    @property
    def results(self) -> list[Shape]:
        """The shapes of a node's results."""
        return [t.shape for t in self.leaf.results]

    @functools.cached_property
    def inputs(self) -> dict[str, str]:
        """What the program's arguments are called for features, and then for weights."""
        taken, names = set(STRUCTURE), {}
        for name in (*self.signature.features, *self.signature.weights):
            names[name] = unique_name(name, taken)
            taken.add(names[name])
        return names

    @functools.cached_property
    def has_large_nodes(self) -> bool:
        """Whether one thread computes interior nodes one by one as fast as together."""
        return has_own_products(self.interior)

    @functools.cached_property
    def vocabularies(self) -> tuple[dict[str, int], dict[str, int]]:
        """The least number of rows that numbers of a feature or weight are indices of.

        The first is by what leaves read, the second by what interior nodes do.
        """
        leaf: dict[str, int] = {}
        interior: dict[str, int] = {}
        _add_vocabularies(self.leaf, {}, leaf)
        _add_vocabularies(self.interior, {}, interior)
        return leaf, interior


def unique_name(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken."""
    while name in taken:
        name += "_"
    return name


def _add_vocabularies(block: Block, sources: dict[Tensor, set[str]], sizes: dict[str, int]) -> None:
    """Enter what a block reads rows by.

    Arguments:
        sources: the features and weights that tensors known so far consist of.
    """
    for op in block.operations:
        operands = op.operands
        if op.name == "gather":
            table, numbers = operands
            for name in sources.get(numbers, ()):
                sizes[name] = min(table.shape[0], sizes.get(name, table.shape[0]))
            operands = (table,)
        derived = {name for t in operands for name in sources.get(t, ())}
        if op.name in ("argument", "feature"):
            derived.add(str(op.attributes["source"]))
        sources.update(dict.fromkeys(op.results, derived))
        if op.body:
            _add_vocabularies(op.body, sources, sizes)


class Node:
    """The node that a traced function is called with.

    Attributes:
        is_leaf: whether the node has no children.
    """

    def __init__(self, tracer: Tracer, is_leaf: bool) -> None:
        self._tracer = tracer
        self.is_leaf = is_leaf

    @property
    def children(self) -> list[Child]:
        """The children of a node of fixed arity."""
        arity = self._tracer.signature.arity
        if self.is_leaf or not arity:
            self._tracer.cell.fail(
                "expects an interior node of fixed arity for its children one by one; "
                "`node.reduce` is for any number of them"
            )
        return [Child(k) for k in range(arity)]

    def zeros(self, *shape: int) -> Tensor:
        """Return zeros, such as the state before the first node."""
        cell = self._tracer.cell
        return cell.add("constant", [], cell.extents(shape), value=0.0)

    def sum(self, body: Callable[..., Tensor | tuple[Tensor, ...]]) -> Tensor | tuple[Tensor, ...]:
        """Add up what `body` makes of each child's results."""
        return self.reduce("add", body)

    def reduce(
        self, kind: str, body: Callable[..., Tensor | tuple[Tensor, ...]]
    ) -> Tensor | tuple[Tensor, ...]:
        """Combine what `body` makes of each child's results by add, mul, max or min."""
        if kind not in REDUCTIONS:
            self._tracer.cell.fail(f"expects one of {', '.join(REDUCTIONS)}, but got {kind!r}")
        if not callable(body):
            self._tracer.cell.fail(
                f"expects a function of a child's results, but got {type(body).__name__}"
            )
        return self._tracer.reduce(self, kind, body)

    def __getattr__(self, name: str) -> Tensor:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._tracer.feature(name)


NODE_ATTRIBUTES = frozenset(name for name in dir(Node) if not name.startswith("_")) | {"is_leaf"}


@dataclass(frozen=True)
class Child:
    """A child of the traced node; the function may be called on it."""

    number: int


class Tracer:
    """Calls a function once for leaves and once for interior nodes."""

    def __init__(self, function: FunctionType, signature: Signature) -> None:
        self.function = function
        self.signature = signature
        self.cell = Cell(function.__code__)
        self.shapes: list[Shape] = []
        self.is_inside = False

    def run(self) -> Trace:
        """Return both cells; interior nodes have the results that leaves have."""
        leaf = self._trace(is_leaf=True)
        self.shapes = [t.shape for t in leaf.results]
        interior = self._trace(is_leaf=False)
        shapes = [t.shape for t in interior.results]
        if shapes != self.shapes:
            self.cell.fail(
                f"expects results of interior nodes as of leaves, {self.shapes}, but got {shapes}"
            )
        file = self.function.__code__.co_filename
        return Trace(self.function.__name__, file, self.signature, leaf, interior)

    def _trace(self, is_leaf: bool) -> Block:
        self.cell = Cell(self.function.__code__)
        weights = {
            name: self.cell.add("argument", [], shape, self.signature.dtypes[name], source=name)
            for name, shape in self.signature.weights.items()
        }
        block = self.cell.block
        block.results = self._results(self.function(Node(self, is_leaf), **weights))
        return block

    def _results(self, value: object) -> tuple[Tensor, ...]:
        values = value if isinstance(value, tuple) else (value,)
        for one in values:
            if not isinstance(one, Tensor) or one.dtype != "f32":
                self.cell.fail(f"expects tensors to be returned, but got {type(one).__name__}")
            self.cell.require(one)
        return values  # type: ignore[return-value]

    def feature(self, name: str) -> Tensor:
        """Read the node's row of a feature."""
        if name not in self.signature.features:
            self.cell.fail(
                f"expects one of the features {sorted(self.signature.features)}, but got '{name}'"
            )
        shape, dtype = self.signature.features[name], self.signature.dtypes[name]
        return self.cell.add("feature", [], shape, dtype, source=name)

    def call(self, child: Child) -> Tensor | tuple[Tensor, ...]:
        """Call the model on a child."""
        if self.is_inside:
            self.cell.fail("expects calls outside of a reduction, whose body has the results")
        results = tuple(self.cell.tensor(shape) for shape in self.shapes)
        self.cell.block.operations.append(
            Operation("call", (), results, {"child": child.number}, self.cell.line())
        )
        return results if len(results) > 1 else results[0]

    def reduce(
        self, node: Node, kind: str, body: Callable[..., Tensor | tuple[Tensor, ...]]
    ) -> Tensor | tuple[Tensor, ...]:
        """Trace `body` for a child, and combine what it gives for all children."""
        if node.is_leaf or self.is_inside:
            self.cell.fail("expects an interior node, and no other reduction around")
        inner = Block(tuple(self.cell.tensor(shape) for shape in self.shapes))
        outer, self.cell.block = self.cell.block, inner
        self.is_inside = True
        try:
            inner.results = self._results(body(*inner.arguments))
        finally:
            self.cell.block, self.is_inside = outer, False
            self.cell.closed.update(inner.arguments)
            self.cell.closed.update(t for op in inner.operations for t in op.results)
        results = tuple(self.cell.tensor(t.shape) for t in inner.results)
        outer.operations.append(
            Operation("children", (), results, {"kind": kind}, self.cell.line(), inner)
        )
        return results if len(results) > 1 else results[0]


def weight_names(function: FunctionType) -> tuple[str, ...]:
    """Return the names of a function's parameters after the node."""
    name = function.__name__
    parameters = list(inspect.signature(function).parameters.values())
    for number, parameter in enumerate(parameters):
        wrong = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind)
        if wrong:
            raise RecursiveError(
                f"'{name}' expects parameters with names, but got {wrong}{parameter.name}"
            )
        if number and parameter.kind == parameter.POSITIONAL_ONLY:
            raise RecursiveError(
                f"'{name}' expects weights by name, but '{parameter.name}' has a position alone"
            )
        if number and parameter.name in CALL_PARAMETERS:
            raise RecursiveError(
                f"'{name}' expects weights that are not called '{parameter.name}', which is an "
                "argument of the model's call"
            )
    if not parameters or parameters[0].kind == inspect.Parameter.KEYWORD_ONLY:
        raise RecursiveError(f"'{name}' expects the node as its first parameter, but has none")
    return tuple(parameter.name for parameter in parameters[1:])
