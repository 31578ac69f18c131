"""Recurrent layers over a whole sequence.

The usual ones are operations of the graph dialect; all others are cells that
`graph.scan` repeats.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from espalier import ir
from espalier.dtypes import is_half
from espalier.importers.onnx.emitter import Emitter, show
from espalier.importers.onnx.ops.activations import Activation, read_activations
from espalier.importers.onnx.registry import Node, op
from espalier.importers.onnx.symbolic import Dim
from espalier.importers.onnx.values import Known, Tensor, Value

DIRECTIONS = {
    "forward": ["forward"],
    "reverse": ["reverse"],
    "bidirectional": ["forward", "reverse"],
}


@dataclass
class Layer:
    """What tells the kinds of layers apart.

    Arguments:
        gates: blocks of rows in the weights.
        states: tensors carried from step to step (1: h, 2: h and c).
        activations: the default ones of a direction.
    """

    name: str
    gates: int
    states: int
    activations: Sequence[str]


def _check(node: Node) -> list[str]:
    """Check what all layers have in common; return the directions."""
    directions = DIRECTIONS.get(node["direction"])
    if directions is None:
        raise node.error(
            f"expects a direction out of {list(DIRECTIONS)}, but got '{node['direction']}'"
        )
    if node["layout"] not in (None, 0, 1):
        raise node.error(f"expects a layout of 0 or 1, but got {node['layout']}")
    if node["clip"] is not None and node["clip"] < 0:
        raise node.error(f"expects a clip of at least 0, but got {node['clip']}")
    return directions


def _check_shapes(node: Node, layer: Layer, directions: int) -> None:
    """Check the shapes of all operands, as far as their extents are known."""
    x, _, r = (node.input(index) for index in range(3))
    for index, value in ((0, x), (2, r)):
        if value.rank != 3:
            raise node.error(f"expects input #{index} of rank 3, but got {show(value.dims)}")
    hidden = r.dims[2]
    batch = x.dims[0 if node["layout"] else 1]
    state = [batch, directions, hidden] if node["layout"] else [directions, batch, hidden]
    expected: dict[int, Sequence[Dim]] = {
        1: [directions, hidden * layer.gates, x.dims[2]],
        2: [directions, hidden * layer.gates, hidden],
        3: [directions, hidden * (2 * layer.gates)],
        5: state,
    }
    if layer.name == "lstm":
        expected |= {6: state, 7: [directions, hidden * 3]}
    for index, dims in expected.items():
        operand = node.inputs[index] if index < len(node.inputs) else None
        if operand is None:
            continue
        differs = operand.rank != len(dims) or any(
            isinstance(a, int) and isinstance(b, int) and a != b
            for a, b in zip(operand.dims, dims, strict=True)
        )
        if differs:
            raise node.error(
                f"expects input #{index} of shape {show(dims)}, but got {show(operand.dims)}"
            )


def _lengths(e: Emitter, node: Node, steps: Dim, batch: Dim) -> Value | None:
    """Return the lengths of the sequences, or None if all are whole."""
    lengths = node.inputs[4]
    if lengths is None:
        return None
    if lengths.rank != 1 or (
        isinstance(batch, int) and isinstance(lengths.dims[0], int) and lengths.dims[0] != batch
    ):
        raise node.error(f"expects sequence_lens of shape [{batch}], but got {show(lengths.dims)}")
    if isinstance(lengths, Known) and not lengths.symbolic:
        for index, length in enumerate(lengths.array):
            if length < 0 or (isinstance(steps, int) and length > steps):
                raise node.error(
                    f"expects sequence_lens from 0 to {steps}, but got {length} at [{index}]"
                )
        if all(length == steps for length in lengths.array):
            return None
    e.limit(lengths, steps)
    return lengths


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


class Cell:
    """A step of a layer, in one direction.

    Arguments:
        operands: those of the direction: x, w, r, bias, the states.
        activations: those of the direction.
    """

    def __init__(
        self,
        e: Emitter,
        node: Node,
        layer: Layer,
        operands: Sequence[Tensor],
        activations: Sequence[Activation],
    ) -> None:
        self.e = e
        self.layer = layer
        self.activations = activations
        self.clip = node["clip"]
        self.linear = bool(node["linear_before_reset"])
        self.coupled = bool(node["input_forget"])
        self.peepholes: list[Tensor] = []
        x, w, r, bias = operands[:4]
        self.dtype = x.dtype
        hidden = r.dims[1]

        def blocks(value: Tensor, count: int) -> list[Tensor]:
            sizes = [hidden, *value.dims[1:]]
            rest = [0] * (value.rank - 1)
            return [
                e.slice(value, [hidden * i, *rest], sizes, [1] * value.rank) for i in range(count)
            ]

        self.w = [e.transpose(block, [1, 0]) for block in blocks(w, layer.gates)]
        self.r = [e.transpose(block, [1, 0]) for block in blocks(r, layer.gates)]
        both = blocks(bias, 2 * layer.gates)
        self.wb, self.rb = both[: layer.gates], both[layer.gates :]
        if len(operands) > 4 + layer.states:
            self.peepholes = blocks(operands[-1], 3)

    def of_input(self, row: Tensor, gate: int) -> Tensor:
        """Return the gate's product with the input, plus its bias."""
        dims = [row.dims[0], self.w[gate].dims[1]]
        return self.e.op("add", self.e.op("matmul", row, self.w[gate], dims=dims), self.wb[gate])

    def of_state(self, h: Tensor, gate: int) -> Tensor:
        """Return the gate's product with the state, plus its bias."""
        product = self.e.op("matmul", h, self.r[gate], dims=h.dims)
        return self.e.op("add", product, self.rb[gate])

    def activate(self, which: int, value: Tensor, clips: bool = True) -> Tensor:
        """Apply an activation to what is clipped first."""
        if clips and self.clip is not None:
            limit = [self.e.scalar(sign * self.clip, self.dtype) for sign in (1, -1)]
            value = self.e.op("max", self.e.op("min", value, limit[0]), limit[1])
        return self.activations[which](self.e, value)

    def rnn(self, h: Tensor, row: Tensor) -> list[Tensor]:
        """Return the next state of a layer without gates."""
        total = self.e.op("add", self.of_input(row, 0), self.of_state(h, 0))
        return [self.activate(0, total)]

    def gru(self, h: Tensor, row: Tensor) -> list[Tensor]:
        """Return the next state; gates are update, reset, hidden."""
        e = self.e

        def gate(which: int) -> Tensor:
            return self.activate(0, e.op("add", self.of_input(row, which), self.of_state(h, which)))

        z, reset = gate(0), gate(1)
        if self.linear:
            kept = e.op("mul", reset, self.of_state(h, 2))
        else:
            kept = self.of_state(e.op("mul", reset, h), 2)
        new = self.activate(1, e.op("add", self.of_input(row, 2), kept))
        rest = e.op("sub", e.scalar(1, self.dtype), z)
        return [e.op("add", e.op("mul", rest, new), e.op("mul", z, h))]

    def lstm(self, h: Tensor, c: Tensor, row: Tensor) -> list[Tensor]:
        """Return the next states; gates are input, output, forget, cell."""
        e = self.e

        def gate(which: int, cell: Tensor) -> Tensor:
            total = e.op("add", self.of_input(row, which), self.of_state(h, which))
            if self.peepholes:
                total = e.op("add", total, e.op("mul", self.peepholes[which], cell))
            return self.activate(0, total)

        admitted = gate(0, c)
        kept = e.op("sub", e.scalar(1, self.dtype), admitted) if self.coupled else gate(2, c)
        new = self.activate(1, e.op("add", self.of_input(row, 3), self.of_state(h, 3)))
        c = e.op("add", e.op("mul", kept, c), e.op("mul", admitted, new))
        return [e.op("mul", gate(1, c), self.activate(2, c, clips=False)), c]


