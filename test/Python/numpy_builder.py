"""A stand-in for the compiler's module: it runs every operation in NumPy.

Each value holds one array per binding of the symbolic sizes; a dimension
whose extents differ between the bindings is dynamic. So the importer can be
compared with onnxruntime without the compiler, dynamic shapes included.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from espalier import ir
from espalier.dtypes import DTYPES, NAMES
from numpy_operations import OPERATIONS

Feed = dict[str, np.ndarray]


@dataclass
class NumpyValue:
    """One array, or one Python integer for an index, per binding."""

    arrays: list

    @property
    def shape(self) -> list[int | None]:
        shapes = [a.shape for a in self.arrays]
        return [d[0] if len(set(d)) == 1 else None for d in zip(*shapes, strict=True)]

    @property
    def dtype(self) -> str:
        return NAMES[self.arrays[0].dtype]


class NumpyBuilder:
    """Implements `ir.Builder` by evaluating at once.

    Arguments:
        feeds: the inputs, once per binding of the symbolic sizes.
    """

    def __init__(self, feeds: Sequence[Feed]) -> None:
        self.feeds = feeds
        self.outputs: list[dict[str, np.ndarray]] = []
        self.operations: list[str] = []
        self.declared: dict[str, tuple] = {}
        self.inputs: dict[str, NumpyValue] = {}
        self.limits: dict[str, tuple[str | None, int]] = {}

    def input(
        self, name: str, shape: Sequence[int | None], dtype: str, dims: Sequence[str]
    ) -> NumpyValue:
        self.declared[name] = (list(shape), dtype, list(dims))
        arrays = [feed[name] for feed in self.feeds]
        for array in arrays:
            assert NAMES[array.dtype] == dtype
            assert all(e in (None, d) for e, d in zip(shape, array.shape, strict=True))
        self.inputs[name] = NumpyValue(arrays)
        return self.inputs[name]

    def limit_input(self, input: NumpyValue, size: str | None, limit: int) -> None:
        (name,) = (n for n, v in self.inputs.items() if v is input)
        self.limits[name] = (size, limit)

    def constant(self, array: np.ndarray) -> NumpyValue:
        assert isinstance(array, np.ndarray)
        return NumpyValue([array] * len(self.feeds))

    def op(
        self,
        name: str,
        operands: Sequence[NumpyValue],
        attributes: Mapping[str, ir.Attribute],
        location: str = "",
    ) -> list[NumpyValue]:
        short = name.removeprefix("graph.")
        self.operations.append(short)
        clean = {
            key: match[1]
            if isinstance(v, str) and (match := re.search(r"^#graph\.\w+<(\w+)>", v))
            else v
            for key, v in attributes.items()
        }
        with np.errstate(all="ignore"):
            results = [
                OPERATIONS[short](*(operand.arrays[i] for operand in operands), **clean)
                for i in range(len(self.feeds))
            ]
        if not isinstance(results[0], tuple):
            results = [(result,) for result in results]
        first = operands[0].arrays[0] if operands and short != "cast" else None
        narrow = first.dtype if isinstance(first, np.ndarray | np.generic) else None
        if narrow in HALVES:
            results = [tuple(_narrow(np.asarray(a), narrow) for a in r) for r in results]
        return [NumpyValue([np.asarray(a) for a in each]) for each in zip(*results, strict=True)]

    def scan(
        self,
        states: Sequence[NumpyValue],
        sequences: Sequence[NumpyValue],
        body: Callable[[list[NumpyValue]], Sequence[NumpyValue]],
        location: str = "",
    ) -> list[NumpyValue]:
        """Run the body as often as the longest binding needs; a step more is not taken over."""
        lengths = [len(array) for array in sequences[0].arrays]
        steps: list[Sequence[NumpyValue]] = []
        current = list(states)
        for t in range(max([*lengths, 1])):
            rows = [NumpyValue([_row(a, t) for a in s.arrays]) for s in sequences]
            steps.append(body([*current, *rows]))
            current = [
                NumpyValue(
                    [
                        new if t < length else old
                        for old, new, length in zip(a.arrays, b.arrays, lengths, strict=True)
                    ]
                )
                for a, b in zip(current, steps[-1], strict=False)
            ]
        collected = [
            NumpyValue(
                [
                    np.stack([step[number].arrays[i] for step in steps])[:length]
                    for i, length in enumerate(lengths)
                ]
            )
            for number in range(len(states), len(steps[0]))
        ]
        return [*current, *collected]

    def dim(self, value: NumpyValue, dimension: int) -> NumpyValue:
        return NumpyValue([a.shape[dimension] for a in value.arrays])

    def index(self, number: int) -> NumpyValue:
        return NumpyValue([number] * len(self.feeds))

    def index_op(self, name: str, left: NumpyValue, right: NumpyValue) -> NumpyValue:
        function = INDEX[name]
        return NumpyValue([function(*p) for p in zip(left.arrays, right.arrays, strict=True)])

    def finish(self, outputs: Sequence[NumpyValue], names: Sequence[str]) -> None:
        self.outputs = [
            {name: value.arrays[i] for name, value in zip(names, outputs, strict=True)}
            for i in range(len(self.feeds))
        ]


def _row(array: np.ndarray, index: int) -> np.ndarray:
    """Return an element of dimension 0, and some where there is none."""
    if len(array) == 0:
        return np.zeros(array.shape[1:], array.dtype)
    return np.asarray(array[min(index, len(array) - 1)])


HALVES = (DTYPES["f16"], DTYPES["bf16"])


def _narrow(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Undo NumPy's promotion of half precision."""
    return array.astype(dtype) if array.dtype.kind == "f" else array


INDEX: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: int(a / b),
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "max": max,
    "min": min,
}
