"""Arrays at the boundary of a compiled function: every rule, checked.

A message names the argument, the rule and what was given.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from espalier import _espalier
from espalier.errors import ArgumentError

MAX_BYTES = _espalier.MAX_OUTPUT_BYTES
"""Larger outputs are refused before anything is allocated."""

CACHE_LINE = _espalier.CACHE_LINE
"""Bytes; a vector that crosses a line takes twice as long to store."""


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a compiled function.

    Arguments:
        shape: a number per dimension, or the name of a symbolic one.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int | str, ...]

    def __str__(self) -> str:
        shape = ", ".join(str(extent) for extent in self.shape)
        return f"{self.name}: {self.dtype}[{shape}]"


def expect_no_mask(what: str, value: object) -> None:
    """Refuse an array with a mask: a program would compute with what is masked."""
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(
            f"{what}: expects an array without a mask, but got {type(value).__name__}; "
            "use its method 'filled'"
        )


def as_array(name: str, value: object) -> np.ndarray:
    """Return an argument as an array, without copying arrays and DLPack tensors."""
    expect_no_mask(f"argument '{name}'", value)
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)  # type: ignore[arg-type]
        # What another library's method raises may be anything.
        except Exception as error:
            if (array := _bfloat16_array(value)) is not None:
                return array
            raise ArgumentError(
                f"argument '{name}': expects a tensor on the CPU, but {error}"
            ) from error
    if isinstance(value, bool | int | float | np.generic):
        raise ArgumentError(
            f"argument '{name}': expects an array, but got {type(value).__name__}; "
            "use numpy.asarray with the element type"
        )
    raise ArgumentError(f"argument '{name}': expects an array, but got {type(value).__name__}")


def _bfloat16_array(value: object) -> np.ndarray | None:
    """Return a DLPack tensor of bfloat16, which NumPy refuses; None for another one."""
    try:
        bits = _espalier.bfloat16_bits(value)
    except Exception:
        return None
    return None if bits is None else bits.view(ml_dtypes.bfloat16)


def check_array(info: TensorInfo, array: np.ndarray) -> None:
    """Check what does not depend on other arguments."""
    what = f"argument '{info.name}'"
    if array.dtype != info.dtype:
        if array.dtype.newbyteorder("=") != info.dtype:
            raise ArgumentError(f"{what}: expects element type {info.dtype}, but got {array.dtype}")
        raise ArgumentError(
            f"{what}: expects {sys.byteorder}-endian elements, but got {array.dtype.str}"
        )
    if array.ndim != len(info.shape):
        raise ArgumentError(
            f"{what}: expects rank {len(info.shape)}, but got shape {list(array.shape)}"
        )
    for axis, (expected, actual) in enumerate(zip(info.shape, array.shape, strict=True)):
        if expected != actual and isinstance(expected, int):
            raise ArgumentError(
                f"{what}: expects extent {expected} at axis {axis}, "
                f"but got shape {list(array.shape)}"
            )
    flags = array.flags
    if not flags.c_contiguous:
        raise ArgumentError(
            f"{what}: expects a C-contiguous array, but got strides {list(array.strides)}; "
            "use numpy.ascontiguousarray"
        )
    if not flags.aligned:
        raise ArgumentError(f"{what}: expects aligned elements, but got an unaligned array")


def check_symbols(infos: Sequence[TensorInfo], arrays: Sequence[np.ndarray]) -> dict[str, int]:
    """Check that symbolic dimensions of one name agree; return their extents."""
    extents: dict[str, int] = {}
    origin: dict[str, str] = {}
    for info, array in zip(infos, arrays, strict=True):
        for expected, actual in zip(info.shape, array.shape, strict=True):
            if not isinstance(expected, str):
                continue
            if extents.setdefault(expected, actual) != actual:
                raise ArgumentError(
                    f"argument '{info.name}': expects extent {extents[expected]} for "
                    f"'{expected}', as in argument '{origin[expected]}', "
                    f"but got shape {list(array.shape)}"
                )
            origin.setdefault(expected, info.name)
    return extents


def check_threads(count: object) -> None:
    """Check a number of threads."""
    is_number = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not is_number or not 1 <= count <= _espalier.MAX_THREADS:
        raise ArgumentError(f"expects 1 to {_espalier.MAX_THREADS} threads, but got {count!r}")


def check_output(info: TensorInfo, array: np.ndarray, shape: Sequence[int]) -> None:
    """Check an array that results are to be written to."""
    check_array(info, array)
    what = f"argument '{info.name}'"
    if list(array.shape) != list(shape):
        raise ArgumentError(f"{what}: expects shape {list(shape)}, but got {list(array.shape)}")
    if not array.flags.writeable:
        raise ArgumentError(f"{what}: expects a writeable array, but got a read-only one")


def check_overlap(
    inputs: Sequence[tuple[str, np.ndarray]], outputs: Sequence[tuple[str, np.ndarray]]
) -> None:
    """Refuse outputs that share memory with an input or another output."""
    for index, (name, array) in enumerate(outputs):
        for other, memory in [*inputs, *outputs[:index]]:
            if array.size and memory.size and np.may_share_memory(array, memory):
                raise ArgumentError(
                    f"argument '{name}': expects memory of its own, but it overlaps '{other}'"
                )


def allocate(info: TensorInfo, shape: Sequence[int]) -> np.ndarray:
    """Return a new array for an output, whose vectors lie in one cache line each."""
    size = math.prod(shape) * info.dtype.itemsize
    if size > MAX_BYTES or any(extent < 0 for extent in shape):
        raise ArgumentError(
            f"output '{info.name}': expects at most {MAX_BYTES} bytes, but got shape {list(shape)}"
        )
    try:
        memory = np.empty(size + CACHE_LINE, np.uint8)
    except MemoryError as error:
        raise ArgumentError(f"output '{info.name}': no memory for {size} bytes") from error
    begin = -memory.ctypes.data % CACHE_LINE
    return memory[begin : begin + size].view(info.dtype).reshape(tuple(shape))
