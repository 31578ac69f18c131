"""The kernels as plain C in program order, compiled by other compilers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path

import numpy as np

from espalier.kernels.affine import Affine, Atom, Dim, Size
from espalier.kernels.tree import (
    Apply,
    Array,
    Condition,
    Expr,
    Guard,
    Index,
    Load,
    Loop,
    Node,
    Number,
    Scalar,
    Tree,
)

COMPILERS = {
    "gcc": ["gcc", "-O3", "-march=native"],
    "clang": ["clang-22", "-O3", "-march=native"],
    "polly": ["clang-22", "-O3", "-march=native", "-mllvm", "-polly"],
}
"""None has -ffast-math, as PolyBench is built."""

_C_TYPES = {"f64": "double", "f32": "float", "i32": "int", "i64": "long", "index": "int"}
_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_HEAD = """
#include <math.h>
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
"""


def to_c(tree: Tree, sizes: Mapping[str, int]) -> str:
    """Return a C function of the arguments' addresses.

    It is what a compiler can read best: sizes are constants, arrays of several
    dimensions have these extents and do not overlap, scalars are local variables.
    """
    return "\n".join([_HEAD, *_Printer(tree, sizes).lines()])


class _Printer:
    def __init__(self, tree: Tree, sizes: Mapping[str, int]) -> None:
        self.tree = tree
        self.sizes = sizes

    def lines(self) -> list[str]:
        """Return the function."""
        arguments = ", ".join(self.argument(a) for a in self.tree.arguments)
        lines = [f"void {self.tree.name}({arguments}) {{"]
        lines += [f"{self.declare(array.name, array)};" for array in self.tree.locals]
        return [*lines, *self.nodes(self.tree.body), "}"]

    def argument(self, argument: Array | Scalar) -> str:
        if isinstance(argument, Scalar):
            return f"{_C_TYPES[argument.type.name]} {argument.name}"
        first, *rest = (extent.evaluate(self.sizes) for extent in argument.type.extents)
        return self.declare(f"{argument.name}", argument, f"restrict static {max(first, 1)}", rest)

    def declare(
        self, name: str, array: Array, first: str | None = None, rest: Sequence[int] | None = None
    ) -> str:
        if rest is None:
            rest = [extent.evaluate(self.sizes) for extent in array.type.extents]
        extents = ([] if first is None else [first]) + [str(extent) for extent in rest]
        return f"{_C_TYPES[array.type.element.name]} {name}{''.join(f'[{e}]' for e in extents)}"

    def nodes(self, nodes: Sequence[Node]) -> list[str]:
        return [line for node in nodes for line in self.node(node)]

    def node(self, node: Node) -> list[str]:
        if isinstance(node, Loop):
            return [f"{self.loop(node)} {{", *self.nodes(node.body), "}"]
        if isinstance(node, Guard):
            lines = [f"if ({self.condition(node.condition)}) {{", *self.nodes(node.body), "}"]
            if node.otherwise:
                lines += ["else {", *self.nodes(node.otherwise), "}"]
            return lines
        assert len(node.targets) == 1, "no kernel of the suite stores several values at once"
        return [f"{self.expr(node.targets[0])} = {self.expr(node.values[0])};"]

    def loop(self, loop: Loop) -> str:
        name, down = loop.dim.name, loop.step < 0
        first, limit = (
            reduce(lambda a, b: f"{name}({a}, {b})", map(self.affine, values))
            for name, values in (("MOST", loop.first), ("MOST" if down else "LEAST", loop.limit))
        )
        sign = ">" if down else "<"
        return f"for (int {name} = {first}; {name} {sign} {limit}; {name} += {loop.step})"

    def condition(self, condition: Condition) -> str:
        cases = []
        for case in condition.cases:
            signs = ["==" if c.is_equality else ">=" for c in case]
            tests = [f"{self.affine(c.value)} {s} 0" for c, s in zip(case, signs, strict=True)]
            cases.append("(" + " && ".join(tests or ["1"]) + ")")
        return " || ".join(cases)

    def affine(self, value: Affine) -> str:
        text = value.text(self.atom)
        return text if text.isalnum() else f"({text})"

    def atom(self, atom: Atom) -> str:
        if isinstance(atom, Size):
            return str(self.sizes[atom.name])
        assert isinstance(atom, Dim), "no kernel has subscripts that are read"
        return atom.name

    def expr(self, expr: Expr) -> str:
        if isinstance(expr, Load):
            return expr.array.name + "".join(f"[{self.affine(s)}]" for s in expr.subscripts)
        if isinstance(expr, Scalar):
            return expr.name
        if isinstance(expr, Number):
            suffix = "f" if expr.type is not None and expr.type.name == "f32" else ""
            return f"{expr.value!r}{suffix}"
        if isinstance(expr, Index):
            return self.affine(expr.value)
        return self.apply(expr)

    def apply(self, expr: Apply) -> str:
        operands = [self.expr(operand) for operand in expr.operands]
        assert expr.type is not None, "literals have got their types"
        if expr.function in _OPERATORS:
            return f"({operands[0]} {_OPERATORS[expr.function]} {operands[1]})"
        if expr.function == "neg":
            return f"(-{operands[0]})"
        if expr.function == "select":
            return f"({operands[0]} ? {operands[1]} : {operands[2]})"
        if expr.function == "convert":
            return f"(({_C_TYPES[expr.type.name]}){operands[0]})"
        name = {"max": "MOST", "min": "LEAST"}.get(expr.function, expr.function)
        suffix = "f" if expr.type.name == "f32" and name == expr.function else ""
        return f"{name}{suffix}({', '.join(operands)})"


def describe(command: Sequence[str]) -> str:
    """Return which version of a compiler runs, with which options."""
    output = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True)
    return f"{output.stdout.splitlines()[0]}, {' '.join(command[1:])}"


def compile_c(source: str, command: Sequence[str]) -> ctypes.CDLL | None:
    """Return a library, or none if the compiler is missing."""
    if shutil.which(command[0]) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path, library = Path(folder, "kernel.c"), Path(folder, "kernel.so")
        path.write_text(source, encoding="utf-8")
        options = ["-std=gnu11", "-shared", "-fPIC", "-o", str(library), str(path), "-lm"]
        subprocess.run([*command, *options], check=True, capture_output=True)
        return ctypes.CDLL(str(library))


def bind(
    tree: Tree, library: ctypes.CDLL, arguments: Mapping[str, np.ndarray | float]
) -> Callable[[], None]:
    """Return a function that runs a kernel of a library on arguments."""
    values: list[object] = []
    for argument in tree.arguments:
        value = arguments[argument.name]
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous, "arrays of the cases are dense"
            values.append(ctypes.c_void_p(value.ctypes.data))
        else:
            assert isinstance(argument, Scalar), "numbers are for scalars"
            values.append(
                ctypes.c_float(value) if argument.type.name == "f32" else ctypes.c_double(value)
            )
    function = library[tree.name]
    function.restype = None
    return lambda: function(*values)
