"""What the importer knows about an ONNX value.

A value is one of
- a number array: known when the model is imported,
- an expression array: integers some of which depend on run-time sizes
  (an object array of `int` and `Expr`),
- a tensor of the program.
The first two become tensors when an operation needs one.
"""

from dataclasses import dataclass, field

import numpy as np

from espalier import ir
from espalier.importers.onnx.symbolic import Dim, Expr


@dataclass(eq=False)
class Given:
    """The value that a tensor has for given inputs.

    It serves operators that need a known operand. `take` marks the inputs that
    it was computed from; the program then holds for these values of them only.
    """

    array: np.ndarray
    sources: list["Given"] = field(default_factory=list)
    used: bool = False

    def take(self) -> np.ndarray:
        """Return the value and remember that the program relies on it."""
        self.used = True
        for source in self.sources:
            source.take()
        return self.array


@dataclass(eq=False)
class Tensor:
    """A tensor of the program, with its extents as expressions."""

    value: ir.Value
    dims: tuple[Dim, ...]
    dtype: np.dtype
    given: Given | None = None
    integers_of: ir.Value | None = None
    """The input of the program whose integers these are."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)


@dataclass(eq=False)
class Known:
    """An array that is known when the model is imported.

    `array` has element type `dtype`, or holds `int` and `Expr` objects.
    `tensor` is set once an operation needed the value as a tensor.
    """

    array: np.ndarray
    dtype: np.dtype
    tensor: Tensor | None = None

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The extents, all numbers."""
        return self.array.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    @property
    def symbolic(self) -> bool:
        """Whether an element depends on a run-time size."""
        return self.array.dtype == object


Value = Tensor | Known


def known(array: np.ndarray, dtype: np.dtype | None = None) -> Known:
    """Wrap an array; object arrays without expressions become numbers.

    Arguments:
        dtype: the element type, needed for object arrays.
    """
    if array.dtype != object:
        return Known(array, array.dtype if dtype is None else np.dtype(dtype))
    dtype = np.dtype(dtype or np.int64)
    if any(isinstance(element, Expr) for element in array.flat):
        return Known(array, dtype)
    return Known(array.astype(dtype), dtype)


def dims_array(dims: tuple[Dim, ...]) -> Known:
    """Return extents as an ONNX shape."""
    array = np.empty(len(dims), dtype=object)
    array[:] = dims
    return known(array, np.dtype(np.int64))
