"""ONNX's Slice: all bounds and steps around small extents, known and not."""

import itertools

import numpy as np
import pytest
from onnx import helper

from espalier.compiler import Options, compile
from espalier.importers.onnx.symbolic import slice_range
from espalier.testing.guarded import SIDES, guarded_all, guarded_empty
from espalier.testing.onnxruntime import OnnxRuntime
from support import import_in_numpy, make_model

EXTENTS = range(6)
BOUNDS = range(-6, 7)
LIMITS = (-(2**63), -(2**31), 2**31 - 1, 2**63 - 1)
STEPS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)


def reference(extent: int, start: int, end: int, step: int) -> list[int]:
    """Return what is taken of 0, 1, 2.., by the words of ONNX's specification."""
    start, end = (b + extent if b < 0 else b for b in (start, end))
    if step > 0:
        start, end = (min(max(b, 0), extent) for b in (start, end))
    else:
        start = min(max(start, 0), extent - 1)
        end = min(max(end, -1), extent - 1)
    return list(range(start, end, step))


def named(values: np.ndarray) -> str:
    return "_".join(str(v).replace("-", "m") for v in values)


def slices(name, cases, rank=1):
    """Return nodes that slice axis 0 of a tensor, and the constants for them."""
    nodes, constants = [], {"axes": np.array([0])}
    for case in cases:
        label = named(case)
        for what, value in zip(("start", "end", "step"), case, strict=True):
            constants[f"{what}{value}"] = np.array([value])
        operands = [name, f"start{case[0]}", f"end{case[1]}", "axes", f"step{case[2]}"]
        nodes.append(helper.make_node("Slice", operands, [f"y{label}"], name=label))
    return nodes, constants


def test_range_is_that_of_the_specification_and_of_onnxruntime():
    inputs = {k: (np.int64, [1]) for k in ("start", "end", "axis", "step")}
    node = helper.make_node("Slice", ["x", *inputs], ["y"])
    session = OnnxRuntime(make_model([node], {"x": (np.int64, ["n"]), **inputs}, ["y"]))
    bounds = (*BOUNDS, *LIMITS)
    for extent, start, end, step in itertools.product(EXTENTS, bounds, bounds, STEPS):
        first, count = slice_range(extent, start, end, step)
        actual = [first + i * step for i in range(count)]
        assert actual == reference(extent, start, end, step)
        if step < 0 and end >= LIMITS[2]:
            continue  # onnxruntime reads a great end as "to the end", backwards too.
        feed = {k: np.array([v]) for k, v in zip(inputs, (start, end, 0, step), strict=True)}
        expected = session.run({"x": np.arange(extent), **feed})["y"]
        assert actual == expected.tolist(), (extent, start, end, step)


@pytest.mark.parametrize("step", STEPS)
def test_slices_of_sizes_that_are_not_known(step: int) -> None:
    cases = list(itertools.product((*BOUNDS, *LIMITS), (*BOUNDS, *LIMITS), [step]))
    nodes, constants = slices("x", cases)
    outputs = [node.output[0] for node in nodes]
    model = make_model(nodes, {"x": (np.int64, ["n"])}, outputs, constants)
    feeds = [{"x": np.arange(extent)} for extent in EXTENTS]
    for extent, arrays in zip(EXTENTS, import_in_numpy(model, feeds).outputs, strict=True):
        for case in cases:
            assert arrays[f"y{named(case)}"].tolist() == reference(extent, *case), (extent, case)


@pytest.mark.parametrize("extent", EXTENTS)
def test_slices_that_are_folded(extent: int) -> None:
    cases = list(itertools.product(BOUNDS, BOUNDS, STEPS))
    nodes, constants = slices("c", cases)
    constants["c"] = np.arange(extent)
    outputs = [node.output[0] for node in nodes]
    model = make_model(nodes, {"x": (np.int64, [1])}, outputs, constants)
    (arrays,) = import_in_numpy(model, [{"x": np.zeros(1, np.int64)}]).outputs
    for case in cases:
        assert arrays[f"y{named(case)}"].tolist() == reference(extent, *case), (extent, case)


