"""Models that are malformed, hostile or not supported: each has its message."""

import os
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import espalier
from espalier.errors import EspalierError, ModelError, UnsupportedOperators
from espalier.importers.onnx import import_model
from numpy_builder import NumpyBuilder
from support import make_model, one_op

F32, I64 = np.float32, np.int64
MATRIX = {"x": (F32, [2, 3])}


def fails(model: object, message: str, kind: type = ModelError, **options: object) -> None:
    feed = {"x": np.zeros((2, 3), F32)}
    with pytest.raises(kind, match=re.escape(message)):
        import_model(model, NumpyBuilder([feed]), **options)


def raw_model(nodes: list, inputs: list | None = None, **graph: object) -> onnx.ModelProto:
    """Return a model that nothing has checked."""
    inputs = inputs or [helper.make_tensor_value_info("x", 1, [2, 3])]
    outputs = [helper.make_tensor_value_info("y", 1, None)]
    made = helper.make_graph(nodes, "test", inputs, outputs, **graph)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)])


# Files.


def test_missing_file():
    fails("no-such-model.onnx", "cannot read 'no-such-model.onnx'", EspalierError)


@pytest.mark.parametrize("data", [b"", b"\xff\xff", b"not a model", bytes(100)])
def test_bytes_that_are_no_model(data):
    fails(data, "expects an ONNX model, but")


def test_truncated_model():
    data = one_op("Add", MATRIX, {"c": np.ones((2, 3), F32)}).SerializeToString()
    for end in range(1, len(data), 7):
        with pytest.raises(EspalierError):
            import_model(data[:end], NumpyBuilder([{"x": np.zeros((2, 3), F32)}]))


@pytest.mark.parametrize("version", [1000, -(2**63)])
def test_unknown_opset(version):
    model = one_op("Neg", MATRIX)
    model.opset_import[0].version = version
    fails(model, "expects an opset from 1 to")


# Graphs.


def test_undefined_input():
    model = raw_model([helper.make_node("Add", ["x", "ghost"], ["y"], name="sum")])
    fails(model, "node 'sum' (Add): expects inputs that are defined, but got 'ghost'")


def test_cycle():
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        helper.make_node("Neg", ["a"], ["b"], name="second"),
        helper.make_node("Neg", ["a"], ["y"]),
    ]
    fails(raw_model(nodes), "expects a graph without cycles, but got ['first', 'second']")


def test_value_defined_twice():
    nodes = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Exp", ["x"], ["y"])]
    fails(raw_model(nodes), "expects a new name, but 'y' is defined already")


def test_output_that_nothing_defines():
    fails(raw_model([]), "graph output 'y': expects a value of the graph")


def test_output_of_another_type():
    model = one_op("Neg", MATRIX)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT32
    fails(model, "graph output 'y': expects element type int32, but got float32")


def test_input_without_a_shape():
    model = raw_model([], [helper.make_tensor_value_info("x", 1, None)])
    fails(model, "graph input 'x': expects a shape, but it has none")


def test_input_of_negative_extent():
    model = raw_model([], [helper.make_tensor_value_info("x", 1, [-1])])
    fails(model, "graph input 'x': expects extents of at least 0, but got -1")


def test_input_of_huge_size():
    model = raw_model([], [helper.make_tensor_value_info("x", 1, [2**40, 2**40])])
    fails(model, "graph input 'x': expects at most")


def test_given_shape_of_another_rank():
    fails(one_op("Neg", MATRIX), "expects a shape of rank 2, but got [2]", shapes={"x": [2]})


def test_given_shape_that_contradicts():
    fails(one_op("Neg", MATRIX), "expects the shape [2, 3], but got [2, 4]", shapes={"x": [2, 4]})


def test_given_shape_of_no_input():
    with pytest.raises(EspalierError, match=r"expects names of inputs out of \['x'\], but got"):
        espalier.load_module(one_op("Neg", MATRIX), shapes={"z": [1]})


# Nodes.

