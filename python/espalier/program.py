"""The extension's programs in terms of NumPy arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from espalier import _espalier
from espalier.arrays import TensorInfo
from espalier.buffers import to_buffer
from espalier.dtypes import RUNTIME_DTYPES


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

    def run(self, values: dict[str, object]) -> tuple[np.ndarray, ...] | None:
        """Run on arrays by name; return None if these are not taken as they are."""
        return self._program.run(values)

    def run_structures(
        self,
        linearizer: _espalier.Linearizer,
        numbering: tuple[Any, ...],
        places: Sequence[int],
        values: dict[str, np.ndarray],
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray] | None:
        """Number structures and run on the numbers; return None as `run` does.

        Arguments:
            numbering: what `Linearizer.run` takes.
            places: of the numbers among the inputs, or -1; `values` are the other inputs.

        Returns the results, and which of the caller's nodes each is.
        """
        return linearizer.call(*numbering, self._program, places, values)

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
