"""Random choices for the statements of a model, before kernels are formed of them."""

import re
from collections.abc import Iterator

import numpy as np

from espalier import _espalier
from espalier.errors import CompileError

SCRIPT = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{
    %0 = transform.poly.computation @{compute} of %module : (!transform.any_op) -> !transform.any_op
    {command} : !transform.any_op
    transform.yield
  }}
}}
"""
KERNEL = re.compile(r"poly\.kernel private @(\w+)")
COMPUTE = re.compile(r"poly\.compute @(\w+).* reads\((.*?)\) writes\((.*?)\)( reduction add)?")
MEMREF = re.compile(r"memref<([^>]*)>")


def choose(module: _espalier.Module, seed: int, winograd: bool) -> list[str]:
    """Choose layouts of buffers, algorithms of sums, and where kernels end.

    Return what is accepted.
    """
    text = str(module)
    commands = [
        *_commands(np.random.default_rng(seed), text, winograd),
        *_splits(np.random.default_rng([seed, 1]), text),
    ]
    accepted = []
    for compute, command in commands:
        try:
            _espalier.transform(module, SCRIPT.format(compute=compute, command=command))
        except CompileError:
            continue
        accepted.append(f"{command} of @{compute}")
    return accepted


def _computations(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Return the kernel and the line of each computation."""
    kernel = ""
    for line in text.splitlines():
        if found := KERNEL.search(line):
            kernel = found[1]
        if found := COMPUTE.search(line):
            yield kernel, found


def _splits(rng: np.random.Generator, text: str) -> Iterator[tuple[str, str]]:
    for kernel, found in _computations(text):
        if rng.random() < 0.3:
            yield f"{kernel}::@{found[1]}", "transform.poly.fusion %0 separate"


def _commands(rng: np.random.Generator, text: str, winograd: bool) -> Iterator[tuple[str, str]]:
    for kernel, found in _computations(text):
        name, reads, writes, is_sum = found.groups()
        compute = f"{kernel}::@{name}"
        if is_sum and rng.random() < 0.5:
            # Only convolutions have two dimensions of taps beside the channels.
            fast = winograd and kernel.startswith("conv") and rng.random() < 0.7
            yield compute, f"transform.poly.algorithm %0 {'winograd' if fast else 'direct'}"
        places = [f" read {number}" for number in range(len(MEMREF.findall(reads)))]
        for place, shape in zip(["", *places], MEMREF.findall(f"{writes}, {reads}"), strict=True):
            if rng.random() < 0.4:
                layout = _layout(rng, shape.count("x"))
                yield compute, f"transform.poly.buffer_layout %0{place} {layout}"


def _layout(rng: np.random.Generator, rank: int) -> str:
    """Return places of indices in any order, some cut into blocks."""
    parts = []
    for dim in range(rank):
        if rng.random() < 0.4:
            size = int(rng.choice([2, 3, 4, 8, 16]))
            parts += [f"d{dim} floordiv {size}", f"d{dim} mod {size}"]
        else:
            parts.append(f"d{dim}")
    order = rng.permutation(len(parts))
    dims = ", ".join(f"d{dim}" for dim in range(rank))
    return f"affine_map<({dims}) -> ({', '.join(parts[i] for i in order)})>"
