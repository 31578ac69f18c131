"""Orders of tensors in memory, `graph.layout`: whatever is asked for, results stay."""

import itertools

import numpy as np
import pytest

import espalier
from espalier.compiler import Options, compile, load_module, optimize_module
from espalier.models import Net
from espalier.testing.compare import largest_error

NO_CACHE = Options(cache=None)
WINDOW = "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>"
BORDER = "pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>"


def layout(order: tuple[int, ...] | None) -> str:
    """Return the attribute for an order; nothing without one."""
    return f"graph.layout = array<i64: {', '.join(map(str, order))}>" if order else ""


def image_program(first, second, third) -> str:
    """Write convolutions, functions and pooling whose results are in given orders."""
    return f"""
func.func @main(%x: tensor<2x5x9x7xf32>, %w: tensor<6x5x3x3xf32>, %v: tensor<1x6x3x3xf32>,
                %b: tensor<6x1x1xf32>) -> (tensor<2x1x9x7xf32>, tensor<2x378xf32>) {{
  %0 = graph.conv %x, %w {{{WINDOW}, {BORDER}, {layout(first)}}}
    : (tensor<2x5x9x7xf32>, tensor<6x5x3x3xf32>) -> tensor<2x6x9x7xf32>
  %1 = graph.add %0, %b {{{layout(second)}}}
    : (tensor<2x6x9x7xf32>, tensor<6x1x1xf32>) -> tensor<2x6x9x7xf32>
  %2 = graph.transpose %1 {{permutation = array<i64: 0, 1, 2, 3>, {layout(third)}}}
    : (tensor<2x6x9x7xf32>) -> tensor<2x6x9x7xf32>
  %3 = graph.conv %2, %v {{{WINDOW}, {BORDER}, {layout(second)}}}
    : (tensor<2x6x9x7xf32>, tensor<1x6x3x3xf32>) -> tensor<2x1x9x7xf32>
  %4 = graph.max_pool %1 {{kernel = array<i64: 3, 3>, {WINDOW}, {BORDER}, {layout(first)}}}
    : (tensor<2x6x9x7xf32>) -> tensor<2x6x9x7xf32>
  %5 = graph.reshape %4 to [2, 378] : (tensor<2x6x9x7xf32>) -> tensor<2x378xf32>
  return %3, %5 : tensor<2x1x9x7xf32>, tensor<2x378xf32>
}}
""".replace(", }", "}")


def matrix_program(orders, m: str) -> str:
    """Write products around a softmax whose results are in given orders."""
    first, second, third = map(layout, orders)
    return f"""
func.func @main(%x: tensor<{m}x20xf32>, %w: tensor<20x33xf32>, %v: tensor<33x2xf32>)
    -> (tensor<{m}x2xf32>, tensor<{m}x33xf32>) {{
  %0 = graph.matmul %x, %w {{{first}}}
    : (tensor<{m}x20xf32>, tensor<20x33xf32>) -> tensor<{m}x33xf32>
  %1 = graph.softmax %0 {{axis = 1 : i64, {second}}} : (tensor<{m}x33xf32>) -> tensor<{m}x33xf32>
  %2 = graph.matmul %1, %v {{{third}}}
    : (tensor<{m}x33xf32>, tensor<33x2xf32>) -> tensor<{m}x2xf32>
  return %2, %1 : tensor<{m}x2xf32>, tensor<{m}x33xf32>
}}
""".replace(", }", "}")


def check(text: str, *shapes: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    feed = {f"input{i}": random.random(s, dtype=np.float32) for i, s in enumerate(shapes)}
    function = compile(text, options=NO_CACHE)
    assert largest_error(function.run(feed), espalier.interpret(text, feed)) < 1e-5


@pytest.mark.parametrize(
    "orders",
    [
        ((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)),
        (None, (0, 1, 2, 3), None),
        (None, None, (0, 1, 2, 3)),
        ((0, 1, 2, 3), None, (0, 2, 3, 1)),
        ((3, 1, 2, 0), (1, 0, 3, 2), (2, 3, 0, 1)),
    ],
)
def test_images_in_any_order(orders):
    check(image_program(*orders), (2, 5, 9, 7), (6, 5, 3, 3), (1, 6, 3, 3), (6, 1, 1))


@pytest.mark.parametrize("m", ["18", "?"])
@pytest.mark.parametrize("orders", list(itertools.product([None, (1, 0)], repeat=3)))
def test_matrices_in_any_order(orders, m):
    check(matrix_program(orders, m), (18, 20), (20, 33), (33, 2))


@pytest.mark.parametrize("search", ["egraph", "backtracking"])
def test_orders_that_are_chosen_by_measured_times_change_no_result(search, tmp_path):
    """Whatever is chosen on the machine at hand: the result is the same."""
    net = Net("head")
    y = net.input("x", [1, 4, 20, 20])
    for channels, features in ((4, 32), (32, 1)):
        weights = net.weight([features, channels, 3, 3], 0.1)
        y = net.node("Conv", y, weights, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        y = net.node("Sigmoid", y)
    model = net.finish((y, "y", [1, 1, 20, 20]))
    feed = {"x": np.random.default_rng(0).random((1, 4, 20, 20), dtype=np.float32)}
    options = Options(
        optimize=search, cache=None, kernel_times=tmp_path / "times.sqlite", measure_seconds=60
    )
    module, bound = load_module(model, shapes={"x": (1, 4, 20, 20)})
    report = optimize_module(module, options)
    assert report["kernels"]["estimated"] == 0
    assert report["predicted_after_s"] <= report["predicted_before_s"]
    function = espalier.compiler.compile_module(module, bound, NO_CACHE)
    assert largest_error(function.run(feed), espalier.interpret(model, feed)) < 1e-5


@pytest.mark.parametrize("value", ["array<i64: 0, 0>", "array<i64: 1, 0, 2>", "[0, 1]"])
def test_no_permutation_is_refused(value):
    text = f"""
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{
  %0 = graph.relu %x {{graph.layout = {value}}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}}
"""
    with pytest.raises(
        espalier.EspalierError, match=r"expects 'graph\.layout' to be a permutation"
    ):
        compile(text, options=NO_CACHE)
