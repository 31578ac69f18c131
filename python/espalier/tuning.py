"""Faster schedules, found by measuring."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import overload

from espalier import _espalier
from espalier.compiler import Model, Options, given_options, load_module
from espalier.errors import EspalierError, naming
from espalier.files import write_text
from espalier.kernels.kernel import Kernel
from espalier.measured_sizes import Sizes, measure_lengths, measure_sizes
from espalier.ranks import Messenger


@dataclass(frozen=True)
class TuneProgress:
    """How far a search has come.

    Arguments:
        trials: candidates that were tried.
        failures: those of them that were refused, failed or were wrong.
        elapsed_s: seconds of the search.
        original_s: seconds of all calls of kernels by default; of several models their
            sum or geometric mean, by weights.
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
class TunedStatement:
    """A statement for which something else than the default was chosen, before the search.

    Arguments:
        name: what the program calls its kernel at stage `statements`.
        command: what was chosen: the `algorithm` of a sum, or the `fusion` of a result
            with what reads it.
        option: what it was: "direct" or "winograd"; "separate" or "fused".
        original_s: seconds of all calls of kernels before.
        best_s: the same with it.
        is_chosen: whether the script has it.
    """

    name: str
    command: str
    option: str
    original_s: float
    best_s: float
    is_chosen: bool


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Arguments:
        script: a transform script for the kernels that are faster with it, which
            `espalier.compile` takes as a file.
        kernels: all kernels, in the order of the program.
        model_fault: why candidates were not ranked by the model of costs; empty if
            they were, or if the search has none.
        rule_faults: what is wrong with rules, by rule and kernel.
        ranked_by_shipped: whether the trees that Espalier ships with ranked candidates
            in place of the model.
        statements: choices above kernels that were compared.
        rank_faults: which ranks could not measure, or were lost, and why.
    """

    script: str
    kernels: list[TunedKernel]
    model_fault: str = ""
    rule_faults: Sequence[str] = ()
    ranked_by_shipped: bool = False
    statements: Sequence[TunedStatement] = ()
    rank_faults: Sequence[str] = ()

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


Rule = Callable[[str, str], Iterable[str]]
"""A function from the texts of a kernel and of its default schedule's script to scripts."""

