"""Functions of two states, by which kernels reduce to several values."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType

import numpy as np

from espalier.kernels.scope import KernelError, Scope, limited_depth, read_function
from espalier.kernels.tree import Combining, Expr, Number, Scalar
from espalier.kernels.types import ScalarType
from espalier.kernels.values import Values


class Combiner:
    """A function of two states; a call runs it in Python.

    Attributes:
        rule: what it computes, as an expression for each value of a state.
    """

    def __init__(
        self, function: FunctionType, neutral: Sequence[float], is_commutative: bool
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        file, node = read_function(function)
        with limited_depth(f"{file}:{node.lineno}"):
            self.rule: Combining = _Parser(function, node, file).run(neutral, is_commutative)

    def __call__(self, *states: object) -> object:
        """Combine two states, the values of the first before those of the second."""
        return self.function(*states)

    def __repr__(self) -> str:
        return f"<espalier.Combiner {self.rule.name}>"


class _Parser:
    def __init__(self, function: FunctionType, node: ast.FunctionDef, file: str) -> None:
        self.function = function
        self.node = node
        self.scope = Scope(function, file)
        self.values = Values(self.scope)

    def run(self, neutral: Sequence[float], is_commutative: bool) -> Combining:
        """Translate the whole function."""
        first, second = self.states()
        *statements, last = self.node.body
        for statement in statements:
            self.statement(statement)
        if not isinstance(last, ast.Return) or last.value is None:
            raise self.scope.error(last, "expects a combiner to end with 'return' of a state")
        returned = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        if len(returned) != len(first):
            raise self.scope.error(
                last, f"expects a state of {len(first)} to be returned, but got {len(returned)}"
            )
        values = tuple(
            self.values.typed(value, self.values.any(value), part.type)
            for value, part in zip(returned, first, strict=True)
        )
        if self.scope.sizes:
            raise self.scope.error(
                self.node,
                f"expects a combiner to use no size, but it uses '{min(self.scope.sizes)}'",
            )
        return Combining(
            self.node.name,
            first,
            second,
            values,
            self.neutral(neutral, first),
            is_commutative,
            self.scope.file,
            self.node.lineno,
        )

    def states(self) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        """Declare the parameters, half of which are the first state."""
        args = self.node.args
        if args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg or args.defaults:
            raise self.scope.error(self.node, "expects plain arguments without defaults")
        types = inspect.get_annotations(self.function, eval_str=True)
        parts: list[Scalar] = []
        for arg in args.args:
            kind = types.get(arg.arg)
            if not isinstance(kind, ScalarType):
                raise self.scope.error(
                    arg, f"expects a type such as f64 for argument '{arg.arg}', but got {kind!r}"
                )
            parts.append(Scalar(arg.arg, kind))
            self.scope.declare(arg, arg.arg, parts[-1])
        half = len(parts) // 2
        first, second = tuple(parts[:half]), tuple(parts[half:])
        if not first or [p.type for p in first] != [p.type for p in second]:
            found = ", ".join(part.type.name for part in parts)
            raise self.scope.error(
                self.node, f"expects two states of the same types as arguments, but got ({found})"
            )
        return first, second

    def statement(self, node: ast.stmt) -> None:
        """Translate 'x = ...', which names a value."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            what = ast.unparse(node).partition("\n")[0]
            raise self.scope.error(
                node, f"expects 'name = value' or 'return' in a combiner, but got '{what}'"
            )
        value: Expr = self.values.any(node.value)
        for target in node.targets:
            assert isinstance(target, ast.Name), "the first of several is one"
            self.scope.declare(target, target.id, value)

    def neutral(self, values: Sequence[float], state: tuple[Scalar, ...]) -> tuple[Number, ...]:
        """Return the state that changes nothing."""
        names = ", ".join(f"{part.name}: {part.type.name}" for part in state)
        if not isinstance(values, Sequence) or len(values) != len(state):
            raise self.scope.error(
                self.node, f"expects a neutral value for each of ({names}), but got {values!r}"
            )
        for value, part in zip(values, state, strict=True):
            fits = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if fits and not part.type.is_float:
                info = np.iinfo(part.type.dtype)
                fits = isinstance(value, int | np.integer) and info.min <= value <= info.max
            if not fits:
                raise self.scope.error(
                    self.node,
                    f"expects a number of type {part.type.name} as the neutral value of "
                    f"'{part.name}', but got {value!r}",
                )
        return tuple(Number(v, part.type) for v, part in zip(values, state, strict=True))


def combiner(
    *, neutral: Sequence[float], commutative: bool = True
) -> Callable[[Callable[..., object]], Combiner]:
    """Make a combiner of a typed Python function of two states; use as a decorator.

    A state is one number or several. The parameters are the first state's and then the
    second's; the function names values and returns a state. In a kernel, an assignment of
    it to the elements that are its first arguments is a reduction. That groups of states
    may be combined in any way is proved when the kernel is compiled, and an error says for
    which numbers it is not so.

    Arguments:
        neutral: the state that changes nothing.
        commutative: whether states may change places, too.

    Example:
        >>> @combiner(neutral=(-math.inf, 2**31 - 1))
        ... def first_largest(v: f32, i: i32, w: f32, j: i32):
        ...     other = w > v or (w == v and j < i)
        ...     return w if other else v, j if other else i
        >>> @kernel
        ... def largest(x: f32[m, n], best: f32[m], place: i32[m]) -> None:
        ...     for i in range(m):
        ...         for k in range(n):
        ...             best[i], place[i] = first_largest(best[i], place[i], x[i, k], i32(k))
    """

    def wrap(function: Callable[..., object]) -> Combiner:
        if not isinstance(function, FunctionType):
            raise KernelError(
                f"expects a function as a combiner, but got {type(function).__name__}"
            )
        return Combiner(function, neutral, commutative)

    return wrap
