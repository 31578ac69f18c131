"""Operators on extents that do not fit, beside memory that nobody may touch.

Each operator of `test_operators` gets inputs of extents that are known at run
time only, and then arrays of which one dimension has another extent. Either that
fits too, and the results are those of the interpreter, or both refuse it for the
same reason, before anything is read.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from espalier.compiler import Options, compile_module, interpret_module
from espalier.dtypes import mlir_name
from espalier.errors import EspalierError
from espalier.function import Function
from espalier.ir import Value
from espalier.module import Module
from espalier.testing.guarded import SIDES, guarded_all, guarded_empty
from espalier.testing.pool import run_isolated
from operator_shape_cases import DYNAMIC
from operator_support import Case, Graph, Random, build_module, compare
from test_operators import CASES

Place = tuple[int, int]
"""An input and one of its dimensions."""

REASON = re.compile(r"('graph\.\w+').*(expects .*, but got)", re.DOTALL)
"""What both say of an operator; sizes are numbers here and formulas there."""

IOTA = {"static_sizes": [DYNAMIC], "axis": 0, "element_type": "f32"}

MUST_REFUSE = {
    "add", "batch_norm", "concat", "conv", "conv_transpose", "enlarge", "expand", "gather",
    "gather_elements", "gather_nd", "gru", "instance_norm", "layer_norm", "lstm", "matmul", "pad",
    "reshape", "resize", "scatter_elements", "scatter_nd", "select", "slice",
}  # fmt: skip


def resized(array: np.ndarray, dim: int, extent: int) -> np.ndarray:
    """Return an array with another extent, of the same elements as far as they go."""
    if array.size == 0:
        shape = list(array.shape)
        shape[dim] = extent
        return np.zeros(shape, array.dtype)
    return np.take(array, np.arange(extent) % array.shape[dim], axis=dim)


def variants(arrays: Sequence[np.ndarray], unknown: set[Place]) -> Iterator[list[np.ndarray]]:
    """Yield arrays with one dimension of another extent, and with all that had it."""
    for number, dim in sorted(unknown):
        extent = arrays[number].shape[dim]
        for other in sorted({0, extent - 1, extent + 1, 3 * extent} - {extent, -1}):
            changed = list(arrays)
            changed[number] = resized(arrays[number], dim, other)
            yield changed
    for extent in sorted({arrays[number].shape[dim] for number, dim in unknown}):
        for other in (0, extent + 1):
            changed = list(arrays)
            for number, dim in unknown:
                if arrays[number].shape[dim] == extent:
                    changed[number] = resized(changed[number], dim, other)
            yield changed


def is_open(case: Case) -> bool:
    """Return whether all extents may be unknown, but for those of 1, which repeat."""
    return "dynamic" in case.forms


def get_unknown(case: Case) -> list[set[Place]]:
    """Return the sets of dimensions to declare as unknown."""
    places = [
        (number, dim)
        for number, array in enumerate(case.arrays)
        for dim, extent in enumerate(array.shape)
        if extent != 1
    ]
    return [set(places)] if is_open(case) else [{place} for place in places]


def build(case: Case, unknown: set[Place]) -> Module:
    """Return a case as a module, with these dimensions of its inputs unknown."""
    graph = Graph()
    values = []
    for number, array in enumerate(case.arrays):
        shape = [None if (number, d) in unknown else extent for d, extent in enumerate(array.shape)]
        dtype = mlir_name(array.dtype)
        values.append(graph.module.input(f"x{number}", shape, dtype, [""] * array.ndim))
    results = case.build(graph, *values)
    results = list(results) if isinstance(results, list | tuple) else [results]
    graph.module.finish(results, [f"y{i}" for i in range(len(results))])
    return graph.module


def run_guarded(
    function: Function, feed: dict[str, np.ndarray], side: str
) -> dict[str, np.ndarray]:
    inputs = guarded_all(feed, side)
    shapes = function.program.plan([inputs[info.name].shape for info in function.inputs])
    outputs = {
        info.name: guarded_empty(tuple(shape), info.dtype, side)
        for info, shape in zip(function.outputs, shapes, strict=True)
    }
    return function.run(inputs, outputs)


def get_reason(error: EspalierError) -> str:
    """Return what is expected of which operator."""
    found = REASON.search(str(error))
    return " ".join(found.groups()) if found else f"no operator's: {error}"


def find_problem(
    module: Module, function: Function, arrays: Sequence[np.ndarray], sums: bool
) -> tuple[str, str]:
    """Return what is wrong, and why the arrays are refused."""
    feed = dict(zip(module.input_names, arrays, strict=False))
    expected, reason = None, ""
    try:
        expected = interpret_module(module, feed)
    except EspalierError as error:
        reason = get_reason(error)
    for side in SIDES:
        try:
            actual = run_guarded(function, feed, side)
        except EspalierError as error:
            if get_reason(error) != reason:
                return f"expects {reason or 'a result'}, but got {error}", reason
            continue
        if expected is None:
            return f"expects {reason}, but got a result", reason
        for name, result in expected.items():
            if problem := compare(actual[name], result, sums):
                return problem, reason
    return "", reason


def work(name: str) -> tuple[list[str], list[str]]:
    """Return what is wrong with a case, and the reasons for refusals."""
    case = ALL_CASES[name]
    problems, reasons = [], set()
    for unknown in get_unknown(case):
        try:
            module = build(case, unknown)
            function = compile_module(build(case, unknown), options=Options(cache=None))
        except EspalierError:
            if is_open(case):
                raise
            continue  # This extent has to be known.
        for arrays in variants(case.arrays, unknown):
            problem, reason = find_problem(module, function, arrays, case.sums)
            reasons.add(reason)
            if problem:
                problems.append(f"{[list(array.shape) for array in arrays]}: {problem}")
    return problems, sorted(reasons - {""})


def sizes_from_data() -> Iterator[Case]:
    """Offsets and sizes that the program computes."""
    r = Random("sizes")

    def less(g: Graph, x: Value, count: int) -> Value:
        return g.module.index_op("sub", g.module.dim(x, 0), g.module.index(count))

    def cut(g: Graph, x: Value, offset: Value, size: Value, step: int = 1) -> Value:
        attributes = {
            "static_offsets": [DYNAMIC],
            "static_sizes": [DYNAMIC],
            "steps": [step],
            "operandSegmentSizes": "array<i32: 1, 1, 1>",
        }
        return g.module.op("graph.slice", [x, offset, size], attributes)[0]

    def head(g: Graph, x: Value) -> Value:
        return cut(g, x, g.module.index(2), less(g, x, 5))

    def tail(g: Graph, x: Value) -> Value:
        return cut(g, x, less(g, x, 5), g.module.index(4))

    def reverse(g: Graph, x: Value, y: Value) -> Value:
        return cut(g, x, less(g, y, 1), g.module.dim(y, 0), -1)

    def joined(g: Graph, x: Value, y: Value) -> Value:
        # What is negative here would not show in the sum of the extents.
        part = g.module.op("graph.iota", [less(g, x, 5)], IOTA)[0]
        return g("concat", part, y, axis=0)

    def filled(g: Graph, x: Value) -> Value:
        return g.module.op("graph.iota", [less(g, x, 5)], IOTA)[0]

    def split(g: Graph, x: Value) -> Value:
        half = g.module.index_op("floordiv", g.module.dim(x, 0), g.module.index(2))
        sizes = {"static_sizes": [2, DYNAMIC]}
        return g.module.op("graph.reshape", [x, half], sizes)[0]

    def negative(g: Graph, x: Value) -> Value:
        sizes = [less(g, x, 8), less(g, x, 10)]
        return g.module.op("graph.reshape", [x, *sizes], {"static_sizes": [DYNAMIC] * 2})[0]

    def widened(g: Graph, x: Value, y: Value) -> Value:
        sizes = {"static_sizes": [2, DYNAMIC]}
        return g.module.op("graph.expand", [x, g.module.dim(y, 0)], sizes)[0]

    def taken(g: Graph, x: Value, y: Value) -> Value:
        indices = g.module.op("graph.iota", [less(g, y, 3)], IOTA | {"element_type": "i64"})[0]
        return g("gather", x, indices, axis=0)

    x, y = r.floats(7), r.floats(5)
    for build in (head, tail, filled, split, negative):
        yield Case(f"computed-{build.__name__}", build, [x[:6] if build is split else x])
    for build in (reverse, widened, taken):
        yield Case(f"computed-{build.__name__}", build, [x, x if build is widened else y])
    yield Case("computed-joined", joined, [x, y])
    # Without updates, their numbers are not to be divided by extents of 0.
    updated = [y, r.integers(0, 5, 2, 3, 1), r.floats(2, 3)]
    yield Case("scatter-tuples", lambda g, *values: g("scatter_nd", *values), updated)


def select() -> Iterator[Case]:
    """Yield the cases that have extents to disagree in, one of each shape of operands."""
    seen = set()
    for case in sorted(CASES.values(), key=is_open, reverse=True):
        operator = tuple(re.findall(r"graph\.(\w+)", str(build_module(case, "static"))))
        key = (operator, tuple(array.ndim for array in case.arrays))
        if get_unknown(case) != [set()] and key not in seen:
            seen.add(key)
            yield case
    yield from sizes_from_data()


ALL_CASES = {case.name: case for case in select()}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, tuple[list[str], list[str]] | str]:
    return dict(run_isolated(work, list(ALL_CASES), jobs=2, timeout=240))


@pytest.mark.parametrize("name", ALL_CASES)
def test_what_does_not_fit_is_refused(name: str, outcomes: dict[str, tuple[list[str], list[str]]]):
    assert not isinstance(outcomes[name], str), outcomes[name]
    assert outcomes[name][0] == []


def test_refusals_are_those_of_the_operators(outcomes: dict[str, tuple[list[str], list[str]]]):
    reasons = [reason for outcome in outcomes.values() for reason in outcome[1]]
    refusing = {operator for reason in reasons for operator in re.findall(r"graph\.(\w+)", reason)}
    assert set() == MUST_REFUSE - refusing
