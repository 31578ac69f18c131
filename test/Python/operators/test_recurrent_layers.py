"""RNN, GRU and LSTM with any attributes equal onnxruntime; Scan and Loop.

Directions, initial states, peepholes, lengths of sequences, clip, activations with
their parameters, and the two forms of gates are drawn at random.
"""

import numpy as np
import onnx
import pytest
from onnx import helper

import espalier
from espalier.compiler import Options
from espalier.errors import EspalierError, ModelError, UnsupportedOperators
from espalier.importers.onnx import import_model
from espalier.testing.onnxruntime import OnnxRuntime
from numpy_builder import NumpyBuilder
from support import make_model

F32, I32, I64 = np.float32, np.int32, np.int64
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
PARAMETERS = {
    "Relu": 0, "Tanh": 0, "Sigmoid": 0, "Affine": 2, "LeakyRelu": 1, "ThresholdedRelu": 1,
    "ScaledTanh": 2, "HardSigmoid": 2, "Elu": 1, "Softsign": 0, "Softplus": 0,
}  # fmt: skip


def draw(seed: int) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Return a layer and its inputs. No sequence is empty: onnxruntime forgets the initial
    state of one that is, instead of keeping it."""
    r = np.random.default_rng(seed)
    kind = str(r.choice(list(GATES)))
    steps, batch, width, hidden = (int(r.integers(1, high)) for high in (6, 4, 5, 6))
    direction = str(r.choice(["forward", "reverse", "bidirectional"]))
    both = 2 if direction == "bidirectional" else 1
    attributes: dict[str, object] = {"hidden_size": hidden, "direction": direction}
    if r.random() < 0.6:
        names = [str(n) for n in r.choice(list(PARAMETERS), ACTIVATIONS[kind] * both)]
        attributes["activations"] = names
        for place, parameter in enumerate(("alpha", "beta")):
            count = sum(PARAMETERS[name] > place for name in names)
            values = [float(F32(v)) for v in r.uniform(0.1, 1, count)]
            if values:
                attributes[f"activation_{parameter}"] = values
    if r.random() < 0.4:
        attributes["clip"] = float(F32(r.uniform(0.1, 1.5)))
    if kind == "LSTM":
        attributes["input_forget"] = int(r.integers(2))
    if kind == "GRU":
        attributes["linear_before_reset"] = int(r.integers(2))

    def floats(*shape: int) -> np.ndarray:
        return (0.4 * r.standard_normal(shape)).astype(F32)

    feed = {"x": floats(steps, batch, width)}
    inputs = {"x": (F32, ["t", "b", width] if r.random() < 0.5 else [steps, batch, width])}
    constants = {
        "w": floats(both, GATES[kind] * hidden, width),
        "r": floats(both, GATES[kind] * hidden, hidden),
    }
    optional = {
        "bias": floats(both, 2 * GATES[kind] * hidden),
        "lengths": r.integers(1, steps + 1, batch).astype(I32),
        "h": floats(both, batch, hidden),
    }
    if kind == "LSTM":
        optional |= {"c": floats(both, batch, hidden), "p": floats(both, 3 * hidden)}
    operands = ["x", *constants]
    for name, value in optional.items():
        operands.append(name if r.random() < 0.5 else "")
        if not operands[-1]:
            continue
        if name == "lengths" and r.random() < 0.5:
            feed[name] = value
            inputs[name] = (I32, ["b" if isinstance(inputs["x"][1][1], str) else batch])
        else:
            constants[name] = value
    outputs = ["y", "yh"] + ["yc"] * (kind == "LSTM")
    node = helper.make_node(kind, operands, outputs, name="layer", **attributes)
    return make_model([node], inputs, outputs, constants), feed


def compare(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, 1e-4, 1e-5)


@pytest.mark.parametrize("seed", range(60))
def test_random_layers_in_numpy(seed: int) -> None:
    model, feed = draw(seed)
    builder = NumpyBuilder([feed])
    import_model(model, builder)
    compare(builder.outputs[0], OnnxRuntime(model).run(feed))


@pytest.mark.parametrize("seed", range(16))
def test_random_layers_compiled(seed: int) -> None:
    model, feed = draw(seed)
    results = espalier.compile(model, options=Options(cache=None)).run(feed)
    compare(results, OnnxRuntime(model).run(feed))


def layer(kind: str = "RNN", lengths: list[int] | None = None, **attributes: object):
    """Return a layer of 2 units over 3 steps of a batch of 2."""
    constants = {
        "w": np.ones((1, 2 * GATES[kind], 4), F32),
        "r": np.ones((1, 2 * GATES[kind], 2), F32),
        "h": np.full((1, 2, 2), 0.5, F32),
    }
    operands = ["x", "w", "r", "", "", "h"]
    if lengths is not None:
        constants["lengths"] = np.array(lengths, I32)
        operands[4] = "lengths"
    node = helper.make_node(kind, operands, ["y", "yh"], name="layer", **attributes)
    return make_model([node], {"x": (F32, [3, 2, 4])}, ["y", "yh"], constants)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_an_empty_sequence_keeps_its_initial_state(direction: str) -> None:
    model = layer(lengths=[3, 0], direction=direction)
    results = espalier.compile(model, options=Options(cache=None)).run(
        {"x": np.ones((3, 2, 4), F32)}
    )
    assert (results["y"][:, :, 1] == 0).all()
    assert (results["yh"][:, 1] == 0.5).all()


def test_lengths_are_checked_when_the_program_is_called() -> None:
    """Those that a caller gives, also as other integers, and where the length is not known."""
    cast = helper.make_node("Cast", ["lengths"], ["l"], to=onnx.TensorProto.INT32)
    weights = {"w": np.ones((1, 2, 4), F32), "r": np.ones((1, 2, 2), F32)}
    node = helper.make_node("RNN", ["x", "w", "r", "", "l"], ["y", "yh"], hidden_size=2)
    for steps, batch in (("steps", "batch"), (3, 2)):
        inputs = {"x": (F32, [steps, batch, 4]), "lengths": (I64, [batch])}
        model = make_model([cast, node], inputs, ["y", "yh"], weights)
        function = espalier.compile(model, options=Options(cache=None))
        x = np.ones((3, 2, 4), F32)
        for wrong, place in (([3, -1], 1), ([4, 2], 0), ([1, 2**40], 1)):
            feed = {"x": x, "lengths": np.array(wrong, I64)}
            text = f"from 0 to less than 4, but got {wrong[place]} in element {place}"
            with pytest.raises(EspalierError, match=f"input 'lengths' expects values {text}"):
                function.run(feed)
            with pytest.raises(EspalierError, match=f"values of input #1 {text}"):
                espalier.interpret(model, feed)
        feed = {"x": x, "lengths": np.array([3, 0], I64)}
        assert (function.run(feed)["y"][:, :, 1] == 0).all()


def test_lengths_of_the_program_are_not_looked_at() -> None:
    """They end with the sequence, and begin with it."""
    nodes = [
        helper.make_node("Add", ["lengths", "lengths"], ["twice"]),
        helper.make_node("RNN", ["x", "w", "r", "", "twice"], ["y", "yh"], hidden_size=2),
    ]
    weights = {"w": np.ones((1, 2, 4), F32), "r": np.ones((1, 2, 2), F32)}
    inputs = {"x": (F32, [3, 2, 4]), "lengths": (I32, [2])}
    function = espalier.compile(
        make_model(nodes, inputs, ["y", "yh"], weights), options=Options(cache=None)
    )
    x = np.ones((3, 2, 4), F32)
    whole, beyond = (
        function.run({"x": x, "lengths": np.array(lengths, I32)}) for lengths in ([2, 0], [7, -4])
    )
    np.testing.assert_array_equal(whole["y"], beyond["y"])


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"lengths": [3, -1]}, r"expects sequence_lens from 0 to 3, but got -1 at \[1\]"),
        ({"lengths": [4, 2]}, r"expects sequence_lens from 0 to 3, but got 4 at \[0\]"),
        ({"lengths": [3]}, r"expects sequence_lens of shape \[2\], but got \[1\]"),
        ({"clip": -1.0}, "expects a clip of at least 0, but got -1"),
        ({"layout": 2}, "expects a layout of 0 or 1, but got 2"),
        ({"direction": "sideways"}, "expects a direction out of .*, but got 'sideways'"),
        ({"activations": ["Cosh"]}, "expects activations out of .*, but got 'Cosh'"),
        ({"activations": ["Relu"] * 3}, "expects 1 activations, but got"),
        (
            {"activations": ["ScaledTanh"]},
            "expects activation_alpha for 'scaledtanh', but got none",
        ),
        ({"activation_alpha": [1.0]}, r"takes each of activation_alpha, but got \[1.0\] more"),
        ({"hidden_size": 3}, "expects hidden_size 2, but got 3"),
    ],
)
def test_wrong_attributes(attributes: dict, message: str) -> None:
    with pytest.raises(ModelError, match=f"node 'layer' \\(RNN\\): .*{message}"):
        import_model(layer(**attributes), NumpyBuilder([{"x": np.ones((3, 2, 4), F32)}]))


@pytest.mark.parametrize(
    ("kind", "operands", "message"),
    [
        ("GRU", {"w": (1, 8, 4)}, r"#1 of shape \[1, 6, 4\], but got \[1, 8, 4\]"),
        ("GRU", {"w": (1, 6, 5)}, r"#1 of shape \[1, 6, 4\], but got \[1, 6, 5\]"),
        ("RNN", {"r": (1, 6, 2)}, r"#2 of shape \[1, 2, 2\], but got \[1, 6, 2\]"),
        ("RNN", {"b": (1, 6)}, r"#3 of shape \[1, 4\], but got \[1, 6\]"),
        ("RNN", {"b": (2, 4)}, r"#3 of shape \[1, 4\], but got \[2, 4\]"),
        ("RNN", {"b": (4,)}, r"#3 of shape \[1, 4\], but got \[4\]"),
        ("RNN", {"h": (2, 2, 2)}, r"#5 of shape \[1, 2, 2\], but got \[2, 2, 2\]"),
        ("LSTM", {"c": (1, 1, 2)}, r"#6 of shape \[1, 2, 2\], but got \[1, 1, 2\]"),
        ("LSTM", {"p": (1, 8)}, r"#7 of shape \[1, 6\], but got \[1, 8\]"),
    ],
)
def test_operands_of_other_shapes(kind: str, operands: dict, message: str) -> None:
    """Without a check, the first of too many rows would be taken."""
    shapes = {"w": (1, 2 * GATES[kind], 4), "r": (1, 2 * GATES[kind], 2)} | operands
    names = [name if name in {"x", *shapes} else "" for name in "xwrblhcp"]
    names = names[: max(place for place, name in enumerate(names, start=1) if name)]
    node = helper.make_node(kind, names, ["y"], name="layer", clip=1.0)
    constants = {name: np.ones(shape, F32) for name, shape in shapes.items()}
    model = make_model([node], {"x": (F32, [3, 2, 4])}, ["y"], constants)
    with pytest.raises(ModelError, match=rf"node 'layer' \({kind}\): expects input {message}"):
        import_model(model, NumpyBuilder([{"x": np.ones((3, 2, 4), F32)}]))


def test_a_clip_of_zero_is_a_clip() -> None:
    model, feed = layer(clip=0.0, hidden_size=2), {"x": np.ones((3, 2, 4), F32)}
    results = espalier.compile(model, options=Options(cache=None)).run(feed)
    assert (results["y"] == 0).all()
    compare(results, OnnxRuntime(model).run(feed))


def body(nodes: list, inputs: list[str], outputs: list[str]) -> onnx.GraphProto:
    """Return a graph; `i` and `go` are those of a loop."""
    types = {
        "i": onnx.TensorProto.INT64,
        "go": onnx.TensorProto.BOOL,
        "next": onnx.TensorProto.BOOL,
    }

    def info(name: str) -> onnx.ValueInfoProto:
        shape = [] if name in types else None
        return helper.make_tensor_value_info(name, types.get(name, onnx.TensorProto.FLOAT), shape)

    return helper.make_graph(nodes, "body", [*map(info, inputs)], [*map(info, outputs)])


def scan(**attributes: object) -> onnx.ModelProto:
    """Return running sums of a matrix's columns, with an outer value in the body."""
    nodes = [
        helper.make_node("Mul", ["row", "weight"], ["part"]),
        helper.make_node("Add", ["sum", "part"], ["total"]),
    ]
    inner = body(nodes, ["sum", "row"], ["total", "part"])
    node = helper.make_node(
        "Scan", ["s", "x"], ["last", "parts"], "scan", body=inner, num_scan_inputs=1, **attributes
    )
    inputs = {"s": (F32, [3]), "x": (F32, [3, "n"])}
    weight = {"weight": np.array([1, -2, 3], F32)}
    return make_model([node], inputs, ["last", "parts"], weight)


