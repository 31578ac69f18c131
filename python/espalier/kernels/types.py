"""What the text of a kernel is written with: element types, sizes, labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from espalier.dtypes import DTYPES, FLOATS
from espalier.errors import EspalierError, expect
from espalier.kernels.affine import Affine, Operators, Size, to_affine


@dataclass(frozen=True)
class ScalarType:
    """An element type; with extents in brackets, an array of it.

    In a kernel, a call converts a number: `f64(i)`.
    """

    name: str

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type."""
        return DTYPES[self.name]

    @property
    def is_float(self) -> bool:
        """Say whether this is a floating-point type."""
        return DTYPES.get(self.name) in FLOATS

    def __getitem__(self, extents: Operators | int | tuple[Operators | int, ...]) -> ArrayType:
        extents = extents if isinstance(extents, tuple) else (extents,)
        return ArrayType(self, tuple(to_affine(extent) for extent in extents))

    def __call__(self, value: float) -> float:
        """Convert a number."""
        expect("a number", value, int | float | np.number)
        return self.dtype.type(value)


@dataclass(frozen=True)
class ArrayType:
    """A dense array; extents are affine expressions of sizes.

    Arguments:
        bounded_by: all values are from 0 to less than this, if it is given.
        monotonic: no value is less than the one before it.
        injective: no value occurs twice.
    """

    element: ScalarType
    extents: tuple[Affine, ...]
    bounded_by: Affine | None = None
    monotonic: bool = False
    injective: bool = False

    def with_values(
        self,
        bounded_by: Operators | int | None = None,
        monotonic: bool = False,
        injective: bool = False,
    ) -> ArrayType:
        """Say what holds for the values of an argument of integers.

        A kernel may rely on it, as for the bounds of a loop; calls check it, and nothing
        else: columns that repeat in a row of a sparse matrix are entries like others.

        Example:
            >>> starts = i32[n + 1].with_values(bounded_by=e + 1, monotonic=True)
        """
        bound = None if bounded_by is None else to_affine(bounded_by)
        if self.element.is_float:
            raise EspalierError(f"expects integers with such values, but got {self.element.name}")
        if bound is not None and bound.number is None:
            rest = bound - bound.constant
            if not isinstance(rest.atom, Size):
                raise EspalierError(
                    f"expects a number, or a size plus a number, as bound, but got {bounded_by}"
                )
        if injective and bound is None:
            raise EspalierError("expects a bound of values that are different, but got none")
        if monotonic and len(self.extents) != 1:
            raise EspalierError(
                f"expects monotonic values in 1 dimension, but got {len(self.extents)}"
            )
        return replace(self, bounded_by=bound, monotonic=monotonic, injective=injective)


f64 = ScalarType("f64")
f32 = ScalarType("f32")
f16 = ScalarType("f16")
bf16 = ScalarType("bf16")
i64 = ScalarType("i64")
i32 = ScalarType("i32")
i16 = ScalarType("i16")
i8 = ScalarType("i8")


def sizes(names: str) -> tuple[Size, ...]:
    """Return one size per name, for the shapes and loops of kernels.

    Example:
        >>> m, n = sizes("m n")
    """
    expect("names of sizes in one string", names, str)
    for name in names.split():
        if not name.isidentifier() or not name.isascii():
            raise EspalierError(f"expects names of sizes, but got '{name}'")
    return tuple(Size(name) for name in names.split())


def label(name: str) -> None:
    """Name the computation of the next statement of a kernel."""
    raise EspalierError(f"expects label '{name}' inside a kernel")


def local(type: ArrayType) -> np.ndarray:
    """Declare an array that lives while the kernel runs; its elements are undefined."""
    raise EspalierError("expects a local array inside a kernel")
