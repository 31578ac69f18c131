"""Kernels: Python functions over arrays, as polyhedral programs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType

from espalier import _espalier
from espalier.compiler import Options
from espalier.kernels.mlir import to_mlir
from espalier.kernels.parse import parse
from espalier.kernels.program import KernelProgram, compile_kernel
from espalier.kernels.scope import KernelError, limited_depth
from espalier.kernels.tree import Tree


class Kernel:
    """A Python function as a polyhedral program; calling it compiles it first.

    Attributes:
        tree: the function as loops, conditions and assignments.
    """

    def __init__(self, function: FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.tree: Tree = parse(function)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.tree.name

    @property
    def mlir(self) -> str:
        """The kernel as MLIR text, in program order."""
        with limited_depth(f"{self.tree.file}: kernel '{self.name}'"):
            return to_mlir(self.tree)

    def module(self) -> _espalier.Module:
        """Return a new module that holds the kernel."""
        return _espalier.Module.parse(self.mlir)

    def compile(self, options: Options | None = None) -> KernelProgram:
        """Compile with the default schedule."""
        order = [argument.name for argument in self.tree.arguments]
        return compile_kernel(self.module(), order, options)

    @functools.cached_property
    def _program(self) -> KernelProgram:
        return self.compile()

    def __call__(self, *args: object, **kwargs: object) -> None:
        """Run on arrays, in place, and scalars, by position or name."""
        self._program(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<espalier.Kernel {self.name}>"


def kernel(function: Callable[..., None]) -> Kernel:
    """Make a kernel of a typed Python function; use as a decorator.

    The function is read, never run. It has loops over ranges, conditions on loop
    variables and sizes, and assignments to elements of arrays; bounds, conditions
    and subscripts are affine. Assertions say what holds for sizes. `x += e` and
    `x = max(x, e)` are reductions, whose order is free; `x = x + e` keeps the order
    of the text. A loop may run between elements of an array of integers whose values
    are bounded, as over a row of a sparse matrix; see `ArrayType.with_values`. Raises
    `KernelError` with the line of what a kernel cannot have.

    Example:
        >>> m, n = sizes("m n")
        >>> @kernel
        ... def row_sums(a: f64[m, n], r: f64[m]) -> None:
        ...     for i in range(m):
        ...         r[i] = 0.0
        ...         for j in range(n):
        ...             r[i] += a[i, j]
        >>> row_sums(a, r)
    """
    if not isinstance(function, FunctionType):
        raise KernelError(f"expects a function as a kernel, but got {type(function).__name__}")
    return Kernel(function)
