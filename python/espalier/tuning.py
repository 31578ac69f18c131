"""Faster schedules, found by measuring."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from espalier import _espalier
from espalier.compiler import Model, Options, given_options, load_module
from espalier.errors import EspalierError, naming
from espalier.files import write_text


@dataclass(frozen=True)
class TuneProgress:
    """How far a search has come.

    Arguments:
        trials: candidates that were tried.
        failures: those of them that were refused, failed or were wrong.
        elapsed_s: seconds of the search.
        original_s: seconds of all calls of kernels by default.
        best_s: the same with the best candidates.
    """

    trials: int
    failures: int
    elapsed_s: float
    original_s: float
    best_s: float


@dataclass(frozen=True)
class TunedKernel:
    """What was found for one kernel.

    Arguments:
        name: what the program calls it.
        calls: how often the program calls it.
        original_s: seconds of one call by default.
        best_s: the same with the script.
        trials: candidates that were tried, also in earlier searches.
        failures: those of them that were refused, failed or were wrong.
        rule: how the script came from the default schedule; empty if that is kept.
        reason: why it was not tuned; empty if it was.
    """

    name: str
    calls: int
    original_s: float
    best_s: float
    trials: int
    failures: int
    rule: str
    reason: str


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Arguments:
        script: a transform script for the kernels that are faster with it, which
            `espalier.compile` takes as a file.
        kernels: all kernels, in the order of the program.
        model_fault: why candidates were not ranked by the model of costs; empty if
            they were, or if the search has none.
    """

    script: str
    kernels: list[TunedKernel]
    model_fault: str = ""

    @property
    def original_s(self) -> float:
        """Seconds of all calls of kernels by default."""
        return sum(kernel.calls * kernel.original_s for kernel in self.kernels)

    @property
    def best_s(self) -> float:
        """Seconds of all calls of kernels with the script."""
        return sum(kernel.calls * kernel.best_s for kernel in self.kernels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the script to a file."""
        write_text(path, self.script)


SEARCHES = ("random", "evolution", "drafts", "model")


def find_model_library() -> str:
    """Return where XGBoost's shared library is; empty if it is not installed."""
    package = find_spec("xgboost")
    for folder in (package.submodule_search_locations or []) if package else []:
        library = Path(folder) / "lib" / "libxgboost.so"
        if library.exists():
            return str(library)
    return ""


@dataclass(frozen=True)
class JudgedKernel:
    """How well costs are predicted of the candidates of one kernel.

    Arguments:
        candidates: those that were measured.
        model: rank correlation with their times of the model, trained on all other
            kernels.
        estimate: the same of the estimate, which nothing is trained for.
    """

    candidates: int
    model: float
    estimate: float


def judge_model(records: str | os.PathLike[str]) -> list[JudgedKernel]:
    """Return how well costs are predicted of kernels that the model never saw.

    Each kernel of a file of records is judged by a model that is trained on all
    others; kernels of which few candidates were measured are left out.

    Example:
        >>> for kernel in espalier.tuning.judge_model("tuning.sqlite"):
        ...     print(kernel.model)
    """
    library = find_model_library()
    if not library:
        raise EspalierError("expects XGBoost, but it is not installed: pip install xgboost-cpu")
    found = json.loads(_espalier.judge_model(os.fspath(records), library))
    return [JudgedKernel(**kernel) for kernel in found]


def tune(
    model: Model,
    *,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    trials: int = 64,
    seconds: float = 0.0,
    seed: int = 0,
    search: str = "model",
    options: Options | None = None,
    progress: Callable[[TuneProgress], None] | None = None,
) -> Tuned:
    """Look for better schedules of a model's kernels, by measuring candidates.

    Every candidate is checked as any script is, runs in a process of its own, and
    its results are compared with those of the default schedule. Shapes must be known:
    fix symbolic dimensions with `dims` or `shapes`.

    Arguments:
        model, dims, shapes: as for `espalier.compile`.
        trials: candidates of all kernels together.
        seconds: after which no candidate is begun; 0 for no limit.
        seed: of the choices that are made at random.
        search: how candidates are chosen, one of `SEARCHES`: any; descendants of the
            fastest; of many such, those that an estimate ranks first; of these, those
            that a model of costs does. The model is of XGBoost; where that is not
            installed, the estimate ranks alone.
        options: for which machine; `run_threads` is the number of threads. In the
            file `records` all trials are kept, and what won. What it has of these
            kernels is not tried again: a search that was stopped goes on.
        progress: called after each trial.

    Example:
        >>> tuned = espalier.tune("model.onnx", trials=200)
        >>> f = espalier.compile("model.onnx")  # as the records say
        >>> tuned.save("fast.mlir")
        >>> f = espalier.compile("model.onnx", schedule="fast.mlir")  # anywhere
    """
    if trials < 0 or trials >= 2**32:
        raise EspalierError(f"argument 'trials': expects 0 to 2^32 - 1, but got {trials}")
    if not 0 <= seconds < float("inf"):
        raise EspalierError(f"argument 'seconds': expects 0 or more, but got {seconds}")
    if not 0 <= seed < 2**64:
        raise EspalierError(f"argument 'seed': expects 0 to 2^64 - 1, but got {seed}")
    if search not in SEARCHES:
        raise EspalierError(
            f"argument 'search': expects one of {', '.join(SEARCHES)}, but got {search!r}"
        )
    options = given_options(options)
    if options.sparse != "off":
        raise EspalierError(
            'expects sparse="off" to tune, because kernels are measured on made-up numbers, '
            f'which are no entries of weights, but got "{options.sparse}"'
        )
    report = None if progress is None else lambda *now: progress(TuneProgress(*now))
    module, _ = load_module(model, dims, shapes)
    if options.records is not None:
        Path(options.records).parent.mkdir(parents=True, exist_ok=True)
    with naming(model):
        found = json.loads(
            _espalier.tune(
                module,
                options.native(),
                trials,
                seconds,
                seed,
                search,
                find_model_library(),
                report,
            )
        )
    kernels = [TunedKernel(**kernel) for kernel in found["kernels"]]
    return Tuned(found["script"], kernels, found["model_fault"])
