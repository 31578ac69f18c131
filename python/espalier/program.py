"""The extension's programs in terms of NumPy arrays."""

from collections.abc import Callable, Sequence

import numpy as np

from espalier import _espalier
from espalier.arrays import TensorInfo
from espalier.buffers import to_buffer
from espalier.dtypes import RUNTIME_DTYPES
from espalier.errors import ArgumentError


def _infos(described: Sequence[tuple[str, str, list[int | str | None]]]) -> list[TensorInfo]:
    """Return tensor infos; a dynamic dimension without a name is its own."""
    return [
        TensorInfo(
            name,
            RUNTIME_DTYPES[dtype],
            tuple(f"{name}.{axis}" if d is None else d for axis, d in enumerate(shape)),
        )
        for name, dtype, shape in described
    ]


def check_threads(count: int) -> None:
    """Raise an error if no program may run on `count` threads."""
    if not 1 <= count <= _espalier.MAX_THREADS:
        raise ArgumentError(f"expects 1 to {_espalier.MAX_THREADS} threads, but got {count}")


class NativeProgram:
    """A compiled program in this process; implements `function.Program`."""

    def __init__(self, program: _espalier.Program) -> None:
        self._program = program
        self.inputs = _infos(program.inputs)
        self.outputs = _infos(program.outputs)
        self.kernels: int = program.kernels
        self.compile_seconds: float = program.compile_seconds
        self.cached: bool = program.cached
        self.optimization: str = program.optimization

    def plan(self, shapes: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the outputs' shapes for shapes of the inputs."""
        return self._program.plan([list(shape) for shape in shapes])

    def bind(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> Callable[[], None]:
        """Return a function that runs on the inputs and writes the outputs."""
        return self._program.bind([to_buffer(a) for a in inputs], [to_buffer(a) for a in outputs])

    def set_num_threads(self, count: int) -> None:
        """Set the number of threads of later runs."""
        self._program.set_num_threads(count)

    def save(self, path: str) -> None:
        """Write a shared library or an object and, beside it, its C header."""
        self._program.save(path)
