"""Models with values that no operator takes: scalars or nothing in the place of lists."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from espalier.errors import UnsupportedOperators
from support import one_op
from test_malformed import F32, I64, MATRIX, fails, raw_model

NODES = {
    "norm of no exponent": (
        helper.make_node("GlobalLpPool", ["image"], ["y"], name="n", p=0),
        "node 'n' (GlobalLpPool): expects p of at least 1, but got 0",
    ),
    "axis of a scalar": (
        helper.make_node("Split", ["s"], ["y", "z"], name="n"),
        "node 'n' (Split): expects an axis from 0 to -1, but got 0",
    ),
    "shape that is a scalar": (
        helper.make_node("ConstantOfShape", ["s"], ["y"], name="n"),
        "node 'n' (ConstantOfShape): expects a shape of rank 1, but got rank 0",
    ),
    "bound that is empty": (
        helper.make_node("Range", ["e", "s", "s"], ["y"], name="n"),
        "node 'n' (Range): expects one element as bound, but got 0",
    ),
}
CONSTANTS = {
    "s": np.array(2, I64),
    "e": np.zeros(0, I64),
    "image": np.zeros((1, 1, 2, 2), F32),
}


@pytest.mark.parametrize("name", NODES)
def test_node(name):
    node, message = NODES[name]
    initializers = [numpy_helper.from_array(v, k) for k, v in CONSTANTS.items()]
    fails(raw_model([node], initializer=initializers), message)


def test_output_of_a_type_that_is_not_supported():
    model = one_op("Neg", MATRIX)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT4
    message = "node 'y': output needs an element type out of float32"
    fails(model, message, UnsupportedOperators)


def test_output_that_its_node_does_not_give():
    vector = [numpy_helper.from_array(np.ones(3, F32), name) for name in ("a", "b", "c", "d")]
    node = helper.make_node("BatchNormalization", ["x", "a", "b", "c", "d"], ["z", "y", "v"])
    message = "graph output 'y': expects a value, but its node gives none"
    fails(raw_model([node], initializer=vector), message)
