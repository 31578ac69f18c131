"""Convolutions of which much lies in a border that is not read, next to pages nobody may touch."""

import numpy as np
import pytest

import espalier
from espalier.models import Net
from espalier.testing.compare import mismatch
from espalier.testing.onnxruntime import OnnxRuntime
from support import check_images_beside_guard_pages

CASES = {
    "square": ([5, 7, 7], [7, 7], [1, 1], [1, 1], [3, 3, 3, 3]),
    "dilated": ([33, 13, 28], [3, 3], [1, 1], [6, 9], [6, 9, 6, 9]),
    "strided": ([4, 9, 12], [5, 4], [2, 3], [1, 2], [4, 3, 1, 6]),
    "one side": ([6, 5, 6], [4, 4], [1, 1], [1, 1], [0, 3, 3, 0]),
    "long lines": ([3, 4, 90], [3, 3], [1, 1], [2, 2], [2, 2, 2, 2]),
    "depth": ([8, 3, 4, 5], [3, 3, 3], [1, 2, 1], [1, 1, 2], [1, 1, 2, 1, 1, 2]),
    "beyond the image": ([3, 2, 3], [3, 3], [1, 1], [4, 5], [6, 5, 4, 7]),
}
"""Channels and extents of an image, a kernel, strides, dilations, and borders."""


@pytest.mark.parametrize("name", CASES)
def test_any_number_of_images(name: str) -> None:
    (channels, *image), kernel, strides, dilations, pads = CASES[name]
    net = Net("convolution")
    x = net.input("x", ["n", channels, *image])
    weights = net.weight([50, channels, *kernel], 0.1)
    y = net.node(
        "Conv", x, weights, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads
    )
    rank = len(image)
    extents = [
        (image[i] + pads[i] + pads[rank + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
        for i in range(rank)
    ]
    model = net.finish((net.node("Relu", y), "y", ["n", 50, *extents]))
    check_images_beside_guard_pages(model, [channels, *image])


def test_zeros_that_are_no_border_are_read() -> None:
    """Channels are cut off and zeros put in their place, beside a border that is trimmed."""
    net = Net("masked")
    x = net.input("x", [1, 6, 5, 5])
    cut = net.node("Slice", x, *(net.constant(np.array([v], np.int64)) for v in (0, 3, 1)))
    pads = net.constant(np.array([0, 0, 0, 0, 0, 3, 0, 0], np.int64))
    weights = net.weight([32, 6, 3, 3], 0.1)
    y = net.node("Conv", net.node("Pad", cut, pads), weights, kernel_shape=[3, 3], pads=[1] * 4)
    model = net.finish((y, "y", [1, 32, 5, 5]))
    values = {"x": np.random.default_rng(0).standard_normal((1, 6, 5, 5)).astype(np.float32)}
    function = espalier.compile(model, options=espalier.Options(cache=None, winograd=False))
    (actual,) = function.run(values).values()
    (expected,) = OnnxRuntime(model).run(values).values()
    assert mismatch(actual, expected, 1e-4, 1e-4) is None
