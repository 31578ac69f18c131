"""Python expressions as affine expressions, conditions and typed values."""

from __future__ import annotations

import ast

from espalier.kernels.affine import Affine, Dim, Loaded, Operators, Size, to_affine
from espalier.kernels.scope import KernelError, Scope
from espalier.kernels.tree import (
    TRUTH,
    Apply,
    Array,
    Condition,
    Constraint,
    Expr,
    Index,
    Load,
    Number,
)
from espalier.kernels.types import ScalarType

_ARITHMETIC = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}
_COMPARISONS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_FOR_ALL_NUMBERS = {"add", "sub", "mul", "min", "max", "abs", "neg"}


class Values:
    """Translates the expressions of one function."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    # Affine expressions.

    def affine(self, node: ast.expr, loaded: bool = False) -> Affine:
        """Translate what must be affine.

        Arguments:
            loaded: whether integers from arrays may occur, as in a subscript.
        """
        text = ast.unparse(node)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return to_affine(node.value)
        if isinstance(node, ast.Name | ast.Attribute):
            value = self.scope.lookup(node)
            if isinstance(value, Operators):
                for atom in value.affine().atoms():
                    if isinstance(atom, Size):
                        self.scope.use_size(atom)
                return value.affine()
            if type(value) is int:
                return to_affine(value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.affine(node.operand, loaded)
        if isinstance(node, ast.BinOp):
            return self._affine_operation(node, loaded)
        if isinstance(node, ast.Subscript) and loaded:
            load = self.load(node)
            if load.type.is_float:
                raise self.scope.error(node, f"expects an integer as index, but got '{text}'")
            return Loaded(load).affine()
        raise self.scope.error(
            node, f"expects an affine expression of loop variables and sizes, but got '{text}'"
        )

    def _affine_operation(self, node: ast.BinOp, loaded: bool) -> Affine:
        left, right = self.affine(node.left, loaded), self.affine(node.right, loaded)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult) and right.number is not None:
            return left * right.number
        if isinstance(node.op, ast.Mult) and left.number is not None:
            return right * left.number
        if isinstance(node.op, ast.FloorDiv | ast.Mod) and (right.number or 0) > 0:
            divisor = right.constant
            return left // divisor if isinstance(node.op, ast.FloorDiv) else left % divisor
        raise self.scope.error(
            node,
            f"expects an affine expression, whose products and quotients have a "
            f"constant, but got '{ast.unparse(node)}'",
        )

    def load(self, node: ast.Subscript) -> Load:
        """Translate an element of an array."""
        array = self.scope.lookup(node.value)
        if not isinstance(array, Array):
            raise self.scope.error(node, f"expects an array, but got '{ast.unparse(node.value)}'")
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        rank = len(array.type.extents)
        if len(indices) != rank:
            raise self.scope.error(
                node, f"expects {rank} subscripts of '{array.name}', but got {len(indices)}"
            )
        return Load(array, tuple(self.affine(index, loaded=True) for index in indices))

    # Conditions on loop variables.

    def condition(self, node: ast.expr) -> Condition:
        """Translate what decides whether a statement runs."""
        if isinstance(node, ast.BoolOp):
            result, *others = map(self.condition, node.values)
            for other in others:
                both = isinstance(node.op, ast.And)
                result = result.both(other) if both else result.either(other)
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.condition(node.operand).negate()
        if isinstance(node, ast.Compare):
            result = Condition(((),))
            operands = [node.left, *node.comparators]
            for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
                result = result.both(self._comparison(node, left, op, right))
            return result
        raise self.scope.error(
            node,
            "expects a condition on loop variables and sizes, but got "
            f"'{ast.unparse(node)}'; use 'x if c else y' to choose between values",
        )

    def _comparison(
        self, node: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr
    ) -> Condition:
        if type(op) not in _COMPARISONS:
            raise self.scope.error(node, f"expects a comparison, but got '{ast.unparse(node)}'")
        try:
            difference = self.affine(left) - self.affine(right)
        except KernelError as error:
            raise KernelError(f"{error}; use 'x if c else y' to choose between values") from error
        name = _COMPARISONS[type(op)]
        if name in ("eq", "ne"):
            equal = Condition(((Constraint(difference, is_equality=True),),))
            return equal if name == "eq" else equal.negate()
        if name in ("lt", "le"):
            difference = -difference
        return Condition(((Constraint(difference - (name in ("lt", "gt"))),),))

    # Values.

    def value(self, node: ast.expr) -> Expr:
        """Translate what is computed."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return Number(node.value)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._name(node)
        if isinstance(node, ast.Subscript):
            return self.load(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.value(node.operand)
            if isinstance(operand, Number):
                return Number(-operand.value, operand.type)
            return self.apply(node, "neg", [operand])
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            operands = [self.value(node.left), self.value(node.right)]
            if any(isinstance(o, Index) for o in operands) and self._is_affine(node):
                return Index(self.affine(node))
            return self.apply(node, _ARITHMETIC[type(node.op)], operands)
        if isinstance(node, ast.IfExp):
            then, otherwise = self.unify(node, [self.value(node.body), self.value(node.orelse)])
            return Apply("select", (self.truth(node.test), then, otherwise), then.type)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise self.scope.error(node, f"expects a value, but got '{ast.unparse(node)}'")

    def _is_affine(self, node: ast.expr) -> bool:
        try:
            self.affine(node)
        except KernelError:
            return False
        return True

    def _name(self, node: ast.Name | ast.Attribute) -> Expr:
        value = self.scope.lookup(node)
        if isinstance(value, Expr):
            return value
        if isinstance(value, Array) and not value.type.extents:
            return Load(value, ())
        if isinstance(value, Dim | Size | Affine):
            return Index(self.affine(node))
        if type(value) in (int, float):
            return Number(value)
        raise self.scope.error(node, f"expects a number, but got '{ast.unparse(node)}'")

    def _call(self, node: ast.Call) -> Expr:
        function = self.scope.function(node.func)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self.scope.error(node, "expects arguments by position only")
        operands = [self.value(argument) for argument in node.args]
        if isinstance(function, ScalarType):
            if len(operands) != 1:
                raise self.scope.error(node, f"expects 1 argument, but got {len(operands)}")
            return self.convert(node, operands[0], function)
        if not isinstance(function, str):
            name = ast.unparse(node.func)
            raise self.scope.error(
                node, f"expects a function out of those of 'math', but got '{name}'"
            )
        if function not in ("min", "max"):
            expected = 2 if function == "pow" else 1
            if len(operands) != expected:
                raise self.scope.error(
                    node, f"expects {expected} arguments, but got {len(operands)}"
                )
            return self.apply(node, function, operands)
        if len(operands) < 2:
            raise self.scope.error(node, f"expects 2 arguments, but got {len(operands)}")
        result = operands[0]
        for operand in operands[1:]:
            result = self.apply(node, function, [result, operand])
        return result

    def any(self, node: ast.expr) -> Expr:
        """Translate what is computed, or what chooses between two values."""
        is_truth = isinstance(node, ast.BoolOp | ast.Compare) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )
        return self.truth(node) if is_truth else self.value(node)

    def truth(self, node: ast.expr) -> Expr:
        """Translate what chooses between two values."""
        if isinstance(node, ast.Name):
            named = self.scope.lookup(node)
            if isinstance(named, Expr) and named.type == TRUTH:
                return named
        if isinstance(node, ast.BoolOp):
            name = "and" if isinstance(node.op, ast.And) else "or"
            result, *others = map(self.truth, node.values)
            for other in others:
                result = Apply(name, (result, other), TRUTH)
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Apply("not", (self.truth(node.operand),), TRUTH)
        if isinstance(node, ast.Compare) and all(type(op) in _COMPARISONS for op in node.ops):
            operands = [node.left, *node.comparators]
            parts: list[Expr] = []
            for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
                pair = self.unify(node, [self.value(left), self.value(right)])
                parts.append(Apply(_COMPARISONS[type(op)], tuple(pair), TRUTH))
            result = parts[0]
            for part in parts[1:]:
                result = Apply("and", (result, part), TRUTH)
            return result
        raise self.scope.error(node, f"expects a comparison, but got '{ast.unparse(node)}'")

    # Types.

    def apply(self, node: ast.AST, function: str, operands: list[Expr]) -> Expr:
        """Apply a function to values of one type."""
        operands = self.unify(node, operands)
        kind = operands[0].type
        if kind is None:
            raise self.scope.error(node, "expects a number with a type, such as f64(2)")
        is_integral = function in ("floordiv", "mod")
        if function not in _FOR_ALL_NUMBERS and is_integral == kind.is_float:
            hint = "; use '//'" if function == "div" else ""
            raise self.scope.error(
                node,
                f"expects {'integers' if is_integral else 'floating-point numbers'} for "
                f"'{function}', but got {kind.name}{hint}",
            )
        return Apply(function, tuple(operands), kind)

    def typed(self, node: ast.AST, value: Expr, kind: ScalarType) -> Expr:
        """Return a value that is stored as of a type; a literal gets it."""
        value = self.convert(node, value, kind) if value.type is None else value
        if value.type != kind:
            found = value.type.name if value.type else "a literal"
            raise self.scope.error(
                node,
                f"expects a value of type {kind.name}, but got {found}; "
                f"convert it, as in '{kind.name}(x)'",
            )
        return value

    def unify(self, node: ast.AST, operands: list[Expr]) -> list[Expr]:
        """Give literals the type of the other operands, which must be the same."""
        kinds = {operand.type for operand in operands} - {None}
        if len(kinds) > 1:
            names = " and ".join(sorted(kind.name for kind in kinds if kind))
            raise self.scope.error(
                node, f"expects operands of one type, but got {names}; convert, as in 'f64(x)'"
            )
        kind = next(iter(kinds), None)
        return [self.convert(node, operand, kind) for operand in operands]

    def convert(self, node: ast.AST, value: Expr, kind: ScalarType | None) -> Expr:
        """Convert a value to a type."""
        if kind is None or value.type == kind:
            return value
        if isinstance(value, Number) and value.type is None:
            if not kind.is_float and isinstance(value.value, float):
                raise self.scope.error(node, f"expects {kind.name}, but got {value.value}")
            return Number(float(value.value) if kind.is_float else value.value, kind)
        if isinstance(value, Apply) and value.type is None:
            truth, *choices = value.operands
            converted = [self.convert(node, choice, kind) for choice in choices]
            return Apply("select", (truth, *converted), kind)
        return Apply("convert", (value,), kind)
