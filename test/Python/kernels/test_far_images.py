"""Convolutions with one tap on images that no cache holds, read once, panel by panel."""

from collections.abc import Callable, Sequence

import onnx
import pytest

from espalier import Options, compiler
from espalier.models import Net
from espalier.testing.compare import mismatch
from espalier.testing.guarded import SIDES, guarded_all
from espalier.testing.onnxruntime import OnnxRuntime

FEATURES = 60
After = Callable[[Net, str, Sequence[int]], str]


def far(extents: Sequence[int], channels: int, after: After, groups: int = 1) -> onnx.ModelProto:
    """Return a convolution with a bias and one tap, and what follows it."""
    net = Net("far")
    filters = [FEATURES, channels // groups, *[1] * (len(extents) - 1)]
    shape = [extents[0], channels, *extents[1:]]
    x = net.input("x", shape)
    y = net.node("Conv", x, net.weight(filters, 0.1), net.weight([FEATURES], 0.1), group=groups)
    result = [extents[0], FEATURES, *extents[1:]]
    return net.finish((after(net, y, result), "y", result))


def residual(net: Net, y: str, shape: Sequence[int]) -> str:
    """Add what the caller has."""
    return net.node("Relu", net.node("Add", y, net.input("r", list(shape))))


def first_row(net: Net, y: str, shape: Sequence[int]) -> str:
    """Add the first row of what is computed to all rows."""
    starts, ends, axes = (net.constant([value]) for value in (0, 1, len(shape) - 2))
    return net.node("Add", y, net.node("Slice", y, starts, ends, axes))


MODELS = {
    "alone": far([2, 60, 256], 40, lambda net, y, shape: y),
    "line": far([3, 16384], 41, lambda net, y, shape: y),
    "volume": far([1, 12, 40, 32], 48, lambda net, y, shape: net.node("Sigmoid", y)),
    "groups": far([1, 128, 120], 80, lambda net, y, shape: y, groups=2),
    "residual": far([2, 128, 120], 40, residual),
    "two readers": far(
        [1, 128, 120], 40, lambda net, y, shape: net.node("Mul", y, net.node("Sigmoid", y))
    ),
    "per column": far(
        [1, 128, 120],
        40,
        lambda net, y, shape: net.node("Mul", y, net.weight([1, 1, *shape[2:]], 1.0)),
    ),
    "first row": far([1, 128, 120], 40, first_row),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_images_that_no_cache_holds(name: str, threads: int) -> None:
    other = OnnxRuntime(MODELS[name])
    values = other.random_inputs()
    (expected,) = other.run(values).values()
    function = compiler.compile_for(MODELS[name], values, options=Options(cache=None, arena=False))
    function.set_num_threads(threads)
    for side in SIDES:
        (actual,) = function.run(guarded_all(values, side)).values()
        assert mismatch(actual, expected, 1e-4, 1e-4) is None
