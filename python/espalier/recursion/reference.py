"""A model run node by node in NumPy, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from espalier.recursion.structures import Structures
from espalier.recursion.tensors import Block, Operation
from espalier.recursion.trace import Trace

Results = tuple[np.ndarray, ...]

FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "div": np.divide,
    "exp": np.exp,
    "matmul": np.matmul,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "neg": np.negative,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sub": np.subtract,
    "tanh": np.tanh,
}


class Evaluation:
    """The results of all nodes, children before parents."""

    def __init__(
        self, trace: Trace, structures: Structures, arrays: Mapping[str, np.ndarray]
    ) -> None:
        """Prepare the evaluation; no node is evaluated yet."""
        self.trace = trace
        self.rows = structures.rows()
        self.arrays = {
            name: array.astype(np.float64) if array.dtype.kind == "f" else array
            for name, array in arrays.items()
        }
        self.results: dict[int, Results] = {}
        self.env: dict[int, np.ndarray] = {}

    def run(self, node: int) -> Results:
        """Return the results of a node."""
        stack = [node]
        while stack:
            missing = [c for c in self.rows[stack[-1]] if c not in self.results]
            if missing:
                stack += missing
                continue
            number = stack.pop()
            block = self.trace.interior if self.rows[number] else self.trace.leaf
            self.env = {}
            self.results[number] = self._block(block, number)
        return self.results[node]

    def _block(self, block: Block, node: int) -> Results:
        for op in block.operations:
            values = self._operation(op, node)
            for tensor, value in zip(op.results, values, strict=True):
                self.env[tensor.number] = value
        return tuple(self.env[t.number] for t in block.results)

    def _operation(self, op: Operation, node: int) -> Results:
        attributes = op.attributes
        operands = [self.env[t.number] for t in op.operands]
        shape = op.results[0].shape
        if op.name == "argument":
            return (self.arrays[str(attributes["source"])],)
        if op.name == "feature":
            return (self.arrays[str(attributes["source"])][node],)
        if op.name == "constant":
            return (np.full(shape, attributes["value"]),)
        if op.name == "call":
            return self.results[self.rows[node][int(attributes["child"])]]  # type: ignore[arg-type]
        if op.name == "children":
            return self._children(op, node)
        if op.name == "gather":
            return (operands[0][operands[1]],)
        if op.name == "reshape":
            return (operands[0].reshape(shape),)
        if op.name == "concat":
            return (np.concatenate(operands, axis=int(attributes["axis"])),)  # type: ignore[arg-type]
        if op.name == "slice":
            offsets = attributes["offsets"]
            assert isinstance(offsets, tuple)
            box = tuple(slice(o, o + n) for o, n in zip(offsets, shape, strict=True))
            return (operands[0][box],)
        return (FUNCTIONS[op.name](*operands),)

    def _children(self, op: Operation, node: int) -> Results:
        assert op.body is not None
        combine = FUNCTIONS[str(op.attributes["kind"])]
        total: Results | None = None
        for child in self.rows[node]:
            for tensor, value in zip(op.body.arguments, self.results[child], strict=True):
                self.env[tensor.number] = value
            part = self._block(op.body, node)
            total = part if total is None else tuple(map(combine, total, part))
        assert total is not None, "interior nodes have children"
        return total


def evaluate(
    trace: Trace, structures: Structures, arrays: Mapping[str, np.ndarray], places: str
) -> Results:
    """Return the results at the roots or at all nodes, in the caller's order."""
    evaluation = Evaluation(trace, structures, arrays)
    nodes = list(range(structures.num_nodes))
    if places == "roots":
        below = {child for row in evaluation.rows for child in row}
        nodes = [node for node in nodes if node not in below]
    values = [evaluation.run(node) for node in nodes]
    return tuple(np.stack(column) for column in zip(*values, strict=True))
