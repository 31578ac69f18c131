"""Smaller samples with the same kind of failure."""

import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from random_models.generate import Sample
from random_models.search import check_all


def minimize(sample: Sample, folder: Path) -> Sample:
    """Drop results and nodes, and make values inputs, as long as it fails alike."""
    wanted = _signature(sample, folder)
    progress = True
    while progress:
        progress = False
        for smaller in _candidates(sample):
            if _signature(smaller, folder) == wanted:
                sample, progress = smaller, True
                break
    return sample


def _signature(sample: Sample, folder: Path) -> str:
    """Return how a sample fails, numbers and names left out."""
    path = folder / "candidate.pickle"
    path.write_bytes(pickle.dumps(sample))
    [(_, verdict)] = check_all([str(path)])
    return verdict.kind + re.sub(r"'[^']*'|[-+0-9.e]+|\[[^]]*\]", "", verdict.text)[:40]


def _candidates(sample: Sample) -> Iterator[Sample]:
    if sample.dynamic:
        yield sample.static()
    if len(sample.outputs) > 1:
        yield from (_pruned(replace(sample, outputs=[name])) for name in sample.outputs)
    for number, node in enumerate(sample.nodes):
        if not any(name in sample.outputs for name in node.output):
            yield _cut(sample, number)
    for tensor in sample.constants:
        kept = [t for t in sample.constants if t.name != tensor.name]
        inputs = {**sample.inputs, tensor.name: sample.values[tensor.name]}
        yield replace(sample, constants=kept, inputs=inputs)


def _cut(sample: Sample, number: int) -> Sample:
    """Make the results of a node inputs."""
    node = sample.nodes[number]
    inputs = {**sample.inputs, **{n: sample.values[n] for n in node.output if n}}
    nodes = sample.nodes[:number] + sample.nodes[number + 1 :]
    return _pruned(replace(sample, nodes=nodes, inputs=inputs))


def _pruned(sample: Sample) -> Sample:
    """Drop what no result needs."""
    needed = set(sample.outputs)
    nodes = []
    for node in reversed(sample.nodes):
        if needed & set(node.output):
            nodes.insert(0, node)
            needed |= set(node.input)
    return replace(
        sample,
        nodes=nodes,
        constants=[t for t in sample.constants if t.name in needed],
        inputs={k: v for k, v in sample.inputs.items() if k in needed},
    )
