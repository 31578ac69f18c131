"""Constants without elements, beside memory that nobody may touch."""

import numpy as np
import pytest

from espalier import compiler
from espalier.testing.compare import mismatch
from espalier.testing.guarded import SIDES, guarded_all, guarded_empty
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.pool import run_isolated
from support import one_op

F4 = np.float32
Case = tuple[str, dict[str, list[int]], dict[str, list[int]], list[str], dict[str, object]]

CASES: dict[str, Case] = {
    # The operator, shapes of inputs and of constants, operands, attributes.
    "add": ("Add", {"x": [2, 1, 3]}, {"c": [2, 0, 3]}, ["x", "c"], {}),
    "add vectors": ("Add", {"x": [1]}, {"c": [0]}, ["x", "c"], {}),
    "concat": ("Concat", {"x": [3, 2]}, {"c": [0, 2]}, ["c", "x", "c"], {"axis": 0}),
    "concat empty": ("Concat", {"x": [3, 2, 0]}, {"c": [2, 2, 0]}, ["x", "c"], {"axis": 0}),
    "transpose": ("Transpose", {}, {"c": [2, 0, 3]}, ["c"], {"perm": [2, 1, 0]}),
    "reduce": ("ReduceSum", {}, {"c": [2, 0, 3]}, ["c"], {"keepdims": 0}),
    "reduce product": ("ReduceProd", {}, {"c": [0]}, ["c"], {"keepdims": 0}),
    # The lanes lie along each extent in turn: rows, columns and the sum.
    "matmul rows": ("MatMul", {"x": [7, 9]}, {"c": [0, 7]}, ["c", "x"], {}),
    "matmul columns": ("MatMul", {"x": [9, 7]}, {"c": [7, 0]}, ["x", "c"], {}),
    "matmul sum": ("MatMul", {"x": [9, 0]}, {"c": [0, 7]}, ["x", "c"], {}),
    "matmul batch": ("MatMul", {"x": [1, 3]}, {"c": [1, 17, 0, 1]}, ["c", "x"], {}),
    "gemm rows": ("Gemm", {"x": [9, 7]}, {"c": [0, 7]}, ["c", "x"], {"transB": 1}),
    "gemm columns": ("Gemm", {"x": [9, 7]}, {"c": [0, 7]}, ["x", "c"], {"transB": 1}),
    "conv batch": ("Conv", {"w": [4, 3, 2]}, {"c": [0, 3, 8]}, ["c", "w"], {}),
    "conv filters": ("Conv", {"x": [2, 3, 8]}, {"c": [0, 3, 2]}, ["x", "c"], {}),
}


def _model(name: str):
    op, inputs, constants, operands, attributes = CASES[name]
    rng = np.random.default_rng(1)
    values = {key: np.zeros(shape, F4) for key, shape in constants.items()}
    signature = {key: (F4, shape) for key, shape in inputs.items()}
    feed = {key: rng.random(shape, F4) for key, shape in inputs.items()}
    return one_op(op, signature, values, operands, opset=17, **attributes), feed


def _run(name: str) -> str:
    """Compare with the interpreter and onnxruntime; say what is wrong."""
    model, feed = _model(name)
    try:
        interpreted = compiler.interpret(model, feed)["y"]
        function = compiler.compile_for(model, feed, options=compiler.Options(cache=None))
        for side in SIDES:
            out = guarded_empty(interpreted.shape, interpreted.dtype, side)
            function.run(guarded_all(feed, side), {"y": out})
            if problem := mismatch(out, interpreted):
                return f"{side}: {problem}"
        if not name.startswith("conv"):  # Refused by onnxruntime.
            expected = np.asarray(OnnxRuntime(model).run(feed)["y"])
            return mismatch(interpreted, expected) or ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.fixture(scope="module")
def problems() -> dict[str, str]:
    return dict(run_isolated(_run, list(CASES), jobs=1, timeout=120))


@pytest.mark.parametrize("name", CASES)
def test_constants_may_be_empty(problems: dict[str, str], name: str) -> None:
    assert problems[name] == ""


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "Conv"])
@pytest.mark.parametrize("shape", [["n", 2, "m", "k"], [1, 2, "m", "k"], [1, 2, 5, "k"]])
def test_windows_that_do_not_touch(op, shape):
    """Images without rows or columns have no windows, which is no fault of their sizes."""
    attributes = {} if op == "Conv" else {"kernel_shape": [3, 1], "ceil_mode": 1}
    weights = {"w": np.ones((2, 2, 3, 1), F4)} if op == "Conv" else {}
    model = one_op(
        op, {"x": (F4, shape)}, weights, opset=22, pads=[0, 0, 1, 0], strides=[5, 3], **attributes
    )
    function = compiler.compile(model, options=compiler.Options(cache=None))
    for n, m, k in [(1, 5, 0), (1, 5, 4), (0, 5, 2), (2, 3, 1), (2, 2, 0)]:
        sizes = {"n": n, "m": m, "k": k}
        extents = [
            sizes.get(extent, extent) if isinstance(extent, str) else extent for extent in shape
        ]
        x = np.random.default_rng(1).random(extents, F4)
        interpreted = compiler.interpret(model, {"x": x})["y"]
        assert mismatch(function(x), interpreted) is None
