"""Functions of a model: replaced by their bodies, or refused."""

import re

import numpy as np
import onnx
import pytest
from onnx import helper

from espalier.errors import ModelError, UnsupportedOperators
from espalier.importers.onnx import functions, import_model
from numpy_builder import NumpyBuilder
from support import check_in_numpy, make_model

F32 = np.float32


def fails(model: onnx.ModelProto, message: str, kind: type = ModelError) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        import_model(model, NumpyBuilder([{"x": np.zeros((2, 3), F32)}]))


def calling(name: str) -> onnx.ModelProto:
    """Return a model that calls a function, which nothing has checked."""
    node = helper.make_node(name, ["x"], ["y"], domain="d")
    inputs = [helper.make_tensor_value_info("x", 1, [2, 3])]
    outputs = [helper.make_tensor_value_info("y", 1, None)]
    made = helper.make_graph([node], "test", inputs, outputs)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)])


@pytest.mark.parametrize("opset", [20, 16, 22])
def test_functions_are_inlined(opset):
    """Of another opset, too, if the operators are the same in the model's."""
    inner = helper.make_function(
        "local",
        "scaled",
        ["a"],
        ["b"],
        [helper.make_node("LeakyRelu", ["a"], ["t"]), helper.make_node("Neg", ["t"], ["b"])],
        [helper.make_opsetid("", opset)],
    )
    node = helper.make_node("scaled", ["x"], ["y"], domain="local")
    model = make_model([node], {"x": (F32, ["n"])}, [], functions=[inner], domains=["local"])
    model.graph.output.append(helper.make_tensor_value_info("y", 1, ["n"]))
    assert check_in_numpy(model, [{"n": 3}]).operations == ["leaky_relu", "neg"]


def calls(name: str, *callees: str) -> onnx.FunctionProto:
    nodes = [helper.make_node(c, ["a"], [f"b{i}"], domain="d") for i, c in enumerate(callees)]
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("d", 1)]
    return helper.make_function("d", name, ["a"], ["b0"], nodes, imports)


def test_function_that_calls_itself():
    model = calling("f")
    model.functions.extend([calls("f", "g"), calls("g", "f")])
    fails(model, "expects functions without recursion, but 'f' calls itself")


def test_functions_that_explode():
    """Sixty functions, each calling the next twice, stand for 2^60 nodes."""
    model = calling("f0")
    model.functions.extend(calls(f"f{i}", f"f{i + 1}", f"f{i + 1}") for i in range(60))
    fails(model, f"expects at most {functions.MAX_NODES} nodes")


def test_functions_of_other_versions():
    """Of operators that changed in between, in a function that another one calls."""
    model = calling("f")
    inner = helper.make_node("Softmax", ["a"], ["b"], name="old")
    imports = [helper.make_opsetid("", 12)]
    model.functions.append(helper.make_function("d", "g", ["a"], ["b"], [inner], imports))
    model.functions.append(calls("f", "g"))
    message = "g is a function of ONNX opset 12, whose Softmax is not that of the model's opset 20"
    fails(model, message, UnsupportedOperators)
    model.functions[0].opset_import[0].CopyFrom(helper.make_opsetid("e", 1))
    model.opset_import.append(helper.make_opsetid("e", 2))
    message = "g is a function with version 1 of the domain 'e', of which the model has 2"
    fails(model, message, UnsupportedOperators)
