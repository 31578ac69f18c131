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
