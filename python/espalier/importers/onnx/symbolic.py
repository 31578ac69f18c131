"""Integer expressions over sizes that are known only at run time.

An expression is a polynomial with integer coefficients. Its variables
("atoms") are sizes, which are never negative, and quotients, remainders,
minima and maxima of other expressions that did not simplify.

    (2*n*s + 6*s) / (2*s)  ->  n + 3
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Size:
    """The extent of one dimension of a tensor of the program."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Apply:
    """A function of two expressions that has no polynomial form."""

    function: str
    left: Expr
    right: Expr

    def __str__(self) -> str:
        return f"{self.function}({self.left}, {self.right})"


Atom = Size | Apply
Monomial = tuple[Atom, ...]


def _monomial(atoms: Monomial) -> Monomial:
    return tuple(sorted(atoms, key=str))


class Expr:
    """An immutable polynomial; equal polynomials compare equal."""

    __slots__ = ("_key", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {monomial: c for monomial, c in terms.items() if c != 0}
        self._key = frozenset(self.terms.items())

    @staticmethod
    def size(name: str) -> Expr:
        """Return the expression that is one size."""
        return Expr({(Size(name),): 1})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        def show(monomial: Monomial, coefficient: int) -> str:
            factors = [str(atom) for atom in monomial]
            return "*".join([str(coefficient)] * (coefficient != 1 or not factors) + factors)

        terms = sorted(self.terms.items(), key=lambda term: (-len(term[0]), str(term[0])))
        return " + ".join(show(*term) for term in terms)

    __repr__ = __str__

    def __add__(self, other: Dim) -> Dim:
        terms = dict(self.terms)
        for monomial, c in lift(other).terms.items():
            terms[monomial] = terms.get(monomial, 0) + c
        return lower(Expr(terms))

    def __mul__(self, other: Dim) -> Dim:
        terms: dict[Monomial, int] = {}
        for a, ca in self.terms.items():
            for b, cb in lift(other).terms.items():
                monomial = _monomial(a + b)
                terms[monomial] = terms.get(monomial, 0) + ca * cb
        return lower(Expr(terms))

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + -other

    def __rsub__(self, other: Dim) -> Dim:
        return -self + other


Dim = int | Expr
"""An extent: a number, or an expression over sizes of the program."""


def lift(value: Dim) -> Expr:
    """Make a number an expression."""
    return value if isinstance(value, Expr) else Expr({(): int(value)})


def lower(expr: Expr) -> Dim:
    """Make an expression without atoms a number."""
    if not expr.terms:
        return 0
    return expr.terms[()] if set(expr.terms) == {()} else expr


def _leading(expr: Expr) -> tuple[Monomial, int]:
    return max(expr.terms.items(), key=lambda term: (len(term[0]), [str(a) for a in term[0]]))


def divide_exactly(left: Dim, right: Dim) -> Dim | None:
    """Return left / right if it is a polynomial, by long division."""
    rest, quotient = lift(left), Expr({})
    divisor = lift(right)
    if not divisor.terms:
        return None
    head, head_coefficient = _leading(divisor)
    for _ in range(64):
        if not rest.terms:
            return lower(quotient)
        monomial, coefficient = _leading(rest)
        remaining = list(monomial)
        for atom in head:
            if atom not in remaining:
                return None
            remaining.remove(atom)
        if coefficient % head_coefficient:
            return None
        term = Expr({_monomial(tuple(remaining)): coefficient // head_coefficient})
        quotient = lift(quotient + term)
        rest = lift(rest - term * divisor)
    return None


def lower_bound(value: Dim) -> int | None:
    """Return a number that the value cannot be less than, if one is known."""
    total = 0
    for monomial, coefficient in lift(value).terms.items():
        if not monomial:
            total += coefficient
        elif coefficient < 0 or not all(_atom_nonnegative(atom) for atom in monomial):
            return None
    return total


def _atom_nonnegative(atom: Atom) -> bool:
    if isinstance(atom, Size):
        return True
    bounds = [lower_bound(side) for side in (atom.left, atom.right)]
    known = [bound is not None and bound >= 0 for bound in bounds]
    return any(known) if atom.function == "max" else all(known)


def _truncate(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "div": _truncate,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "max": max,
    "min": min,
}


def apply(function: str, left: Dim, right: Dim) -> Dim:
    """Return div, floordiv, mod, max or min of two values, simplified.

    `div` rounds towards zero, as ONNX does on integers.
    """
    if isinstance(left, int) and isinstance(right, int):
        if right == 0 and function in ("div", "floordiv", "mod"):
            raise ZeroDivisionError("expects a divisor other than 0")
        return _NUMBERS[function](left, right)
    if function in ("div", "floordiv", "mod"):
        exact = divide_exactly(left, right)
        if exact is not None:
            return 0 if function == "mod" else exact
    if function in ("max", "min"):
        order = compare(left, right)
        if order is not None:
            larger, smaller = (left, right) if order >= 0 else (right, left)
            return larger if function == "max" else smaller
    return Expr({(Apply(function, lift(left), lift(right)),): 1})


def compare(left: Dim, right: Dim) -> int | None:
    """Return 1, 0 or -1 if left is always at least, equal to or at most right.

    1 and -1 do not exclude equality; `differs` does.
    """
    if left == right:
        return 0
    bound = lower_bound(left - right)
    if bound is not None and bound >= 0:
        return 1
    bound = lower_bound(right - left)
    return -1 if bound is not None and bound >= 0 else None


def differs(left: Dim, right: Dim) -> bool:
    """Say whether the two values are certainly not equal."""
    return any(
        bound is not None and bound > 0
        for bound in (lower_bound(left - right), lower_bound(right - left))
    )


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    """Return the product of extents."""
    return math.prod(dims, start=1)


FAR = 2**31 - 1
"""Bounds of a slice from here on mean "to the end", whatever the size, and such a step takes
one element."""


def slice_step(step: int) -> int:
    """Return a step that takes what ONNX's `step` takes, and that kernels have room for."""
    return max(-FAR, min(step, FAR))


def slice_range(extent: Dim, start: Dim, end: Dim, step: int) -> tuple[Dim, Dim]:
    """Return the offset and the number of elements of ONNX's `start:end:step`.

    A negative bound counts from the end. Then the start is moved to an element
    and the end to one or just beyond, so that `-9:-9:-1` is the first element,
    where NumPy has none.
    """
    if step > 0:
        first, last = _clamp_bound(start, extent, 0, extent), _clamp_bound(end, extent, 0, extent)
        room = last - first
    else:
        first = _clamp_bound(start, extent, 0, extent - 1)
        last = _clamp_bound(end, extent, -1, extent - 1)
        room = first - last
    return first, -apply("floordiv", -apply("max", room, 0), abs(step))


def _clamp_bound(bound: Dim, extent: Dim, low: Dim, high: Dim) -> Dim:
    """Count a bound from the front, and move it between `low` and `high`."""
    if isinstance(bound, int):
        if bound >= FAR:
            return high
        if bound <= -FAR:
            return apply("min", low, high)
    least, most = lower_bound(bound), lower_bound(-bound)
    if least is None or least < 0:
        # One of the two cases, or -1 where the bound is negative and else 0.
        is_negative = -1 if most is not None and most > 0 else _sign(bound)
        bound = bound - extent * is_negative
    return apply("min", apply("max", bound, low), high)


def _sign(value: Dim) -> Dim:
    """Return -1 for a negative number, else 0."""
    return apply("max", apply("min", value, 0), -1)