@pytest.mark.parametrize("backwards", [0, 1])
def test_scan_along_the_last_axis(backwards: int) -> None:
    model = scan(
        scan_input_axes=[-1],
        scan_output_axes=[1],
        scan_input_directions=[backwards],
        scan_output_directions=[1 - backwards],
    )
    function = espalier.compile(model, options=Options(cache=None))
    r = np.random.default_rng(0)
    for length in (1, 4, 7):
        feed = {"s": np.ones(3, F32), "x": r.standard_normal((3, length)).astype(F32)}
        compare(function.run(feed), OnnxRuntime(model).run(feed))
    nothing = function.run({"s": np.ones(3, F32), "x": np.zeros((3, 0), F32)})
    assert (nothing["last"] == 1).all()
    assert nothing["parts"].shape == (3, 0)


def loop(nodes: list, count: object = None, known: bool = True) -> onnx.ModelProto:
    """Return a loop over `s`, which gives `t` and collects it."""
    inner = body(nodes, ["i", "go", "s"], ["next", "t", "t"])
    constants = {} if count is None else {"m": np.array(count, I64)}
    inputs = {"v": (F32, ["n"])} if known else {"v": (F32, ["n"]), "m": (I64, [])}
    node = helper.make_node("Loop", ["m", "", "v"], ["last", "all"], "loop", body=inner)
    return make_model([node], inputs, ["last", "all"], constants)