@pytest.mark.parametrize("dim", [5, "n"])
def test_steps_beyond_every_extent(dim: int | str) -> None:
    steps = (*LIMITS, 2 - 2**63, 2**63 - 2, -(2**62), 2**62, 2**32 + 1)
    cases = [(start, end, step) for step in steps for start, end in ((3, -9), (-2, 9), (7, 8))]
    nodes, constants = slices("x", cases)
    outputs = [node.output[0] for node in nodes]
    model = make_model(nodes, {"x": (np.int64, [dim])}, outputs, constants)
    function = compile(model, options=Options(cache=None))
    for extent in [5] if dim == 5 else EXTENTS:
        arrays = function.run({"x": np.arange(extent)})
        for case in cases:
            assert arrays[f"y{named(case)}"].tolist() == reference(extent, *case), (extent, case)


@pytest.mark.parametrize("rank", range(1, 4))
def test_slices_of_a_shape(rank: int) -> None:
    cases = [(start, end, 1) for start in range(-4, 5) for end in range(-4, 5)]
    nodes, constants = slices("shape", cases)
    nodes.insert(0, helper.make_node("Shape", ["x"], ["shape"]))
    outputs = [node.output[0] for node in nodes[1:]]
    dims = ["n", 3, "m"][:rank]
    model = make_model(nodes, {"x": (np.float32, dims)}, outputs, constants)
    shapes = [(2, 3, 5)[:rank], (4, 3, 1)[:rank]]
    builder = import_in_numpy(model, [{"x": np.zeros(s, np.float32)} for s in shapes])
    for shape, arrays in zip(shapes, builder.outputs, strict=True):
        for case in cases:
            expected = [shape[i] for i in reference(rank, *case)]
            assert arrays[f"y{named(case)}"].tolist() == expected, case


BOUNDS_OF_SIZES = {
    "n": lambda n, m: n,
    "n-2": lambda n, m: n - 2,
    "-n": lambda n, m: -n,
    "m-n": lambda n, m: m - n,
    "2-m": lambda n, m: 2 - m,
    "n*m": lambda n, m: n * m,
}


def sized_slices(step):
    """Return a model whose bounds are expressions over the sizes n and m."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Split", ["shape"], ["n", "m"], num_outputs=2),
        helper.make_node("Sub", ["n", "two"], ["n-2"]),
        helper.make_node("Neg", ["n"], ["-n"]),
        helper.make_node("Sub", ["m", "n"], ["m-n"]),
        helper.make_node("Sub", ["two", "m"], ["2-m"]),
        helper.make_node("Mul", ["n", "m"], ["n*m"]),
    ]
    outputs = []
    for number, pair in enumerate(itertools.product(BOUNDS_OF_SIZES, repeat=2)):
        outputs.append(f"y{number}")
        nodes.append(helper.make_node("Slice", ["v", *pair, "zero", "step"], [outputs[-1]]))
    constants = {"two": np.array([2]), "zero": np.array([0]), "step": np.array([step])}
    inputs = {"x": (np.float32, ["n", "m"]), "v": (np.int32, ["k"])}
    return make_model(nodes, inputs, outputs, constants)


SIZES = list(itertools.product((0, 1, 2, 4), (0, 1, 3), (0, 1, 5)))


def check_sized(n, m, k, step, arrays):
    pairs = itertools.product(BOUNDS_OF_SIZES.values(), repeat=2)
    for number, (start, end) in enumerate(pairs):
        expected = reference(k, start(n, m), end(n, m), step)
        assert arrays[f"y{number}"].tolist() == expected, (n, m, k, number)


def feed_of(n: int, m: int, k: int) -> dict[str, np.ndarray]:
    return {"x": np.zeros((n, m), np.float32), "v": np.arange(k, dtype=np.int32)}


@pytest.mark.parametrize("step", [-3, -1, 1, 2])
def test_bounds_that_depend_on_sizes(step: int) -> None:
    builder = import_in_numpy(sized_slices(step), [feed_of(*s) for s in SIZES])
    for (n, m, k), arrays in zip(SIZES, builder.outputs, strict=True):
        check_sized(n, m, k, step, arrays)


@pytest.mark.parametrize("step", [-2, 1])
def test_compiled_slices_stay_inside(step: int) -> None:
    function = compile(sized_slices(step), options=Options(cache=None))
    for (n, m, k), side in itertools.product(SIZES, SIDES):
        feed = guarded_all(feed_of(n, m, k), side)
        shapes = function.program.plan([feed[info.name].shape for info in function.inputs])
        out = {
            info.name: guarded_empty(tuple(shape), info.dtype, side)
            for info, shape in zip(function.outputs, shapes, strict=True)
        }
        check_sized(n, m, k, step, function.run(feed, out))
