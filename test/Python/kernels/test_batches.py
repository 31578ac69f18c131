"""Operands of a batch that are rearranged one by one, and what is fetched ahead of use."""

import os
from collections.abc import Callable, Sequence

import onnx
import pytest

from espalier import Options, compiler
from espalier.models import Net
from espalier.testing.compare import mismatch
from espalier.testing.guarded import SIDES, guarded_all
from espalier.testing.onnxruntime import OnnxRuntime


def product(left: Sequence[int], right: Sequence[int], perm: Sequence[int] = ()) -> onnx.ModelProto:
    """Return a batched product, whose right operand may be transposed first."""
    net = Net("product")
    b = net.input("b", list(right))
    extents = list(right)
    if perm:
        b = net.node("Transpose", b, perm=list(perm))
        extents = [right[axis] for axis in perm]
    y = net.node("MatMul", net.input("a", list(left)), b)
    return net.finish((net.node("Relu", y), "y", [*left[:-1], extents[-1]]))


def convolution(
    image: Sequence[int],
    filters: Sequence[int],
    pads: Sequence[int],
    groups: int = 1,
    stride: int = 1,
) -> onnx.ModelProto:
    """Return a convolution with a bias; `pads` are as ONNX has them."""
    net = Net("convolution")
    weights = net.weight(list(filters), 0.1)
    kernel, rank = list(filters[2:]), len(filters) - 2
    y = net.node(
        "Conv",
        net.input("x", list(image)),
        weights,
        net.weight([filters[0]], 0.1),
        kernel_shape=kernel,
        pads=list(pads),
        group=groups,
        strides=[stride] * rank,
    )
    extents = [
        (image[2 + dim] + pads[dim] + pads[rank + dim] - kernel[dim]) // stride + 1
        for dim in range(rank)
    ]
    return net.finish((y, "y", [image[0], filters[0], *extents]))


FEW = 8
"""Of a batch for each core, below which threads would be left without work."""
FUSED = {
    "packed": product([384, 37, 16], [384, 16, 45]),
    "transposed": product([384, 30, 19], [384, 50, 19], [0, 2, 1]),
    "heads": product([2, 192, 33, 16], [2, 192, 16, 40]),
    "border": convolution([40, 8, 30, 29], [16, 8, 5, 5], [2, 1, 2, 3]),
    "grouped": convolution([40, 8, 30, 29], [16, 4, 3, 3], [1, 1, 0, 1], groups=2, stride=2),
    "one-dimensional": convolution([40, 16, 700], [24, 16, 7], [3, 2], stride=3),
}
FETCHED = {
    "rows": convolution([3, 40, 71, 71], [32, 40, 3, 3], [0, 0, 0, 0], stride=2),
    "panels": convolution([1, 160, 9, 10], [176, 160, 3, 3], [1, 1, 1, 1]),
    "five taps": convolution([1, 96, 9, 11], [80, 96, 3, 5], [1, 2, 1, 2]),
}


FEATURES = 60
"""Of convolutions with one tap on images that no cache holds."""
After = Callable[[Net, str, Sequence[int]], str]


def far(
    extents: Sequence[int], channels: int, after: After, groups: int = 1, before: str = ""
) -> onnx.ModelProto:
    """Return a convolution with a bias and one tap, and what comes before and follows it."""
    net = Net("far")
    filters = [FEATURES, channels // groups, *[1] * (len(extents) - 1)]
    shape = [extents[0], channels, *extents[1:]]
    x = net.input("x", shape)
    x = net.node(before, x) if before else x
    y = net.node("Conv", x, net.weight(filters, 0.1), net.weight([FEATURES], 0.1), group=groups)
    result = [extents[0], FEATURES, *extents[1:]]
    return net.finish((after(net, y, result), "y", result))


def residual(net: Net, y: str, shape: Sequence[int]) -> str:
    """Add what the caller has."""
    return net.node("Relu", net.node("Add", y, net.input("r", list(shape))))


def branch(net: Net, y: str, shape: Sequence[int]) -> str:
    """Add another convolution, of which one has to follow the other's order."""
    x = net.input("z", [shape[0], 8, *shape[2:]])
    return net.node(
        "Add", y, net.node("Conv", x, net.weight([FEATURES, 8, 3, 3], 0.1), pads=[1] * 4)
    )


def first_row(net: Net, y: str, shape: Sequence[int]) -> str:
    """Add the first row of what is computed to all rows."""
    starts, ends, axes = (net.constant([value]) for value in (0, 1, len(shape) - 2))
    return net.node("Add", y, net.node("Slice", y, starts, ends, axes))


FAR = {
    "alone": far([2, 60, 256], 40, lambda net, y, shape: y),
    "line": far([3, 16384], 41, lambda net, y, shape: y),
    "volume": far([1, 12, 40, 32], 48, lambda net, y, shape: net.node("Sigmoid", y)),
    "groups": far([1, 128, 120], 80, lambda net, y, shape: y, groups=2),
    "computed": far([1, 12, 40, 32], 64, lambda net, y, shape: y, before="Relu"),
    "residual": far([2, 128, 120], 40, residual),
    "branch": far([2, 128, 120], 40, branch),
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


def check(model: onnx.ModelProto, threads: int) -> int:
    """Compare with another implementation beside guard pages; return the number of kernels."""
    other = OnnxRuntime(model)
    values = other.random_inputs()
    (expected,) = other.run(values).values()
    function = compiler.compile_for(
        model, values, options=Options(cache=None, winograd=False, arena=False)
    )
    function.set_num_threads(threads)
    for side in SIDES:
        (actual,) = function.run(guarded_all(values, side)).values()
        assert mismatch(actual, expected, 1e-4, 1e-4) is None
    return function.kernels


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FUSED)
def test_batches_of_contractions(name: str, threads: int) -> None:
    kernels = check(FUSED[name], threads)
    assert kernels == 1 or FEW * (os.cpu_count() or 1) > 40


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FETCHED)
def test_what_is_fetched_ahead_changes_nothing(name: str, threads: int) -> None:
    check(FETCHED[name], threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FAR)
def test_images_that_no_cache_holds(name: str, threads: int) -> None:
    check(FAR[name], threads)