def _repeat(
    e: Emitter,
    node: Node,
    layer: Layer,
    operands: Sequence[Tensor],
    activations: Sequence[Activation],
    reverse: bool,
    lengths: Value | None,
) -> list[Tensor]:
    """Emit a layer in one direction as a cell that is repeated."""
    dtype = operands[0].dtype
    wide = [e.tensor(e.widen(operand)) for operand in operands]
    cell = Cell(e, node, layer, wide, activations)
    step: Callable[..., list[Tensor]] = getattr(cell, layer.name)
    sequences = [wide[0]]
    if lengths is not None:
        sequences.append(e.iota([wide[0].dims[0]], 0, lengths.dtype))
        ends = e.reshape(lengths, [lengths.dims[0], 1])
    if reverse:
        sequences = [e.flip(sequence, 0) for sequence in sequences]

    def body(arguments: list[Tensor]) -> list[Tensor]:
        old, row = arguments[: layer.states], arguments[layer.states]
        new = step(*old, row)
        if lengths is None:
            return [*new, new[0]]
        # Beyond its end, a sequence keeps its states: backwards, these are the
        # initial ones.
        inside = e.op("less", arguments[-1], ends)
        new = [e.op("select", inside, *pair) for pair in zip(new, old, strict=True)]
        return [*new, e.op("select", inside, new[0], e.scalar(0, cell.dtype))]

    *finals, ys = e.scan(wide[4 : 4 + layer.states], sequences, body)
    if reverse:
        ys = e.flip(ys, 0)
    results = [ys, *finals]
    return [e.cast(result, dtype) for result in results] if is_half(dtype) else results


