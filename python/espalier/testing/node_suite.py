"""The node tests that come with the `onnx` package."""

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

from espalier.errors import UnsupportedOperators
from espalier.testing.compare import mismatch

Arrays = dict[str, np.ndarray]
Execute = Callable[[onnx.ModelProto, Arrays], Sequence[np.ndarray]]
"""Runs a model on inputs by name; returns the outputs in order."""


@dataclass
class Outcome:
    """What became of one test: passed, failed or unsupported."""

    name: str
    verdict: str
    message: str = ""


@functools.cache
def _all_cases() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_model_tests(kind="node")


def node_cases(only: str | None = None) -> list[Any]:
    """Return the tests, or those whose name contains `only`."""
    return [case for case in _all_cases() if only is None or only in case.name]


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
