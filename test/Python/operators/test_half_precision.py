"""Half precision: each operator computes in single precision and rounds once."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from espalier.compiler import Options, compile, interpret
from support import one_op

F16, F32, BF16 = np.float16, np.float32, ml_dtypes.bfloat16
X = np.concatenate([np.geomspace(1e-3, 8, 40), -np.geomspace(1e-3, 8, 41)])
THREE = ["x", "a", "b"]

CASES: dict[str, tuple[str, dict[str, object], int]] = {
    **{op: (op, {}, 22) for op in ("Elu", "Gelu", "HardSigmoid", "HardSwish")},
    **{op: (op, {}, 22) for op in ("LeakyRelu", "Mish", "Selu", "Sigmoid", "Softplus")},
    **{op: (op, {}, 22) for op in ("Softsign", "ThresholdedRelu", "Shrink", "Softmax")},
    **{op: (op, {"axes": [0]}, 13) for op in ("ReduceL2", "ReduceLogSumExp")},
    "LogSoftmax": ("LogSoftmax", {}, 22),
    "LpNormalization": ("LpNormalization", {}, 22),
    "MeanVarianceNormalization": ("MeanVarianceNormalization", {"axes": [0]}, 13),
    "Mean": ("Mean", {}, 22),
    "Sum": ("Sum", {}, 22),
    "Swish": ("Swish", {"alpha": 1.7}, 24),
    "elu": ("Elu", {"alpha": 1.3}, 22),
    "gelu": ("Gelu", {"approximate": "tanh"}, 22),
    "leaky": ("LeakyRelu", {"alpha": 0.3}, 22),
    "selu": ("Selu", {"alpha": 1.4361094}, 22),
    "shrink": ("Shrink", {"lambd": 0.3, "bias": 0.1}, 22),
}


def check_rounded(actual: np.ndarray, expected: np.ndarray, half: type) -> None:
    """Compare with single precision, whose last digits may decide where a tie goes."""
    info = ml_dtypes.finfo(half)
    exact = expected.astype(half).astype(np.float64)
    unit = float(info.eps) * np.maximum(np.abs(exact), float(info.smallest_normal))
    assert actual.dtype == half
    assert (np.abs(actual.astype(np.float64) - exact) <= unit).all()


HALVES = [
    (case, half)
    for case, (op, _, opset) in CASES.items()
    for half, name in ((F16, "tensor(float16)"), (BF16, "tensor(bfloat16)"))
    if name in onnx.defs.get_schema(op, opset, "").type_constraints[0].allowed_type_strs
]


@pytest.mark.parametrize(("case", "half"), HALVES)
def test_operators_round_once(case, half):
    """What is computed of the same numbers in single precision, rounded, is the result."""
    op, attributes, opset = CASES[case]
    names = THREE if op in ("Mean", "Sum") else ["x"]
    feeds = {name: np.roll(X, 7 * i).astype(half) for i, name in enumerate(names)}
    results = []
    for dtype in (half, F32):
        inputs = dict.fromkeys(names, (dtype, X.shape))
        model = one_op(op, inputs, opset=opset, **attributes)
        given = {name: array.astype(dtype) for name, array in feeds.items()}
        compiled = compile(model, options=Options(cache=None)).run(given)["y"]
        results.append([compiled, interpret(model, given)["y"]])
    for actual, expected in zip(*results, strict=True):
        check_rounded(actual, expected, half)


@pytest.mark.parametrize("half", [F16, BF16])
def test_all_numbers_as_weights(half):
    """Weights that are read often are stored as f32, in which they are the same numbers.

    An instruction for products of bf16 takes subnormal ones as zero.
    """
    weights = np.arange(1 << 16, dtype=np.uint16).view(half).reshape(256, 256).copy()
    weights[~np.isfinite(weights.astype(F32))] = 0
    model = one_op("MatMul", {"x": (half, (256, 256))}, {"w": weights}, opset=13)
    is_subnormal = np.abs(weights.astype(F32)) < np.finfo(F32).smallest_normal
    for features in ("-avx512bf16", ""):
        run = compile(model, options=Options(cache=None, features=features)).run
        actual = run({"x": np.eye(256).astype(half)})["y"]
        assert actual.dtype == half
        is_zero = (actual.astype(F32) == 0) & is_subnormal & (features == "")
        assert ((actual.astype(F32) == weights.astype(F32)) | is_zero).all()


@pytest.mark.parametrize("half", [F16, BF16])
def test_products_of_nothing(half):
    """A constant without elements is widened too."""
    empty = one_op("MatMul", {"x": (half, (8, 0))}, {"w": np.zeros((0, 8), half)}, opset=13)
    run = compile(empty, options=Options(cache=None)).run
    assert (run({"x": np.zeros((8, 0), half)})["y"].astype(F32) == 0).all()


def test_exponents_of_another_type():
    x = np.linspace(0.1, 4, 50).astype(F16)
    exponent = F32(0.3333333)
    model = one_op("Pow", {"x": (F16, x.shape)}, {"e": exponent})
    check_rounded(interpret(model, {"x": x})["y"], x.astype(F32) ** exponent, F16)


@pytest.mark.parametrize("half", [F16, BF16])
def test_parameters_that_are_wider(half):
    """Variances of single precision are not rounded before they are used."""
    x = np.linspace(-1, 1, 12).astype(half).reshape(3, 4)
    parameters = {
        "scale": F32([1.0001, 1.0003, 0.9999, 1.0007]),
        "bias": F32([1e-4, 0, 3e-5, -1e-4]),
        "mean": F32([0.33333, 0.10001, -0.25003, 0.7]),
        "variance": F32([1.00049, 0.99951, 1.0005, 2.0005]),
    }
    model = one_op("BatchNormalization", {"x": (half, x.shape)}, parameters)
    p = parameters
    exact = (x.astype(F32) - p["mean"]) / np.sqrt(p["variance"] + 1e-5) * p["scale"] + p["bias"]
    check_rounded(interpret(model, {"x": x})["y"], exact, half)


@pytest.mark.parametrize("op", ["MatMul", "Conv"])
def test_products_that_overflow_before_they_cancel(op):
    shape = (1, 3, 1) if op == "Conv" else (1, 3)
    a = np.array([300, 300, 1], F16).reshape(shape)
    b = np.array([300, -300, 2], F16).reshape((1, 3, 1) if op == "Conv" else (3, 1))
    model = one_op(op, {"a": (F16, a.shape), "b": (F16, b.shape)})
    feeds = {"a": a, "b": b}
    for result in (interpret(model, feeds), compile(model, options=Options(cache=None)).run(feeds)):
        assert result["y"].reshape(-1) == [2]
