"""A kernel as a tree of loops, conditions and assignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from espalier.kernels.affine import Affine, Dim, Size
from espalier.kernels.types import ArrayType, ScalarType

INDEX = ScalarType("index")
"""The type of loop variables and sizes."""
TRUTH = ScalarType("i1")
"""The type of comparisons."""


@dataclass(frozen=True)
class Array:
    """An array argument, or one that lives while the kernel runs.

    Arguments:
        iterations: of a scalar, how many loops it has an element for each iteration
            of; see `make_private`.
    """

    name: str
    type: ArrayType
    is_local: bool = False
    iterations: int = 0


@dataclass(frozen=True)
class Scalar:
    """A scalar argument."""

    name: str
    type: ScalarType


Argument = Array | Scalar


@dataclass(frozen=True)
class Number:
    """A literal; without a type, it takes that of what it is combined with."""

    value: int | float
    type: ScalarType | None = None


@dataclass(frozen=True)
class Index:
    """The value of an affine expression."""

    value: Affine
    type: ScalarType = INDEX


@dataclass(frozen=True)
class Load:
    """An element of an array."""

    array: Array
    subscripts: tuple[Affine, ...]

    @property
    def type(self) -> ScalarType:
        """The element type."""
        return self.array.type.element


@dataclass(frozen=True)
class Apply:
    """A function of scalars.

    `function` is one of add, sub, mul, div, floordiv, mod, neg, max, min, abs;
    a function of Python's `math`; eq, ne, lt, le, gt, ge, and, or, not; select
    (a condition, then two values); or convert. A choice between literals has no
    type of its own.
    """

    function: str
    operands: tuple[Expr, ...]
    type: ScalarType | None


Expr = Number | Index | Load | Scalar | Apply


def change_leaves(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return an expression with what is no function of others changed."""
    if isinstance(expr, Apply):
        operands = tuple(change_leaves(operand, change) for operand in expr.operands)
        return replace(expr, operands=operands)
    return change(expr)


def loads(expr: Expr) -> Iterator[Load]:
    """Yield the elements that an expression reads, those inside subscripts first."""
    if isinstance(expr, Apply):
        for operand in expr.operands:
            yield from loads(operand)
    elif isinstance(expr, Load):
        yield from subscript_loads(expr.subscripts)
        yield expr


def subscript_loads(subscripts: Sequence[Affine]) -> Iterator[Load]:
    """Yield the elements that subscripts depend on."""
    for subscript in subscripts:
        for atom in subscript.atoms():
            if load := getattr(atom, "load", None):
                yield from loads(load)


@dataclass(frozen=True)
class Constraint:
    """An expression that is zero, or not negative."""

    value: Affine
    is_equality: bool = False


@dataclass(frozen=True)
class Condition:
    """A union of intersections of constraints."""

    cases: tuple[tuple[Constraint, ...], ...]

    def negate(self) -> Condition:
        """Return the condition that holds where this one does not."""
        result = Condition(((),))
        for case in self.cases:
            opposites: list[tuple[Constraint, ...]] = []
            for constraint in case:
                opposites.append((Constraint(-constraint.value - 1),))
                if constraint.is_equality:
                    opposites.append((Constraint(constraint.value - 1),))
            result = result.both(Condition(tuple(opposites)))
        return result

    def both(self, other: Condition) -> Condition:
        """Return the condition that holds where both hold."""
        return Condition(tuple(a + b for a, b in product(self.cases, other.cases)))

    def either(self, other: Condition) -> Condition:
        """Return the condition that holds where one of both holds."""
        return Condition(self.cases + other.cases)


