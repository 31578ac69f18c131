"""Affine expressions of loop variables and sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from espalier.errors import expect

if TYPE_CHECKING:
    from espalier.kernels.tree import Load


class Operators:
    """Arithmetic that gives affine expressions."""

    def affine(self) -> Affine:
        """Return the operand as an expression."""
        raise NotImplementedError

    def __add__(self, other: Operators | int) -> Affine:
        return self.affine().plus(to_affine(other), 1)

    def __radd__(self, other: int) -> Affine:
        return to_affine(other).plus(self.affine(), 1)

    def __sub__(self, other: Operators | int) -> Affine:
        return self.affine().plus(to_affine(other), -1)

    def __rsub__(self, other: int) -> Affine:
        return to_affine(other).plus(self.affine(), -1)

    def __neg__(self) -> Affine:
        return self.affine() * -1

    def __mul__(self, factor: int) -> Affine:
        own = self.affine()
        return Affine({atom: c * factor for atom, c in own.terms.items()}, own.constant * factor)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Affine:
        whole, rest = self.affine().split(divisor)
        return whole if rest.number is not None else whole + Affine({Quotient(rest, divisor): 1})

    def __mod__(self, divisor: int) -> Affine:
        _, rest = self.affine().split(divisor)
        return rest if rest.number is not None else Affine({Remainder(rest, divisor): 1})


class Atom(Operators):
    """What is not taken apart further."""

    def affine(self) -> Affine:
        """Return the atom as an expression."""
        return Affine({self: 1})


@dataclass(frozen=True)
class Size(Atom):
    """A size that is known when a kernel is called; see `sizes`."""

    name: str

    def __index__(self) -> int:
        raise TypeError(f"expects size '{self.name}' inside a kernel, where it has a value")


@dataclass(frozen=True)
class Dim(Atom):
    """A loop variable."""

    name: str


@dataclass(frozen=True)
class Loaded(Atom):
    """An integer that was read from an array."""

    load: Load


@dataclass(frozen=True)
class Quotient(Atom):
    """A quotient, rounded down, by a positive number."""

    dividend: Affine
    divisor: int


@dataclass(frozen=True)
class Remainder(Atom):
    """What is left by a quotient that is rounded down; not negative."""

    dividend: Affine
    divisor: int


@dataclass(frozen=True)
class Affine(Operators):
    """A sum of atoms with integer factors, and a constant."""

    terms: Mapping[Atom, int] = field(default_factory=dict)
    constant: int = 0

    def __post_init__(self) -> None:
        kept = {atom: factor for atom, factor in self.terms.items() if factor != 0}
        object.__setattr__(self, "terms", kept)

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant))

    def affine(self) -> Affine:
        """Return this expression."""
        return self

    def plus(self, other: Affine, factor: int) -> Affine:
        """Add a multiple of another expression."""
        terms = dict(self.terms)
        for atom, own in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * own
        return Affine(terms, self.constant + factor * other.constant)

    def split(self, divisor: int) -> tuple[Affine, Affine]:
        """Return what `divisor` divides, by it, and the rest."""
        whole, constant = divmod(self.constant, divisor)
        exact = {a: c // divisor for a, c in self.terms.items() if c % divisor == 0}
        rest = {a: c for a, c in self.terms.items() if c % divisor != 0}
        return Affine(exact, whole), Affine(rest, constant)

    @property
    def number(self) -> int | None:
        """The value, if it is a constant."""
        return None if self.terms else self.constant

    @property
    def atom(self) -> Atom | None:
        """The atom that this is, if it is nothing else."""
        if self.constant == 0 and list(self.terms.values()) == [1]:
            return next(iter(self.terms))
        return None

    def atoms(self) -> Iterator[Atom]:
        """Yield the loop variables, sizes and loaded values, with repetitions."""
        for atom in self.terms:
            if isinstance(atom, Quotient | Remainder):
                yield from atom.dividend.atoms()
            else:
                yield atom

    def loads(self) -> list[Load]:
        """Return the elements that are added up here, whatever their factors."""
        return [atom.load for atom in self.terms if isinstance(atom, Loaded)]

    def largest(self) -> Affine:
        """Put the bounds of loaded values in their places, so that nothing is less."""
        result = Affine({}, self.constant)
        for atom, factor in self.terms.items():
            value = atom.affine()
            if isinstance(atom, Loaded):
                bound = atom.load.array.type.bounded_by
                assert bound is not None, "loops have bounds that are bounded"
                value = bound - 1 if factor > 0 else Affine()
            result = result.plus(value, factor)
        return result

    def replace(self, values: Mapping[Dim, Affine]) -> Affine:
        """Put expressions in the place of loop variables."""
        result = Affine({}, self.constant)
        for atom, factor in self.terms.items():
            if isinstance(atom, Quotient | Remainder):
                value = type(atom)(atom.dividend.replace(values), atom.divisor).affine()
            elif isinstance(atom, Loaded):
                inner = tuple(s.replace(values) for s in atom.load.subscripts)
                value = Loaded(dataclasses.replace(atom.load, subscripts=inner)).affine()
            else:
                value = values[atom] if isinstance(atom, Dim) and atom in values else atom.affine()
            result = result.plus(value, factor)
        return result

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """Return the value for given sizes; there are no loop variables."""
        result = self.constant
        for atom, factor in self.terms.items():
            if isinstance(atom, Quotient):
                value = atom.dividend.evaluate(sizes) // atom.divisor
            elif isinstance(atom, Remainder):
                value = atom.dividend.evaluate(sizes) % atom.divisor
            else:
                assert isinstance(atom, Size), "there are only sizes"
                value = sizes[atom.name]
            result += factor * value
        return result

    def text(
        self, name: Callable[[Atom], str], quotient: str = "{} floordiv {}", rest: str = "{} mod {}"
    ) -> str:
        """Return the expression as text, in MLIR's syntax if not told otherwise.

        Arguments:
            name: the text of a loop variable, size or loaded value.
            quotient: the text of a quotient, with two places for operands.
            rest: that of a remainder.
        """
        parts = []
        for atom, factor in self.terms.items():
            if isinstance(atom, Quotient | Remainder):
                inner = f"({atom.dividend.text(name, quotient, rest)})"
                form = quotient if isinstance(atom, Quotient) else rest
                text = f"({form.format(inner, atom.divisor)})"
            else:
                text = name(atom)
            sign = "- " if factor < 0 else "+ "
            parts.append(sign + (text if abs(factor) == 1 else f"{abs(factor)} * {text}"))
        if self.constant or not parts:
            parts.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        first = parts[0][2:] if parts[0].startswith("+") else "-" + parts[0][2:]
        return " ".join([first, *parts[1:]])

    def __str__(self) -> str:
        return self.text(lambda atom: getattr(atom, "name", str(atom)))


def to_affine(value: Operators | int) -> Affine:
    """Return a number or an operand as an expression."""
    expect("a size or a number", value, int | Operators)
    return Affine({}, value) if isinstance(value, int) else value.affine()
