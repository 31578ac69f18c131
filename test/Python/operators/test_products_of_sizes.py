"""Extents that are products of sizes that are not known."""

import numpy as np
import pytest
from onnx import helper

from espalier.compiler import Options, compile, interpret
from espalier.testing.compare import mismatch
from support import make_model

F32 = np.float32


def check(nodes: list, shape: list[int | str], extents: list[list[int]]) -> None:
    """Compare what a model compiled for all sizes computes with the interpreter."""
    model = make_model(nodes, {"x": (F32, shape)}, ["y"])
    function = compile(model, options=Options(cache=None))
    for given in extents:
        x = np.linspace(-2, 2, int(np.prod(given)), dtype=F32).reshape(given)
        expected = interpret(model, {"x": x})["y"]
        assert mismatch(function.run({"x": x})["y"], expected, 1e-5, 1e-6) is None


def test_conditions_on_a_product() -> None:
    """`Celu` chooses between tensors, and reads them where they have elements."""
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"], axis=-1),
        helper.make_node("Celu", ["flat"], ["y"], alpha=0.75),
    ]
    check(nodes, [3, "n", "m", 3], [[3, 2, 3, 3], [3, 1, 1, 3], [3, 0, 2, 3]])


@pytest.mark.parametrize("shape", [["n", "n", "m"], ["n", "m", "k"]])
def test_factors_in_any_order(shape: list[int | str]) -> None:
    nodes = [
        helper.make_node("Neg", ["x"], ["negated"]),
        helper.make_node("Flatten", ["negated"], ["flat"], axis=0),
        helper.make_node("Atan", ["flat"], ["angle"]),
        helper.make_node("Sigmoid", ["angle"], ["y"]),
    ]
    check(nodes, shape, [[3, 3, 7], [1, 1, 1], [2, 2, 0]])