NODES = {
    "missing attribute": (
        helper.make_node("Concat", ["x", "x"], ["y"], name="n"),
        "node 'n' (Concat): expects attribute 'axis', but it is missing",
    ),
    "unknown attribute": (
        helper.make_node("Neg", ["x"], ["y"], name="n", alpha=1.0),
        "node 'n' (Neg): expects attributes out of [], but got 'alpha'",
    ),
    "attribute of another type": (
        helper.make_node("Elu", ["x"], ["y"], name="n", alpha=1),
        "node 'n' (Elu): expects attribute 'alpha' of type FLOAT, but got INT",
    ),
    "attribute that is not a number": (
        helper.make_node("Elu", ["x"], ["y"], name="n", alpha=float("nan")),
        "node 'n' (Elu): attribute 'alpha' expects a number, but got NaN",
    ),
    "too few inputs": (
        helper.make_node("Add", ["x"], ["y"], name="n"),
        "node 'n' (Add): expects 2 to 2 inputs, but got 1",
    ),
    "empty input": (
        helper.make_node("Add", ["x", ""], ["y"], name="n"),
        "node 'n' (Add): expects input #1 ('B'), but it is missing",
    ),
    "inputs of two types": (
        helper.make_node("Add", ["x", "i"], ["y"], name="n"),
        "node 'n' (Add): expects inputs #0 and #1 of one type, "
        "but got tensor(float) and tensor(int64)",
    ),
    "type that the operator refuses": (
        helper.make_node("Erf", ["b"], ["y"], name="n"),
        "node 'n' (Erf): expects input #0 ('input') of a type that Erf allows, "
        "but got tensor(bool)",
    ),
    "shapes that do not broadcast": (
        helper.make_node("Add", ["x", "c"], ["y"], name="n"),
        "node 'n' (Add): expects shapes that broadcast, but got [2, 3] and [4]",
    ),
    "rank of a convolution": (
        helper.make_node("Conv", ["x", "x"], ["y"], name="n"),
        "node 'n' (Conv): expects input #0 of rank 3 or more, but got [2, 3]",
    ),
    "inner extents": (
        helper.make_node("MatMul", ["x", "x"], ["y"], name="n"),
        "node 'n' (MatMul): expects inner extents that agree, but got [2, 3] and [2, 3]",
    ),
    "axis": (
        helper.make_node("Softmax", ["x"], ["y"], name="n", axis=2),
        "node 'n' (Softmax): expects an axis from -2 to 1, but got 2",
    ),
    "repeated axis": (
        helper.make_node("ReduceSum", ["x", "axes"], ["y"], name="n"),
        "node 'n' (ReduceSum): expects axes that differ, but got [0, 0]",
    ),
    "permutation": (
        helper.make_node("Transpose", ["x"], ["y"], name="n", perm=[0, 0]),
        "node 'n' (Transpose): expects a permutation of 2 dimensions, but got [0, 0]",
    ),
    "elements of a reshape": (
        helper.make_node("Reshape", ["x", "shape"], ["y"], name="n"),
        "node 'n' (Reshape): expects 6 elements, but got the shape [4, 2]",
    ),
    "extent that nothing fits": (
        helper.make_node("Reshape", ["x", "open"], ["y"], name="n"),
        "node 'n' (Reshape): expects [2, 3] to fill [-1, 4], but it does not",
    ),
    "padding": (
        helper.make_node("Pad", ["x", "shape"], ["y"], name="n"),
        "node 'n' (Pad): expects 4 pads, but got 2",
    ),
    "concatenation": (
        helper.make_node("Concat", ["x", "v"], ["y"], name="n", axis=0),
        "node 'n' (Concat): expects inputs of one rank from 1 on, but got ranks [2, 1]",
    ),
    "equation": (
        helper.make_node("Einsum", ["x"], ["y"], name="n", equation="ijk->i"),
        "node 'n' (Einsum): expects 2 labels for input #0, but got 'ijk'",
    ),
}


@pytest.mark.parametrize("name", NODES)
def test_node(name):
    node, message = NODES[name]
    constants = {
        "i": np.zeros((2, 3), I64),
        "b": np.zeros((2, 3), np.bool_),
        "c": np.zeros(4, F32),
        "v": np.zeros(3, F32),
        "axes": np.array([0, 0], I64),
        "shape": np.array([4, 2], I64),
        "open": np.array([-1, 4], I64),
    }
    initializers = [numpy_helper.from_array(v, k) for k, v in constants.items()]
    fails(raw_model([node], initializer=initializers), message)


def test_huge_result_is_not_allocated():
    """Folding must not try to make what a shape of 2^60 elements names."""
    nodes = [
        helper.make_node("ConstantOfShape", ["big"], ["zeros"], name="zeros"),
        helper.make_node("Shape", ["zeros"], ["y"]),
    ]
    big = numpy_helper.from_array(np.array([2**30, 2**30], I64), "big")
    model = raw_model(nodes, initializer=[big])
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64

    class Refusing(NumpyBuilder):
        def op(self, name: str, *_: object) -> list:
            assert name == "graph.fill"
            raise ModelError("stopped before the compiler")

    with pytest.raises(ModelError, match=r"node 'zeros' .* stopped before the compiler"):
        import_model(model, Refusing([{"x": np.zeros((2, 3), F32)}]))


# Tensors and external data.


def external(tmp_path: os.PathLike, **fields: str) -> str:
    """Write a model with one tensor whose data lies in another file."""
    (tmp_path / "data.bin").write_bytes(np.arange(6, dtype=F32).tobytes())
    model = one_op("Add", MATRIX, {"c": np.zeros((2, 3), F32)})
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "data.bin", **fields}.items():
        tensor.external_data.add(key=key, value=value)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return str(path)


@pytest.mark.parametrize("fields", [{}, {"offset": "0", "length": "24"}])
def test_external_data(tmp_path, fields):
    builder = NumpyBuilder([{"x": np.ones((2, 3), F32)}])
    import_model(external(tmp_path, **fields), builder)
    assert builder.outputs[0]["y"].tolist() == [[1, 2, 3], [4, 5, 6]]