@dataclass(frozen=True)
class Combining:
    """How two states become one.

    Arguments:
        first, second: what stands for the numbers of two states.
        values: those of the state that they become.
        neutral: the state that changes nothing.
    """

    name: str
    first: tuple[Scalar, ...]
    second: tuple[Scalar, ...]
    values: tuple[Expr, ...]
    neutral: tuple[Number, ...]
    is_commutative: bool
    file: str
    line: int

    def apply(self, states: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the values for two states, the numbers of the first before the other's."""
        values = dict(zip((*self.first, *self.second), states, strict=True))

        def change(expr: Expr) -> Expr:
            return values[expr] if isinstance(expr, Scalar) else expr

        return tuple(change_leaves(value, change) for value in self.values)


@dataclass(frozen=True)
class Assign:
    """Stores a value, or several at once.

    With `reduction`, the value combines the element that is stored to with
    something that does not depend on it: by add, mul, max or min, or as stated.
    """

    name: str
    targets: tuple[Load, ...]
    values: tuple[Expr, ...]
    reduction: str | Combining | None
    line: int

    def accesses(self) -> Iterator[Load]:
        """Yield all elements that are read or stored to."""
        for target in self.targets:
            yield target
            yield from subscript_loads(target.subscripts)
        for value in self.values:
            yield from loads(value)


@dataclass(frozen=True)
class Loop:
    """Runs its body for each value of a variable.

    Arguments:
        first: the first value is the largest of these; one, unless step is 1.
        limit: the values lie below all of these, or above for a negative step.
    """

    dim: Dim
    first: tuple[Affine, ...]
    limit: tuple[Affine, ...]
    step: int
    body: tuple[Node, ...]
    line: int


@dataclass(frozen=True)
class Guard:
    """Runs its body where a condition holds, and `otherwise` elsewhere."""

    condition: Condition
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...] = ()


Node = Assign | Loop | Guard


@dataclass(frozen=True)
class Tree:
    """A whole kernel.

    Arguments:
        sizes: in the order in which the text mentions them.
        assumptions: what is asserted of the sizes.
        file: where the text is.
    """

    name: str
    arguments: tuple[Argument, ...]
    locals: tuple[Array, ...]
    sizes: tuple[Size, ...]
    assumptions: tuple[Constraint, ...]
    body: tuple[Node, ...]
    file: str


@dataclass(frozen=True)
class Computation:
    """An assignment with what is around it.

    Arguments:
        dims: its loop variables, outermost first.
        domain: the values that they take.
        shared: how many loops it has in common with the computation before it.
    """

    assign: Assign
    dims: tuple[Dim, ...]
    domain: Condition
    shared: int


@dataclass
class _Flattening:
    """Turns a tree into computations."""

    computations: list[Computation] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    last: list[Loop] = field(default_factory=list)

    def visit(self, nodes: Sequence[Node], domain: Condition) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.loops.append(node)
                self.visit(node.body, domain.both(_range_of(node)))
                self.loops.pop()
            elif isinstance(node, Guard):
                self.visit(node.body, domain.both(node.condition))
                self.visit(node.otherwise, domain.both(node.condition.negate()))
            else:
                self.add(node, domain)

    def add(self, assign: Assign, domain: Condition) -> None:
        shared = 0
        for loop, before in zip(self.loops, self.last, strict=False):
            if loop is not before:
                break
            shared += 1
        dims = tuple(loop.dim for loop in self.loops)
        # Points run in ascending order: a loop that counts down has the
        # negative of its variable as dimension.
        down = {loop.dim: -loop.dim for loop in self.loops if loop.step < 0}
        if down:
            domain = Condition(
                tuple(
                    tuple(replace(c, value=c.value.replace(down)) for c in case)
                    for case in domain.cases
                )
            )
            assign = replace_dims(assign, down)
        self.computations.append(Computation(assign, dims, domain, shared))
        self.last = list(self.loops)


def _range_of(loop: Loop) -> Condition:
    sign = 1 if loop.step > 0 else -1
    constraints = [Constraint((loop.dim - first) * sign) for first in loop.first]
    constraints += [Constraint((limit - loop.dim) * sign - 1) for limit in loop.limit]
    if abs(loop.step) != 1:
        rest = (loop.dim - loop.first[0]) * sign % abs(loop.step)
        constraints.append(Constraint(rest, is_equality=True))
    return Condition((tuple(constraints),))


def replace_dims(assign: Assign, values: dict[Dim, Affine]) -> Assign:
    """Put expressions in the place of loop variables."""

    def change(expr: Expr) -> Expr:
        if isinstance(expr, Index):
            return Index(expr.value.replace(values))
        return in_load(expr) if isinstance(expr, Load) else expr

    def in_load(load: Load) -> Load:
        return Load(load.array, tuple(s.replace(values) for s in load.subscripts))

    return replace(
        assign,
        targets=tuple(map(in_load, assign.targets)),
        values=tuple(change_leaves(value, change) for value in assign.values),
    )


def computations(tree: Tree) -> list[Computation]:
    """Return the computations of a kernel in program order."""
    flattening = _Flattening()
    flattening.visit(tree.body, Condition(((),)))
    return flattening.computations
