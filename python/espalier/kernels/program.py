"""Compiled kernels: arrays of the caller, changed in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from espalier import _espalier
from espalier.arrays import (
    TensorInfo,
    as_array,
    check_array,
    check_output,
    check_overlap,
    check_symbols,
    check_threads,
)
from espalier.compiler import Options, given_options
from espalier.errors import ArgumentError
from espalier.program import NativeProgram


class KernelProgram:
    """A compiled kernel.

    The arrays that it writes are outputs, and are updated in place. A size that
    is an extent of an array need not be given.
    """

    def __init__(self, program: NativeProgram, order: Sequence[str]) -> None:
        """Wrap a program.

        Arguments:
            order: the names of arguments that may be given by position.
        """
        self.program = program
        self.order = list(order)
        self.sizes = {info.name for info in program.inputs if _is_size(info)}

    def __call__(self, *args: object, **kwargs: object) -> None:
        """Run on arrays and scalars, by position or name, and sizes, by name."""
        self.bind(*args, **kwargs)()

    def bind(self, *args: object, **kwargs: object) -> Callable[[], None]:
        """Check arguments as a call does; return a function that runs on them."""
        if len(args) > len(self.order):
            raise ArgumentError(f"expects {len(self.order)} arguments, but got {len(args)}")
        values = dict(zip(self.order, args, strict=False))
        if twice := set(values) & set(kwargs):
            raise ArgumentError(f"argument '{min(twice)}': expects one value, but got two")
        values.update(kwargs)
        infos = [*self.program.inputs, *self.program.outputs]
        names = [info.name for info in infos]
        for name in values:
            if name not in names:
                raise ArgumentError(f"expects arguments out of {names}, but got '{name}'")
        arrays = {info.name: self._argument(info, values) for info in infos if not _is_size(info)}
        for info in infos:
            if _is_size(info):
                arrays[info.name] = np.empty((self._size(info, values, arrays), 0), np.int8)
        inputs = [arrays[info.name] for info in self.program.inputs]
        outputs = [arrays[info.name] for info in self.program.outputs]
        check_symbols(infos, [arrays[name] for name in names])
        shapes = self.program.plan([array.shape for array in inputs])
        for info, array, shape in zip(self.program.outputs, outputs, shapes, strict=True):
            check_output(info, array, shape)
        number = len(inputs)
        check_overlap(
            list(zip(names[:number], inputs, strict=True)),
            list(zip(names[number:], outputs, strict=True)),
        )
        return self.program.bind(inputs, outputs)

    def _argument(self, info: TensorInfo, values: dict[str, object]) -> np.ndarray:
        """Return an array or a scalar as the program takes it."""
        if info.name not in values:
            raise ArgumentError(f"argument '{info.name}': expects a value, but it is missing")
        value = values[info.name]
        if not info.shape and isinstance(value, int | float | np.generic):
            return _scalar(info, value)
        array = as_array(info.name, value)
        check_array(info, array)
        return array

    def _size(
        self, info: TensorInfo, values: dict[str, object], arrays: dict[str, np.ndarray]
    ) -> int:
        """Return a size: as given, or as the extent of an array."""
        if info.name in values:
            value = values[info.name]
            if not isinstance(value, int | np.integer) or not 0 <= value < 2**63:
                raise ArgumentError(
                    f"size '{info.name}': expects a number from 0 to 2^63 - 1, but got {value!r}"
                )
            return int(value)
        for other in [*self.program.inputs, *self.program.outputs]:
            if info.name in other.shape and not _is_size(other):
                return arrays[other.name].shape[other.shape.index(info.name)]
        raise ArgumentError(f"size '{info.name}': expects a number, but it is missing")

    def set_num_threads(self, count: int) -> None:
        """Set the number of threads of later runs."""
        check_threads(count)
        self.program.set_num_threads(count)


def _is_size(info: TensorInfo) -> bool:
    """Say whether an input only carries a number, as its first extent."""
    return info.shape == (info.name, 0)


def _scalar(info: TensorInfo, value: object) -> np.ndarray:
    """Return a number as an array of rank 0."""
    result = np.array(value)
    if not np.can_cast(result.dtype, info.dtype, "same_kind"):
        raise ArgumentError(
            f"argument '{info.name}': expects a number of type {info.dtype}, but got {value!r}"
        )
    with np.errstate(over="ignore"):
        converted = result.astype(info.dtype)
    if info.dtype.kind in "iu" and converted != result:
        raise ArgumentError(
            f"argument '{info.name}': expects a number of type {info.dtype}, but got {value!r}"
        )
    return converted


def compile_kernel(
    module: _espalier.Module, order: Sequence[str], options: Options | None = None
) -> KernelProgram:
    """Compile a module that is one kernel; the module is changed on the way.

    Arguments:
        order: the names of arguments that may be given by position.
    """
    options = replace(given_options(options), optimize="none")
    program = _espalier.compile(module, options.native())
    return KernelProgram(NativeProgram(program), order)
