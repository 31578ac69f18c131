"""What a kernel takes with its operand and its result in one order or the other.

An order is that of the dimensions in memory. Images have their channels last, or lie in
rows; matrices lie in rows, or in columns.
"""

import itertools
import time
from typing import Any

import numpy as np

from espalier.compiler import Options, compile
from espalier.testing.compare import error_relative_to_scale
from espalier.testing.timing import measure_alternately

IMAGE_ORDERS = {"last": (0, 2, 3, 1), "rows": (0, 1, 2, 3)}
MATRIX_ORDERS = {"rows": (0, 1), "columns": (1, 0)}
Shape = tuple[int, ...]


def _type(shape: Shape) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def _array(values: Shape) -> str:
    return f"array<i64: {', '.join(map(str, values))}>"


def _permuted(shape: Shape, order: Shape) -> Shape:
    return tuple(shape[axis] for axis in order)


def _operator(case: dict[str, Any], toy: bool) -> tuple[str, str, Shape, Shape | None, Shape]:
    """Return an operator, its attributes, and the shapes of operand, weight and result."""
    sizes = case["toy" if toy else "sizes"]
    if case["model"] == "matmul":
        m, k, n = sizes["m"], sizes["k"], sizes["n"]
        return "graph.matmul", "", (m, k), (k, n), (m, n)
    if case["model"] == "softmax":
        shape = (sizes["m"], sizes["n"])
        return "graph.softmax", "axis = 1 : i64", shape, None, shape
    channels, extent, kernel = sizes["channels"], sizes["extent"], sizes["kernel"]
    image, result = (1, channels, extent, extent), extent - kernel + 1
    window = "".join(
        f"{name} = {_array((value, value))}, "
        for name, value in (("strides", 1), ("pads_low", 0), ("pads_high", 0), ("dilations", 1))
    )
    if case["model"] == "max_pool":
        attributes = f"{window}kernel = {_array((kernel, kernel))}"
        return "graph.max_pool", attributes, image, None, (1, channels, result, result)
    groups, features = sizes.get("groups", 1), sizes["features"]
    weight = (features, channels // groups, kernel, kernel)
    attributes = f"{window}groups = {groups} : i64"
    return "graph.conv", attributes, image, weight, (1, features, result, result)


def _write(operator: tuple[str, str, Shape, Shape | None, Shape], read: Shape, made: Shape) -> str:
    """Write a program that reads its operand in one order and returns another one."""
    name, attributes, operand, weight, result = operator
    stored, returned = _permuted(operand, read), _permuted(result, made)
    back = tuple(read.index(axis) for axis in range(len(read)))
    types, values, resources = _type(operand), "%x", ""
    lines = [
        f"%x = graph.transpose %stored {{permutation = {_array(back)}}} : "
        f"({_type(stored)}) -> {_type(operand)}"
    ]
    if weight:
        elements = np.random.default_rng(1).random(weight, dtype=np.float32).tobytes().hex()
        resources = f'{{-# dialect_resources: {{ builtin: {{ w: "0x04000000{elements}" }} }} #-}}'
        lines.append(f"%w = graph.constant dense_resource<w> : {_type(weight)}")
        types, values = f"{types}, {_type(weight)}", "%x, %w"
    comma = ", " if attributes else ""
    lines += [
        f"%r = {name} {values} {{{attributes}{comma}graph.layout = {_array(made)}}} : "
        f"({types}) -> {_type(result)}",
        f"%y = graph.transpose %r {{permutation = {_array(made)}}} : "
        f"({_type(result)}) -> {_type(returned)}",
        f"return %y : {_type(returned)}",
    ]
    head = f"func.func @main(%stored: {_type(stored)}) -> {_type(returned)} {{"
    return "\n".join([head, *lines, "}", resources])


def run_orders(case: dict[str, Any], toy: bool, seconds: float) -> dict[str, Any]:
    """Compare and time an operator between all orders, on one thread, by its own time."""
    operator = _operator(case, toy)
    operand = operator[2]
    orders = MATRIX_ORDERS if len(operand) == 2 else IMAGE_ORDERS
    array = np.random.default_rng(0).random(operand, dtype=np.float32)
    names, calls, results = [], [], []
    for (first, read), (second, made) in itertools.product(orders.items(), repeat=2):
        function = compile(_write(operator, read, made), options=Options(cache=None))
        feed = {"input0": np.ascontiguousarray(array.transpose(read))}
        result = next(iter(function.run(feed).values()))
        results.append(result.transpose(np.argsort(made)))
        names.append(f"{first}->{second}")
        calls.append(function.bind(feed))
    error = max(error_relative_to_scale(result, results[0]) for result in results)
    timings = measure_alternately(calls, seconds, time.thread_time)
    times = {n: round(t.median_ms * 1e3, 1) for n, t in zip(names, timings, strict=True)}
    return {
        "case": case["name"],
        "threads": 1,
        "error": error,
        "times_us": times,
        "ratios": {name: round(t / times[names[0]], 2) for name, t in times.items()},
    }
