"""Optimization of convolutions and pools whose padding is not the same on all sides."""

import onnx
import pytest

import espalier
from espalier.compiler import Options, compile_module, load_module, optimize_module
from espalier.models import Net
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime

OPTIONS = Options(optimize="egraph", cache=None, kernel_times=None, measure_seconds=0.0)

# Height and width of an image, kernel, strides, and padding as ONNX has it: top,
# left, bottom, right.
WINDOWS = {
    "behind": ((10, 10), (3, 3), (2, 2), (0, 0, 1, 1)),
    "before": ((9, 11), (3, 3), (2, 2), (1, 1, 0, 0)),
    "everywhere-else": ((8, 9), (3, 2), (1, 2), (2, 0, 1, 1)),
    "long-steps": ((13, 7), (2, 5), (3, 1), (0, 3, 1, 2)),
}


def branches(name: str) -> onnx.ModelProto:
    """Build two convolutions side by side and a pool; some read a border of zeros."""
    size, kernel, strides, pads = WINDOWS[name]
    net = Net(name)
    x = net.input("x", [2, 8, *size])
    border = net.node("Pad", x, net.constant([0, 0, *pads[:2], 0, 0, *pads[2:]]))
    window = {"kernel_shape": list(kernel), "strides": list(strides)}
    extents = [(size[i] + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1 for i in range(2)]
    values = []
    for features, image, padding in ((12, x, list(pads)), (20, border, [0] * 4)):
        weight = net.weight([features, 8, *kernel], 0.1)
        values.append(net.node("Conv", image, weight, pads=padding, **window))
    joined = net.node("Relu", net.node("Concat", *values, axis=1))
    mean = net.node("AveragePool", border, **window)
    return net.finish((joined, "joined", [2, 32, *extents]), (mean, "mean", [2, 8, *extents]))


@pytest.mark.parametrize("name", WINDOWS)
def test_convolutions_of_one_image_are_merged(name: str) -> None:
    model = branches(name)
    session = OnnxRuntime(model)
    feed = session.random_inputs()
    module, bound = load_module(model)
    report = optimize_module(module, OPTIONS)
    assert report["result"] == "optimized"
    # The border becomes padding, and with that both convolutions are alike.
    assert report["predicted_after_s"] < report["predicted_before_s"]
    text = str(module)
    assert (text.count("graph.pad "), text.count("graph.conv ")) == (0, 1)
    function = compile_module(module, bound, Options(cache=None))
    assert largest_error(function.run(feed), session.run(feed)) < 1e-5


@pytest.mark.parametrize("name", WINDOWS)
def test_faster_one_of_both_programs_computes_the_same(name: str) -> None:
    model = branches(name)
    session = OnnxRuntime(model)
    feed = session.random_inputs(seed=1)
    function = espalier.compile(model, options=OPTIONS)
    assert function.optimization["error"] < 1e-5
    assert largest_error(function.run(feed), session.run(feed)) < 1e-5
