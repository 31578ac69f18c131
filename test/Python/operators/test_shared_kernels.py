"""Kernels that differ only in where they store their results are one."""

import numpy as np
import onnx
import pytest

import espalier
from espalier.models import Net


def dense_block(
    layers: int, batch: int | str, kernel: int | tuple[int, int], filters: int
) -> onnx.ModelProto:
    """Return layers of which each takes the results of all before it, as in DenseNet."""
    net = Net("dense")
    width = filters
    x = net.input("x", [batch, width, 10, 13])
    for _ in range(layers):
        squeezed = net.node("Relu", net.conv(net.node("Relu", x), width, 2 * filters, 1))
        x = net.node("Concat", x, net.conv(squeezed, 2 * filters, filters, kernel), axis=1)
        width += filters
    return net.finish((x, "y", [batch, width, 10, 13]))


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("batch", [1, 2, "n"])
@pytest.mark.parametrize(("kernel", "filters"), [(3, 32), (3, 5), (5, 16), ((1, 7), 8)])
def test_layers_of_a_block(
    kernel: int | tuple[int, int], filters: int, batch: int | str, threads: bool
) -> None:
    options = espalier.Options(cache=None, threads=threads)
    model = dense_block(5, batch, kernel, filters)
    function = espalier.compile(model, options=options)
    x = np.random.default_rng(0).standard_normal((2 if batch == "n" else batch, filters, 10, 13))
    feeds = {"x": x.astype(np.float32)}
    expected = espalier.interpret(model, feeds)["y"]
    np.testing.assert_allclose(function(**feeds), expected, rtol=1e-4, atol=1e-4)


def test_there_are_fewer() -> None:
    options = espalier.Options(cache=None)
    few, many = (
        espalier.compile(dense_block(layers, 1, 3, 32), options=options).kernels
        for layers in (3, 6)
    )
    # A layer more has a kernel that squeezes, one that joins and one of `Relu`; the
    # convolution is there.
    assert many - few == 9
