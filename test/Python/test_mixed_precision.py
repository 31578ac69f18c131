"""Models of two floating-point types, as exporters write them."""

import numpy as np
import onnx
import pytest
from onnx import helper

from espalier.compiler import interpret
from support import check_in_numpy, import_in_numpy, make_model, one_op

F16, F32, F64 = np.float16, np.float32, np.float64
HALF = {"x": (F16, ["n", 4, 6, 6])}
RANDOM = np.random.default_rng(0)


def numbers(dtype: type, *shape: int) -> np.ndarray:
    return RANDOM.uniform(0.5, 1.5, shape).astype(dtype)


def normalization_between_casts() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Cast", ["x"], ["wide"], to=1),
        helper.make_node("ReduceMean", ["wide"], ["mean"], axes=[-1]),
        helper.make_node("Sub", ["wide", "mean"], ["centred"]),
        helper.make_node("Pow", ["centred", "two"], ["square"]),
        helper.make_node("ReduceMean", ["square"], ["variance"], axes=[-1]),
        helper.make_node("Add", ["variance", "epsilon"], ["safe"]),
        helper.make_node("Sqrt", ["safe"], ["deviation"]),
        helper.make_node("Div", ["centred", "deviation"], ["quotient"]),
        helper.make_node("Cast", ["quotient"], ["half"], to=10),
        helper.make_node("Mul", ["half", "weight"], ["y"]),
    ]
    constants = {"two": F32(2), "epsilon": F32(1e-5), "weight": numbers(F16, 6)}
    return make_model(nodes, HALF, ["y"], constants, opset=17)


def bounds_cast_at_import() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Cast", ["low"], ["half"], to=10),
        helper.make_node("Clip", ["x", "half", "high"], ["y"]),
    ]
    return make_model(nodes, HALF, ["y"], {"low": F32(-0.5), "high": F16(0.5)}, opset=17)


CASES = {
    "normalization": normalization_between_casts(),
    "clip": bounds_cast_at_import(),
    "layer_norm": one_op(
        "LayerNormalization",
        HALF,
        {"w": numbers(F16, 6), "b": numbers(F16, 6)},
        outputs=["y", "mean", "inverse"],
    ),
    "batch_norm": one_op("BatchNormalization", HALF, {k: numbers(F32, 4) for k in "sbmv"}),
    "resize_scales": one_op(
        "Resize", HALF, {"r": numbers(F32, 0), "s": np.array([1, 1, 2, 2], F32)}, mode="linear"
    ),
    "resize_roi": one_op("Resize", HALF, {"r": numbers(F32, 8), "s": np.array([1, 1, 2, 2], F32)}),
    "resize_sizes": one_op(
        "Resize",
        {"x": (F16, [1, 4, 6, 6])},
        {"r": numbers(F64, 0), "s": np.array([1, 4, 9, 9])},
        operands=["x", "r", "", "s"],
    ),
    "pow": one_op("Pow", HALF, {"e": F32(2)}),
    "dropout": one_op("Dropout", HALF, {"r": F64(0.5)}),
    "one_hot": one_op(
        "OneHot", {"x": (np.int64, ["n"])}, {"d": F32(64), "v": np.array([0, 1], F16)}
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_mixed_types_agree_with_onnxruntime(name):
    check_in_numpy(CASES[name], [{"n": 2}, {"n": 3}], rtol=4e-3, atol=4e-3)


def test_scale_of_another_type():
    """ONNX allows it; its type inference and its function of the operator do not."""
    scale = numbers(F32, 6)
    model = one_op("RMSNormalization", HALF, {"w": scale}, opset=23)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    x = RANDOM.standard_normal((2, 4, 6, 6)).astype(F16)
    [outputs] = import_in_numpy(model, [{"x": x}]).outputs
    wide = x.astype(F64)
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * scale
    assert outputs["y"].dtype == F32
    np.testing.assert_allclose(outputs["y"], expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("ReduceL2", {}),
        ("GlobalLpPool", {}),
        ("LpPool", {"kernel_shape": [2, 2]}),
        ("LpNormalization", {"axis": 2}),
    ],
)
def test_powers_of_halves_are_finite(op, attributes):
    """The square of 300 is beyond float16, the norm is not."""
    model = one_op(op, {"x": (F16, [1, 2, 2, 2])}, opset=18, **attributes)
    x = np.array([300, 400, -300, 400, 300, 300, 0, 400], F16).reshape(1, 2, 2, 2)
    norm = interpret(model, {"x": x})["y"].astype(F64)
    wide = one_op(op, {"x": (F64, [1, 2, 2, 2])}, opset=18, **attributes)
    np.testing.assert_allclose(norm, interpret(wide, {"x": x.astype(F64)})["y"], rtol=2e-3)
