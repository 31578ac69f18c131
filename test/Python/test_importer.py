"""The importer against onnxruntime, symbolic dimensions included.

Each model runs at two bindings of its symbolic sizes; operations run in NumPy.
"""

import numpy as np
import onnx
import pytest
from onnx import helper

import espalier
from espalier.importers.onnx import import_model
from espalier.testing.onnxruntime import OnnxRuntime
from numpy_builder import NumpyBuilder
from operator_cases import CASES, F32, I64, MATRIX, SIZES, ints
from support import check_in_numpy, feeds_for, import_in_numpy, make_model, one_op


@pytest.mark.parametrize("name", CASES)
def test_operator(name):
    check_in_numpy(CASES[name], SIZES)


def test_shapes_that_the_graph_computes_are_followed():
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["n"]),
        helper.make_node("Gather", ["shape", "one"], ["s"]),
        helper.make_node("Mul", ["n", "s"], ["ns"]),
        helper.make_node("Unsqueeze", ["ns", "axis"], ["ns1"]),
        helper.make_node("Concat", ["ns1", "tail"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["flat"]),
        helper.make_node("Cast", ["ns"], ["wide"], to=7),
        helper.make_node("Range", ["zero", "wide", "one"], ["range"]),
        helper.make_node("Unsqueeze", ["range", "last"], ["column"]),
        helper.make_node("Cast", ["column"], ["floats"], to=1),
        helper.make_node("Mul", ["flat", "floats"], ["y"]),
    ]
    constants = {
        "zero": np.int64(0),
        "one": np.int64(1),
        "axis": ints(0),
        "last": ints(1),
        "tail": ints(2, 2),
    }
    constants["last"] = ints(1, 2)
    model = make_model(nodes, {"x": (F32, ["n", "s", 4])}, ["y"], constants)
    builder = check_in_numpy(model, SIZES)
    assert "gather" not in builder.operations
    assert "concat" not in builder.operations


def test_expand_to_a_shape_chosen_by_where():
    """The form that older exporters give to `tensor.expand(-1, n)`."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("ConstantOfShape", ["rank"], ["ones"], value=_one()),
        helper.make_node("Mul", ["ones", "minus"], ["negative"]),
        helper.make_node("Equal", ["wanted", "negative"], ["keep"]),
        helper.make_node("Where", ["keep", "shape", "wanted"], ["target"]),
        helper.make_node("Expand", ["x", "target"], ["y"]),
    ]
    constants = {"rank": ints(2), "minus": np.int64(-1), "wanted": ints(-1, 6)}
    model = make_model(nodes, {"x": (F32, ["n", 1])}, ["y"], constants)
    assert check_in_numpy(model, SIZES).operations == ["expand"]


@pytest.mark.parametrize("tail", [[1], [2], [0]])
def test_repeats_that_are_sizes(tail):
    """How a query for each image of a batch is exported."""
    nodes = [
        helper.make_node("Shape", ["x"], ["batch"], start=0, end=1),
        helper.make_node("Concat", ["batch", "tail"], ["repeats"], axis=0),
        helper.make_node("Tile", ["z", "repeats"], ["y"]),
    ]
    shapes = {"x": (F32, ["n", 2]), "z": (F32, [3, "s"])}
    model = make_model(nodes, shapes, ["y"], {"tail": ints(*tail)})
    check_in_numpy(model, SIZES)
    check_compiled(model, SIZES)


def check_compiled(model: onnx.ModelProto, bindings: list[dict[str, int]]) -> None:
    """Compare one program for all sizes with onnxruntime."""
    reference, program = OnnxRuntime(model), espalier.compile(model)
    for feeds in feeds_for(model, bindings):
        np.testing.assert_array_equal(program.run(feeds)["y"], reference.run(feeds)["y"])


def _one() -> onnx.TensorProto:
    return onnx.numpy_helper.from_array(ints(1))


def test_sizes_as_data():
    """A size that reaches arithmetic on data becomes a tensor of the program."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Sub", ["three", "shape"], ["difference"]),
        helper.make_node("Cast", ["difference"], ["floats"], to=1),
        helper.make_node("Add", ["x", "floats"], ["y"]),
    ]
    model = make_model(nodes, {"x": (F32, ["n", 2])}, ["y"], {"three": np.int64(3)})
    check_in_numpy(model, SIZES)


def test_symbolic_dimensions_are_named():
    model = one_op("Add", {"x": (F32, ["n", 3]), "z": (F32, ["n", "m"])})
    feeds = [{"x": np.zeros((n, 3), F32), "z": np.zeros((n, 3), F32)} for n in (1, 2)]
    builder = import_in_numpy(model, feeds)
    assert builder.declared["x"] == ([None, 3], "f32", ["n", ""])
    assert builder.declared["z"] == ([None, None], "f32", ["n", "m"])


