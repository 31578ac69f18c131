"""Operators compiled and interpreted: what a case is, and how it runs."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from espalier.compiler import Options, compile_module, interpret_module
from espalier.dtypes import mlir_name
from espalier.errors import CompileError
from espalier.ir import Attribute, Value
from espalier.module import Module
from espalier.testing.compare import mismatch

FORMS = ("static", "dynamic", "unnamed", "constant")
"""How the inputs are declared: extents known, unknown with a name for each
number, unknown without names, or known and all inputs but the first constant."""

TOLERANCE = {"f32": 1e-5, "f64": 1e-12, "f16": 4e-3, "bf16": 3e-2}
"""Relative to an element or, where sums cancel, to the greatest element."""


class Graph:
    """A module under construction; `g("add", x, y)` adds `graph.add`."""

    def __init__(self) -> None:
        self.module = Module()

    def __call__(self, name: str, *operands: Value, **attributes: Attribute) -> Value:
        """Add an operator; return its first result."""
        return self.all(name, *operands, **attributes)[0]

    def all(self, name: str, *operands: Value, **attributes: Attribute) -> list[Value]:
        """Add an operator; return its results."""
        return self.module.op(f"graph.{name}", list(operands), attributes)


Build = Callable[..., Value | Sequence[Value]]


@dataclass
class Case:
    """A function of the graph dialect and arguments for it.

    Arguments:
        build: called with a `Graph` and one value per array.
        sums: whether elements are sums, whose terms may cancel.
    """

    name: str
    build: Build
    arrays: Sequence[np.ndarray]
    sums: bool = False
    forms: Sequence[str] = FORMS


def forms_of(case: Case) -> list[str]:
    """Return the forms in which a case differs."""
    extents = [extent for array in case.arrays for extent in array.shape if extent != 1]
    forms = ["static"]
    if extents:
        forms.append("dynamic")
    if len(extents) != len(set(extents)):
        forms.append("unnamed")
    if len(case.arrays) > 1:
        forms.append("constant")
    return [form for form in forms if form in case.forms]


class Random:
    """Arrays that depend only on a name."""

    def __init__(self, name: str) -> None:
        self._rng = np.random.default_rng(zlib.crc32(name.encode()))

    def floats(self, *shape: int, dtype: type = np.float32) -> np.ndarray:
        """Return normal numbers."""
        return self._rng.standard_normal(shape).astype(dtype)

    def positive(self, *shape: int, dtype: type = np.float32) -> np.ndarray:
        """Return numbers from 0.1 to 3."""
        return self._rng.uniform(0.1, 3, shape).astype(dtype)

    def integers(self, low: int, high: int, *shape: int, dtype: type = np.int64) -> np.ndarray:
        """Return integers from `low` to `high - 1`."""
        return self._rng.integers(low, high, shape).astype(dtype)

    def booleans(self, *shape: int) -> np.ndarray:
        """Return truth values."""
        return self._rng.integers(0, 2, shape).astype(np.bool_)


def _declare(graph: Graph, number: int, array: np.ndarray, form: str) -> Value:
    dtype = mlir_name(array.dtype)
    if form == "constant" and number > 0:
        return graph.module.constant(array)
    if form in ("static", "constant"):
        shape: list[int | None] = list(array.shape)
        names = [""] * array.ndim
    else:
        # An extent of 1 repeats only if it is known.
        shape = [1 if extent == 1 else None for extent in array.shape]
        named = form == "dynamic"
        names = [f"d{e}" if named and e != 1 else "" for e in array.shape]
    return graph.module.input(f"x{number}", shape, dtype, names)


def build_module(case: Case, form: str) -> Module:
    """Return a case as a module."""
    graph = Graph()
    values = [_declare(graph, i, array, form) for i, array in enumerate(case.arrays)]
    results = case.build(graph, *values)
    results = list(results) if isinstance(results, list | tuple) else [results]
    graph.module.finish(results, [f"y{i}" for i in range(len(results))])
    return graph.module


def compare(actual: np.ndarray, expected: np.ndarray, sums: bool) -> str | None:
    """Say how a compiled result differs from the interpreted one."""
    name = mlir_name(expected.dtype)
    rtol = TOLERANCE.get(name, 0)
    finite = expected[np.isfinite(expected)] if rtol else np.zeros(0)
    scale = float(np.abs(finite.astype(np.float64)).max()) if finite.size else 0.0
    return mismatch(actual, expected, rtol, rtol * scale if sums else rtol / 100)


def run_case(case: Case, form: str) -> str | None:
    """Compile and interpret; say how the results differ at one or two threads."""
    module = build_module(case, form)
    names = module.input_names
    inputs = dict(zip(names, case.arrays, strict=False))
    expected = interpret_module(module, inputs)
    function = compile_module(module, options=Options(cache=None))
    for threads in (1, 2):
        try:
            function.set_num_threads(threads)
        except CompileError:
            break  # Nothing in it is parallel.
        for name, actual in function.run(inputs).items():
            problem = compare(actual, expected[name], case.sums)
            if problem:
                return f"{name} at {threads} threads: {problem}"
    return None
