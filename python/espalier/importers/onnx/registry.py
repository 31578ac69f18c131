"""The table of ONNX operators: one small function per operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.errors import ModelError
from espalier.importers.onnx.values import Tensor, Value

if TYPE_CHECKING:
    from espalier.importers.onnx.emitter import Emitter


class Unsupported(Exception):
    """Raised by an operator's function; the text completes "Conv ..."."""


class Poison:
    """Stands for the result of a node that is not supported."""


class NotFoldable(Exception):
    """Raised by a fold that cannot decide; the operator is emitted instead."""


@dataclass
class Node:
    """One ONNX node with its attributes, defaults filled in.

    `inputs` has None where an optional input is missing, and is as long as
    the operator's longest form. `used` says which outputs anything reads.
    """

    name: str
    op_type: str
    version: int
    inputs: list[Value | None]
    attributes: dict[str, Any]
    used: list[bool] = field(default_factory=list)

    def __getitem__(self, attribute: str) -> Any:  # noqa: ANN401
        """Return an attribute's value, or None where it has no default."""
        return self.attributes.get(attribute)

    def error(self, message: str) -> ModelError:
        """Return an error that names this node."""
        return ModelError(f"node '{self.name}' ({self.op_type}): {message}")

    def input(self, index: int) -> Value:
        """Return an input that must be there."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise self.error(f"expects input #{index}, but it is missing")
        return value

    def array(self, index: int, what: str) -> np.ndarray | None:
        """Return the elements of an optional input that must be known.

        The result may hold expressions. It is None if the input is missing.
        """
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            return None
        if isinstance(value, Tensor):
            if value.given is not None:
                return value.given.take()
            raise Unsupported(f"needs {what} (input #{index}) that does not depend on data")
        return value.array

    def elements(self, index: int, what: str) -> np.ndarray:
        """Return the elements of an input that must be there and known."""
        self.input(index)
        array = self.array(index, what)
        assert array is not None, "the input is there"
        return array

    def numbers(self, index: int, what: str) -> np.ndarray | None:
        """Return an optional input that must not even depend on sizes."""
        array = self.array(index, what)
        if array is not None and array.dtype == object:
            raise Unsupported(f"needs {what} (input #{index}) that does not depend on sizes")
        return array

    def one(self, array: np.ndarray, what: str) -> Any:  # noqa: ANN401
        """Return the element of an array that must have one."""
        if array.size != 1:
            raise self.error(f"expects one element as {what}, but got {array.size}")
        return array.reshape(-1)[0]

    def integers(self, attribute: str, index: int, what: str) -> list[int] | None:
        """Return integers that old versions have as an attribute, new ones as an input."""
        if attribute in self.attributes:
            return [int(i) for i in self.attributes[attribute]]
        array = self.numbers(index, what)
        return None if array is None else [int(i) for i in np.ravel(array)]

    def axis(self, rank: int, name: str = "axis") -> int:
        """Return an axis attribute, counted from the front."""
        return self.normalize_axis(self[name], rank)

    def normalize_axis(self, axis: int, rank: int) -> int:
        """Count an axis from the front; it must exist."""
        if not -rank <= axis < rank:
            raise self.error(f"expects an axis from {-rank} to {rank - 1}, but got {axis}")
        return axis % rank

    def normalize_axes(self, axes: list[int], rank: int) -> list[int]:
        """Count axes from the front; none may occur twice."""
        result = [self.normalize_axis(axis, rank) for axis in axes]
        if len(set(result)) != len(result):
            raise self.error(f"expects axes that differ, but got {axes}")
        return result


Emit = Callable[["Emitter", Node], Value | list[Value | None]]
Fold = Callable[..., "np.ndarray | list[np.ndarray]"]

_OPERATORS: dict[str, list[tuple[int, Emit]]] = {}
_FOLDS: dict[str, Fold] = {}


def op(name: str, since: int = 1, rounds_once: bool = False) -> Callable[[Emit], Emit]:
    """Register the function that imports operator `name` from opset `since` on.

    With `rounds_once`, it gets single precision in place of half; its one result is of
    the first input's type again.
    """

    def register(function: Emit) -> Emit:
        emit = _rounding_once(function) if rounds_once else function
        _OPERATORS.setdefault(name, []).append((since, emit))
        _OPERATORS[name].sort(key=lambda entry: entry[0])
        return function

    return register


def _rounding_once(function: Emit) -> Emit:
    def emit(e: Emitter, node: Node) -> Value:
        dtype = node.input(0).dtype
        node.inputs = [None if value is None else e.widen(value) for value in node.inputs]
        result = function(e, node)
        assert not isinstance(result, list), "an operator of one result"
        return result if result.dtype == dtype else e.cast(result, dtype)

    return emit


def fold(*names: str) -> Callable[[Fold], Fold]:
    """Register the function that computes operators on known arrays.

    It takes the node and one array (or None) per input. Integer arrays may be
    object arrays that hold expressions.
    """

    def register(function: Fold) -> Fold:
        _FOLDS.update(dict.fromkeys(names, function))
        return function

    return register


def find(name: str, version: int) -> Emit | None:
    """Return the function for an operator at an opset version."""
    fitting = [function for since, function in _OPERATORS.get(name, []) if since <= version]
    return fitting[-1] if fitting else None


def find_fold(name: str) -> Fold | None:
    """Return the function that folds an operator, if there is one."""
    return _FOLDS.get(name)


def operators() -> list[str]:
    """Return the names of all operators that can be imported, sorted."""
    return sorted(set(_OPERATORS) | set(_FOLDS))