def test_given_shapes_fix_symbolic_dimensions():
    model = one_op("Add", {"x": (F32, ["n", "s"]), "z": (F32, ["s"])})
    feed = {"x": np.ones((2, 5), F32), "z": np.ones(5, F32)}
    builder = NumpyBuilder([feed])
    import_model(model, builder, dims={"n": 2}, shapes={"z": (5,)})
    assert builder.declared["x"] == ([2, 5], "f32", ["", ""])


def test_given_values_serve_where_an_operand_must_be_known():
    model = one_op("Reshape", {"x": (F32, [6]), "shape": (I64, [2])})
    feed = {"x": np.arange(6, dtype=F32), "shape": ints(2, -1)}
    builder = NumpyBuilder([feed])
    bound = import_model(model, builder, values=feed)
    assert list(bound) == ["shape"]
    assert builder.outputs[0]["y"].shape == (2, 3)


def test_initializer_that_is_also_an_input_is_a_constant():
    model = one_op("Add", {"x": (F32, [2]), "c": (F32, [2])}, {"c": np.ones(2, F32)}, ["x", "c"])
    builder = import_in_numpy(model, [{"x": np.zeros(2, F32)}])
    assert list(builder.declared) == ["x"]


def test_outputs_may_be_inputs_and_constants():
    model = make_model([], {"x": (F32, ["n"])}, ["x", "c"], {"c": np.arange(3, dtype=F32)})
    model.graph.output[1].CopyFrom(helper.make_tensor_value_info("c", 1, [3]))
    builder = import_in_numpy(model, [{"x": np.ones(2, F32)}])
    assert builder.outputs[0]["x"].tolist() == [1, 1]
    assert builder.outputs[0]["c"].tolist() == [0, 1, 2]


def branch(op: str) -> onnx.GraphProto:
    """Return a branch that reads `x` from outside."""
    node = helper.make_node(op, ["x"], ["inner"], name=f"inner_{op}")
    output = helper.make_tensor_value_info("inner", 1, ["n"])
    return helper.make_graph([node], op, [], [output])


@pytest.mark.parametrize(("condition", "expected"), [(True, "exp"), (False, "neg")])
def test_if_with_a_known_condition_takes_its_branch(condition, expected):
    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=branch("Exp"), else_branch=branch("Neg")
    )
    model = make_model([node], {"x": (F32, ["n"])}, ["y"], {"c": np.bool_(condition)})
    assert check_in_numpy(model, SIZES).operations == [expected]


def test_nodes_out_of_order_are_sorted():
    nodes = [helper.make_node("Neg", ["t"], ["y"]), helper.make_node("Exp", ["x"], ["t"])]
    model = make_model(nodes, {"x": (F32, ["n"])}, [])
    model.graph.output.append(helper.make_tensor_value_info("y", 1, ["n"]))
    builder = import_in_numpy(model, [{"x": np.ones(2, F32)}])
    assert builder.operations == ["exp", "neg"]


@pytest.mark.parametrize("opset", range(13, onnx.defs.onnx_opset_version() + 1))
def test_every_opset_is_read(opset):
    nodes = [
        helper.make_node("Unsqueeze", ["x", "axis"], ["u"]),
        helper.make_node("Softmax", ["u"], ["y"], axis=-1),
    ]
    model = make_model(nodes, {"x": (F32, [2, 3])}, ["y"], {"axis": ints(0)}, opset)
    builder = import_in_numpy(model, [{"x": np.zeros((2, 3), F32)}])
    np.testing.assert_allclose(builder.outputs[0]["y"], np.full((1, 2, 3), 1 / 3), rtol=1e-6)


def test_feeds_are_repeatable():
    model = one_op("Neg", MATRIX)
    first, second = (feeds_for(model, SIZES) for _ in range(2))
    assert all((a["x"] == b["x"]).all() for a, b in zip(first, second, strict=True))


def longest(bounds: tuple[float, float, float]) -> onnx.ModelProto:
    """Return the largest number of a range."""
    nodes = [
        helper.make_node("Range", [*"abc"], ["r"], name="long"),
        helper.make_node("ReduceMax", ["r"], ["m"], keepdims=0),
        helper.make_node("Add", ["x", "m"], ["y"]),
    ]
    constants = dict(zip("abc", map(np.array, bounds), strict=True))
    return make_model(nodes, {"x": (constants["a"].dtype.type, [1])}, ["y"], constants)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((-(2**63), 2**63 - 1, 1), rf"extents, .* from -2\^63 to 2\^63 - 1, but got {2**64 - 1}"),
        ((0.0, 1e308, 1e-308), r"expects extents, offsets and steps from -2\^63"),
        ((-1e308, 1e308, 1.0), r"\(Range\): expects finite bounds, but got -1e\+308"),
        ((0, 2**63 - 1, 1), r"expects a domain of numbers of at most 2\^31"),
    ],
)
def test_ranges_of_more_than_can_be_counted(
    bounds: tuple[float, float, float], message: str
) -> None:
    with pytest.raises(espalier.EspalierError, match=f"node 'long'.*{message}"):
        espalier.compile(longest(bounds))
