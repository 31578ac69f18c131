"""Winograd's algorithm, for batches of a size that only the run knows."""

import pytest

from espalier.models import Net
from support import check_images_beside_guard_pages

CASES = {
    "rows": ([34, 4, 44], [3, 3], [1, 1]),
    "overlapping": ([33, 7, 9], [3, 3], [1, 1]),
    "dilated": ([32, 12, 15], [3, 3], [3, 2]),
    "depth": ([32, 3, 7, 8], [2, 3, 3], [1, 1, 1]),
    "few tiles": ([32, 5, 4], [3, 3], [1, 1]),
}
"""Channels and extents of an image, a kernel, and dilations, which are the border too."""


@pytest.mark.parametrize("name", CASES)
def test_any_number_of_images(name: str) -> None:
    (channels, *image), kernel, dilations = CASES[name]
    net = Net("convolution")
    x = net.input("x", ["n", channels, *image])
    weights = net.weight([50, channels, *kernel], 0.1)
    pads = [d * (k // 2) for d, k in zip(dilations, kernel, strict=True)]
    y = net.node("Conv", x, weights, kernel_shape=kernel, dilations=dilations, pads=pads * 2)
    extents = [
        extent + 2 * pad - dilation * (k - 1)
        for extent, pad, dilation, k in zip(image, pads, dilations, kernel, strict=True)
    ]
    model = net.finish((net.node("Relu", y), "y", ["n", 50, *extents]))
    check_images_beside_guard_pages(model, [channels, *image])


@pytest.mark.parametrize("filters", [8, 13, 32])
@pytest.mark.parametrize("channels", [2, 3, 15])
@pytest.mark.parametrize("pool", ["MaxPool", "AveragePool"])
def test_windows_of_few_channels(pool: str, channels: int, filters: int) -> None:
    net = Net("convolution")
    x = net.input("x", ["n", channels, 7, 41])
    weights = net.weight([filters, channels, 3, 3], 0.3)
    y = net.node("Conv", x, weights, net.weight([filters], 1.0), pads=[1, 1, 1, 0])
    y = net.node(pool, net.node("Relu", y), kernel_shape=[2, 2], strides=[2, 2])
    model = net.finish((y, "y", ["n", filters, 3, 20]))
    check_images_beside_guard_pages(model, [channels, 7, 41])
