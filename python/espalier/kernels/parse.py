"""From a Python function to a tree."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

from espalier.kernels.affine import Affine, Dim, Loaded, Size
from espalier.kernels.combiner import Combiner
from espalier.kernels.scope import Scope, limited_depth, read_function
from espalier.kernels.tree import (
    Argument,
    Array,
    Assign,
    Combining,
    Constraint,
    Expr,
    Guard,
    Load,
    Loop,
    Node,
    Scalar,
    Tree,
    computations,
    loads,
    subscript_loads,
)
from espalier.kernels.types import ArrayType, ScalarType, label, local
from espalier.kernels.values import Values

_UPDATES = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
_REDUCTIONS = {"add": "add", "sub": "add", "mul": "mul", "max": "max", "min": "min"}
"""What can be done in any order."""


def parse(function: FunctionType) -> Tree:
    """Translate a function; raise `KernelError` for what a kernel cannot have."""
    file, node = read_function(function)
    with limited_depth(f"{file}:{node.lineno}"):
        return _Parser(function, node, file).run()


class _Parser:
    def __init__(self, function: FunctionType, node: ast.FunctionDef, file: str) -> None:
        self.function = function
        self.node = node
        self.scope = Scope(function, file)
        self.values = Values(self.scope)
        self.locals: list[Array] = []
        self.assumptions: list[Constraint] = []
        self.count = 0
        self.labels: set[str] = set()
        self.combiners: dict[str, Combining] = {}
        self.label: str | None = None

    def run(self) -> Tree:
        """Translate the whole function."""
        arguments = self.arguments()
        body = self.statements(self.node.body)
        sizes = tuple(self.scope.sizes.values())
        tree = Tree(
            self.node.name,
            arguments,
            tuple(self.locals),
            sizes,
            tuple(self.assumptions),
            body,
            self.scope.file,
        )
        if not computations(tree):
            raise self.scope.error(self.node, "expects an assignment to an array")
        return tree

    # Declarations.

    def arguments(self) -> tuple[Argument, ...]:
        """Declare the arguments."""
        args = self.node.args
        if args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg or args.defaults:
            raise self.scope.error(self.node, "expects plain arguments without defaults")
        types = inspect.get_annotations(self.function, eval_str=True)
        result: list[Argument] = []
        for arg in args.args:
            kind = types.get(arg.arg)
            if isinstance(kind, ArrayType):
                result.append(self.array(arg, arg.arg, kind, is_local=False))
            elif isinstance(kind, ScalarType):
                result.append(Scalar(arg.arg, kind))
                self.scope.declare(arg, arg.arg, result[-1])
            else:
                raise self.scope.error(
                    arg, f"expects a type such as f64[n] for argument '{arg.arg}', but got {kind!r}"
                )
        return tuple(result)

    def array(self, node: ast.AST, name: str, kind: ArrayType, is_local: bool) -> Array:
        """Declare an array."""
        if not name.isascii():
            raise self.scope.error(node, f"expects an ASCII name, but got '{name}'")
        bound = () if kind.bounded_by is None else (kind.bounded_by,)
        for extent in (*kind.extents, *bound):
            for atom in extent.atoms():
                assert isinstance(atom, Size), "extents are made of sizes"
                self.scope.use_size(atom)
            if is_local and not (extent.number or 0) > 0 and not isinstance(extent.atom, Size):
                raise self.scope.error(
                    node, f"expects sizes or numbers as extents of a local array, but got {extent}"
                )
        result = Array(name, kind, is_local)
        self.scope.declare(node, name, result)
        if is_local:
            self.locals.append(result)
        return result

    # Statements.

    def statements(self, nodes: list[ast.stmt]) -> tuple[Node, ...]:
        """Translate a block."""
        result: list[Node] = []
        for node in nodes:
            result += self.statement(node)
        if self.label is not None:
            raise self.scope.error(nodes[-1], f"expects a statement after label '{self.label}'")
        return tuple(result)

    def statement(self, node: ast.stmt) -> list[Node]:
        """Translate a statement."""
        if isinstance(node, ast.For):
            return [self.loop(node)]
        if isinstance(node, ast.If):
            condition = self.values.condition(node.test)
            return [Guard(condition, self.statements(node.body), self.statements(node.orelse))]
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            if self.is_call(node.value, local):
                self.declare_local(node.targets[0], node.value)
                return []
            return [self.assign(node, node.targets[0], node.value)]
        if isinstance(node, ast.AnnAssign):
            kind = self.scope.lookup(node.annotation)
            if not isinstance(kind, ScalarType) or not isinstance(node.target, ast.Name):
                raise self.scope.error(node, "expects the declaration of a scalar, 'x: f64 = 0.0'")
            self.array(node, node.target.id, ArrayType(kind, ()), is_local=True)
            return [self.assign(node, node.target, node.value)] if node.value else []
        if isinstance(node, ast.AugAssign):
            return [self.update(node)]
        if isinstance(node, ast.Expr) and self.is_call(node.value, label):
            self.set_label(node.value)
            return []
        if isinstance(node, ast.Assert):
            self.assume(node)
            return []
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Pass) or is_text:
            return []
        what = ast.unparse(node).partition("\n")[0]
        raise self.scope.error(node, f"expects a loop, an 'if' or an assignment, but got '{what}'")

    def assume(self, node: ast.Assert) -> None:
        """Note what holds for sizes."""
        condition = self.values.condition(node.test)
        atoms = [a for case in condition.cases for c in case for a in c.value.atoms()]
        if len(condition.cases) != 1 or not all(isinstance(atom, Size) for atom in atoms):
            raise self.scope.error(
                node,
                f"expects an assertion of sizes without 'or', but got '{ast.unparse(node.test)}'",
            )
        self.assumptions += condition.cases[0]

    def is_call(self, node: ast.expr, function: object) -> bool:
        """Say whether an expression calls a function."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            return False
        return self.scope.function(node.func) is function

    def set_label(self, call: ast.expr) -> None:
        """Name the next assignment."""
        assert isinstance(call, ast.Call), "this was asked before"
        names = [a.value for a in call.args if isinstance(a, ast.Constant)]
        if len(names) != 1 or not isinstance(names[0], str) or not names[0].isidentifier():
            raise self.scope.error(call, "expects a name as label, as in label('update')")
        if names[0] in self.labels or self.label is not None:
            raise self.scope.error(call, f"expects one label of its own, but got '{names[0]}'")
        self.label = names[0]
        self.labels.add(names[0])

    def declare_local(self, target: ast.expr, call: ast.expr) -> None:
        """Translate `x = local(f64[n])`."""
        assert isinstance(call, ast.Call), "this was asked before"
        if not isinstance(target, ast.Name) or len(call.args) != 1:
            raise self.scope.error(call, "expects 'x = local(type)'")
        node = call.args[0]
        element = self.scope.lookup(node.value if isinstance(node, ast.Subscript) else node)
        if not isinstance(element, ScalarType):
            raise self.scope.error(call, "expects the type of an array, such as f64[n]")
        extents: tuple[Affine, ...] = ()
        if isinstance(node, ast.Subscript):
            axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            extents = tuple(map(self.values.affine, axes))
        self.array(call, target.id, ArrayType(element, extents), is_local=True)

    # Loops.

    def loop(self, node: ast.For) -> Loop:
        """Translate a loop over a range."""
        if not isinstance(node.target, ast.Name) or node.orelse:
            raise self.scope.error(node, "expects 'for i in range(...)'")
        if not self.is_call(node.iter, range):
            raise self.scope.error(
                node, f"expects a loop over a range, but got '{ast.unparse(node.iter)}'"
            )
        assert isinstance(node.iter, ast.Call), "this was asked before"
        args = node.iter.args
        if not 1 <= len(args) <= 3 or node.iter.keywords:
            raise self.scope.error(node, f"expects 1 to 3 bounds, but got {len(args)}")
        step = self.values.affine(args[2]).number if len(args) == 3 else 1
        if not step:
            raise self.scope.error(node, "expects a constant step that is not 0")
        first: tuple[Affine, ...] = (Affine(),)
        if len(args) > 1:
            first = self.bounds(args[0], "max" if step > 0 else "min")
        limit = self.bounds(args[min(len(args), 2) - 1], "min" if step > 0 else "max")
        if abs(step) != 1 and len(first) > 1:
            raise self.scope.error(node, f"expects one first value for step {step}")
        if abs(step) != 1 and any(bound.loads() for bound in (*first, *limit)):
            raise self.scope.error(
                node, f"expects step 1 between bounds that are read, but got {step}"
            )
        dim = Dim(node.target.id)
        self.scope.declare(node, dim.name, dim)
        body = self.statements(node.body)
        del self.scope.names[dim.name]
        return Loop(dim, first, limit, step, body, node.lineno)

    def bounds(self, node: ast.expr, combine: str) -> tuple[Affine, ...]:
        """Translate a bound, which may be a maximum or minimum of several."""
        if isinstance(node, ast.Call) and self.scope.function(node.func) == combine:
            return tuple(b for argument in node.args for b in self.bounds(argument, combine))
        bound = self.values.affine(node, loaded=True)
        loads = bound.loads()
        inside = [atom for atom in bound.atoms() if isinstance(atom, Loaded)]
        if len(inside) != len(loads) or any(list(subscript_loads(x.subscripts)) for x in loads):
            raise self.scope.error(
                node,
                "expects the bound of a loop to be a sum of elements at affine places, "
                f"but got '{ast.unparse(node)}'",
            )
        for load in loads:
            if load.array.type.bounded_by is None:
                raise self.scope.error(
                    node,
                    f"expects '{load.array.name}' to have values that are bounded, as in "
                    f"'i32[n].with_values(bounded_by=m)', to bound a loop",
                )
        return (bound,)

    # Assignments.

    def target(self, node: ast.expr) -> Load:
        """Translate what is assigned to."""
        if isinstance(node, ast.Subscript):
            return self.values.load(node)
        if isinstance(node, ast.Name):
            value = self.scope.names.get(node.id)
            if isinstance(value, Array) and not value.type.extents:
                return Load(value, ())
            if value is None:
                raise self.scope.error(
                    node, f"expects a type for a new scalar, as in '{node.id}: f64 = ...'"
                )
        raise self.scope.error(node, f"expects an array element, but got '{ast.unparse(node)}'")

    def assign(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> Assign:
        """Translate `target = value`."""
        if isinstance(value, ast.Call):
            function = self.scope.function(value.func)
            if isinstance(function, Combiner):
                return self.combine(node, target, value, function.rule)
        if isinstance(target, ast.Tuple):
            raise self.scope.error(
                node,
                f"expects a call of a combiner for '{ast.unparse(target)}', "
                f"but got '{ast.unparse(value)}'",
            )
        load = self.target(target)
        expr = self.values.value(value)
        return self.finish(node, load, expr, self.reduction(value, load))

    def reduction(self, value: ast.expr, target: Load) -> str | None:
        """Return how `target = max(target, e)` combines; other forms fix an order."""
        if not isinstance(value, ast.Call) or len(value.args) != 2:
            return None
        function = self.scope.function(value.func)
        first, second = map(self.values.value, value.args)
        if function not in ("max", "min") or first != target:
            return None
        if not _is_updated_freely(target, second):
            return None
        return str(function)

    def combine(self, node: ast.stmt, target: ast.expr, call: ast.Call, rule: Combining) -> Assign:
        """Translate `x, y = combiner(x, y, v, w)`."""
        written = target.elts if isinstance(target, ast.Tuple) else [target]
        targets = tuple(map(self.target, written))
        number = len(rule.first)
        if len(targets) != number or len(call.args) != 2 * number or call.keywords:
            raise self.scope.error(
                node,
                f"expects {number} elements to be combined with {number} values by "
                f"'{rule.name}', but got '{ast.unparse(node)}'",
            )
        operands = [self.values.value(argument) for argument in call.args]
        if tuple(operands[:number]) != targets:
            raise self.scope.error(
                node,
                f"expects '{rule.name}' to be called with what it is assigned to, "
                f"'{ast.unparse(target)}', before other values, but got '{ast.unparse(call)}'",
            )
        states = [
            self.values.typed(argument, operand, part.type)
            for argument, operand, part in zip(
                call.args, operands, (*rule.first, *rule.second), strict=True
            )
        ]
        if not all(_is_updated_freely(t, v) for t in targets for v in states[number:]):
            raise self.scope.error(
                node,
                f"expects values that do not depend on '{ast.unparse(target)}', "
                f"but got '{ast.unparse(call)}'",
            )
        if rule.name in self.labels and self.combiners.get(rule.name) != rule:
            raise self.scope.error(
                node, f"expects a combiner with a name of its own, but got '{rule.name}'"
            )
        self.labels.add(rule.name)
        self.combiners[rule.name] = rule
        return self.store(node, targets, rule.apply(states), rule)

    def update(self, node: ast.AugAssign) -> Assign:
        """Translate `target += value`, and the like."""
        name = _UPDATES.get(type(node.op))
        if name is None:
            raise self.scope.error(
                node, f"expects one of += -= *= /=, but got '{ast.unparse(node)}'"
            )
        target, value = self.target(node.target), self.values.value(node.value)
        is_reduction = name in _REDUCTIONS and _is_updated_freely(target, value)
        combined = self.values.apply(node, name, [target, value])
        return self.finish(node, target, combined, _REDUCTIONS[name] if is_reduction else None)

    def finish(self, node: ast.stmt, target: Load, value: Expr, reduction: str | None) -> Assign:
        """Check the type of what is assigned."""
        value = self.values.typed(node, value, target.type)
        return self.store(node, (target,), (value,), reduction)

    def store(
        self,
        node: ast.stmt,
        targets: tuple[Load, ...],
        values: tuple[Expr, ...],
        reduction: str | Combining | None,
    ) -> Assign:
        """Name an assignment."""
        name = self.label or f"S{self.count}"
        while self.label is None and name in self.labels:
            self.count += 1
            name = f"S{self.count}"
        self.count += self.label is None
        self.labels.add(name)
        self.label = None
        return Assign(name, targets, values, reduction, node.lineno)


def _is_updated_freely(target: Load, value: Expr) -> bool:
    """Say whether `target` may be combined with `value` in any order.

    The value does not depend on the element, nor is which one it is read from its array.
    """
    indices = subscript_loads(target.subscripts)
    return target not in loads(value) and all(load.array != target.array for load in indices)
