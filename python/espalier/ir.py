"""What an importer needs from a module under construction.

The extension's `Module` implements `Builder`; tests implement it in NumPy.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

Attribute = bool | int | float | str | list[int]
"""An attribute: a list is `array<i64: ..>`, a string is MLIR attribute text."""


class Value(Protocol):
    """A tensor or an index of the module."""

    @property
    def shape(self) -> list[int | None]:
        """Extents of a tensor; None where unknown."""

    @property
    def dtype(self) -> str:
        """Element type in MLIR's spelling, such as "f32"."""


class Builder(Protocol):
    """A module with one function under construction."""

    def input(
        self, name: str, shape: Sequence[int | None], dtype: str, dims: Sequence[str]
    ) -> Value:
        """Add a function argument; `dims` names the symbolic dimensions."""

    def limit_input(self, input: Value, size: str | None, limit: int) -> None:
        """Say that an input's integers are from 0 to `limit`, counted from a size if named."""

    def constant(self, array: np.ndarray) -> Value:
        """Add a constant; the array is not copied and must not change."""

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Attribute] = ...,
        location: str = "",
    ) -> Sequence[Value]:
        """Add an operation; its result types are inferred."""

    def scan(
        self,
        states: Sequence[Value],
        sequences: Sequence[Value],
        body: Callable[[Sequence[Value]], Sequence[Value]],
        location: str = "",
    ) -> Sequence[Value]:
        """Add a cell for each element of dimension 0 of the sequences.

        `body` gets the states and these elements, adds the cell's operations, and
        returns the next states and what is to be collected of all steps. The results
        are the last states and the collected tensors.
        """

    def dim(self, value: Value, dimension: int) -> Value:
        """Return the extent of a dimension as an index."""

    def index(self, number: int) -> Value:
        """Return a constant index."""

    def index_op(self, name: str, left: Value, right: Value) -> Value:
        """Compute on indices: add, sub, mul, div (truncating), floordiv, mod, max, min."""

    name: str
    """What the program is called in C."""

    def finish(self, outputs: Sequence[Value], names: Sequence[str]) -> None:
        """Return `outputs` from the function and verify the module."""
