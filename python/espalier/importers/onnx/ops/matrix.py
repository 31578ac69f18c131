"""Matrix products."""

import numpy as np

from espalier.importers.onnx.emitter import Emitter, broadcast, show
from espalier.importers.onnx.registry import Node, op
from espalier.importers.onnx.symbolic import Expr
from espalier.importers.onnx.values import Tensor, Value


def matmul(e: Emitter, node: Node, a: Value, b: Value) -> Tensor:
    """Multiply matrices; leading dimensions broadcast, vectors are allowed."""
    if a.rank == 0 or b.rank == 0:
        raise node.error("expects operands of rank 1 or more, but got a scalar")
    dims = [*a.dims[-2:-1], *b.dims[-1:]] if b.rank > 1 else [*a.dims[-2:-1]]
    left = e.reshape(a, [1, *a.dims]) if a.rank == 1 else a
    right = e.reshape(b, [*b.dims, 1]) if b.rank == 1 else b
    inner = left.dims[-1], right.dims[-2]
    if inner[0] != inner[1] and not any(isinstance(d, Expr) for d in inner):
        raise node.error(
            f"expects inner extents that agree, but got {show(a.dims)} and {show(b.dims)}"
        )
    batch = broadcast([left.dims[:-2], right.dims[:-2]])
    product = e.op("matmul", left, right, dims=[*batch, left.dims[-2], right.dims[-1]])
    if 1 in (a.rank, b.rank):
        return e.reshape(product, [*batch, *dims])
    return product


@op("MatMul")
def _matmul(e: Emitter, node: Node) -> Tensor:
    return matmul(e, node, node.input(0), node.input(1))


@op("Gemm", rounds_once=True)
def _gemm(e: Emitter, node: Node) -> Tensor:
    a, b, c = node.input(0), node.input(1), node.inputs[2]
    for index, operand in enumerate((a, b)):
        if operand.rank != 2:
            raise node.error(f"expects input #{index} of rank 2, but got rank {operand.rank}")
    if node["transA"]:
        a = e.transpose(a, [1, 0])
    if node["transB"]:
        b = e.transpose(b, [1, 0])
    result = matmul(e, node, a, b)
    if node["alpha"] != 1:
        result = e.op("mul", result, _scale(e, node["alpha"], result.dtype))
    if c is None or node["beta"] == 0:
        return result
    if node["beta"] != 1:
        c = e.op("mul", c, _scale(e, node["beta"], result.dtype))
    if len(broadcast([c.dims, result.dims])) > 2:
        raise node.error(f"expects input #2 of rank 2 at most, but got rank {c.rank}")
    return e.op("add", result, c)


def _scale(e: Emitter, factor: float, dtype: np.dtype) -> Tensor:
    return e.scalar(factor, dtype)
