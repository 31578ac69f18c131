"""From a tree to a module of the poly dialect, as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from espalier.kernels.affine import Affine, Atom, Dim, Loaded, Size
from espalier.kernels.bounds import index_bounds
from espalier.kernels.private import make_private
from espalier.kernels.tree import (
    INDEX,
    Apply,
    Array,
    Combining,
    Computation,
    Condition,
    Constraint,
    Expr,
    Index,
    Load,
    Number,
    Scalar,
    Tree,
    computations,
    loads,
    subscript_loads,
)
from espalier.kernels.types import ScalarType

_FLOAT_OPS = {
    "add": "arith.addf",
    "sub": "arith.subf",
    "mul": "arith.mulf",
    "div": "arith.divf",
    "max": "arith.maximumf",
    "min": "arith.minimumf",
    "neg": "arith.negf",
    "abs": "math.absf",
    "pow": "math.powf",
}
"""Other functions have the same name in the dialect `math`."""
_INTEGER_OPS = {
    "add": "arith.addi",
    "sub": "arith.subi",
    "mul": "arith.muli",
    "floordiv": "arith.floordivsi",
    "max": "arith.maxsi",
    "min": "arith.minsi",
    "and": "arith.andi",
    "or": "arith.ori",
    "abs": "math.absi",
}
_FLOAT_PREDICATES = {
    "eq": "oeq",
    "ne": "une",
    "lt": "olt",
    "le": "ole",
    "gt": "ogt",
    "ge": "oge",
}
_INTEGER_PREDICATES = {
    "eq": "eq",
    "ne": "ne",
    "lt": "slt",
    "le": "sle",
    "gt": "sgt",
    "ge": "sge",
}


def to_mlir(tree: Tree) -> str:
    """Return a module with one `poly.kernel`, in which computations have locations."""
    tree = make_private(tree)
    writer = _KernelWriter(tree)
    lines = [f"module {{\n{writer.signature()}"]
    lines += [*writer.locals(), *writer.combiners()]
    lines += [line for c in computations(tree) for line in writer.computation(c)]
    return "\n".join([*lines, "}", "}", ""])


class _KernelWriter:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.bounds = index_bounds(tree)
        self.symbols = {size: f"s{i}" for i, size in enumerate(tree.sizes)}

    def signature(self) -> str:
        """Return the head of the kernel."""
        arguments = []
        for argument in self.tree.arguments:
            attributes = f'espalier.name = "{argument.name}"'
            if isinstance(argument, Array):
                attributes += f", poly.shape = {self.map((), argument.type.extents)}"
                attributes += self.facts(argument)
                kind = _memref(argument)
            else:
                kind = argument.type.name
            arguments.append(f"%v.{argument.name}: {kind} {{{attributes}}}")
        for size in self.tree.sizes:
            arguments.append(f'%n.{size.name}: index {{espalier.name = "{size.name}"}}')
        attributes = ""
        if self.tree.assumptions:
            assumptions = self.set((), self.tree.assumptions)
            attributes = f" attributes {{poly.assumptions = {assumptions}}}"
        return f"poly.kernel @{self.tree.name}({', '.join(arguments)}){attributes} {{"

    def facts(self, array: Array) -> str:
        """Return what holds for the values of an argument, as attributes."""
        bound = array.type.bounded_by or self.bounds.get(array.name)
        text = "" if bound is None else f", poly.bounded_by = {self.map((), [bound])}"
        text += ", poly.monotonic" if array.type.monotonic else ""
        return text + (", poly.injective" if array.type.injective else "")

    def locals(self) -> Iterator[str]:
        """Yield the arrays that live while the kernel runs."""
        for array in self.tree.locals:
            name = f'{{espalier.name = "{array.name}"}}'
            if array.iterations:
                kind, dims = (
                    array.type.element.name,
                    ", ".join(f"d{i}" for i in range(array.iterations)),
                )
                yield (
                    f"%v.{array.name} = poly.array stack {name} : {_memref(array)} "
                    f"storage affine_map<({dims}) -> ()> as memref<{kind}>"
                )
                continue
            names = [
                f"%n.{extent.atom.name}"
                for extent in array.type.extents
                if isinstance(extent.atom, Size)
            ]
            place = "heap" if array.type.extents else "stack"
            operands = f"({', '.join(names)})" if names else ""
            yield f"%v.{array.name} = poly.array {place}{operands} {name} : {_memref(array)}"

    def map(
        self, dims: Sequence[Dim], results: Sequence[Affine], reads: Sequence[Load] = ()
    ) -> str:
        """Return an affine map.

        Arguments:
            reads: what later symbols stand for; empty if nothing loaded occurs.
        """
        symbols = [*self.symbols.values(), *(f"r{i}" for i in range(len(reads)))]
        text = ", ".join(result.text(self.namer(dims, reads)) for result in results)
        return f"affine_map<({_dims(dims)})[{', '.join(symbols)}] -> ({text})>"

    def namer(self, dims: Sequence[Dim], reads: Sequence[Load] = ()) -> Callable[[Atom], str]:
        """Return the function that names atoms."""

        def name(atom: Atom) -> str:
            if isinstance(atom, Size):
                return self.symbols[atom]
            if isinstance(atom, Loaded):
                return f"r{reads.index(atom.load)}"
            assert isinstance(atom, Dim), "there is nothing else"
            return f"d{dims.index(atom)}"

        return name

    def domain(self, dims: Sequence[Dim], domain: Condition) -> str:
        """Return a union of integer sets; values that are read may be anything."""
        cases = [
            [Constraint(c.value.largest(), c.is_equality) for c in case] for case in domain.cases
        ]
        return f"[{', '.join(self.set(dims, case) for case in cases)}]"

    def where(self, dims: Sequence[Dim], domain: Condition, reads: Sequence[Load]) -> str:
        """Return the condition on what is read, if there is one: that of its loops."""
        constraints = [c for c in domain.cases[0] if c.value.loads()]
        return f" where {self.set(dims, constraints, reads)}" if constraints else ""

    def set(
        self, dims: Sequence[Dim], constraints: Sequence[Constraint], reads: Sequence[Load] = ()
    ) -> str:
        """Return an integer set."""
        symbols = [*self.symbols.values(), *(f"r{i}" for i in range(len(reads)))]
        text = ", ".join(
            f"{c.value.text(self.namer(dims, reads))} {'==' if c.is_equality else '>='} 0"
            for c in constraints
        )
        return f"affine_set<({_dims(dims)})[{', '.join(symbols)}] : ({text})>"

    def accesses(self, dims: Sequence[Dim], accesses: Sequence[Load], reads: list[Load]) -> str:
        """Return accesses; a subscript may use what is read before it."""
        maps, types = [], []
        for number, access in enumerate(accesses):
            before = reads if accesses is not reads else reads[:number]
            if not list(subscript_loads(access.subscripts)):
                before = []
            maps.append(f"%v.{access.array.name}[{self.map(dims, access.subscripts, before)}]")
            types.append(_memref(access.array))
        return f"({', '.join(maps)} : {', '.join(types)})" if maps else "()"

    def computation(self, computation: Computation) -> Iterator[str]:
        """Yield one computation."""
        assign, dims = computation.assign, computation.dims
        reads: list[Load] = []
        bounds = [load for c in computation.domain.cases[0] for load in c.value.loads()]
        places = [load for target in assign.targets for load in subscript_loads(target.subscripts)]
        operands = [load for value in assign.values for load in loads(value)]
        for load in [*bounds, *places, *operands]:
            if load not in reads:
                reads.append(load)
        names = ", ".join(f'"{dim.name}"' for dim in dims)
        yield (
            f"poly.compute @{assign.name}"
            + (f" dims [{names}]" if dims else "")
            + f" domain {self.domain(dims, computation.domain)}"
            + self.where(dims, computation.domain, reads)
        )
        yield f"    reads{self.accesses(dims, reads, reads)}"
        yield f"    writes{self.accesses(dims, assign.targets, reads)}"
        shared = f"interleaved {computation.shared}" if computation.shared else ""
        reduction = ""
        if isinstance(assign.reduction, Combining):
            reduction = f"combiner @{assign.reduction.name} "
        elif assign.reduction:
            reduction = f"reduction {assign.reduction} "
        yield f"    {reduction}{shared} {{"
        if reads:
            args = ", ".join(f"%r{i}: {load.type.name}" for i, load in enumerate(reads))
            yield f"^bb0({args}):"
        yield from _BodyWriter(dims, reads).body(assign.values)
        yield f'}} loc("{self.tree.file}":{assign.line}:0)'

    def combiners(self) -> Iterator[str]:
        """Yield the combiners that computations are by."""
        rules = [c.assign.reduction for c in computations(self.tree)]
        for rule in dict.fromkeys(rule for rule in rules if isinstance(rule, Combining)):
            neutral = ", ".join(_literal(number) for number in rule.neutral)
            commutative = "commutative " if rule.is_commutative else ""
            parameters = ", ".join(
                f"%c.{part.name}: {part.type.name}" for part in (*rule.first, *rule.second)
            )
            yield f"poly.combiner @{rule.name} {commutative}neutral [{neutral}] {{"
            yield f"^bb0({parameters}):"
            yield from _BodyWriter((), (), "c").body(rule.values)
            yield f'}} loc("{rule.file}":{rule.line}:0)'


class _BodyWriter:
    """Writes the operations of one computation, or of a combiner.

    Arguments:
        scalars: what names of scalars begin with.
    """

    def __init__(self, dims: Sequence[Dim], reads: Sequence[Load], scalars: str = "v") -> None:
        self.dims = dims
        self.reads = reads
        self.scalars = scalars
        self.lines: list[str] = []
        self.known: dict[Apply, str] = {}

    def body(self, values: Sequence[Expr]) -> list[str]:
        """Return the operations that end with these values."""
        results = [self.emit(value) for value in values]
        kinds = [value.type.name for value in values if value.type]
        return [*self.lines, f"poly.yield {', '.join(results)} : {', '.join(kinds)}"]

    def op(self, text: str) -> str:
        """Add an operation; return its result."""
        self.lines.append(f"%{len(self.lines)} = {text}")
        return f"%{len(self.lines) - 1}"

    def emit(self, expr: Expr) -> str:
        """Return the value of an expression."""
        if isinstance(expr, Load):
            return f"%r{self.reads.index(expr)}"
        if isinstance(expr, Scalar):
            return f"%{self.scalars}.{expr.name}"
        if isinstance(expr, Number):
            assert expr.type is not None, "literals have got their types"
            return self.op(f"arith.constant {_literal(expr)}")
        if isinstance(expr, Index):
            return self.affine(expr.value)
        # Names of values are gone, so that a value may occur often.
        if expr not in self.known:
            self.known[expr] = self.apply(expr)
        return self.known[expr]

    def affine(self, value: Affine) -> str:
        """Return the value of an affine expression."""
        parts = []
        for atom, factor in value.terms.items():
            if isinstance(atom, Dim):
                part = self.op(f"poly.index {self.dims.index(atom)}")
            elif isinstance(atom, Size):
                part = f"%n.{atom.name}"
            else:
                inner = Index(getattr(atom, "dividend"))  # noqa: B009
                name = "floordiv" if type(atom).__name__ == "Quotient" else "mod"
                divisor = Number(getattr(atom, "divisor"), INDEX)  # noqa: B009
                part = self.apply(Apply(name, (inner, divisor), INDEX))
            if factor != 1:
                part = self.op(f"arith.muli {part}, {self.constant(factor)} : index")
            parts.append(part)
        if value.constant or not parts:
            parts.append(self.constant(value.constant))
        result = parts[0]
        for part in parts[1:]:
            result = self.op(f"arith.addi {result}, {part} : index")
        return result

    def constant(self, value: int) -> str:
        """Return a constant index."""
        return self.op(f"arith.constant {value} : index")

    def apply(self, expr: Apply) -> str:
        """Return the value of a function."""
        operands = [self.emit(operand) for operand in expr.operands]
        kind = expr.operands[0].type
        assert kind is not None, "all values have types"
        assert expr.type is not None, "all values have types"
        if expr.function == "select":
            return self.op(f"arith.select {', '.join(operands)} : {expr.type.name}")
        if expr.function == "convert":
            return self.convert(operands[0], kind, expr.type)
        if expr.function in _FLOAT_PREDICATES:
            predicates = _FLOAT_PREDICATES if kind.is_float else _INTEGER_PREDICATES
            compare = "arith.cmpf" if kind.is_float else "arith.cmpi"
            predicate = predicates[expr.function]
            return self.op(f"{compare} {predicate}, {', '.join(operands)} : {kind.name}")
        if expr.function == "not":
            true = self.op("arith.constant true")
            return self.op(f"arith.xori {operands[0]}, {true} : i1")
        if not kind.is_float and expr.function == "neg":
            zero = self.op(f"arith.constant 0 : {kind.name}")
            return self.op(f"arith.subi {zero}, {operands[0]} : {kind.name}")
        if not kind.is_float and expr.function == "mod":
            return self.remainder(operands[0], operands[1], kind.name)
        ops = _FLOAT_OPS if kind.is_float else _INTEGER_OPS
        name = ops.get(expr.function, f"math.{expr.function}")
        return self.op(f"{name} {', '.join(operands)} : {kind.name}")

    def remainder(self, dividend: str, divisor: str, kind: str) -> str:
        """Return what is left, with the divisor's sign as in Python; by zero it is 0."""
        rest = self.op(f"arith.remsi {dividend}, {divisor} : {kind}")
        zero = self.op(f"arith.constant 0 : {kind}")
        signs = self.op(f"arith.xori {rest}, {divisor} : {kind}")
        differ = self.op(f"arith.cmpi slt, {signs}, {zero} : {kind}")
        inexact = self.op(f"arith.cmpi ne, {rest}, {zero} : {kind}")
        wrong = self.op(f"arith.andi {differ}, {inexact} : i1")
        other = self.op(f"arith.addi {rest}, {divisor} : {kind}")
        return self.op(f"arith.select {wrong}, {other}, {rest} : {kind}")

    def convert(self, value: str, source: ScalarType, target: ScalarType) -> str:
        """Convert a value."""
        if source == INDEX:
            value, source = self.op(f"arith.index_cast {value} : index to i64"), ScalarType("i64")
            if source == target:
                return value
        if target == INDEX:
            return self.op(f"arith.index_cast {value} : {source.name} to index")
        if source.is_float != target.is_float:
            name = "arith.sitofp" if target.is_float else "arith.fptosi"
        else:
            wider = target.dtype.itemsize > source.dtype.itemsize
            names = ("arith.extf", "arith.truncf", "arith.extsi", "arith.trunci")
            name = names[(0 if target.is_float else 2) + (0 if wider else 1)]
        return self.op(f"{name} {value} : {source.name} to {target.name}")


def _dims(dims: Sequence[Dim]) -> str:
    return ", ".join(f"d{i}" for i in range(len(dims)))


def _memref(array: Array) -> str:
    extents = "?x" * array.iterations + "".join(
        f"{'?' if extent.number is None else extent.number}x" for extent in array.type.extents
    )
    return f"memref<{extents}{array.type.element.name}>"


def _literal(number: Number) -> str:
    """Return a number of a type, as an attribute."""
    value, kind = number.value, number.type
    assert kind is not None, "literals have got their types"
    if not kind.is_float:
        return f"{value} : {kind.name}"
    if math.isfinite(value):
        return f"{float(value):.17e} : {kind.name}"
    bits = np.array(value, kind.dtype).tobytes()[::-1]
    return f"0x{bits.hex()} : {kind.name}"
