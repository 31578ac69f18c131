"""Tensors of a cell while it is traced: operators append to the cell."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import NoReturn

import numpy as np

from espalier.errors import EspalierError

Attribute = int | float | str | tuple[int, ...]
Shape = tuple[int, ...]


class RecursiveError(EspalierError):
    """A recursive function that no model can be made of; the message has its line."""


@dataclass(eq=False)
class Operation:
    """An operation of a cell.

    Attributes:
        name: the operator of the `graph` dialect, or "constant", "argument", "feature",
            "call" or "children", which `mlir` and `reference` know.
        line: that of the user's function which asks for it.
        body: for "children", what is computed for each child.
    """

    name: str
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    attributes: dict[str, Attribute]
    line: int
    body: Block | None = None


@dataclass(eq=False)
class Block:
    """Operations, and the tensors that are their result."""

    arguments: tuple[Tensor, ...] = ()
    operations: list[Operation] = field(default_factory=list)
    results: tuple[Tensor, ...] = ()


@dataclass(eq=False)
class Cell:
    """What leaves or interior nodes compute.

    Attributes:
        code: the function that is traced.
        block: where operations are appended.
        closed: the tensors of bodies that are traced.
    """

    code: CodeType
    block: Block = field(default_factory=Block)
    closed: set[Tensor] = field(default_factory=set)
    count: int = 0

    def line(self) -> int:
        """Return the line of the user's function that runs."""
        frame = sys._getframe(1)
        while frame.f_back and frame.f_code.co_filename != self.code.co_filename:
            frame = frame.f_back
        if frame.f_code.co_filename != self.code.co_filename:
            return self.code.co_firstlineno
        return frame.f_lineno

    def fail(self, message: str) -> NoReturn:
        """Report what the user's function does, at the line that does it."""
        raise RecursiveError(f"{self.code.co_filename}:{self.line()}: {message}")

    def tensor(self, shape: Sequence[int], dtype: str = "f32") -> Tensor:
        """Return a new tensor, the result of no operation yet."""
        self.count += 1
        return Tensor(self, tuple(shape), dtype, self.count - 1)

    def require(self, tensor: Tensor) -> None:
        """Refuse a tensor that the block which is traced cannot use."""
        if tensor.cell is not self:
            self.fail("expects tensors of this call, but got one of an earlier call")
        if tensor in self.closed:
            self.fail("expects tensors of the node, but got one of a child outside of its body")

    def require_floats(self, operands: Iterable[object]) -> None:
        """Refuse what is no tensor of floating-point numbers."""
        for operand in operands:
            if not isinstance(operand, Tensor):
                self.fail(f"expects a tensor, but got {type(operand).__name__}")
            if operand.dtype != "f32":
                self.fail("expects floating-point numbers, but got words")

    def extents(self, values: Iterable[object]) -> Shape:
        """Return the extents of a shape that the user gives."""
        shape = tuple(values)
        for value in shape:
            if not isinstance(value, int | np.integer) or not 0 <= value < 2**31:
                self.fail(f"expects extents of 31 bits and no negative ones, but got {value!r}")
        return tuple(map(int, shape))  # type: ignore[call-overload]

    def add(
        self,
        name: str,
        operands: Sequence[Tensor],
        shape: Sequence[int],
        dtype: str = "f32",
        **attributes: Attribute,
    ) -> Tensor:
        """Append an operation with one result."""
        for operand in operands:
            self.require(operand)
        result = self.tensor(shape, dtype)
        self.block.operations.append(
            Operation(name, tuple(operands), (result,), attributes, self.line())
        )
        return result


