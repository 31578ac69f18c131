"""Recurrent operators equal onnxruntime, whatever their sizes are.

Hidden sizes leave tails of vectors and panels; time and batch are known when the
program runs, and may be zero; several recurrences are in one model.
"""

import numpy as np
import onnx
import pytest
from onnx import helper

import espalier
from espalier.compiler import Options
from espalier.testing.onnxruntime import OnnxRuntime
from support import make_model

GATES = {"GRU": 3, "LSTM": 4}
INPUTS = 5
TOLERANCE = 2e-5


def recurrence(
    kind: str, hidden: int, direction: str = "forward", layers: int = 1
) -> onnx.ModelProto:
    """Return layers of a recurrence, one on the other."""
    random = np.random.default_rng(hidden)
    directions = 2 if direction == "bidirectional" else 1
    attributes = {"linear_before_reset": 1} if kind == "GRU" else {}
    gates = GATES[kind] * hidden
    nodes, constants = [], {"axes": np.array([1])}
    source, width = "x", INPUTS
    for layer in range(layers):
        shapes = {
            f"w{layer}": (directions, gates, width),
            f"r{layer}": (directions, gates, hidden),
            f"b{layer}": (directions, 2 * gates),
        }
        for name, shape in shapes.items():
            values = random.standard_normal(shape) / hidden**0.5
            constants[name] = values.astype(np.float32)
        operands = [source, *shapes]
        options = {"hidden_size": hidden, "direction": direction} | attributes
        nodes.append(helper.make_node(kind, operands, [f"y{layer}"], **options))
        nodes.append(helper.make_node("Squeeze", [f"y{layer}", "axes"], [f"s{layer}"]))
        source, width = f"s{layer}", hidden
    if directions == 2:
        nodes.pop()
        source = "y0"
    return make_model(nodes, {"x": (np.float32, ["t", "n", INPUTS])}, [source], constants)


def check(model: onnx.ModelProto, sizes: list[tuple[int, int]]) -> None:
    """Compare a model with onnxruntime for lengths and batches."""
    function = espalier.compile(model, options=Options(cache=None))
    session = OnnxRuntime(model)
    random = np.random.default_rng(3)
    for time, batch in sizes:
        x = random.standard_normal((time, batch, INPUTS)).astype(np.float32)
        (expected,) = session.run({"x": x}).values()
        np.testing.assert_allclose(function(x), expected, TOLERANCE, TOLERANCE)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("hidden", [1, 17, 65])
def test_sizes(kind: str, hidden: int) -> None:
    check(recurrence(kind, hidden), [(1, 1), (7, 1), (4, 3), (2, 13)])


@pytest.mark.parametrize("kind", GATES)
def test_both_directions(kind: str) -> None:
    check(recurrence(kind, 17, "bidirectional"), [(1, 1), (5, 2), (3, 7)])


@pytest.mark.parametrize("kind", GATES)
def test_two_recurrences(kind: str) -> None:
    check(recurrence(kind, 19, layers=2), [(1, 1), (6, 3)])


@pytest.mark.parametrize("kind", GATES)
def test_nothing_to_do(kind: str) -> None:
    function = espalier.compile(recurrence(kind, 17), options=Options(cache=None))
    for time, batch in ((0, 2), (3, 0), (0, 0)):
        got = function(np.zeros((time, batch, INPUTS), np.float32))
        assert got.shape == (time, batch, 17)