EXTERNAL = {
    "above": ({"location": "../data.bin"}, "expects external data below the model's folder"),
    "absolute": ({"location": "/etc/passwd"}, "expects external data below the model's folder"),
    "no name": ({"location": ""}, "expects external data below the model's folder"),
    "missing": ({"location": "other.bin"}, "expects external data in 'other.bin' without links"),
    "folder": ({"location": "folder"}, "expects a regular file without links"),
    "link": ({"location": "link.bin"}, "expects external data in 'link.bin' without links"),
    "linked folder": ({"location": "there/data.bin"}, "expects external data in 'there/data.bin'"),
    "hard link": ({"location": "hard.bin"}, "expects a regular file without links"),
    "offset": ({"offset": "4"}, "expects external data up to byte 28, but the file has 24"),
    "length": ({"length": "20"}, "expects 24 bytes of external data, but got 20"),
    "negative": ({"offset": "-1"}, "expects a number as external offset, but got '-1'"),
    "huge": ({"offset": "9" * 30}, "expects a number as external offset"),
}


@pytest.mark.parametrize("name", EXTERNAL)
def test_external_data_is_refused(tmp_path, name):
    fields, message = EXTERNAL[name]
    path = external(tmp_path, **fields)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.bin").symlink_to("data.bin")
    (tmp_path / "there").symlink_to(".")
    (tmp_path / "original.bin").write_bytes(bytes(24))
    (tmp_path / "hard.bin").hardlink_to(tmp_path / "original.bin")
    fails(path, f"initializer 'c': {message}")


def test_external_data_of_a_model_without_a_folder(tmp_path):
    with open(external(tmp_path), "rb") as file:
        fails(
            file.read(), "initializer 'c': expects data in the model, but it lies in another file"
        )


TENSORS = {
    "too little data": (TensorProto(data_type=1, dims=[2], raw_data=bytes(4)), "expects data for"),
    "negative extent": (TensorProto(data_type=1, dims=[-1]), "expects extents of at least 0"),
    "huge": (TensorProto(data_type=1, dims=[2**40, 2**40]), "expects at most"),
    "no type": (TensorProto(data_type=99, dims=[]), "expects an element type of ONNX"),
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensor(name):
    tensor, message = TENSORS[name]
    tensor.name = "c"
    fails(raw_model([], initializer=[tensor]), f"initializer 'c': {message}")


# What is not supported.


def test_all_unsupported_nodes_are_listed():
    nodes = [
        helper.make_node("Det", ["x"], ["a"], name="first"),
        helper.make_node("Foo", ["x"], ["b"], name="second", domain="com.example"),
        helper.make_node("Add", ["a", "x"], ["c"], name="fine"),
        helper.make_node("NonZero", ["c"], ["d"], name="third"),
        helper.make_node("TopK", ["x", "k"], ["y", "i"], name="fourth"),
    ]
    model = raw_model(nodes, initializer=[numpy_helper.from_array(np.array([2], I64), "k")])
    with pytest.raises(UnsupportedOperators) as caught:
        import_model(model, NumpyBuilder([{"x": np.zeros((2, 3), F32)}]))
    assert str(caught.value).splitlines() == [
        "4 nodes are not supported:",
        "  node 'first': Det has no counterpart in the graph dialect",
        "  node 'second': Foo belongs to the domain 'com.example'",
        "  node 'third': NonZero has no counterpart in the graph dialect",
        "  node 'fourth': TopK has k = 2, not 1",
    ]


def test_shape_that_depends_on_data():
    model = one_op("Reshape", {"x": (F32, [2, 3]), "s": (I64, [2])})
    feed = {"x": np.zeros((2, 3), F32), "s": np.array([3, 2], I64)}
    with pytest.raises(UnsupportedOperators, match=r"Reshape needs a shape \(input #1\)"):
        import_model(model, NumpyBuilder([feed]))


def test_condition_that_depends_on_data():
    body = helper.make_graph([], "b", [], [helper.make_tensor_value_info("x", 1, [2, 3])])
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    model = make_model([node], {"x": (F32, [2, 3]), "c": (np.bool_, [])}, ["y"])
    feed = {"x": np.zeros((2, 3), F32), "c": np.array(True)}
    with pytest.raises(UnsupportedOperators, match="If needs a condition"):
        import_model(model, NumpyBuilder([feed]))


@pytest.mark.parametrize("code", [TensorProto.STRING, TensorProto.FLOAT8E5M2, TensorProto.INT4])
def test_input_of_an_element_type_without_code(code):
    model = raw_model([], [helper.make_tensor_value_info("x", code, [2])])
    model.graph.output[0].name = "x"
    with pytest.raises(UnsupportedOperators, match="node 'x': input needs"):
        import_model(model, NumpyBuilder([{}]))


def test_sequence_input():
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [2]))
    model = raw_model([], [helper.make_value_info("x", sequence)])
    model.graph.output[0].name = "x"
    with pytest.raises(UnsupportedOperators, match="input is a sequence, not a tensor"):
        import_model(model, NumpyBuilder([{}]))


def test_old_meaning_of_an_operator():
    model = one_op("Softmax", MATRIX, opset=11)
    with pytest.raises(UnsupportedOperators, match="has its meaning of ONNX opset 11"):
        import_model(model, NumpyBuilder([{"x": np.zeros((2, 3), F32)}]))
