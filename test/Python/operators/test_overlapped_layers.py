"""Recurrent layers that run side by side are what they are one after the other."""

import numpy as np
import onnx
import pytest

import espalier
from espalier.compiler import Options
from espalier.models import Net
from espalier.testing.onnxruntime import OnnxRuntime

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LENGTHS = (0, 1, 7, 8, 9, 31, 100, 257)


def stack(
    kind: str,
    sizes: list[int],
    batch: int | str = 1,
    steps: int | str = "steps",
    direction: str = "forward",
    between: str | None = None,
) -> onnx.ModelProto:
    """Return layers over one another: of so many features each, the first of the input."""
    net, both = Net("stack", 7), 2 if direction == "bidirectional" else 1
    y = net.input("x", [steps, batch, sizes[0]])
    finals = []
    features = sizes[0]
    for hidden in sizes[1:]:
        rows = GATES[kind] * hidden
        w, r = (net.weight([both, rows, n], 0.4 * n**-0.5) for n in (features, hidden))
        bias = net.weight([both, 2 * rows], 0.1)
        more = {"linear_before_reset": 1} if kind == "GRU" else {}
        y, last = net.nodes(kind, 2, y, w, r, bias, hidden_size=hidden, direction=direction, **more)
        finals.append((last, f"last{len(finals)}", [both, batch, hidden]))
        order = net.node("Transpose", y, perm=[0, 2, 1, 3])
        features = both * hidden
        y = net.node("Reshape", order, net.constant([0, 0, features]))
        if between:
            y = net.node(between, y)
    return net.finish((y, "y", [steps, batch, features]), *finals)


def runs_side_by_side(model: onnx.ModelProto, **options: object) -> bool:
    module = espalier.lower(model, options=Options(cache=None, **options), stage="scheduled")
    return "scf.parallel" in str(module)


def check(
    model: onnx.ModelProto, lengths: tuple[int, ...] = LENGTHS, batch: int | None = None
) -> None:
    """Compare with the layers one by one, bit by bit, and with onnxruntime."""
    runtime = OnnxRuntime(model)
    dims = model.graph.input[0].type.tensor_type.shape.dim
    shape = [batch or dims[1].dim_value, dims[2].dim_value]
    function, plain = (
        espalier.compile(model, options=Options(cache=None, overlap=overlap))
        for overlap in (True, False)
    )
    for threads in (1, 2, 3):
        function.set_num_threads(threads)
        for length in lengths:
            x = np.random.default_rng(length).standard_normal((length, *shape), np.float32)
            results, expected = function.run({"x": x}), plain.run({"x": x})
            for name, value in expected.items():
                np.testing.assert_array_equal(results[name], value)
            if length > 0 and threads == 1:
                for name, value in runtime.run({"x": x}).items():
                    np.testing.assert_allclose(results[name], value, 1e-4, 1e-5)


@pytest.mark.parametrize("kind", GATES)
def test_equal_layers(kind: str) -> None:
    model = stack(kind, [24, 24, 24, 24])
    assert runs_side_by_side(model)
    check(model)


def test_layers_of_other_sizes_and_what_stands_between() -> None:
    """A stage is what leads to a recurrence, whatever it is."""
    model = stack("LSTM", [5, 17, 33], batch=3, between="Relu")
    assert runs_side_by_side(model)
    check(model)


def test_a_number_of_steps_that_is_known() -> None:
    """One that is that of features as well is not taken for it."""
    for steps in (24, 50):
        model = stack("GRU", [24, 24, 24], steps=steps)
        assert runs_side_by_side(model)
        check(model, (steps,))


def test_a_batch_that_is_not_known() -> None:
    """Rows have a size that the program computes."""
    for kind in GATES:
        model = stack(kind, [24, 24, 24], batch="batch")
        assert runs_side_by_side(model)
        for batch in (1, 5):
            check(model, (0, 1, 9, 100), batch)


def test_both_directions_run_side_by_side() -> None:
    """They read the same; the next layer reads the last step of one before all others."""
    model = stack("LSTM", [8, 8, 8], direction="bidirectional")
    assert runs_side_by_side(model)
    check(model, (1, 9, 100))


def test_long_steps_and_one_thread_stay_as_they_are() -> None:
    """Threads share a long step, and without them there is nothing to gain."""
    assert not runs_side_by_side(stack("LSTM", [256, 256, 256]))
    model = stack("LSTM", [24, 24, 24])
    assert not runs_side_by_side(model, threads=False)
    assert not runs_side_by_side(model, overlap=False)
