"""A model under construction, and the drawing of operands."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

from random_models.evaluate import Evaluator, Impossible, is_float, schema, type_code

OPSETS = (13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26)
DTYPES = [np.dtype(t) for t in ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
DTYPES += [np.dtype(np.bool_), np.dtype(ml_dtypes.bfloat16)]
WEIGHTS = {"float32": 8.0, "float16": 2.0, "int64": 3.0, "int8": 2.0, "uint8": 2.0, "bool": 2.0}
WEIGHTS["bfloat16"] = 0.5
EXTENTS = (0, 1, 1, 2, 3, 3, 5, 7, 13, 17)
MAX_ELEMENTS = 4096
LIMITS = {"float16": 1e3, "bfloat16": 1e3, "float32": 1e5, "float64": 1e5}
"""Models keep to numbers up to here, so that sums of products stay finite."""

Predicate = Callable[[np.ndarray], bool]


@dataclass
class Value:
    """A value of the model and what it is for the inputs at hand.

    `exact`: whether every implementation must compute these very bits.
    `source`: whether it is an input or a constant.
    """

    name: str
    array: np.ndarray
    exact: bool = True
    source: bool = False
    readers: int = 0

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.array.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.array.ndim


@dataclass
class Builder:
    """Adds nodes to a model, evaluating each."""

    rng: np.random.Generator
    opset: int
    values: list[Value] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    constant_share: float = 0.3
    pruning: np.random.Generator | None = None
    max_elements: int = MAX_ELEMENTS

    def __post_init__(self) -> None:
        self.evaluator = Evaluator(self.opset)
        self._count = 0

    # Choices.

    def chance(self, share: float) -> bool:
        """Say yes with this probability."""
        return bool(self.rng.random() < share)

    def choose(self, options: Iterable):  # noqa: ANN201
        """Return one of the options."""
        listed = list(options)
        if not listed:
            raise Impossible("nothing to choose from")
        return listed[int(self.rng.integers(len(listed)))]

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        if high < low:
            raise Impossible("an empty range")
        return int(self.rng.integers(low, high + 1))

    def dtype(self, allowed: Iterable[np.dtype]) -> np.dtype:
        """Return one of the types, the usual ones more often."""
        listed = [t for t in DTYPES if t in set(allowed)]
        if not listed:
            raise Impossible("no type of ours")
        weights = np.array([WEIGHTS.get(t.name, 1.0) for t in listed])
        return listed[int(self.rng.choice(len(listed), p=weights / weights.sum()))]

    def shape(self, rank: int | None = None, low: int = 0) -> tuple[int, ...]:
        """Return a shape of few elements."""
        rank = self.integer(0, 4) if rank is None else rank
        allowed = [extent for extent in EXTENTS if extent >= low]
        while True:
            shape = tuple(self.choose(allowed) for _ in range(rank))
            if np.prod(shape, dtype=int) <= MAX_ELEMENTS // 4:
                return shape

    def types(self, op_type: str, index: int) -> list[np.dtype]:
        """Return the types of ours that ONNX allows for an operator's input."""
        found = schema(op_type, self.opset)
        formal = found.inputs[min(index, len(found.inputs) - 1)]
        allowed = {c.type_param_str: c.allowed_type_strs for c in found.type_constraints}
        names = set(allowed.get(formal.type_str, [formal.type_str]))
        return [t for t in DTYPES if _type_name(t) in names]

    # Operands.

    def draw(self, dtype: np.dtype, shape: Sequence[int], low: float, high: float) -> np.ndarray:
        """Return random elements; half of those of floats have few digits."""
        if dtype == np.bool_:
            return self.rng.integers(0, 2, shape).astype(dtype)
        if not is_float(dtype):
            info = np.iinfo(dtype)
            bounds = max(int(low), int(info.min)), min(int(high), int(info.max))
            return self.rng.integers(*bounds, shape, np.int64, endpoint=True).astype(dtype)
        if self.chance(0.5):
            return (self.rng.integers(int(low * 8), int(high * 8) + 1, shape) / 8).astype(dtype)
        return self.rng.uniform(low, high, shape).astype(dtype)

    def leaf(self, array: np.ndarray, constant: bool | None = None) -> Value:
        """Add an input or a constant."""
        if constant is None:
            constant = self.chance(self.constant_share)
        value = Value(self._name("c" if constant else "x"), array, source=True)
        if not constant:
            self.inputs[value.name] = array
        elif self.chance(0.3):
            tensor = numpy_helper.from_array(array, f"{value.name}.value")
            self.nodes.append(helper.make_node("Constant", [], [value.name], value=tensor))
        else:
            self.constants.append(numpy_helper.from_array(array, value.name))
        self.values.append(value)
        return value

    def fixed(self, array: np.ndarray | Sequence[int]) -> Value:
        """Add an operand that must be known at import, such as a shape."""
        return self.leaf(np.asarray(array, None if isinstance(array, np.ndarray) else np.int64), True)

    def operand(
        self,
        dtypes: Iterable[np.dtype],
        rank: int | tuple[int, int] | None = None,
        *,
        shape: Sequence[int] | None = None,
        fits: Predicate | None = None,
        exact: bool = False,
        bounds: tuple[float, float] = (-3, 3),
        least: int = 0,
        reuse: float = 0.75,
    ) -> Value:
        """Return a value of the model, or a new one.

        Arguments:
            rank: the number of dimensions, or the least and the greatest one.
            fits: what the elements must be like; those within `bounds` are.
            least: the least extent.
        """
        listed = list(dtypes)
        ranks = (rank, rank) if isinstance(rank, int) else rank or (0, 6)

        def good(value: Value) -> bool:
            return (
                value.dtype in listed
                and ranks[0] <= value.rank <= ranks[1]
                and (shape is None or value.shape == tuple(shape))
                and min(value.shape, default=least) >= least
                and (value.exact or not exact)
                and (fits is None or fits(value.array))
            )

        if self.chance(reuse):
            found = [v for v in self.values if good(v)]
            recent = [v for v in found if not v.readers] or found
            if found:
                return self.choose(recent if self.chance(0.7) else found)
        dtype = self.dtype(listed)
        if shape is None:
            high = min(ranks[1], max(4, ranks[0]))
            shape = self.shape(self.integer(ranks[0], high), least)
        if np.prod(shape, dtype=int) > self.max_elements:
            raise Impossible("too many elements")
        array = self.draw(dtype, shape, *bounds)
        constant = self.chance(self.constant_share)
        if constant and fits is None and bounds[0] <= 0 <= bounds[1]:
            array = self._prune(array)
        return self.leaf(array, constant)

    def _prune(self, array: np.ndarray) -> np.ndarray:
        """Make most elements of a matrix zero, in a model that is pruned."""
        if self.pruning is None or array.ndim < 2:
            return array
        density = self.pruning.choice([0.0, 0.1, 0.3, 0.5])
        kept = self.pruning.random(array.shape) < density
        if self.pruning.random() < 0.3:  # Rows that share their places, as in blocks.
            kept[...] = kept[:, :1]
        return np.where(kept, array, np.zeros((), array.dtype))

    def broadcast(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return a shape that broadcasts to another one."""
        start = self.integer(0, len(shape)) if self.chance(0.4) else 0
        return tuple(1 if self.chance(0.2) else extent for extent in shape[start:])

    # Nodes.

    def add(
        self,
        op_type: str,
        operands: Sequence[Value | None],
        outputs: int | Sequence[bool] = 1,
        *,
        exact: str = "",
        limit: bool = True,
        **attributes: object,
    ) -> list[Value]:
        """Add a node; return its outputs.

        Arguments:
            outputs: how many, or which of them are used.
            exact: "move" for operators that only choose elements, "arithmetic" for
                those whose results are exact if double precision changes nothing.
            limit: refuse results that are not finite, or large.
        """
        used = [True] * outputs if isinstance(outputs, int) else list(outputs)
        names = [self._name("v") if use else "" for use in used]
        operand_names = [v.name if v else "" for v in operands]
        attributes = {k: v for k, v in attributes.items() if v is not None}
        node = helper.make_node(op_type, operand_names, names, **attributes)
        feed = {v.name: v.array for v in operands if v is not None}
        infos = self._infer(node, operands)
        codes = [info.elem_type if info else 0 for info in infos]
        types = [np.dtype(helper.tensor_dtype_to_np_dtype(c)) if c else None for c in codes]
        arrays = self.evaluator.run(node, feed, types)
        self._check(arrays, [info for info in infos if info], limit)
        bits = all(v is None or v.exact for v in operands)
        results = []
        for name, array in zip(filter(None, names), arrays, strict=True):
            whole = exact == "move" or (not is_float(array.dtype) and exact != "never")
            results.append(Value(name, array, bits and whole))
        if bits and exact == "arithmetic":
            self._mark_exact(node, feed, results)
        for value in operands:
            if value is not None:
                value.readers += 1
        self.nodes.append(node)
        self.values += results
        return results

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _infer(
        self, node: onnx.NodeProto, operands: Sequence[Value | None]
    ) -> list[onnx.TypeProto.Tensor | None]:
        """Return what ONNX infers of a node's outputs."""
        infos = {
            v.name: helper.make_tensor_type_proto(type_code(v.dtype), v.shape)
            for v in operands
            if v is not None
        }
        try:
            types = onnx.shape_inference.infer_node_outputs(
                schema(node.op_type, self.opset), node, infos
            )
        except Exception as error:
            raise Impossible(f"type inference: {error}") from error
        results = [types[n].tensor_type if n and n in types else None for n in node.output]
        for name, info in zip(node.output, results, strict=True):
            if name and not (info and info.elem_type):
                raise Impossible("a type is open")
        return results

    def _check(
        self, arrays: Sequence[np.ndarray], infos: Sequence[onnx.TypeProto.Tensor], limit: bool
    ) -> None:
        for array, info in zip(arrays, infos, strict=True):
            if info.HasField("shape") and not _fits(array.shape, info.shape):
                raise Impossible("a shape that ONNX does not infer")
            if array.size > self.max_elements or array.ndim > 7:
                raise Impossible("too many elements")
            if array.dtype not in DTYPES:
                raise Impossible("no type of ours")
            if limit and is_float(array.dtype) and array.size:
                largest = np.abs(array.astype(np.float64)).max()
                if not largest <= LIMITS[array.dtype.name]:
                    raise Impossible("not finite, or large")

    def _mark_exact(
        self, node: onnx.NodeProto, feed: dict[str, np.ndarray], results: list[Value]
    ) -> None:
        """Mark the results that double precision does not change."""
        wide = {k: a.astype(np.float64) if is_float(a.dtype) else a for k, a in feed.items()}
        types = [np.dtype(np.float64) if is_float(v.dtype) else v.dtype for v in results]
        try:
            arrays = self.evaluator.run(node, wide, types)
        except Impossible:
            return
        for value, array in zip(results, arrays, strict=True):
            value.exact = bool((array == value.array.astype(array.dtype)).all())


def _fits(shape: Sequence[int], inferred: onnx.TensorShapeProto) -> bool:
    dims = inferred.dim
    return len(dims) == len(shape) and all(
        not dim.HasField("dim_value") or dim.dim_value == extent
        for dim, extent in zip(dims, shape, strict=True)
    )


def _type_name(dtype: np.dtype) -> str:
    return f"tensor({onnx.TensorProto.DataType.Name(type_code(dtype)).lower()})"
