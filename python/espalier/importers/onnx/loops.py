"""Scan and Loop: bodies that are repeated over sequences.

A body becomes a cell of `graph.scan`, whatever the number of steps. One that has what
a cell cannot have, such as a state whose shape changes, is imported once for each step
where that number is known and small.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from espalier.errors import UnsupportedNode
from espalier.importers.onnx.emitter import Emitter, show
from espalier.importers.onnx.registry import Node, Poison, Unsupported
from espalier.importers.onnx.symbolic import Dim, Expr, compare
from espalier.importers.onnx.values import Known, Tensor, Value, known

MAX_NODES = 4096
"""As many nodes bodies may become that are imported once for each step."""

MAX_STEPS = 2**31
"""As many steps as a loop of a kernel may have."""

Body = Callable[[Sequence[Value]], list[Value]]
"""Imports the node's body for these inputs, and returns its outputs."""

Step = Callable[[Sequence[Value]], tuple[Value, list[Value]]]
"""Does a step: whether another one follows, the next states, and what is collected."""


class Poisoned(Exception):
    """Raised by a body that needs the result of a node that is not supported."""


def _check_types(node: Node, states: Sequence[Value], following: Sequence[Value]) -> None:
    """Check that the body gives states of the former ones' element types."""
    for index, (old, new) in enumerate(zip(states, following, strict=True)):
        if old.dtype != new.dtype:
            raise node.error(
                f"expects a body that gives state #{index} of type {old.dtype}, but got {new.dtype}"
            )


def _check_shapes(states: Sequence[Value], following: Sequence[Value], surely: bool) -> None:
    """Check that the body gives states of the former ones' shapes.

    Arguments:
        surely: refuse also extents that may turn out to be equal when the program runs,
            which then checks them.
    """
    for old, new in zip(states, following, strict=True):
        orders = {compare(a, b) for a, b in zip(old.dims, new.dims, strict=False)}
        if old.rank != new.rank or orders - ({0} if surely else {0, None}):
            raise Unsupported(
                f"has a state whose shape changes, from {show(old.dims)} to {show(new.dims)}"
            )


def _check_counts(node: Node, inputs: int, outputs: int) -> None:
    """Check the numbers of the body's inputs and of the node's outputs."""
    body = node["body"]
    if len(body.input) != inputs:
        raise node.error(f"expects a body of {inputs} inputs, but got {len(body.input)}")
    if len(body.output) != outputs:
        raise node.error(f"expects a body of {outputs} outputs, but got {len(body.output)}")


def _element(e: Emitter, sequence: Value, index: int) -> Value:
    """Return an element of dimension 0."""
    if isinstance(sequence, Known):
        return known(sequence.array[index], sequence.dtype)
    rest = sequence.dims[1:]
    ones = [1] * sequence.rank
    part = e.slice(sequence, [index] + [0] * len(rest), [1, *rest], ones)
    return e.reshape(part, rest)


def _join(e: Emitter, parts: Sequence[Value]) -> Tensor:
    """Join tensors along a new dimension 0."""
    grown = [e.reshape(part, [1, *part.dims]) for part in parts]
    if len(grown) == 1:
        return grown[0]
    return e.op("concat", *grown, dims=[len(grown), *parts[0].dims], axis=0)


def _unfold(
    e: Emitter, node: Node, states: Sequence[Value], sequences: Sequence[Value], step: Step
) -> list[Tensor]:
    """Emit all steps one after the other, until a condition ends them."""
    current = list(states)
    collected: list[list[Value]] = []
    length = sequences[0].dims[0]
    assert isinstance(length, int), "the caller knows the number of steps"
    for index in range(length):
        rows = [_element(e, sequence, index) for sequence in sequences]
        condition, results = step([*current, *rows])
        if not isinstance(condition, Known):
            raise _data_dependent(node)
        current = results[: len(states)]
        collected.append(results[len(states) :])
        if not condition.array.all():
            break
    return [
        *(e.tensor(state) for state in current),
        *(_join(e, parts) for parts in zip(*collected, strict=True)),
    ]


def _data_dependent(node: Node) -> Unsupported:
    name = node["body"].output[0].name
    return Unsupported(f"has a condition that depends on data (output '{name}' of its body)")


def _repeat(
    e: Emitter,
    node: Node,
    states: Sequence[Value],
    sequences: Sequence[Value],
    step: Step,
    undo: Callable[[], None],
) -> list[Tensor]:
    """Emit a cell or, where there cannot be one, the steps."""
    length = sequences[0].dims[0]
    size = len(node["body"].node) + 1
    can_unfold = isinstance(length, int) and 0 < length * size <= MAX_NODES

    def cell(arguments: Sequence[Value]) -> list[Value]:
        condition, results = step(arguments)
        split = len(states)
        _check_types(node, states, results[:split])
        if length == 0:
            # No step is done, whatever the condition and the next states would be.
            return [*arguments[:split], *results[split:]]
        if not (isinstance(condition, Known) and condition.array.all()):
            raise _data_dependent(node)
        _check_shapes(states, results[:split], surely=can_unfold)
        if isinstance(length, int) and length > MAX_STEPS:
            raise Unsupported(f"needs at most {MAX_STEPS} steps, but got {length}")
        return results

    try:
        return e.scan(states, sequences, cell)
    except (Unsupported, Poisoned):
        if not can_unfold:
            raise
    undo()
    return _unfold(e, node, states, sequences, step)


