"""Writes two ONNX models of the same interface, whose graphs have one name."""

import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

for name, operator in (("negative", "Neg"), ("positive", "Abs")):
    value = [helper.make_tensor_value_info(v, TensorProto.FLOAT, [4]) for v in "xy"]
    node = helper.make_node(operator, ["x"], ["y"])
    graph = helper.make_graph([node], "main-graph", value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, Path(sys.argv[1]) / f"{name}.onnx")
