"""The tests that come with the `onnx` package: of single nodes, and small models."""

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

from espalier.errors import UnsupportedOperators
from espalier.testing.compare import mismatch

Arrays = dict[str, np.ndarray]
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
"""The suites, but for "real", whose models lie elsewhere."""
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
        return [case for kind in KINDS for case in load_model_tests(kind=kind)]


def node_cases(only: str | None = None) -> list[Any]:
    """Return the tests, or those whose name contains `only`."""
    return [case for case in _all_cases() if only is None or only in case.name]


def _array(value: Any) -> Any:  # noqa: ANN401
    """Return an array; sequences and the like stay as they are."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return value if isinstance(value, list) else np.asarray(value)


def case_model(case: Any) -> onnx.ModelProto:  # noqa: ANN401
    """Return the model of a test."""
    return case.model or onnx.load(Path(case.model_dir) / "model.onnx")


def _data_sets(case: Any, model: onnx.ModelProto) -> Iterator[tuple[list, list]]:  # noqa: ANN401
    """Yield the inputs and expected results, which lie in files beside the model."""
    if case.data_sets is not None:
        yield from case.data_sets
        return
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        graph = model.graph
        yield _files(folder, "input", graph.input), _files(folder, "output", graph.output)


def _files(folder: Path, what: str, values: Sequence[onnx.ValueInfoProto]) -> list:
    """Return the tensors in the files of one kind; None for what is not a tensor."""
    count = len(list(folder.glob(f"{what}_*.pb")))
    return [
        onnx.load_tensor(folder / f"{what}_{i}.pb") if value.type.HasField("tensor_type") else None
        for i, value in zip(range(count), values, strict=False)
    ]


def run_case(case: Any, execute: Execute) -> Outcome:  # noqa: ANN401
    """Run one test."""
    model = case_model(case)
    held = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in held]
    for inputs, expected in _data_sets(case, model):
        feed = dict(zip(names, map(_array, inputs), strict=False))
        try:
            actual = execute(model, feed)
        except UnsupportedOperators as error:
            return Outcome(case.name, "unsupported", str(error))
        except Exception as error:
            return Outcome(case.name, "failed", f"{type(error).__name__}: {error}")
        for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
            problem = mismatch(np.asarray(mine), _array(theirs), case.rtol, case.atol)
            if problem:
                return Outcome(case.name, "failed", f"output #{index}: {problem}")
    return Outcome(case.name, "passed")