class Tensor:
    """A tensor of a cell, with NumPy's operators."""

    __array_ufunc__ = None  # NumPy leaves operators to this class.

    def __init__(self, cell: Cell, shape: Shape, dtype: str, number: int) -> None:
        self.cell = cell
        self.shape = shape
        self.dtype = dtype
        self.number = number

    def __add__(self, other: Operand) -> Tensor:
        return binary("add", self, other)

    def __radd__(self, other: Operand) -> Tensor:
        return binary("add", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return binary("sub", self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return binary("sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return binary("mul", self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        return binary("mul", other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return binary("div", self, other)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return binary("div", other, self)

    def __neg__(self) -> Tensor:
        return _elementwise("neg", self)

    def __matmul__(self, other: Tensor) -> Tensor:
        return product(self, other)

    def __rmatmul__(self, other: object) -> NoReturn:
        self.cell.fail(f"expects a tensor, but got {type(other).__name__}")

    def __getitem__(self, index: Tensor | slice | tuple[slice, ...]) -> Tensor:
        if isinstance(index, Tensor):
            if index.dtype != "i32" or not self.shape:
                self.cell.fail("expects a number of a row as a tensor index, but got an element")
            shape = index.shape + self.shape[1:]
            return self.cell.add("gather", [self, index], shape, self.dtype, axis=0)
        slices = index if isinstance(index, tuple) else (index,)
        return self._slice(slices)

    def _slice(self, slices: tuple[slice, ...]) -> Tensor:
        if len(slices) > len(self.shape) or not all(isinstance(s, slice) for s in slices):
            self.cell.fail("expects slices, one for each dimension, or a word as an index")
        slices += (slice(None),) * (len(self.shape) - len(slices))
        ranges = [range(*s.indices(n)) for s, n in zip(slices, self.shape, strict=True)]
        if any(r.step != 1 for r in ranges):
            self.cell.fail("expects slices without steps")
        shape = [len(r) for r in ranges]
        offsets = tuple(r.start for r in ranges)
        return self.cell.add("slice", [self], shape, self.dtype, offsets=offsets)

    def reshape(self, *shape: int) -> Tensor:
        """Return the same elements in another shape."""
        extents = self.cell.extents(shape)
        if math.prod(extents) != math.prod(self.shape):
            self.cell.fail(f"expects a shape for {self.shape}, but got {extents}")
        return self.cell.add("reshape", [self], extents, self.dtype)

    def __bool__(self) -> bool:
        self.cell.fail(
            "expects conditions on the structure alone, such as `node.is_leaf`, but got one "
            "on a tensor"
        )

    def _refuse(self, *_: object) -> NoReturn:
        self.cell.fail("expects operators on whole tensors, but got a use of their elements")

    __iter__ = __len__ = __index__ = __int__ = __float__ = __array__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _refuse
    __eq__ = __ne__ = _refuse
    __hash__ = object.__hash__


Operand = Tensor | float


def binary(name: str, left: Operand, right: Operand) -> Tensor:
    """Apply an operator elementwise; shapes broadcast."""
    cell = left.cell if isinstance(left, Tensor) else right.cell  # type: ignore[union-attr]
    operands = []
    for value in (left, right):
        if isinstance(value, int | float | np.integer | np.floating):
            largest = float(np.finfo(np.float32).max)
            if largest < abs(value) < math.inf:
                cell.fail(f"expects a constant of at most {largest:g}, but got a larger one")
            value = cell.add("constant", [], (), value=float(value))
        elif not isinstance(value, Tensor):
            cell.fail(f"expects tensors and numbers, but got {type(value).__name__}")
        operands.append(value)
    try:
        shape = np.broadcast_shapes(operands[0].shape, operands[1].shape)
    except ValueError:
        cell.fail(f"expects shapes that agree, but got {operands[0].shape}, {operands[1].shape}")
    cell.require_floats(operands)
    return cell.add(name, operands, shape)


def product(left: Tensor, right: Tensor) -> Tensor:
    """Multiply matrices; a vector is a row on the left, a column on the right."""
    left.cell.require_floats([left, right])
    shapes = left.shape, right.shape
    row = left.reshape(1, *left.shape) if len(left.shape) == 1 else left
    column = right.reshape(*right.shape, 1) if len(right.shape) == 1 else right
    if min(len(row.shape), len(column.shape)) < 2 or row.shape[-1] != column.shape[-2]:
        left.cell.fail(f"expects shapes that can be multiplied, but got {shapes[0]}, {shapes[1]}")
    try:
        batch = np.broadcast_shapes(row.shape[:-2], column.shape[:-2])
    except ValueError:
        left.cell.fail(f"expects shapes that agree, but got {shapes[0]}, {shapes[1]}")
    result = left.cell.add("matmul", [row, column], (*batch, row.shape[-2], column.shape[-1]))
    if len(shapes[0]) == 1:
        result = result.reshape(*result.shape[:-2], result.shape[-1])
    if len(shapes[1]) == 1:
        result = result.reshape(*result.shape[:-1])
    return result


def _elementwise(name: str, x: Tensor) -> Tensor:
    x.cell.require_floats([x])
    return x.cell.add(name, [x], x.shape)


def _unary(name: str) -> Callable[[Tensor], Tensor]:
    def apply(x: Tensor) -> Tensor:
        _require_tensor(name, x)
        return _elementwise(name, x)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"Return {name} of each element."
    return apply


exp = _unary("exp")
relu = _unary("relu")
sigmoid = _unary("sigmoid")
tanh = _unary("tanh")


def concat(*tensors: Tensor, axis: int = 0) -> Tensor:
    """Join tensors end to end."""
    _require_tensor("concat", tensors[0] if tensors else None)
    cell = tensors[0].cell
    for tensor in tensors[1:]:
        if not isinstance(tensor, Tensor):
            cell.fail(f"expects tensors to be joined, but got {type(tensor).__name__}")
    shapes = [t.shape for t in tensors]
    if not isinstance(axis, int) or not 0 <= axis < len(shapes[0]):
        cell.fail(f"expects an axis of {shapes[0]}, but got {axis!r}")
    rests = {s[:axis] + s[axis + 1 :] for s in shapes}
    if len(rests) != 1 or len({len(s) for s in shapes}) != 1:
        cell.fail(f"expects shapes that differ along axis {axis} only, but got {shapes}")
    dtypes = [t.dtype for t in tensors]
    if len(set(dtypes)) != 1:
        cell.fail(f"expects tensors of one type of elements, but got {', '.join(dtypes)}")
    total = sum(s[axis] for s in shapes)
    shape = (*shapes[0][:axis], total, *shapes[0][axis + 1 :])
    return cell.add("concat", tensors, shape, dtypes[0], axis=axis)


def split(x: Tensor, count: int) -> list[Tensor]:
    """Return equal parts along the first axis, such as the gates that one product gives."""
    _require_tensor("split", x)
    if not isinstance(count, int) or count < 1:
        x.cell.fail(f"expects a number of parts, but got {count!r}")
    if not x.shape or x.shape[0] % count:
        x.cell.fail(f"expects {count} equal parts, but got {x.shape}")
    size = x.shape[0] // count
    return [x[i * size : (i + 1) * size] for i in range(count)]


def _require_tensor(name: str, x: object) -> None:
    """Refuse a first operand that has no cell, which would know the line."""
    if not isinstance(x, Tensor):
        got = "none" if x is None else type(x).__name__
        raise RecursiveError(f"{name} expects a tensor, but got {got}")
