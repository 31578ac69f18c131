"""Results that are views: every element is written, into memory that shows it."""

from collections.abc import Callable

import numpy as np
import pytest

from espalier.compiler import Options, compile_module, interpret_module
from espalier.ir import Value
from espalier.testing.compare import mismatch
from espalier.testing.guarded import SIDES, guarded_all, guarded_empty
from operator_support import Graph

I64 = np.dtype(np.int64)


def constant(g: Graph, x: Value) -> Value:
    return g.module.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))


def computed_constant(g: Graph, x: Value) -> Value:
    return g("neg", constant(g, x))


def splat(g: Graph, x: Value) -> Value:
    return g("neg", g.module.constant(np.full((2, 3, 4), 2, np.float32)))


def iota(g: Graph, x: Value) -> Value:
    whole = g("iota", static_sizes=[24], axis=0, element_type="f32")
    return g("reshape", whole, static_sizes=[2, 3, 4])


def eye(g: Graph, x: Value) -> Value:
    row = g("iota", static_sizes=[6, 4], axis=0, element_type="i64")
    column = g("iota", static_sizes=[6, 4], axis=1, element_type="i64")
    return g("reshape", g("cast", g("equal", row, column), to="f32"), static_sizes=[2, 3, 4])


def argument(g: Graph, x: Value) -> Value:
    return x


def computed(g: Graph, x: Value) -> Value:
    return g("neg", x)


SOURCES = (constant, computed_constant, splat, iota, eye, argument, computed)

View = Callable[[Graph, Value], Value | list[Value]]
VIEWS: dict[str, View] = {
    "itself": lambda g, x: x,
    "reshape": lambda g, x: g("reshape", x, static_sizes=[4, 6]),
    "flatten": lambda g, x: g("reshape", x, static_sizes=[24]),
    "unsqueeze": lambda g, x: g("reshape", x, static_sizes=[1, 2, 3, 1, 4]),
    "reshape-twice": lambda g, x: g(
        "reshape", g("reshape", x, static_sizes=[24]), static_sizes=[8, 3]
    ),
    "transpose": lambda g, x: g("transpose", x, permutation=[2, 0, 1]),
    "space-to-depth": lambda g, x: g(
        "reshape",
        g("transpose", g("reshape", x, static_sizes=[2, 3, 2, 2]), permutation=[0, 3, 1, 2]),
        static_sizes=[2, 6, 2],
    ),
    "slice": lambda g, x: g(
        "slice",
        x,
        static_offsets=[0, 1, 0],
        static_sizes=[2, 2, 2],
        steps=[1, 1, 2],
        operandSegmentSizes="array<i32: 1, 0, 0>",
    ),
    "expand": lambda g, x: g("expand", g("reshape", x, static_sizes=[1, 24]), static_sizes=[3, 24]),
    "sum-over-nothing": lambda g, x: g("reduce_sum", x, axes=[], keepdims=False),
    "concat": lambda g, x: g("concat", x, x, axis=1),
    "both": lambda g, x: [x, g("reshape", x, static_sizes=[24])],
    "twice": lambda g, x: [g("reshape", x, static_sizes=[24]), g("reshape", x, static_sizes=[24])],
    "view-of-view": lambda g, x: [
        g("reshape", x, static_sizes=[6, 4]),
        g("reshape", g("reshape", x, static_sizes=[6, 4]), static_sizes=[24]),
    ],
    "read-too": lambda g, x: [g("reshape", x, static_sizes=[24]), g("abs", x)],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_element_is_written(source: Callable[[Graph, Value], Value], view: str) -> None:
    g = Graph()
    x = g.module.input("x", [2, 3, 4], "f32", ["", "", ""])
    results = VIEWS[view](g, source(g, x))
    results = results if isinstance(results, list) else [results]
    # One result always depends on the argument.
    g.module.finish([*results, g("abs", x)], [f"y{i}" for i in range(len(results) + 1)])
    inputs = {"x": np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)}
    expected = interpret_module(g.module, inputs)
    function = compile_module(g.module, options=Options(cache=None))
    for side in SIDES:
        out = {
            name: guarded_empty(array.shape, array.dtype, side) for name, array in expected.items()
        }
        function.run(guarded_all(inputs, side), out)
        for name, array in expected.items():
            assert mismatch(out[name], array) is None, name