GO = helper.make_node("Identity", ["go"], ["next"])
STEP = [
    helper.make_node("Cast", ["i"], ["f"], to=1),
    helper.make_node("Add", ["s", "f"], ["t"]),
]


@pytest.mark.parametrize("count", [1, 5])
def test_loop(count: int) -> None:
    model = loop([GO, *STEP], count)
    feed = {"v": np.arange(3, dtype=F32)}
    compare(
        espalier.compile(model, options=Options(cache=None)).run(feed), OnnxRuntime(model).run(feed)
    )


def test_loop_without_states() -> None:
    """What is variadic may be absent."""
    nodes = [GO, STEP[0], helper.make_node("Add", ["f", "v"], ["t"])]
    inner = body(nodes, ["i", "go"], ["next", "t"])
    node = helper.make_node("Loop", ["m", ""], ["all"], "loop", body=inner)
    model = make_model([node], {"v": (F32, ["n"])}, ["all"], {"m": np.array(4, I64)})
    feed = {"v": np.arange(3, dtype=F32)}
    compare(
        espalier.compile(model, options=Options(cache=None)).run(feed), OnnxRuntime(model).run(feed)
    )


def test_loop_whose_condition_is_of_the_step() -> None:
    """Steps are unfolded, and the third one is the last."""
    two = helper.make_node("Constant", [], ["two"], value_int=2)
    model = loop([two, helper.make_node("Less", ["i", "two"], ["next"]), *STEP], 9)
    feed = {"v": np.arange(3, dtype=F32)}
    expected = OnnxRuntime(model).run(feed)
    assert len(expected["all"]) == 3
    compare(espalier.compile(model, options=Options(cache=None)).run(feed), expected)


