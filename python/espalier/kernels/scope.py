"""What the names in a kernel stand for."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType

from espalier.errors import EspalierError
from espalier.kernels.affine import Dim, Size
from espalier.kernels.tree import Array, Expr


class KernelError(EspalierError):
    """A function that cannot become a kernel; the message begins with file:line."""


@contextlib.contextmanager
def limited_depth(place: str) -> Iterator[None]:
    """Refuse expressions and loops at `place` that are too deep to be followed."""
    try:
        yield
    except RecursionError as error:
        raise KernelError(
            f"{place}: expects less depth than Python's limit of recursion, "
            f"{sys.getrecursionlimit()}, allows"
        ) from error


def read_function(function: FunctionType) -> tuple[str, ast.FunctionDef]:
    """Return the file of a function, and its text with the lines that it has there."""
    file = inspect.getsourcefile(function) or "<unknown>"
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        raise KernelError(f"{file}: expects a function whose text is in a file") from error
    with limited_depth(f"{file}:{first}"):
        module = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(module, first - 1)
    node = module.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise KernelError(f"{file}:{first}: expects a function")
    return file, node


FUNCTIONS: dict[object, str] = {
    abs: "abs",
    min: "min",
    max: "max",
    pow: "pow",
    math.pow: "pow",
    math.fabs: "abs",
    math.sqrt: "sqrt",
    math.exp: "exp",
    math.expm1: "expm1",
    math.log: "log",
    math.log2: "log2",
    math.log1p: "log1p",
    math.sin: "sin",
    math.cos: "cos",
    math.tanh: "tanh",
    math.erf: "erf",
    math.floor: "floor",
    math.ceil: "ceil",
}
"""The functions that a kernel may call, by what computes them in Python."""


class Scope:
    """Names of one function: its own first, then those of Python around it."""

    def __init__(self, function: FunctionType, file: str) -> None:
        self.file = file
        self.names: dict[str, Array | Dim | Expr] = {}
        self.sizes: dict[str, Size] = {}
        outer = inspect.getclosurevars(function)
        # The types of local scalars are not among the variables that code uses.
        self._outer = {**vars(builtins), **function.__globals__, **outer.nonlocals}

    def error(self, node: ast.AST, message: str) -> KernelError:
        """Return an error at a place in the text."""
        return KernelError(f"{self.file}:{getattr(node, 'lineno', 0)}: {message}")

    def declare(self, node: ast.AST, name: str, value: Array | Dim | Expr) -> None:
        """Give a name of the function a meaning."""
        if name in self.names:
            raise self.error(node, f"expects a name that is not taken, but got '{name}' again")
        self.names[name] = value

    def use_size(self, size: Size) -> Size:
        """Note that the kernel depends on a size."""
        return self.sizes.setdefault(size.name, size)

    def lookup(self, node: ast.expr) -> object:
        """Return what a name, or an attribute of a module, stands for."""
        if isinstance(node, ast.Name):
            if node.id in self.names:
                return self.names[node.id]
            if node.id in self._outer:
                value = self._outer[node.id]
                return self.use_size(value) if isinstance(value, Size) else value
            raise self.error(node, f"expects a name that is known, but got '{node.id}'")
        if isinstance(node, ast.Attribute):
            module = self.lookup(node.value)
            if isinstance(module, ModuleType) and hasattr(module, node.attr):
                return getattr(module, node.attr)
        raise self.error(node, f"expects a name, but got '{ast.unparse(node)}'")

    def function(self, node: ast.expr) -> str | Callable[..., object] | None:
        """Return the function of a call: a known one by its name in a tree."""
        value = self.lookup(node)
        try:
            return FUNCTIONS.get(value, value)  # type: ignore[return-value]
        except TypeError:
            return None
