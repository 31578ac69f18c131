"""Where the time of a compiled program goes."""

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from espalier import _espalier
from espalier.compiler import (
    Model,
    Options,
    compile_module,
    given_options,
    is_mlir,
    load_module,
    optimize_module,
    shapes_of,
)
from espalier.errors import naming
from espalier.machine import Machine
from espalier.sparsity import choose_sparse
from espalier.testing.timing import measure

OUTPUT = "kernel_profile"
"""The output that the compiler adds: nanoseconds, operations and bytes of each call."""


@dataclass
class KernelTime:
    """What one call of a kernel takes.

    Arguments:
        kernel: its name, by which scripts find it.
        operators: what it is made of.
        nodes: the nodes of the model that it is called for.
        ms: milliseconds, the lower quartile of several runs.
        operations: floating-point operations, each counted as one; None where values
            that the kernel reads decide over them.
        bytes: of all arrays that it is called with.
    """

    kernel: str
    operators: list[str]
    nodes: list[str]
    ms: float
    operations: int | None
    bytes: int

    def bound_ms(self, machine: Machine) -> float:
        """Return the least time for what it does."""
        return machine.bound_ms(self.operations or 0, self.bytes)


def profile(
    model: Model,
    inputs: Mapping[str, np.ndarray],
    *,
    dynamic: bool = False,
    dims: Mapping[str, int] | None = None,
    options: Options | None = None,
    seconds: float = 2.0,
    threads: int = 1,
) -> list[KernelTime]:
    """Run a model on inputs and return what each of its kernels takes, in their order.

    Arguments:
        inputs: arrays by name; their shapes are compiled in.
        dynamic: keep symbolic dimensions instead.
        dims: numbers for symbolic dimensions, by name.
        seconds: how long to repeat.
    """
    shapes = None if dynamic or is_mlir(model) else shapes_of(inputs)
    module, bound = load_module(model, dims, shapes, inputs)
    options = given_options(options)
    with naming(model):
        if options.optimize != "none":
            optimize_module(module, options)
        layers = choose_sparse(module, options)
        _espalier.lower(module, "poly", options.native())
        calls = json.loads(_espalier.profile(module))
        function = compile_module(module, bound, options, layers=layers)
    function.set_num_threads(threads)
    run = function.bind(inputs)
    rows: list[np.ndarray] = []
    timing = measure(lambda: rows.append(run()[OUTPUT].copy()), seconds)
    result = []
    for call, samples in zip(calls, np.stack(rows[timing.warmup :], axis=1), strict=True):
        times = samples[:, 0].tolist()
        operations, size = map(int, samples[0, 1:])
        quartile = statistics.quantiles(times, n=4)[0]
        result.append(
            KernelTime(
                call["kernel"],
                call["operators"],
                call["nodes"],
                quartile / 1e6,
                None if operations < 0 else operations,
                size,
            )
        )
    return result


def format_profile(times: list[KernelTime], machine: Machine) -> str:
    """Return a table of kernels, the slowest first, beside what the machine could reach."""
    total = sum(time.ms for time in times) or 1.0
    lines = [f"{'ms':>9} {'%':>5} {'GFLOP/s':>8} {'GB/s':>6} {'of bound':>8}  kernel: nodes"]
    for time in sorted(times, key=lambda time: -time.ms):
        rate = 1e-6 / max(time.ms, 1e-6)
        gflops = "-" if time.operations is None else f"{time.operations * rate:.1f}"
        lines.append(
            f"{time.ms:9.4f} {100 * time.ms / total:5.1f} {gflops:>8} {time.bytes * rate:6.1f} "
            f"{time.bound_ms(machine) / max(time.ms, 1e-6):8.2f}  "
            f"{time.kernel}: {', '.join(time.nodes)}"
        )
    bound = sum(time.bound_ms(machine) for time in times)
    lines.append(f"{total:9.4f} all kernels; {bound:.4f} at the machine's {machine}")
    return "\n".join(lines)