@pytest.mark.parametrize("next_step", [GO, helper.make_node("Less", ["i", "i"], ["next"])])
def test_loop_of_no_steps_keeps_its_states(next_step: onnx.NodeProto) -> None:
    """Whatever the condition is that the body would give."""
    feed = {"v": np.arange(3, dtype=F32)}
    model = loop([next_step, *STEP], 0)
    results = espalier.compile(model, options=Options(cache=None)).run(feed)
    assert (results["last"] == feed["v"]).all()
    assert results["all"].shape == (0, 3)


@pytest.mark.parametrize("count", [10**10, 2**62, 2**63 - 1])
def test_loops_of_too_many_steps(count: int) -> None:
    with pytest.raises(
        UnsupportedOperators, match=f"'loop': Loop needs at most {2**31} steps, but got {count}"
    ):
        espalier.load_module(loop([GO, *STEP], count))


GROW = helper.make_node("Concat", ["s", "v"], ["t"], axis=0)


def test_loop_whose_state_grows_by_a_symbolic_extent() -> None:
    """Steps are unfolded, as the extents n and 2 * n differ."""
    inner = body([GO, GROW], ["i", "go", "s"], ["next", "t"])
    node = helper.make_node("Loop", ["m", "", "v"], ["last"], "loop", body=inner)
    model = make_model([node], {"v": (F32, ["n", 2])}, ["last"], {"m": np.array(3, I64)})
    function = espalier.compile(model, options=Options(cache=None))
    assert function.outputs[0].shape[0] != "n"
    for rows in (4, 1, 0):
        feed = {"v": np.arange(2 * rows, dtype=F32).reshape(rows, 2)}
        compare(function.run(feed), {"last": np.concatenate([feed["v"]] * 4)})


