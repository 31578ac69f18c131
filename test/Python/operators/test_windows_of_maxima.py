"""Maxima over windows that overlap, of rows and then of columns."""

import numpy as np
import pytest

import espalier
from espalier.models import Net
from espalier.testing.onnxruntime import OnnxRuntime

WINDOWS = {
    "5": ([5, 5], [1, 1], [2, 2, 2, 2]),
    "5 by 2": ([5, 5], [2, 2], [2, 2, 2, 2]),
    "13": ([13, 13], [1, 1], [6, 6, 6, 6]),
    "uneven": ([4, 11], [1, 2], [0, 5, 3, 1]),
}
"""A kernel, strides, and a border."""


@pytest.mark.parametrize("extents", [(13, 20), (17, 31), (14, 48)], ids=str)
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_that_overlap(name: str, extents: tuple[int, int]) -> None:
    kernel, strides, pads = WINDOWS[name]
    results = [
        (extent + pads[axis] + pads[axis + 2] - kernel[axis]) // strides[axis] + 1
        for axis, extent in enumerate(extents)
    ]
    net = Net("pool")
    x = net.input("x", [2, 5, *extents])
    y = net.node("MaxPool", x, kernel_shape=kernel, strides=strides, pads=pads)
    model = net.finish((y, "y", [2, 5, *results]))
    image = np.random.default_rng(0).standard_normal((2, 5, *extents), np.float32)
    image[0, 0, 3:6, 4:9] = -np.inf
    image[1, 2, 5, 7] = np.inf
    expected = OnnxRuntime(model).run({"x": image})["y"]
    np.testing.assert_array_equal(espalier.compile(model)(image), expected)


def test_what_is_not_a_number_stays_in_its_windows() -> None:
    net = Net("pool")
    y = net.node("MaxPool", net.input("x", [1, 1, 9, 20]), kernel_shape=[5, 5], pads=[2] * 4)
    model = net.finish((y, "y", [1, 1, 9, 20]))
    image = np.zeros((1, 1, 9, 20), np.float32)
    image[0, 0, 4, 8] = np.nan
    expected = np.zeros((9, 20), bool)
    expected[2:7, 6:11] = True
    actual = espalier.compile(model)(image)
    np.testing.assert_array_equal(np.isnan(actual[0, 0]), expected)
