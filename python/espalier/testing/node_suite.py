"""The node tests that come with the `onnx` package."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

from espalier.errors import UnsupportedOperators
from espalier.testing.compare import mismatch
from espalier.testing.pool import run_isolated

Arrays = dict[str, np.ndarray]
Execute = Callable[[onnx.ModelProto, Arrays], Sequence[np.ndarray]]
"""Runs a model on inputs by name; returns the outputs in order."""


@dataclass
class Outcome:
    """What became of one test: passed, failed or unsupported."""

    name: str
    verdict: str
    message: str = ""


def node_cases(only: str | None = None) -> list[Any]:
    """Return the tests, or those whose name contains `only`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    return [case for case in cases if only is None or only in case.name]


def _array(value: Any) -> Any:  # noqa: ANN401
    """Return an array; sequences and the like stay as they are."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return value if isinstance(value, list) else np.asarray(value)


def run_case(case: Any, execute: Execute) -> Outcome:  # noqa: ANN401
    """Run one test."""
    for inputs, expected in case.data_sets or []:
        names = [value.name for value in case.model.graph.input]
        feed = dict(zip(names, map(_array, inputs), strict=False))
        try:
            actual = execute(case.model, feed)
        except UnsupportedOperators as error:
            return Outcome(case.name, "unsupported", str(error))
        except Exception as error:
            return Outcome(case.name, "failed", f"{type(error).__name__}: {error}")
        for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
            problem = mismatch(np.asarray(mine), _array(theirs), case.rtol, case.atol)
            if problem:
                return Outcome(case.name, "failed", f"output #{index}: {problem}")
    return Outcome(case.name, "passed")


class NodeWorker:
    """Runs tests by name with the compiler; lives in a worker process."""

    def __init__(self) -> None:
        self._cases = {case.name: case for case in node_cases()}

    def __call__(self, name: str) -> Outcome:
        """Run one test."""
        return run_case(self._cases[name], compile_and_run)


def compile_and_run(model: onnx.ModelProto, feed: Arrays) -> list[np.ndarray]:
    """Compile a model for its inputs and run it."""
    from espalier.compiler import Options, compile_for

    function = compile_for(model, feed, options=Options(cache=None))
    return list(function.run(feed).values())


def run_suite(
    only: str | None = None, jobs: int = 2, timeout: float = 120
) -> Iterator[tuple[int, Outcome]]:
    """Run the tests in processes of their own; yield their number and outcomes."""
    names = [case.name for case in node_cases(only)]
    for name, result in run_isolated(NodeWorker, names, jobs, timeout):
        outcome = result if isinstance(result, Outcome) else Outcome(name, "failed", result)
        yield len(names), outcome
