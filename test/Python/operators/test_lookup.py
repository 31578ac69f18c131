"""Rows that are resized, whose lanes are taken out of a few vectors or loaded."""

import numpy as np
import pytest

import espalier
from espalier.compiler import Options, interpret
from espalier.kernels import f32, i32, kernel, label, local
from espalier.models import Net
from espalier.schedules import Schedule
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime

WIDTHS = [(7, 28), (16, 32), (17, 33), (63, 40), (65, 130), (200, 100), (200, 33), (600, 224)]
"""Columns before and after."""


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("columns", WIDTHS, ids=str)
def test_resized_rows(columns: tuple[int, int], mode: str) -> None:
    before, after = columns
    net = Net("resize")
    x = net.input("x", [2, 3, 5, before])
    size = net.constant(np.array([2, 3, 8, after]))
    y = net.node("Resize", x, "", "", size, mode=mode)
    model = net.finish((y, "y", [2, 3, 8, after]))
    reference = OnnxRuntime(model)
    inputs = reference.random_inputs()
    actual = espalier.compile(model).run(inputs)
    assert largest_error(actual, reference.run(inputs)) < 1e-4


@pytest.mark.parametrize("extents", [(2, 25000), (301, 400), (700, 640)], ids=str)
def test_fetched_rows(extents: tuple[int, int]) -> None:
    """Images that leave a cache: rows are fetched iterations ahead, while there are some.

    onnxruntime finds positions in single precision, so the interpreter says what is right.
    """
    net = Net("resize")
    x = net.input("x", [4, 3, *extents])
    size = net.constant(np.array([4, 3, 96, 96]))
    y = net.node("Resize", x, "", "", size, mode="linear")
    y = net.node("Conv", y, net.weight([16, 3, 3, 3], 0.1), kernel_shape=[3, 3], pads=[1] * 4)
    y = net.node("MaxPool", net.node("Relu", y), kernel_shape=[2, 2], strides=[2, 2])
    model = net.finish((y, "y", [4, 16, 48, 48]))
    inputs = OnnxRuntime(model).random_inputs()
    actual = espalier.compile(model).run(inputs)
    assert largest_error(actual, interpret(model, inputs)) < 1e-5


@kernel
def looked_up(at: i32[500].with_values(bounded_by=600), x: f32[600], y: f32[500]) -> None:
    row = local(f32[600])
    for i in range(600):
        label("fill")
        row[i] = 2.0 * x[i]
    for j in range(500):
        label("take")
        y[j] = row[at[j]]


@pytest.mark.parametrize("order", ["near", "mirrored", "anywhere", "last", "far lanes"])
def test_lanes_anywhere(order: str) -> None:
    """Lanes that are not near the first one are loaded, each by itself."""
    random = np.random.default_rng(0)
    near = np.minimum(np.arange(500) * 6 // 5 + random.integers(0, 3, 500), 599)
    index = {
        "near": near,
        "mirrored": near[::-1],
        "anywhere": random.integers(0, 600, 500),
        "last": np.full(500, 599),
        "far lanes": np.where(np.arange(500) % 7 == 3, 0, near),
    }[order].astype(np.int32)
    x, y = random.random(600, np.float32), np.zeros(500, np.float32)
    schedule = Schedule(looked_up)
    schedule.vectorize("take", "j", 16)
    schedule.compile(Options(cache=None))(index, x, y)
    np.testing.assert_array_equal(y, 2 * x[index])