RULES = (
    *("default", "order", "lanes", "parts", "blocks", "fetch"),
    *("skew", "wavefront", "rfactor", "sizes"),
)
SEARCHES = ("random", "evolution", "drafts", "model")
OBJECTIVES = ("sum", "target", "geomean")


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
        task: the kernel, and how it is measured.
        shipped: the same of the trees that Espalier ships with for the machine, which
            may have seen the kernel; 0 without any.
        measured: the speeds of the candidates, of that of the fastest.
        predicted: what the model says of each.
    """

    candidates: int
    model: float
    estimate: float
    task: str = ""
    shipped: float = 0.0
    measured: Sequence[float] = ()
    predicted: Sequence[float] = ()


def _expect_library() -> str:
    library = find_model_library()
    if not library:
        raise EspalierError("expects XGBoost, but it is not installed: pip install xgboost-cpu")
    return library


def train_trees(records: str | os.PathLike[str]) -> str:
    """Train the model of costs by a file of records; return what it has learned, in JSON.

    Such files are what Espalier ships with, in `lib/Tuning/Models`.

    Example:
        >>> trees = espalier.tuning.train_trees("tuning.sqlite")
    """
    return _espalier.train_trees(os.fspath(records), _expect_library())


def judge_model(records: str | os.PathLike[str]) -> list[JudgedKernel]:
    """Return how well costs are predicted of kernels that the model never saw.

    Each kernel of a file of records is judged by a model that is trained on all
    others; kernels of which few candidates were measured are left out.

    Example:
        >>> for kernel in espalier.tuning.judge_model("tuning.sqlite"):
        ...     print(kernel.model)
    """
    found = json.loads(_espalier.judge_model(os.fspath(records), _expect_library()))
    return [JudgedKernel(**kernel) for kernel in found]


def _for_each(name: str, given: float | Sequence[float], count: int) -> list[float]:
    """Return a number for each model; one that is given alone is that of all."""
    numbers = [float(one) for one in given] if isinstance(given, Sequence) else [given] * count
    if len(numbers) != count:
        raise EspalierError(
            f"argument '{name}': expects a number for each of {count} models, but got "
            f"{len(numbers)}"
        )
    for number in numbers:
        if not 0 <= number < float("inf"):
            raise EspalierError(f"argument '{name}': expects 0 or more, but got {number}")
    return numbers


@overload
def tune(model: Model | Kernel, **arguments: object) -> Tuned: ...
@overload
def tune(model: Sequence[Model | Kernel], **arguments: object) -> list[Tuned]: ...
def tune(
    model: Model | Kernel | Sequence[Model | Kernel],
    *,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    trials: int = 64,
    seconds: float = 0.0,
    patience: int = 0,
    target_s: float | Sequence[float] = 0.0,
    weights: float | Sequence[float] = 1.0,
    objective: str | None = None,
    seed: int = 0,
    search: str = "model",
    algorithms: bool = True,
    rules: Sequence[Rule] = (),
    lengths: Mapping[int, float] | Sequence[int] = (),
    sizes: Sequence[Sizes] = (),
    options: Options | None = None,
    progress: Callable[[TuneProgress], None] | None = None,
    messenger: Messenger | None = None,
) -> Tuned | list[Tuned]:
    """Look for better schedules of the kernels of a model, or several, by measuring candidates.

    Every candidate is checked as any script is, runs in a process of its own, and
    its results are compared with those of the default schedule. Symbolic dimensions are
    fixed with `dims` or `shapes`, or take each of `lengths` or of `sizes`.

    Kernels that several models have are searched for once; there is a result for each.

    Arguments:
        model, dims, shapes: as for `espalier.compile`; of several models, for each. A
            kernel is a model, too: what is compiled of it has the schedule that won, and
            a `Schedule` of it takes the script.
        trials: candidates of all kernels together.
        seconds: after which no candidate is begun; 0 for no limit.
        patience: after how many trials that found nothing faster the search of a
            kernel ends; 0 for never.
        target_s: seconds of all calls of kernels that are good enough, for each model;
            once all reach theirs, the search ends; 0 for none.
        weights: how much the time of each model counts.
        objective: what becomes small of the seconds of models, one of `OBJECTIVES`: their
            sum; that of those that have not reached their target; or the geometric mean,
            so that speedups count. By default the target, if there is one, else the sum.
        seed: of the choices that are made at random.
        search: how candidates are chosen, one of `SEARCHES`: any; descendants of the
            fastest; of many such, those that an estimate ranks first; of these, those
            that a model of costs does. The model is of XGBoost; where that is not
            installed, the estimate ranks alone.
        algorithms: whether convolutions are computed in other ways, too, and kernels
            split and fused, where the program's kernels are faster so by default.
        rules: functions that derive more scripts to try: each gets the texts of a
            kernel and of the script of its default schedule, "" for the order of the
            program, and returns scripts whose choices have lists of options. What
            such a function raises is in `Tuned.rule_faults`.
        lengths: what stands for dimensions that are not known, all at once, with weights
            or without: a kernel runs with each, and the geometric mean of its times
            counts. Without them, kernels of unknown sizes are left alone.
        sizes: instead of lengths, numbers for dimensions by their names, for all of
            them at once; each with a weight or without.
        options: for which machine; `run_threads` is the number of threads. In the
            file `records` all trials are kept, and what won. What it has of these
            kernels is not tried again: a search that was stopped goes on.
        progress: called after each trial.
        messenger: of several processes, of which this is rank 0, the way to the others:
            they call `espalier.ranks.measure_for_ranks`, and measure all candidates.

    Example:
        >>> tuned = espalier.tune("model.onnx", trials=200)
        >>> f = espalier.compile("model.onnx")  # as the records say
        >>> tuned.save("fast.mlir")
        >>> f = espalier.compile("model.onnx", schedule="fast.mlir")  # anywhere
        >>> both = espalier.tune(["a.onnx", "b.onnx"], weights=[1, 2], objective="geomean")
        >>> espalier.tune(jacobi, trials=50)  # a kernel
        >>> espalier.tune("bert.onnx", sizes=[{"batch": 1, "length": n} for n in (16, 128)])
    """
    if trials < 0 or trials >= 2**32:
        raise EspalierError(f"argument 'trials': expects 0 to 2^32 - 1, but got {trials}")
    if not 0 <= seconds < float("inf"):
        raise EspalierError(f"argument 'seconds': expects 0 or more, but got {seconds}")
    if not 0 <= patience < 2**32:
        raise EspalierError(f"argument 'patience': expects 0 to 2^32 - 1, but got {patience}")
    if not 0 <= seed < 2**64:
        raise EspalierError(f"argument 'seed': expects 0 to 2^64 - 1, but got {seed}")
    if search not in SEARCHES:
        raise EspalierError(
            f"argument 'search': expects one of {', '.join(SEARCHES)}, but got {search!r}"
        )
    if objective is not None and objective not in OBJECTIVES:
        raise EspalierError(
            f"argument 'objective': expects one of {', '.join(OBJECTIVES)}, but got {objective!r}"
        )
    is_one = not isinstance(model, list | tuple)
    models = [model] if is_one else list(model)
    if not models:
        raise EspalierError("argument 'model': expects a model, or several, but got none")
    targets = _for_each("target_s", target_s, len(models))
    model_weights = _for_each("weights", weights, len(models))
    options = given_options(options)
    if options.sparse != "off" or options.sparse_layers:
        raise EspalierError(
            'expects sparse="off" to tune, because kernels are measured on made-up numbers, '
            f"which are no entries of weights, but got {options.sparse!r} and choices for "
            f"{len(options.sparse_layers)} nodes"
        )
    named = [(getattr(rule, "__name__", "rule"), rule) for rule in rules]
    if reserved := {name for name, _ in named} & set(RULES):
        raise EspalierError(
            f"argument 'rules': expects names other than those of Espalier's rules, but got "
            f"'{min(reserved)}'"
        )
    measured = measure_lengths(lengths) + measure_sizes(sizes)
    if lengths and sizes:
        raise EspalierError("argument 'sizes': expects no lengths besides, but got both")
    report = None if progress is None else lambda *now: progress(TuneProgress(*now))
    modules = [
        one.module() if isinstance(one, Kernel) else load_module(one, dims, shapes)[0]
        for one in models
    ]
    if options.records is not None:
        Path(options.records).parent.mkdir(parents=True, exist_ok=True)
    first = models[0]
    with naming(first if len(models) == 1 and not isinstance(first, Kernel) else None):
        found = json.loads(
            _espalier.tune(
                modules,
                options.native(),
                trials,
                seconds,
                patience,
                model_weights,
                targets,
                objective or "",
                seed,
                search,
                find_model_library(),
                algorithms,
                named,
                measured,
                report,
                messenger,
            )
        )
    tuned = [
        Tuned(
            one["script"],
            [TunedKernel(**kernel) for kernel in one["kernels"]],
            found["model_fault"],
            found["rule_faults"],
            found["ranked_by_shipped"],
            [TunedStatement(**statement) for statement in one["statements"]],
            found["rank_faults"],
        )
        for one in found["models"]
    ]
    return tuned[0] if is_one else tuned
