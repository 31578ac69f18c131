"""Compiled functions."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from espalier.arrays import (
    TensorInfo,
    allocate,
    as_array,
    check_array,
    check_output,
    check_overlap,
    check_symbols,
    check_threads,
)
from espalier.errors import ArgumentError, naming, path_text


class Program(Protocol):
    """What a function needs from the compiled program; checked arrays only."""

    @property
    def inputs(self) -> list[TensorInfo]:
        """The inputs, in order."""

    @property
    def outputs(self) -> list[TensorInfo]:
        """The outputs, in order."""

    @property
    def kernels(self) -> int:
        """The number of kernels."""

    @property
    def compile_seconds(self) -> float:
        """How long compilation took, perhaps in an earlier process."""

    @property
    def cached(self) -> bool:
        """Whether the program came from the cache."""

    @property
    def optimization(self) -> str:
        """What optimization did, as JSON; empty if there was none."""

    def plan(self, shapes: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the outputs' shapes for shapes of the inputs."""

    def run(self, values: dict[str, object]) -> tuple[np.ndarray, ...] | None:
        """Run on arrays by name; return None if these are not taken as they are."""

    def bind(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> Callable[[], None]:
        """Return a function that runs on the inputs and writes the outputs."""

    def set_num_threads(self, count: int) -> None:
        """Set the number of threads of later runs."""

    def save(self, path: str) -> None:
        """Write a shared library or an object and, beside it, its C header."""


class Function:
    """A compiled function of NumPy arrays or DLPack tensors.

    Example:
        >>> f = espalier.compile("model.onnx")
        >>> y = f(x=np.zeros([1, 3, 224, 224], np.float32))
    """

    def __init__(
        self,
        program: Program,
        bound: Mapping[str, np.ndarray] | None = None,
        sparsity: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Wrap a program.

        Arguments:
            bound: the inputs whose values the program relies on.
            sparsity: what the attribute of this name is.
        """
        self.sparsity = list(sparsity)
        """Where weights were chosen to be sparse (`Options.sparse`), one entry for each operator
        whose weights might be: its `node`, the `density` of the weights, the `choice`, the
        `reason` for it or, if it was measured, `dense_s` and `sparse_s`, the seconds that the
        operator takes both ways, and the `format` that was asked for or the fastest. As JSON
        in a file, it may be the `sparse` of other options."""
        self.program = program
        self.inputs = list(program.inputs)
        self.outputs = list(program.outputs)
        self._names = [info.name for info in self.outputs]
        self._bound = dict(bound or {})

    def __call__(
        self,
        *args: object,
        out: Mapping[str, np.ndarray] | None = None,
        **kwargs: object,
    ) -> np.ndarray | tuple[np.ndarray, ...]:
        """Run on inputs by position or name.

        Arguments:
            out: arrays to write outputs to, by name; the others are allocated.

        Returns the output, or a tuple if there are several.
        """
        if len(args) > len(self.inputs):
            raise ArgumentError(f"expects {len(self.inputs)} arguments, but got {len(args)}")
        named = {info.name: value for info, value in zip(self.inputs, args, strict=False)}
        if twice := set(named) & set(kwargs):
            raise ArgumentError(f"argument '{min(twice)}': expects one value, but got two")
        results = tuple(self.run({**named, **kwargs}, out).values())
        return results[0] if len(results) == 1 else results

    def run(
        self, inputs: Mapping[str, object], out: Mapping[str, np.ndarray] | None = None
    ) -> dict[str, np.ndarray]:
        """Run on inputs by name; return the outputs by name."""
        if out is None and not self._bound and type(inputs) is dict:
            results = self.program.run(inputs)
            if results is not None:
                return dict(zip(self._names, results, strict=True))
        # Each argument is looked at, and what is wrong with it is told.
        return self.bind(inputs, out)()

    def bind(
        self, inputs: Mapping[str, object], out: Mapping[str, np.ndarray] | None = None
    ) -> Callable[[], dict[str, np.ndarray]]:
        """Check arguments once; return a function that runs on them each time it is called.

        It reads the same inputs, and writes and returns the same outputs, every time.
        """
        if out is not None and not isinstance(out, Mapping):
            raise ArgumentError(
                f"expects arrays by name to write outputs to, with names out of {self._names}, "
                f"but got {type(out).__name__}"
            )
        arrays = self._inputs(inputs)
        shapes = self.program.plan([array.shape for array in arrays])
        results = self._outputs(shapes, out or {})
        if out:
            names = [info.name for info in self.inputs]
            given = [(name, result) for name, result in results.items() if name in out]
            check_overlap(list(zip(names, arrays, strict=True)), given)
        run = self.program.bind(arrays, list(results.values()))

        def call() -> dict[str, np.ndarray]:
            run()
            return results

        return call

    def _inputs(self, values: Mapping[str, object]) -> list[np.ndarray]:
        if not isinstance(values, Mapping):
            raise ArgumentError(f"expects arrays by name, but got {type(values).__name__}")
        names = [info.name for info in self.inputs]
        for name in values:
            if name not in names:
                raise ArgumentError(f"expects arguments out of {names}, but got '{name}'")
        arrays = []
        for info in self.inputs:
            if info.name not in values:
                raise ArgumentError(f"argument '{info.name}': expects an array, but it is missing")
            array = as_array(info.name, values[info.name])
            check_array(info, array)
            bound = self._bound.get(info.name)
            if bound is not None and not np.array_equal(array, bound):
                raise ArgumentError(
                    f"argument '{info.name}': expects the value that the program was "
                    f"compiled for, {bound.tolist()}, but got {array.tolist()}"
                )
            arrays.append(array)
        check_symbols(self.inputs, arrays)
        return arrays

    def _outputs(
        self, shapes: Sequence[Sequence[int]], out: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        for name in out:
            if name not in self._names:
                raise ArgumentError(f"expects outputs out of {self._names}, but got '{name}'")
        results = {}
        for info, shape in zip(self.outputs, shapes, strict=True):
            if info.name in out:
                results[info.name] = as_array(info.name, out[info.name])
                check_output(info, results[info.name], shape)
            else:
                results[info.name] = allocate(info, shape)
        return results

    def set_num_threads(self, count: int) -> None:
        """Set the number of threads of later runs."""
        check_threads(count)
        self.program.set_num_threads(count)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file, and its C header beside it.

        Arguments:
            path: ends in `.so` for a shared library, or in `.o` for an object, which is
                linked with libm and, unless compiled without threads, libomp.so.5.
        """
        with naming(path):
            self.program.save(path_text(path))

    @property
    def kernels(self) -> int:
        """The number of kernels."""
        return self.program.kernels

    @property
    def compile_seconds(self) -> float:
        """How long compilation took, perhaps in an earlier process."""
        return self.program.compile_seconds

    @property
    def cached(self) -> bool:
        """Whether the program came from the cache."""
        return self.program.cached

    @property
    def optimization(self) -> dict[str, Any]:
        """What optimization did, perhaps in an earlier process; empty if there was none.

        `result` is "original" or "optimized", and `reason` says why. `substitutions` are
        the rules, how often each was applied and what that was predicted to gain;
        `checks` are the conditions on sizes under which the program runs the result.
        Seconds are predicted (`kernels_before_s`, `kernels_after_s`: the sum over all
        kernels) and measured (`measured_before_s`, `measured_after_s`); `search_s` is the
        time of the search, without `measuring_s`.
        """
        return json.loads(self.program.optimization or "{}")

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<espalier.Function ({inputs}) -> ({outputs})>"
