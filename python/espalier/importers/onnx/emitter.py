"""Emission of graph operations, with symbolic extents beside every tensor."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from espalier import ir
from espalier.dtypes import DTYPES, is_half, mlir_name
from espalier.errors import ModelError
from espalier.importers.onnx.registry import Unsupported
from espalier.importers.onnx.symbolic import Apply, Atom, Dim, Expr, Size, lift, lower_bound
from espalier.importers.onnx.values import Known, Tensor, Value, known

DYNAMIC = -(2**63)
"""MLIR's mark for an extent that an operand gives."""


class Emitter:
    """Adds operations to a module under construction.

    `location` is the ONNX node that new operations belong to.
    """

    def __init__(self, builder: ir.Builder) -> None:
        self.builder = builder
        self.location = ""
        self._sizes: dict[str, tuple[ir.Value, int]] = {}
        self._indices: dict[Dim | Atom, ir.Value] = {}
        self._count = 0
        self._in_cell = False
        self._limited: list[ir.Value] = []

    # Values.

    def input(
        self, name: str, dims: Sequence[Dim], symbols: Sequence[str], dtype: np.dtype
    ) -> Tensor:
        """Add a function argument; its expressions must be plain sizes."""
        shape = [d if isinstance(d, int) else None for d in dims]
        value = self.builder.input(name, shape, mlir_name(dtype), list(symbols))
        for axis, dim in enumerate(dims):
            if isinstance(dim, Expr):
                self._sizes.setdefault(str(dim), (value, axis))
        is_integer = np.issubdtype(dtype, np.integer)
        return Tensor(value, tuple(dims), dtype, integers_of=value if is_integer else None)

    def limit(self, x: Value, dim: Dim) -> None:
        """Let the program refuse values of an input that are not from 0 to `dim`.

        Nothing is refused of what the program computes, nor where `dim` is no number and
        no size of an input.
        """
        source = x.integers_of if isinstance(x, Tensor) else None
        is_known = isinstance(dim, int) or str(dim) in self._sizes
        if source is None or not is_known or any(source is other for other in self._limited):
            return
        self._limited.append(source)
        size, limit = (None, dim) if isinstance(dim, int) else (str(dim), 0)
        self.builder.limit_input(source, size, limit)

    def tensor(self, value: Value) -> Tensor:
        """Return a value as a tensor of the program."""
        if isinstance(value, Tensor):
            return value
        if value.tensor is None:
            if value.symbolic:
                value.tensor = self._from_indices(value)
            else:
                array = np.ascontiguousarray(value.array).reshape(value.array.shape)
                constant = self.builder.constant(array)
                value.tensor = Tensor(constant, array.shape, value.dtype)
        return value.tensor

    def constant(self, array: np.ndarray | Sequence[int], dtype: np.dtype | None = None) -> Tensor:
        """Return a new constant tensor."""
        return self.tensor(known(np.asarray(array, dtype=dtype)))

    def scalar(self, number: float, dtype: np.dtype) -> Tensor:
        """Return a constant without dimensions."""
        return self.constant(np.asarray(number).astype(dtype))

    def _from_indices(self, value: Known) -> Tensor:
        """Turn expressions into a tensor of the program."""
        parts = [self._from_index(lift(e)) for e in value.array.flat]
        flat = (
            parts[0] if len(parts) == 1 else self.op("concat", *parts, axis=0, dims=(len(parts),))
        )
        return self.cast(self.reshape(flat, value.dims), value.dtype)

    def _from_index(self, expr: Expr) -> Tensor:
        """Return the value of an expression as a tensor of one i64 element.

        Counting to it is the one way that needs no operation for this alone;
        negative terms are counted apart, as nothing counts below zero.
        """
        total = self.constant([expr.terms.get((), 0)], np.dtype(np.int64))
        for sign, name in ((1, "add"), (-1, "sub")):
            part = Expr({m: sign * c for m, c in expr.terms.items() if m and sign * c > 0})
            if not part.terms:
                continue
            if lower_bound(part) is None:
                raise Unsupported(f"needs sizes that are not negative, but got {part}")
            count = self.iota([part + 1], 0, np.dtype(np.int64))
            total = self.op(name, total, self.slice(count, [part], [1], [1]))
        return total

    # Indices.

    def index(self, dim: Dim) -> ir.Value:
        """Return an extent as an index value of the program."""
        if self._in_cell and isinstance(dim, Expr):
            raise Unsupported(f"needs an extent that is known in a loop's body, but got {dim}")
        if dim in self._indices:
            return self._indices[dim]
        if isinstance(dim, int):
            _check_number(dim)
            self._indices[dim] = self.builder.index(dim)
            return self._indices[dim]
        terms = []
        for monomial, coefficient in dim.terms.items():
            factors = [self._atom(atom) for atom in monomial]
            if coefficient != 1 or not factors:
                factors.append(self.index(coefficient))
            terms.append(self._fold_indices("mul", factors))
        self._indices[dim] = self._fold_indices("add", terms)
        return self._indices[dim]

    def _fold_indices(self, name: str, values: Sequence[ir.Value]) -> ir.Value:
        result = values[0]
        for value in values[1:]:
            result = self.builder.index_op(name, result, value)
        return result

    def _atom(self, atom: Atom) -> ir.Value:
        if atom not in self._indices:
            if isinstance(atom, Size):
                self._indices[atom] = self.builder.dim(*self._sizes[atom.name])
            else:
                assert isinstance(atom, Apply)
                sides = (_plain(atom.left), _plain(atom.right))
                self._indices[atom] = self.builder.index_op(
                    atom.function, *(self.index(side) for side in sides)
                )
        return self._indices[atom]

    # Operations.

    def op(
        self,
        name: str,
        *operands: Value,
        dims: Sequence[Dim | None] | None = None,
        **attributes: ir.Attribute,
    ) -> Tensor:
        """Emit `graph.<name>` with one result.

        `dims` are the result's extents as far as the caller knows them; without
        it the operands broadcast.
        """
        if dims is None:
            dims = broadcast([operand.dims for operand in operands])
        return self.ops(name, operands, attributes, [dims])[0]

    def ops(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, ir.Attribute],
        dims: Sequence[Sequence[Dim | None] | None],
        indices: Sequence[ir.Value] = (),
    ) -> list[Tensor]:
        """Emit `graph.<name>` with any number of results and index operands."""
        for attribute in attributes.values():
            for number in attribute if isinstance(attribute, list) else [attribute]:
                _check_number(number)
        values = [self.tensor(operand).value for operand in operands] + list(indices)
        results = self.builder.op(f"graph.{name}", values, attributes, self.location)
        return [self._result(value, d) for value, d in zip(results, dims, strict=True)]

    def scan(
        self,
        states: Sequence[Value],
        sequences: Sequence[Value],
        body: Callable[[list[Tensor]], Sequence[Value]],
    ) -> list[Tensor]:
        """Emit `graph.scan`: the states after the last step, and what is collected.

        `body` gets the states and the elements of dimension 0 of the sequences, and
        returns the next states and what is to be collected.
        """
        outer = [self.tensor(value) for value in (*states, *sequences)]
        starts = [0] * len(states) + [1] * len(sequences)
        collected: list[Sequence[Dim | None]] = []
        known_dims = {dim for tensor in outer for dim in tensor.dims}

        def add(arguments: Sequence[ir.Value]) -> list[ir.Value]:
            self._in_cell = True
            inner = [
                Tensor(value, tensor.dims[start:], tensor.dtype)
                for value, tensor, start in zip(arguments, outer, starts, strict=True)
            ]
            results = [self.tensor(value) for value in body(inner)]
            collected[:] = [
                [d if isinstance(d, int) or d in known_dims else None for d in result.dims]
                for result in results[len(states) :]
            ]
            return [result.value for result in results]

        if self._in_cell:
            raise Unsupported("is in a loop's body, which may have no loop of its own")
        try:
            values = [tensor.value for tensor in outer]
            split = len(states)
            results = self.builder.scan(values[:split], values[split:], add, self.location)
        finally:
            self._in_cell = False
        dims = [tensor.dims for tensor in outer[:split]]
        dims += [(outer[split].dims[0], *extents) for extents in collected]
        return [self._result(value, d) for value, d in zip(results, dims, strict=True)]

    def flip(self, x: Value, axis: int) -> Tensor:
        """Reverse the order along an axis."""
        offsets: list[Dim] = [0] * x.rank
        offsets[axis] = x.dims[axis] - 1
        steps = [-1 if i == axis else 1 for i in range(x.rank)]
        return self.slice(x, offsets, x.dims, steps)

    def _result(self, value: ir.Value, dims: Sequence[Dim | None] | None) -> Tensor:
        shape = value.shape
        if dims is None or len(dims) != len(shape):
            dims = [None] * len(shape)
        result: list[Dim] = []
        for axis, (extent, dim) in enumerate(zip(shape, dims, strict=True)):
            known_dim = dim if extent is None else extent
            if known_dim is None:
                self._count += 1
                name = f"${self._count}"
                self._sizes[name] = (value, axis)
                known_dim = Expr.size(name)
            result.append(known_dim)
        return Tensor(value, tuple(result), DTYPES[value.dtype])

    def cast(self, x: Value, dtype: np.dtype) -> Tensor:
        """Convert elements; to bool it is "not zero"."""
        if x.dtype == dtype:
            return self.tensor(x)
        if dtype == np.bool_:
            return self.op("not", self.op("equal", x, self.scalar(0, x.dtype)))
        result = self.op("cast", x, to=mlir_name(dtype))
        if isinstance(x, Tensor) and np.issubdtype(dtype, np.integer):
            result.integers_of = x.integers_of
        return result

    def widen(self, x: Value) -> Value:
        """Convert half precision to single, in which several operations round less."""
        return self.cast(x, np.dtype(np.float32)) if is_half(x.dtype) else x

    def reshape(self, x: Value, dims: Sequence[Dim]) -> Tensor:
        """Change the shape, keeping the order of elements."""
        if tuple(x.dims) == tuple(dims):
            return self.tensor(x)
        return self._sized("reshape", [x], dims, {})

    def expand(self, x: Value, dims: Sequence[Dim]) -> Tensor:
        """Repeat dimensions of extent 1, and add leading ones."""
        if tuple(x.dims) == tuple(dims):
            return self.tensor(x)
        return self._sized("expand", [x], dims, {})

    def fill(self, value: Value, dims: Sequence[Dim]) -> Tensor:
        """Return a tensor whose elements all equal a scalar."""
        return self._sized("fill", [value], dims, {})

    def iota(self, dims: Sequence[Dim], axis: int, dtype: np.dtype) -> Tensor:
        """Return the position along an axis."""
        attributes = {"axis": axis, "element_type": mlir_name(dtype)}
        return self._sized("iota", [], dims, attributes)

    def _sized(
        self, name: str, operands: list[Value], dims: Sequence[Dim], attributes: dict
    ) -> Tensor:
        static, indices = self._mixed(dims)
        attributes = {"static_sizes": static, **attributes}
        return self.ops(name, operands, attributes, [dims], indices)[0]

    def _mixed(self, dims: Sequence[Dim]) -> tuple[list[int], list[ir.Value]]:
        static = [d if isinstance(d, int) else DYNAMIC for d in dims]
        return static, [self.index(d) for d in dims if not isinstance(d, int)]

    def slice(
        self, x: Value, offsets: Sequence[Dim], sizes: Sequence[Dim], steps: Sequence[int]
    ) -> Tensor:
        """Take `sizes` elements from `offsets` on, `steps` apart."""
        whole = all(o == 0 for o in offsets) and all(s == 1 for s in steps)
        if whole and tuple(sizes) == tuple(x.dims):
            return self.tensor(x)
        static_offsets, offset_values = self._mixed(offsets)
        static_sizes, size_values = self._mixed(sizes)
        segments = f"array<i32: 1, {len(offset_values)}, {len(size_values)}>"
        attributes: dict[str, ir.Attribute] = {
            "static_offsets": static_offsets,
            "static_sizes": static_sizes,
            "steps": list(steps),
            "operandSegmentSizes": segments,
        }
        return self.ops("slice", [x], attributes, [sizes], offset_values + size_values)[0]

    def resize(
        self, x: Value, dims: Sequence[Dim], scales: Sequence[float], **attributes: ir.Attribute
    ) -> Tensor:
        """Resample; `scales` is empty where they are the quotients of the sizes."""
        numbers = ", ".join(f"{scale:.17e}" for scale in scales)
        attributes["scales"] = f"array<f64: {numbers}>" if scales else "array<f64>"
        return self._sized("resize", [x], dims, attributes)

    def transpose(self, x: Value, permutation: Sequence[int]) -> Tensor:
        """Reorder dimensions: result dimension i is dimension permutation[i]."""
        if list(permutation) == list(range(x.rank)):
            return self.tensor(x)
        dims = [x.dims[p] for p in permutation]
        return self.op("transpose", x, dims=dims, permutation=list(permutation))

    def reduce(self, kind: str, x: Value, axes: Sequence[int], keepdims: bool) -> Tensor:
        """Reduce over axes; `kind` is sum, mean, max, min or prod."""
        if not axes:
            return self.tensor(x)
        dims = [
            1 if axis in axes else d
            for axis, d in enumerate(x.dims)
            if keepdims or axis not in axes
        ]
        return self.op(f"reduce_{kind}", x, dims=dims, axes=list(axes), keepdims=keepdims)


def _check_number(number: object) -> None:
    """Refuse integers that the compiler has no room for."""
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise ModelError(
            f"expects extents, offsets and steps from -2^63 to 2^63 - 1, but got {number}"
        )


def _plain(expr: Expr) -> Dim:
    return expr.terms.get((), 0) if set(expr.terms) <= {()} else expr


def broadcast(shapes: Sequence[Sequence[Dim]]) -> list[Dim]:
    """Return the extents that shapes broadcast to, aligned at the right.

    Two different expressions are taken to be equal at run time.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = []
    for axis in range(-rank, 0):
        dims = [shape[axis] for shape in shapes if -axis <= len(shape)]
        numbers = {d for d in dims if isinstance(d, int) and d != 1}
        if len(numbers) > 1:
            listed = " and ".join(show(shape) for shape in shapes)
            raise ModelError(f"expects shapes that broadcast, but got {listed}")
        symbols = [d for d in dims if isinstance(d, Expr)]
        result.append(numbers.pop() if numbers else symbols[0] if symbols else 1)
    return result


def show(dims: Sequence[Dim]) -> str:
    """Return a shape as text."""
    return "[" + ", ".join(str(d) for d in dims) + "]"
