"""Scatters and pads beside memory that nobody may touch: no read of what is not there."""

import itertools

import numpy as np
import pytest

from espalier.compiler import Options, compile_module, interpret_module
from espalier.dtypes import mlir_name
from espalier.testing.compare import mismatch
from espalier.testing.guarded import SIDES, guarded_all, guarded_empty
from espalier.testing.pool import run_isolated
from operator_support import Graph

DTYPES = {"u1": np.uint8, "b1": np.bool_, "f4": np.float32, "i8": np.int64}
REDUCTIONS = ("none", "mul", "max")
SHAPES = {
    # Shapes of X, of the indices and of the updates; what may be dynamic is. Updates of
    # 32 elements or more, or of an unknown number, go to the element that they name.
    "elements": [
        ([2, 5, 13], [1, 5, 4], [1, 5, 4]),
        ([4, 3], [0, 3], [0, 3]),
        ([3], [1], [1]),
        ([2, 3, 37], [2, 2, 19], [2, 2, 19]),
        ([2, 3, 37], [2, 3, 5], [2, 3, 5]),
    ],
    "nd": [
        ([4, 3, 5], [1, 2], [1, 5]),
        ([4, 3, 5], [0, 1], [0, 3, 5]),
        ([7], [3, 1], [3]),
        ([37, 5], [2, 9, 1], [2, 9, 5]),
        ([7, 9, 2], [17, 2], [17, 2]),
        ([7, 9], [5, 2], [5]),
    ],
}


def module_of(
    op: str, arrays: list[np.ndarray], reduction: str, dynamic: bool, axis: int = -1
) -> Graph:
    g = Graph()
    values = []
    for name, array in zip("xiu", arrays, strict=True):
        shape: list[int | None] = list(array.shape)
        if dynamic:
            shape = [None] * array.ndim
            if op == "nd" and name == "i":
                shape[-1] = array.shape[-1]
        values.append(g.module.input(name, shape, mlir_name(array.dtype), [""] * array.ndim))
    attributes = {"reduction": f"#graph.scatter_reduction<{reduction}>"}
    if op == "elements":
        attributes["axis"] = axis % arrays[0].ndim
    result = g(f"scatter_{op}", *values, **attributes)
    g.module.finish([result], ["y"])
    return g


def work(run: str) -> str:
    """Compare one case with the interpreter, at both sides; say what is wrong."""
    op, number, code, reduction, dynamic = run.split(":")
    rng = np.random.default_rng(1)
    x, i, u = SHAPES[op][int(number)]
    dtype = DTYPES[code]
    arrays = [
        rng.integers(0, 2, x).astype(dtype),
        rng.integers(-max(x) - 2, max(x) + 2, i),
        rng.integers(0, 2, u).astype(dtype),
    ]
    try:
        g = module_of(op, arrays, reduction, dynamic == "dynamic")
        inputs = dict(zip("xiu", arrays, strict=True))
        expected = interpret_module(g.module, inputs)["y"]
        function = compile_module(g.module, options=Options(cache=None))
        for side in SIDES:
            out = guarded_empty(expected.shape, expected.dtype, side)
            function.run(guarded_all(inputs, side), {"y": out})
            if problem := mismatch(out, expected):
                return f"{side}: {problem}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


RUNS = [
    f"{op}:{number}:{code}:{reduction}:{dynamic}"
    for op in SHAPES
    for number in range(len(SHAPES[op]))
    for code, reduction in itertools.product(DTYPES, REDUCTIONS)
    for dynamic in ("static", "dynamic")
    if code != "b1" or reduction == "none"
]


@pytest.fixture(scope="module")
def problems() -> dict[str, str]:
    return dict(run_isolated(work, RUNS, jobs=2, timeout=120))


@pytest.mark.parametrize("run", RUNS)
def test_nothing_is_read_beside_the_operands(problems: dict[str, str], run: str) -> None:
    assert problems[run] == ""


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_last_update_stays(axis: int, threads: bool) -> None:
    """Updates of one element replace it in their order, along any dimension."""
    rng = np.random.default_rng(2)
    shape = [35, 33, 34]
    few = [*shape[:axis], 50, *shape[axis + 1 :]]
    x, i = rng.standard_normal(shape), rng.integers(-9, 9, few)
    u = np.arange(i.size, dtype=np.float64).reshape(few)
    g = module_of("elements", [x, i, u], "none", dynamic=False, axis=axis)
    function = compile_module(g.module, options=Options(cache=None, threads=threads))
    expected = x.copy()
    for number in range(50):
        at, value = (np.take(a, [number], axis) for a in (i, u))
        np.put_along_axis(expected, at % shape[axis], value, axis)
    np.testing.assert_array_equal(function.run({"x": x, "i": i, "u": u})["y"], expected)


@pytest.mark.parametrize("threads", [False, True])
def test_the_last_tuple_stays(threads: bool) -> None:
    rng = np.random.default_rng(3)
    x, i = rng.standard_normal([7, 9]), rng.integers(-3, 3, [101, 2])
    u = np.arange(101, dtype=np.float64)
    g = module_of("nd", [x, i, u], "none", dynamic=False)
    function = compile_module(g.module, options=Options(cache=None, threads=threads))
    expected = x.copy()
    for at, value in zip(i, u, strict=True):
        expected[tuple(at)] = value
    np.testing.assert_array_equal(function.run({"x": x, "i": i, "u": u})["y"], expected)


def test_a_pad_of_wide_elements_compiles_in_seconds() -> None:
    g = Graph()
    x = g.module.input("x", [33, 12, 7], "i64", ["", "", ""])
    zero = g.module.constant(np.array(0))
    mode = "#graph.pad_mode<constant>"
    g.module.finish([g("pad", x, zero, low=[3, 2, -1], high=[1, 3, 3], mode=mode)], ["y"])
    value = np.arange(33 * 12 * 7).reshape(33, 12, 7)
    function = compile_module(g.module, options=Options(cache=None))
    expected = np.pad(value, [(3, 1), (2, 3), (0, 3)])[:, :, 1:]
    np.testing.assert_array_equal(function.run({"x": value})["y"], expected)
    # The bound is one of CPU time on a slow machine; it took minutes before.
    assert function.program.compile_seconds < 60
