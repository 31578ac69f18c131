"""The importer against onnxruntime, symbolic dimensions included.

Each model runs at two bindings of its symbolic sizes; operations run in NumPy.
"""

import numpy as np
import onnx
import pytest
from onnx import helper

from espalier.importers.onnx import import_model
from numpy_builder import NumpyBuilder
from support import check_in_numpy, feeds_for, import_in_numpy, make_model, one_op

F32, I64 = np.float32, np.int64
SIZES = [{"n": 2, "s": 5}, {"n": 3, "s": 8}]
IMAGE = {"x": (F32, ["n", 4, "s", 9])}
MATRIX = {"x": (F32, ["n", "s"])}
WEIGHTS = np.random.default_rng(0).standard_normal((6, 4, 3, 3)).astype(F32)


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, I64)


CASES = {
    "conv": one_op("Conv", IMAGE, {"w": WEIGHTS}, strides=[2, 1], pads=[1, 0, 2, 1]),
    "conv_same": one_op("Conv", IMAGE, {"w": WEIGHTS}, auto_pad="SAME_LOWER"),
    "conv_valid_bias": one_op(
        "Conv", IMAGE, {"w": WEIGHTS, "b": np.arange(6, dtype=F32)}, auto_pad="VALID"
    ),
    "conv_groups": one_op(
        "Conv", IMAGE, {"w": WEIGHTS[:, :2]}, group=2, dilations=[2, 2], pads=[2, 2, 2, 2]
    ),
    "conv_1d": one_op("Conv", {"x": (F32, ["n", 4, "s"])}, {"w": WEIGHTS[:, :, 0]}),
    "conv_transpose": one_op(
        "ConvTranspose", IMAGE, {"w": WEIGHTS[:4]}, strides=[2, 2], output_padding=[1, 0]
    ),
    "max_pool": one_op("MaxPool", IMAGE, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    "max_pool_ceil": one_op("MaxPool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "average_pool": one_op(
        "AveragePool", IMAGE, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1
    ),
    "global_average_pool": one_op("GlobalAveragePool", IMAGE),
    "global_max_pool": one_op("GlobalMaxPool", IMAGE),
    "gemm": one_op(
        "Gemm",
        {"x": (F32, [4, "n"])},
        {"b": np.ones((5, 4), F32), "c": np.arange(5, dtype=F32)},
        transA=1,
        transB=1,
        alpha=0.5,
        beta=2.0,
    ),
    "matmul_batch": one_op("MatMul", {"x": (F32, ["n", 1, "s", 4]), "z": (F32, [3, 4, 2])}),
    "matmul_vectors": one_op("MatMul", {"x": (F32, [4]), "z": (F32, ["n", 4, "s"])}),
    "einsum": one_op(
        "Einsum",
        {"x": (F32, ["n", "s", 2, 4]), "z": (F32, ["n", "s", 2, 4])},
        equation="bqhd,bkhd->bhqk",
    ),
    "einsum_ellipsis": one_op(
        "Einsum", {"x": (F32, ["n", "s", 4]), "z": (F32, [4, 3])}, equation="...i,ij->...j"
    ),
    "softmax": one_op("Softmax", MATRIX, axis=0),
    "log_softmax": one_op("LogSoftmax", MATRIX),
    "layer_norm_no_bias": one_op("LayerNormalization", IMAGE, {"w": np.full(9, 0.5, F32)}),
    "batch_norm": one_op(
        "BatchNormalization", IMAGE, {k: np.arange(1, 5, dtype=F32) for k in "sbmv"}
    ),
    "group_norm": one_op(
        "GroupNormalization",
        IMAGE,
        {"s": np.ones(4, F32), "b": np.zeros(4, F32)},
        opset=21,
        num_groups=2,
    ),
    "reduce_mean": one_op("ReduceMean", IMAGE, {"a": ints(1, -1)}, keepdims=0),
    "reduce_mean_13": one_op("ReduceMean", IMAGE, axes=[2], opset=13),
    "reduce_all": one_op("ReduceSum", IMAGE),
    "reduce_nothing": one_op("ReduceSum", IMAGE, noop_with_empty_axes=1),
    "log_sum_exp": one_op("ReduceLogSumExp", MATRIX, {"a": ints(1)}),
    "arg_max": one_op("ArgMax", MATRIX, axis=1, keepdims=0, select_last_index=1),
    "top_1": one_op("TopK", MATRIX, {"k": ints(1)}, outputs=("y", "z")),
    "cumsum": one_op("CumSum", MATRIX, {"a": ints(1)}, reverse=1, exclusive=1),
    "transpose": one_op("Transpose", IMAGE),
    "reshape": one_op("Reshape", IMAGE, {"s": ints(0, -1, 3)}),
    "flatten": one_op("Flatten", IMAGE, axis=-2),
    "unsqueeze": one_op("Unsqueeze", MATRIX, {"a": ints(-1, 0)}),
    "squeeze": one_op("Squeeze", {"x": (F32, ["n", 1, "s", 1])}, {"a": ints(1, -1)}),
    "expand": one_op("Expand", {"x": (F32, ["n", 1])}, {"s": ints(3, 1, 4)}),
    "slice": one_op("Slice", IMAGE, {"a": ints(1, -3), "b": ints(-1, 2**63 - 1), "c": ints(2, 3)}),
    "slice_far": one_op("Slice", MATRIX, {"a": ints(6), "b": ints(7), "c": ints(1)}),
    "slice_steps": one_op(
        "Slice", MATRIX, {"a": ints(1), "b": ints(100), "c": ints(1), "d": ints(3)}
    ),
    "slice_reversed": one_op(
        "Slice", MATRIX, {"a": ints(-1), "b": ints(-(2**63)), "c": ints(1), "d": ints(-2)}
    ),
    "split": one_op("Split", IMAGE, outputs=("y", "z"), num_outputs=2, axis=1),
    "split_sizes": one_op("Split", IMAGE, {"s": ints(1, 3)}, outputs=("y", "z"), axis=1),
    "concat": one_op("Concat", {"x": (F32, ["n", "s"]), "z": (F32, ["n", 3])}, axis=-1),
    "tile": one_op("Tile", MATRIX, {"r": ints(2, 3)}),
    "pad": one_op("Pad", MATRIX, {"p": ints(1, 0, 2, 3), "v": np.float32(7)}),
    "pad_axes": one_op(
        "Pad", MATRIX, {"p": ints(1, 1), "a": ints(-1)}, operands=["x", "p", "", "a"], mode="edge"
    ),
    "gather": one_op("Gather", MATRIX, {"i": np.array([[0, -1]], I64)}, axis=1),
    "where": one_op("Where", {"c": (np.bool_, ["n", 1]), "x": (F32, ["n", "s"]), "z": (F32, [])}),
    "clip_low": one_op("Clip", MATRIX, {"low": np.float32(0.25)}),
    "clip_high": one_op("Clip", MATRIX, {"h": np.float32(0.25)}, operands=["x", "", "h"]),
    "pow_mixed": one_op("Pow", MATRIX, {"e": np.int64(2)}),
    "max_of_three": one_op(
        "Max", {"x": (F32, ["n", "s"]), "z": (F32, ["s"]), "v": (F32, ["n", 1])}
    ),
    "mean_of_one": one_op("Mean", MATRIX),
    "cast_to_bool": one_op("Cast", {"x": (np.int32, ["n", "s"])}, to=9),
    "trilu": one_op("Trilu", {"x": (F32, ["n", "s", "s"])}, {"k": np.int64(-1)}, upper=0),
    "one_hot": one_op(
        "OneHot",
        {"x": (I64, ["n"])},
        {"d": np.int64(64), "v": np.array([-1, 1], F32)},
        axis=0,
    ),
    "depth_to_space": one_op("DepthToSpace", IMAGE, blocksize=2, mode="CRD"),
    "dropout": one_op("Dropout", MATRIX, outputs=("y", "z")),
    "mish": one_op("Mish", MATRIX),
    "celu": one_op("Celu", MATRIX, alpha=0.5),
    "hard_swish": one_op("HardSwish", MATRIX),
}


@pytest.mark.parametrize("name", CASES)
def test_operator(name):
    check_in_numpy(CASES[name], SIZES)


def recurrent(op: str, gates: int, direction: str, **attributes: object) -> onnx.ModelProto:
    rng = np.random.default_rng(1)
    count = 2 if direction == "bidirectional" else 1

    def weight(*shape: int) -> np.ndarray:
        return rng.standard_normal((count, *shape)).astype(F32)

    constants = {"w": weight(gates * 3, 4), "r": weight(gates * 3, 3), "b": weight(gates * 6)}
    return one_op(
        op,
        {"x": (F32, ["s", "n", 4])},
        constants,
        outputs=("y", "h"),
        hidden_size=3,
        direction=direction,
        **attributes,
    )


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_lstm(direction):
    check_in_numpy(recurrent("LSTM", 4, direction), SIZES)


@pytest.mark.parametrize("before_reset", [0, 1])
def test_gru(before_reset):
    model = recurrent("GRU", 3, "bidirectional", linear_before_reset=before_reset)
    check_in_numpy(model, SIZES)


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


def test_functions_are_inlined():
    inner = helper.make_function(
        "local",
        "scaled",
        ["a"],
        ["b"],
        [helper.make_node("LeakyRelu", ["a"], ["t"]), helper.make_node("Neg", ["t"], ["b"])],
        [helper.make_opsetid("", 20)],
    )
    node = helper.make_node("scaled", ["x"], ["y"], domain="local")
    model = make_model([node], {"x": (F32, ["n"])}, [], functions=[inner], domains=["local"])
    model.graph.output.append(helper.make_tensor_value_info("y", 1, ["n"]))
    assert check_in_numpy(model, SIZES).operations == ["leaky_relu", "neg"]


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
