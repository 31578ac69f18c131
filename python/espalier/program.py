"""Compiled programs on NumPy arrays."""

import os
from collections.abc import Callable, Sequence

import numpy as np

from espalier import _espalier
from espalier.arrays import TensorInfo
from espalier.dtypes import RUNTIME_DTYPES, RUNTIME_NAMES


class NativeProgram:
    """Code of this machine: the program behind a `Function`."""

    def __init__(self, program: _espalier.Program) -> None:
        """Wrap a program of the extension."""
        self._program = program
        self.inputs = [_info(*entry) for entry in program.inputs]
        self.outputs = [_info(*entry) for entry in program.outputs]

    @property
    def kernels(self) -> int:
        """The number of kernels."""
        return self._program.kernels

    @property
    def compile_seconds(self) -> float:
        """How long compilation took; 0 from the cache."""
        return self._program.compile_seconds

    def plan(self, shapes: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the outputs' shapes for shapes of the inputs."""
        return self._program.plan([list(shape) for shape in shapes])

    def run(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Run on contiguous inputs and write contiguous outputs."""
        self._program.run([_bytes(x) for x in inputs], [_bytes(y) for y in outputs])

    def set_num_threads(self, count: int) -> None:
        """Set the number of threads of later runs."""
        self._program.set_num_threads(count)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a shared library and, beside it, its C header."""
        self._program.save(os.fspath(path))


def compile_native(
    module: _espalier.Module,
    *,
    cpu: str = "",
    features: str = "",
    threads: bool = True,
    cache: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> NativeProgram:
    """Compile a module; the module is changed on the way.

    Arguments:
        cpu: LLVM's name of the CPU; empty for the one at hand.
        features: differences to it, such as "-avx512f".
        threads: whether kernels may use several threads.
        cache: the folder of compiled programs; None for no cache.
        progress: called with the number of finished and of all parts.
    """
    return NativeProgram(
        _espalier.compile(
            module,
            cpu=cpu,
            features=features,
            threads=threads,
            cache_dir="" if cache is None else os.fspath(cache),
            progress=progress,
        )
    )


def _info(name: str, dtype: str, shape: Sequence[int | str | None]) -> TensorInfo:
    # Equal names must have equal extents: an extent without a name gets its own.
    extents = tuple(
        f"{name}.{axis}" if extent is None else extent for axis, extent in enumerate(shape)
    )
    return TensorInfo(name, RUNTIME_DTYPES[dtype], extents)


def _bytes(array: np.ndarray) -> tuple[str, list[int], np.ndarray]:
    return RUNTIME_NAMES[array.dtype], list(array.shape), array.reshape(-1).view(np.uint8)
