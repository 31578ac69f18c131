"""What trying one candidate costs when a network is tuned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from espalier import _espalier
from espalier.compiler import Model, Options, given_options, load_module
from espalier.errors import EspalierError, naming


@dataclass(frozen=True)
class KernelPath:
    """What trying one candidate of a kernel costs, in seconds of processor time.

    Arguments:
        name: what the program calls the kernel.
        steps: their medians by name, in their order.
        seconds: the median of all together, but for `run`.
        reason: why there is no candidate; empty if there is one.
    """

    name: str
    steps: dict[str, float]
    seconds: float
    reason: str


def bench_path(
    model: Model,
    *,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    repeats: int = 20,
    lengths: Sequence[int] = (),
    options: Options | None = None,
) -> list[KernelPath]:
    """Measure the steps of trying one candidate of each kernel, the default schedule.

    Arguments:
        model, dims, shapes: as for `espalier.compile`.
        repeats: how often, of which the medians are returned.
        lengths: what stands for dimensions that are not known, all at once: a candidate
            runs with each. Without them, kernels of unknown sizes are left alone.
        options: for which machine.

    Example:
        >>> for kernel in bench_path("model.onnx", lengths=[1, 128]):
        ...     print(kernel.name, kernel.seconds)
    """
    if repeats < 1 or repeats >= 2**32:
        raise EspalierError(f"argument 'repeats': expects 1 to 2^32 - 1, but got {repeats}")
    for length in lengths:
        if not 0 < length < 2**31:
            raise EspalierError(
                f"argument 'lengths': expects lengths of 1 to 2^31 - 1, but got {length}"
            )
    module, _ = load_module(model, dims, shapes)
    native = given_options(options).native()
    with naming(model):
        found = json.loads(_espalier.bench_path(module, native, repeats, list(lengths)))
    return [KernelPath(**(kernel | {"steps": dict(kernel["steps"])})) for kernel in found]