def test_loop_whose_state_grows_in_too_many_steps() -> None:
    with pytest.raises(
        UnsupportedOperators, match=r"has a state whose shape changes, from \[n\] to \[2\*n\]"
    ):
        espalier.load_module(loop([GO, GROW], 5000))


@pytest.mark.parametrize(
    ("nodes", "count", "message"),
    [
        ([GO, *STEP], None, r"Loop needs a trip count \(input #0\) that does not depend on data"),
        (
            [
                helper.make_node("ReduceSum", ["s"], ["sum"], keepdims=0),
                helper.make_node("Cast", ["sum"], ["next"], to=9),
                *STEP,
            ],
            4,
            r"'loop': Loop has a condition that depends on data \(output 'next' of its body\)",
        ),
    ],
)
def test_loops_that_depend_on_data(nodes: list, count: object, message: str) -> None:
    model = loop(nodes, count, known=count is not None)
    feed = {"v": np.arange(3, dtype=F32), "m": np.array(4, I64)}
    with pytest.raises(UnsupportedOperators, match=message):
        import_model(model, NumpyBuilder([feed]))


def test_a_body_with_another_input() -> None:
    model = scan()
    model.graph.node[0].attribute[0].g.input.add(name="more")
    with pytest.raises(ModelError, match=r"'scan' .*expects a body of 2 inputs, but got 3"):
        import_model(model, NumpyBuilder([{"s": np.ones(3, F32), "x": np.ones((3, 2), F32)}]))
