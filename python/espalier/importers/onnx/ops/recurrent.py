"""Recurrent layers over a whole sequence."""

from collections.abc import Sequence

import numpy as np

from espalier import ir
from espalier.importers.onnx.emitter import Emitter, show
from espalier.importers.onnx.registry import Node, Unsupported, op
from espalier.importers.onnx.symbolic import Dim
from espalier.importers.onnx.values import Known, Tensor, Value

DIRECTIONS = {
    "forward": ["forward"],
    "reverse": ["reverse"],
    "bidirectional": ["forward", "reverse"],
}


def _check(node: Node, activations: Sequence[str]) -> list[str]:
    """Refuse variants that the graph operations lack; return the directions."""
    directions = DIRECTIONS.get(node["direction"])
    if directions is None:
        raise node.error(
            f"expects a direction out of {list(DIRECTIONS)}, but got '{node['direction']}'"
        )
    expected = [name.lower() for name in activations] * len(directions)
    if node["activations"] and [name.lower() for name in node["activations"]] != expected:
        raise Unsupported(f"has activations {node['activations']}")
    if node["clip"] is not None:
        raise Unsupported("has the attribute 'clip'")
    x = node.input(0)
    if x.rank != 3:
        raise node.error(f"expects input #0 of rank 3, but got {show(x.dims)}")
    lengths = node.inputs[4]
    if lengths is not None:
        steps = x.dims[1 if node["layout"] else 0]
        full = isinstance(lengths, Known) and all(n == steps for n in lengths.array.flat)
        if not full:
            raise Unsupported("has sequence_lens that may be shorter than the sequence")
    for index, operand in enumerate(node.inputs[1:3], start=1):
        count = None if operand is None or operand.rank != 3 else operand.dims[0]
        if count is None or (isinstance(count, int) and count != len(directions)):
            got = "nothing" if operand is None else show(operand.dims)
            raise node.error(
                f"expects input #{index} of rank 3 for {len(directions)} directions, but got {got}"
            )
    return directions


def _one(
    e: Emitter, value: Value | None, index: int, default: Sequence[Dim], dtype: np.dtype
) -> Tensor:
    """Return one direction's part of an operand, or zeros."""
    if value is None:
        return e.fill(e.scalar(0, dtype), default)
    offsets = [index] + [0] * (value.rank - 1)
    part = e.slice(value, offsets, [1, *value.dims[1:]], [1] * value.rank)
    return e.reshape(part, value.dims[1:])


def _stack(e: Emitter, parts: Sequence[Tensor], axis: int) -> Tensor:
    """Join tensors along a new axis."""
    grown = [e.reshape(p, [*p.dims[:axis], 1, *p.dims[axis:]]) for p in parts]
    if len(grown) == 1:
        return grown[0]
    dims = [len(grown) if i == axis else d for i, d in enumerate(grown[0].dims)]
    return e.op("concat", *grown, dims=dims, axis=axis)


def _recurrent(
    e: Emitter, node: Node, name: str, gates: int, states: int, activations: Sequence[str]
) -> list[Value | None]:
    """Emit one operation per direction and join the results.

    Arguments:
        gates: blocks of rows in the weights.
        states: tensors carried from step to step (1: h, 2: h and c).
    """
    directions = _check(node, activations)
    x = node.input(0)
    swap = [1, 0, 2]
    if node["layout"]:
        x = e.transpose(x, swap)
    dtype, batch, hidden = x.dtype, x.dims[1], node.input(2).dims[2]
    if isinstance(hidden, int) and node["hidden_size"] not in (None, hidden):
        raise node.error(f"expects hidden_size {hidden}, but got {node['hidden_size']}")
    initial = [
        e.transpose(v, swap) if v is not None and node["layout"] else v
        for v in node.inputs[5 : 5 + states]
    ]
    results: list[list[Tensor]] = []
    for index, direction in enumerate(directions):
        zero_bias = [2 * gates * hidden]
        operands = [
            x,
            _one(e, node.input(1), index, (), dtype),
            _one(e, node.input(2), index, (), dtype),
            _one(e, node.inputs[3], index, zero_bias, dtype),
            *[_one(e, state, index, [batch, hidden], dtype) for state in initial],
        ]
        attributes: dict[str, ir.Attribute] = {"direction": f"#graph.direction<{direction}>"}
        if name == "gru":
            attributes["linear_before_reset"] = bool(node["linear_before_reset"])
        dims = [[x.dims[0], batch, hidden]] + [[batch, hidden]] * states
        results.append(e.ops(name, operands, attributes, dims))
    ys, *finals = zip(*results, strict=True)
    outputs = [_stack(e, ys, 1), *[_stack(e, final, 0) for final in finals]]
    if node["layout"]:
        outputs = [
            e.transpose(outputs[0], [2, 0, 1, 3]),
            *[e.transpose(f, swap) for f in outputs[1:]],
        ]
    return list(outputs)


@op("LSTM")
def _lstm(e: Emitter, node: Node) -> list[Value | None]:
    if node.inputs[7] is not None:
        raise Unsupported("has peepholes (input #7)")
    if node["input_forget"]:
        raise Unsupported("has input_forget = 1")
    return _recurrent(e, node, "lstm", 4, 2, ["Sigmoid", "Tanh", "Tanh"])


@op("GRU")
def _gru(e: Emitter, node: Node) -> list[Value | None]:
    return _recurrent(e, node, "gru", 3, 1, ["Sigmoid", "Tanh"])