def _scan(e: Emitter, node: Node, body: Body, undo: Callable[[], None]) -> list[Tensor]:
    """Import `Scan`; sequences may run along any axis, and backwards.

    `undo` takes back what importing the body has refused.
    """
    if node.version >= 9:
        values = [node.input(index) for index in range(len(node.inputs))]
        return _scan_values(e, node, values, body, undo)
    # Of opset 8: dimension 0 is a batch, which the body does not see.
    if node.inputs[0] is not None:
        raise Unsupported("has sequence_lens (input #0)")
    values = [node.input(index) for index in range(1, len(node.inputs))]
    batch = next((value.dims[0] for value in values if value.rank), None)
    if not isinstance(batch, int) or batch == 0:
        raise Unsupported(f"needs a batch that is known and not empty, but got {batch}")
    for index, value in enumerate(values, start=1):
        if not value.rank or value.dims[0] != batch:
            raise node.error(
                f"expects a batch of {batch} in input #{index}, but got {show(value.dims)}"
            )
    results = [
        _scan_values(e, node, [_element(e, value, index) for value in values], body, undo)
        for index in range(batch)
    ]
    return [_join(e, parts) for parts in zip(*results, strict=True)]


def _scan_values(
    e: Emitter, node: Node, values: Sequence[Value], body: Body, undo: Callable[[], None]
) -> list[Tensor]:
    """Emit a scan of these states and sequences."""
    sequences = node["num_scan_inputs"]
    states = len(values) - sequences
    if sequences < 1 or states < 0:
        raise node.error(f"expects from 1 to {len(values)} scan inputs, but got {sequences}")
    collected = len(node.used) - states
    _check_counts(node, len(values), len(node.used))

    def option(name: str, count: int) -> list[int]:
        given: Any = node[name]
        if given is not None and len(given) != count:
            raise node.error(f"expects {name} of {count} numbers, but got {len(given)}")
        return given or [0] * count

    def flips(name: str, count: int) -> list[int]:
        for number in option(name, count):
            if number not in (0, 1):
                raise node.error(f"expects {name} of 0 and 1, but got {number}")
        return option(name, count)

    rows = []
    for value, axis, backwards in zip(
        values[states:],
        option("scan_input_axes", sequences),
        flips("scan_input_directions" if node.version >= 9 else "directions", sequences),
        strict=True,
    ):
        axis = node.normalize_axis(axis, value.rank)
        order = [axis, *(i for i in range(value.rank) if i != axis)]
        row = e.transpose(value, order)
        rows.append(e.flip(row, 0) if backwards else row)
    lengths = {row.dims[0] for row in rows if isinstance(row.dims[0], int)}
    if len(lengths) > 1:
        raise node.error(f"expects scan inputs of one length, but got {sorted(lengths)}")

    def step(arguments: Sequence[Value]) -> tuple[Value, list[Value]]:
        return known(np.array(True)), body(arguments)

    results = _repeat(e, node, values[:states], rows, step, undo)
    for index, (axis, backwards) in enumerate(
        zip(
            option("scan_output_axes", collected),
            flips("scan_output_directions", collected),
            strict=True,
        ),
        start=states,
    ):
        result = results[index]
        axis = node.normalize_axis(axis, result.rank)
        order = list(range(1, result.rank))
        order.insert(axis, 0)
        results[index] = e.transpose(e.flip(result, 0) if backwards else result, order)
    return results


def repeat(
    e: Emitter,
    node: Node,
    body: Callable[[Sequence[Value]], Sequence[Value | Poison | None]],
    refused: list[UnsupportedNode],
) -> Sequence[Value | Poison | None]:
    """Import `Scan` or `Loop`.

    Arguments:
        body: imports the node's body for these inputs, and returns its outputs.
        refused: the nodes that are not supported, to which the body adds its own.
    """
    before = len(refused)

    def complete(arguments: Sequence[Value]) -> list[Value]:
        results: list[Value] = []
        for result, output in zip(body(arguments), node["body"].output, strict=True):
            if isinstance(result, Poison):
                raise Poisoned
            if result is None:
                raise node.error(f"expects a body that gives '{output.name}'")
            results.append(result)
        return results

    def undo() -> None:
        del refused[before:]

    function = _scan if node.op_type == "Scan" else _loop
    try:
        return function(e, node, complete, undo)
    except Poisoned:
        return [Poison()] * len(node.used)


def _trip_count(node: Node) -> Dim:
    """Return how often a loop runs, which its condition must not change."""
    if node.inputs[0] is None:
        raise Unsupported("has a condition that depends on data and no trip count (input #0)")
    count = node.one(node.elements(0, "a trip count"), "a trip count")
    condition = node.numbers(1, "a condition")
    if condition is not None and not node.one(condition, "a condition"):
        return 0
    return count if isinstance(count, Expr) else max(0, int(count))


def _loop(e: Emitter, node: Node, body: Body, undo: Callable[[], None]) -> list[Tensor]:
    """Import `Loop`, if its trip count and condition do not depend on data."""
    count = _trip_count(node)
    states = [node.input(index) for index in range(2, len(node.inputs))]
    _check_counts(node, 2 + len(states), 1 + len(node.used))

    def step(arguments: Sequence[Value]) -> tuple[Value, list[Value]]:
        *old, number = arguments
        condition, *results = body([number, known(np.array(True)), *old])
        return condition, results

    int64 = np.dtype(np.int64)
    # Conditions on the number of a step are known where the steps can be unfolded.
    numbers: Value = (
        known(np.arange(count, dtype=int64))
        if isinstance(count, int) and count <= MAX_NODES
        else e.iota([count], 0, int64)
    )
    return _repeat(e, node, states, [numbers], step, undo)
