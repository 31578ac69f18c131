"""Sums whose code depends on how much they read, and for how many rows."""

import numpy as np
import pytest

import espalier
from espalier.models import Net


@pytest.mark.parametrize("rows", [23, 50, 300])
@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_a_sum(rows, threads):
    # 256 KiB of second-level cache hold neither the rows nor all of a panel.
    net = Net("long")
    x = net.input("x", [rows, 3001])
    y = net.node("Relu", net.linear(x, 3001, 70))
    model = net.finish((y, "y", [rows, 70]))
    function = espalier.compile(model, options=espalier.Options(cpu="x86-64-v3", cache=None))
    function.set_num_threads(threads)
    values = np.random.default_rng(rows).standard_normal((rows, 3001), np.float32)
    expected = espalier.interpret(model, {"x": values})["y"]
    np.testing.assert_allclose(function(values), expected, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("rows", [2, 7, 16, 17])
@pytest.mark.parametrize("threads", [1, 2])
def test_few_rows_and_a_large_matrix(rows, threads):
    # Long rows of the matrix: blocks of its columns pass 32 terms at a time.
    net = Net("thin")
    x, w = net.input("x", [rows, 75]), net.input("w", [75, 2100])
    model = net.finish((net.node("Relu", net.node("MatMul", x, w)), "y", [rows, 2100]))
    function = espalier.compile(model, options=espalier.Options(cpu="x86-64-v3", cache=None))
    function.set_num_threads(threads)
    rng = np.random.default_rng(rows)
    values = {
        "x": rng.standard_normal((rows, 75), np.float32),
        "w": rng.standard_normal((75, 2100), np.float32),
    }
    expected = espalier.interpret(model, values)["y"]
    np.testing.assert_allclose(function(**values), expected, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_rows_without_parts(threads):
    # All rows do not fit the second-level cache, a block of them and a panel do.
    net = Net("blocks")
    x = net.input("x", [700, 200])
    y = net.node("Relu", net.linear(x, 200, 170))
    model = net.finish((y, "y", [700, 170]))
    function = espalier.compile(model, options=espalier.Options(cpu="x86-64-v3", cache=None))
    function.set_num_threads(threads)
    values = np.random.default_rng(1).standard_normal((700, 200), np.float32)
    expected = espalier.interpret(model, {"x": values})["y"]
    np.testing.assert_allclose(function(values), expected, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("activation", ["Relu", "Tanh"])
def test_sums_of_few_rows(activation: str) -> None:
    """There is code for each number of rows, in which sums may be side by side."""
    random = np.random.default_rng(3)
    terms, width = 70, 192
    net = Net("rows")
    x = net.input("x", ["rows", terms])
    weights, bias = random.standard_normal((terms, width)), random.standard_normal(width)
    y = net.node("MatMul", x, net.constant(weights.astype(np.float32)))
    y = net.node("Add", y, net.constant(bias.astype(np.float32)))
    model = net.finish((net.node(activation, y), "y", ["rows", width]))
    function = espalier.compile(model, options=espalier.Options(cache=None))
    apply = {"Relu": lambda v: np.maximum(v, 0), "Tanh": np.tanh}[activation]
    for rows in (*range(9), 23):
        given = random.standard_normal((rows, terms)).astype(np.float32)
        expected = apply(given.astype(np.float64) @ weights.astype(np.float32) + bias)
        for threads in (1, 2):
            function.set_num_threads(threads)
            np.testing.assert_allclose(function(given), expected, 1e-4, 1e-4)


OTHERS = {
    "whole": (None, (512, 1031), lambda v: v.sum()),
    "planes": ([0, 2, 3], (3, 1, 410, 500), lambda v: v.sum((0, 2, 3))),
    "one row": ([1], (1, 300000), lambda v: v.sum(1)),
    "no parts": (None, (524287,), lambda v: v.sum()),
}
"""Axes, extents, and the sum in double precision."""


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_with_few_results(name: str, threads: int) -> None:
    """Threads have parts of them; what reads the sum has all of it."""
    axes, extents, add = OTHERS[name]
    net = Net("few")
    x = net.input("x", list(extents))
    given = [] if axes is None else [net.constant(np.array(axes))]
    total = net.node("ReduceSum", net.node("Abs", x), *given, keepdims=0)
    shape = [] if axes is None else [n for axis, n in enumerate(extents) if axis not in axes]
    model = net.finish((total, "sum", shape), (net.node("Sqrt", total), "root", shape))
    function = espalier.compile(model, options=espalier.Options(cache=None))
    function.set_num_threads(threads)
    values = np.random.default_rng(4).standard_normal(extents, np.float32)
    expected = add(np.abs(values.astype(np.float64)))
    actual = function.run({"x": values})
    np.testing.assert_allclose(actual["sum"], expected, rtol=1e-5)
    np.testing.assert_allclose(actual["root"], np.sqrt(expected), rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_greatest_of_a_tensor(threads: int) -> None:
    net = Net("greatest")
    x = net.input("x", [600, 601])
    outputs = [(net.node(f"Reduce{op}", x, keepdims=0), op, []) for op in ("Max", "Min")]
    function = espalier.compile(net.finish(*outputs), options=espalier.Options(cache=None))
    function.set_num_threads(threads)
    values = np.random.default_rng(5).standard_normal((600, 601), np.float32)
    for number in (None, np.inf, -np.inf, np.nan):
        if number is not None:
            values[411, 23] = number
        actual = function.run({"x": values})
        np.testing.assert_array_equal(actual["Max"], values.max())
        np.testing.assert_array_equal(actual["Min"], values.min())
