"""Winograd's algorithm, for batches of a size that only the run knows."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import espalier
from espalier.compiler import Options
from espalier.models import Net
from support import check_images_beside_guard_pages

CASES = {
    "rows": ([34, 4, 44], [3, 3], [1, 1]),
    "overlapping": ([33, 7, 9], [3, 3], [1, 1]),
    "dilated": ([32, 12, 15], [3, 3], [3, 2]),
    "depth": ([32, 3, 7, 8], [2, 3, 3], [1, 1, 1]),
    "few tiles": ([32, 5, 4], [3, 3], [1, 1]),
    "four columns": ([65, 6, 64], [3, 3], [1, 1]),
    "four rows": ([64, 8, 34], [3, 3], [1, 1]),
    "four dilated": ([67, 6, 64], [3, 3], [1, 4]),
    "four of few": ([64, 12, 24], [3, 3], [3, 3]),
    "four and depth": ([64, 3, 5, 64], [2, 3, 3], [1, 1, 1]),
}
"""Channels and extents of an image, a kernel, and dilations, which are the border too."""

FILTERS = 66


@pytest.mark.parametrize("name", CASES)
def test_any_number_of_images(name: str) -> None:
    (channels, *image), kernel, dilations = CASES[name]
    net = Net("convolution")
    x = net.input("x", ["n", channels, *image])
    weights = net.weight([FILTERS, channels, *kernel], 0.1)
    pads = [d * (k // 2) for d, k in zip(dilations, kernel, strict=True)]
    y = net.node("Conv", x, weights, kernel_shape=kernel, dilations=dilations, pads=pads * 2)
    extents = [
        extent + 2 * pad - dilation * (k - 1)
        for extent, pad, dilation, k in zip(image, pads, dilations, kernel, strict=True)
    ]
    model = net.finish((net.node("Relu", y), "y", ["n", FILTERS, *extents]))
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


@pytest.mark.parametrize("filters", [16, 70])
@pytest.mark.parametrize("channels", [16, 64])
@pytest.mark.parametrize(("pool", "width"), [("MaxPool", 66), ("AveragePool", 67)])
def test_windows_of_many_channels(pool: str, width: int, channels: int, filters: int) -> None:
    net = Net("convolution")
    x = net.node("Exp", net.input("x", ["n", channels, 7, width]))
    weights = net.weight([filters, channels, 3, 3], 0.1)
    y = net.node("Conv", x, weights, net.weight([filters], 1.0), pads=[1, 0, 1, 0])
    y = net.node(pool, net.node("Relu", y), kernel_shape=[2, 2], strides=[2, 2])
    y = net.node("Conv", y, net.weight([8, filters, 1, 1], 0.1))
    model = net.finish((y, "y", ["n", 8, 3, 32]))
    check_images_beside_guard_pages(model, [channels, 7, width])


@pytest.mark.parametrize("extents", [[8, 64], [16, 32]])
def test_errors_of_four_are_those_of_the_sum(extents: list[int]) -> None:
    rng = np.random.default_rng(0)
    weight = (rng.standard_normal((64, 256, 3, 3)) * 0.02).astype(np.float32)
    x = rng.random((1, 256, *(extent + 2 for extent in extents)), np.float32)
    net = Net("convolution")
    y = net.node("Conv", net.input("x", list(x.shape)), net.constant(weight))
    model = net.finish((y, "y", [1, 64, *extents]))
    windows = sliding_window_view(x[0].astype(np.float64), (3, 3), (1, 2))
    exact = np.einsum("chwij,fcij->fhw", windows, weight.astype(np.float64), optimize=True)

    def get_error(winograd: bool) -> float:
        options = Options(cache=None, kernel_times=None, winograd=winograd)
        function = espalier.compile(model, options=options)
        return float(np.abs(function(x)[0] - exact).max())

    assert get_error(winograd=True) < 1.5 * get_error(winograd=False)
