"""Many seeds, in processes that may crash or hang."""

import os
import pickle
import resource
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import watched
from espalier.errors import EspalierError
from espalier.testing.pool import run_isolated
from random_models.compiling import compile_sample
from random_models.generate import (
    Sample,
    generate,
    generate_attention,
    generate_convolutions,
    generate_one,
    generate_tokens,
)
from random_models.judge import Verdict, judge

CPU_SECONDS = 60
WALL_SECONDS = 1800


def _limit_time() -> None:
    """End this process if the next sample takes too much processor time."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (spent + CPU_SECONDS, hard))


def load(name: str) -> Sample | None:
    """Return a sample: of a seed, of an operator and a seed ("Add:3"), or from a file.

    Those of "convolutions" have choices for their algorithms, those of "attention" a
    machine with small caches, those of "tokens" images that become rows.
    """
    if name.endswith(".pickle"):
        return pickle.loads(Path(name).read_bytes())
    operator, _, seed = name.rpartition(":")
    if operator == "convolutions":
        return generate_convolutions(int(seed))
    if operator == "attention":
        return generate_attention(int(seed))
    if operator == "tokens":
        return generate_tokens(int(seed))
    return generate_one(operator, int(seed)) if operator else generate(int(seed))


def judge_one(name: str) -> Verdict:
    """Judge one sample."""
    _limit_time()
    try:
        sample = load(name)
        return judge(sample) if sample else Verdict("failed", "no attempt gives a model")
    except Exception:
        return Verdict("failed", traceback.format_exc())


def watch(name: str) -> Verdict:
    """Run one sample under Valgrind, on its inputs; it is compared with nothing."""
    sample = load(name)
    if sample is None:
        return Verdict("failed", "no attempt gives a model")
    try:
        function = compile_sample(sample, watched.CPU)
    except EspalierError as error:
        return Verdict("refused", str(error).splitlines()[-1].strip())
    inputs = {info.name: sample.inputs[info.name] for info in function.inputs}
    with tempfile.TemporaryDirectory() as folder:
        program = watched.build(function, Path(folder))
        try:
            for tool in watched.TOOLS:
                if found := watched.watch(program, inputs, tool):
                    return Verdict("failed", f"{tool}: {found}")
        except watched.UnknownInstruction as error:
            return Verdict("refused", str(error))
    return Verdict("passed")


def check_all(
    names: Sequence[str], jobs: int = 1, check: Callable[[str], Verdict] = judge_one
) -> Iterator[tuple[str, Verdict]]:
    """Check samples; yield each name and verdict, in the order of completion."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for name, result in run_isolated(check, names, jobs, WALL_SECONDS):
        yield name, result if isinstance(result, Verdict) else Verdict("failed", result)