def _recurrent(e: Emitter, node: Node, layer: Layer) -> list[Value | None]:
    """Emit a layer in each direction and join the results."""
    directions = _check(node)
    _check_shapes(node, layer, len(directions))
    activations = read_activations(node, layer.activations, len(directions))
    x = node.input(0)
    swap = [1, 0, 2]
    if node["layout"]:
        x = e.transpose(x, swap)
    dtype, batch, hidden = x.dtype, x.dims[1], node.input(2).dims[2]
    if isinstance(hidden, int) and node["hidden_size"] not in (None, hidden):
        raise node.error(f"expects hidden_size {hidden}, but got {node['hidden_size']}")
    lengths = _lengths(e, node, x.dims[0], batch)
    peepholes = node.inputs[7] if len(node.inputs) > 7 else None
    is_usual = (
        layer.name != "rnn"
        and lengths is None
        and peepholes is None
        and node["clip"] is None
        and not node["input_forget"]
        and [a.name for a in activations] == [*layer.activations] * len(directions)
    )
    initial = [
        e.transpose(v, swap) if v is not None and node["layout"] else v
        for v in node.inputs[5 : 5 + layer.states]
    ]
    results: list[list[Tensor]] = []
    for index, direction in enumerate(directions):
        zero_bias = [hidden * (2 * layer.gates)]
        operands = [
            e.tensor(x),
            _one(e, node.input(1), index, (), dtype),
            _one(e, node.input(2), index, (), dtype),
            _one(e, node.inputs[3], index, zero_bias, dtype),
            *[_one(e, state, index, [batch, hidden], dtype) for state in initial],
        ]
        if not is_usual:
            if peepholes is not None:
                operands.append(_one(e, peepholes, index, (), dtype))
            count = len(layer.activations)
            own = activations[index * count : (index + 1) * count]
            results.append(_repeat(e, node, layer, operands, own, direction == "reverse", lengths))
            continue
        attributes: dict[str, ir.Attribute] = {"direction": f"#graph.direction<{direction}>"}
        if layer.name == "gru":
            attributes["linear_before_reset"] = bool(node["linear_before_reset"])
        dims = [[x.dims[0], batch, hidden]] + [[batch, hidden]] * layer.states
        results.append(e.ops(layer.name, operands, attributes, dims))
    ys, *finals = zip(*results, strict=True)
    outputs = [_stack(e, ys, 1), *[_stack(e, final, 0) for final in finals]]
    if node["layout"]:
        outputs = [
            e.transpose(outputs[0], [2, 0, 1, 3]),
            *[e.transpose(f, swap) for f in outputs[1:]],
        ]
    return list(outputs)


@op("RNN")
def _rnn(e: Emitter, node: Node) -> list[Value | None]:
    return _recurrent(e, node, Layer("rnn", 1, 1, ["tanh"]))


@op("LSTM")
def _lstm(e: Emitter, node: Node) -> list[Value | None]:
    return _recurrent(e, node, Layer("lstm", 4, 2, ["sigmoid", "tanh", "tanh"]))


@op("GRU")
def _gru(e: Emitter, node: Node) -> list[Value | None]:
    return _recurrent(e, node, Layer("gru", 3, 1, ["sigmoid", "tanh"]))
