"""What a model computes, by whom, and whether they agree."""

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import onnx

from espalier import compiler
from espalier.errors import EspalierError, UnsupportedOperators
from espalier.function import Function
from espalier.testing.guarded import SIDES, Side, guarded_all, guarded_empty
from random_models.compiling import compile_sample
from random_models.evaluate import (
    BFLOAT16,
    CASTS,
    SINGLE,
    Evaluator,
    Impossible,
    epsilon,
    has_bfloat16,
    has_integers,
    is_float,
    open_session,
)
from random_models.generate import Sample
from random_models.heap import guarded_heap

Arrays = dict[str, np.ndarray]

ROUNDINGS = 8
"""Units in the last place that each node may be off by; polynomials are off by 5."""
SPREADS = 4
"""Times what such errors do to a result in a few trials is what all may do."""
CONTROLLED = ("Resize",)
"""Operators whose operands but the first are no numbers to compute with: they say where to
read the first, up to its extents, in single precision."""
STASHED = ("GroupNormalization", "LayerNormalization", "RMSNormalization")
"""Operators that ONNX computes in single precision, if nothing else is asked for."""
CANCELLING = ("Gelu",)
"""Operators that multiply the first operand by 1 plus something, which may be nearly -1."""
BROADCASTS = re.compile(r"extents of b\d+ to agree.*: (1 is not \d+|\d+ is not 1);")
"""What programs say of an extent that turns out to be 1 in a run."""
TRIALS = 8
QUICK = 32
"""Results that agree up to so many units of the coarsest type need no trials."""


@dataclass
class Verdict:
    """What became of a sample: passed, refused or failed, and why."""

    kind: str
    text: str = ""
    trials: bool = False


def judge(sample: Sample) -> Verdict:
    """Compile, interpret, and run by onnxruntime; compare."""
    try:
        return _judge(sample)
    except UnsupportedOperators as error:
        return Verdict("refused", str(error).splitlines()[-1].strip())
    except EspalierError as error:
        kind = "refused" if BROADCASTS.search(str(error)) else "failed"
        return Verdict(kind, f"{type(error).__name__}: {error}")


def _judge(sample: Sample) -> Verdict:
    band = _Band(sample)
    static = sample.static().model()
    runtime = run_onnxruntime(sample, static, sample.inputs)
    expected = runtime or {name: sample.values[name] for name in sample.outputs}
    interpreted = compiler.interpret(static, sample.inputs)
    if problem := band.compare("interpreted", interpreted, expected, sample.inputs):
        return Verdict("failed", problem)
    function = compile_sample(sample)
    for name, feed in (("compiled", sample.inputs), ("compiled, rebound", sample.rebound())):
        if feed is not sample.inputs:
            if not sample.dynamic:
                break
            expected = run_onnxruntime(sample, sample.model(), feed) or {}
            # It joins tensors of other shapes if they are empty, which ONNX does not.
            if not expected or _interpret(sample, feed) is None:
                break
        problem = _run_guarded(band, name, function, feed, expected, interpreted)
        if problem:
            return Verdict("failed", problem)
    rebound = [sample.rebound()] if sample.dynamic else []
    for feed in [*sample.disagreeing(), *rebound]:
        if problem := _run_disagreeing(band, sample, function, feed):
            shapes = {name: array.shape for name, array in feed.items()}
            return Verdict("failed", f"{problem}, for {shapes}")
    return Verdict("passed", trials=band.trials)


def _run_disagreeing(band: "_Band", sample: Sample, function: Function, feed: Arrays) -> str | None:
    """Run on extents that may not fit; say what is wrong.

    The program may have lost an operator that would refuse them, but it refuses
    nothing else.
    """
    interpreted, refusal = _interpret(sample, feed), None
    # Where nobody else has a result, how far rounding reaches is not known.
    expected = interpreted if _run_apart(sample, feed) else None
    try:
        for side in SIDES:
            actual = _run_on(function, feed, side)
            if expected and (problem := band.compare("disagreeing", actual, expected, feed)):
                return problem
    except EspalierError as error:
        refusal = error
    if refusal and interpreted is not None:
        return f"expects a result as the interpreter has, but got {refusal}"
    return None


def _interpret(sample: Sample, feed: Arrays) -> Arrays | None:
    """Return what the interpreter computes, or None where it refuses the extents."""
    module, _ = compiler.load_module(sample.model())
    with contextlib.suppress(EspalierError):
        return compiler.interpret_module(module, feed)
    return None


def _run_on(function: Function, feed: Arrays, side: Side) -> Arrays:
    """Run beside memory that nobody may touch."""
    inputs = guarded_all(feed, side)
    shapes = function.program.plan([inputs[info.name].shape for info in function.inputs])
    results = {
        info.name: guarded_empty(tuple(shape), info.dtype, side)
        for info, shape in zip(function.outputs, shapes, strict=True)
    }
    with guarded_heap(side):
        return function.run(inputs, results)


def _run_apart(sample: Sample, feed: Arrays) -> bool:
    """Return whether onnxruntime has a result; some extents end its process."""
    child = os.fork()
    if child == 0:
        # Its last words would look like ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(0 if run_onnxruntime(sample, sample.model(), feed) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def casts_beyond(sample: Sample) -> bool:
    """Say whether floats are cast to integers that do not have them."""
    values = sample.values
    return any(
        not has_integers(values[node.input[0]], values[node.output[0]].dtype)
        for node in sample.nodes
        if node.op_type in CASTS
    )


def run_onnxruntime(
    sample: Sample, model: onnx.ModelProto, feed: Mapping[str, np.ndarray]
) -> Arrays | None:
    """Return what onnxruntime computes, or None where it does not."""
    if has_bfloat16(list(sample.values.values())) or casts_beyond(sample):
        return None
    try:
        results = open_session(model).run(sample.outputs, dict(feed))
    except Exception:
        return None
    return dict(zip(sample.outputs, map(np.asarray, results), strict=True))


def _run_guarded(
    band: "_Band",
    what: str,
    function: Function,
    feed: Arrays,
    expected: Arrays,
    interpreted: Arrays,
) -> str | None:
    """Run beside memory that nobody may touch; say what is wrong."""
    for side in SIDES:
        actual = _run_on(function, feed, side)
        if problem := band.compare(what, actual, expected, feed):
            return problem
        if "rebound" not in what:
            problem = band.compare(f"{what} against interpreted", actual, interpreted, feed)
            if problem:
                return problem
    return None


class _Band:
    """Judges differences by what rounding in every node does to the results."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._evaluator = Evaluator(sample.opset)
        self._spreads: dict[int, Arrays] = {}
        kinds = [a.dtype for a in sample.values.values() if is_float(a.dtype)]
        kinds += [SINGLE for node in sample.nodes if node.op_type in STASHED]
        self._unit = max(map(epsilon, kinds), default=0.0)
        self.trials = False

    def compare(
        self, what: str, actual: Arrays, expected: Arrays, feed: Mapping[str, np.ndarray]
    ) -> str | None:
        """Say how results differ by more than rounding explains."""
        for name in self._sample.outputs:
            mine, theirs = actual[name], expected[name]
            head = f"{what}, '{name}': expects"
            if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
                return f"{head} {theirs.dtype}{theirs.shape}, but got {mine.dtype}{mine.shape}"
            if not theirs.size or _close(mine, theirs, self._quick(name, theirs)):
                continue
            bound = self._bound(name, feed)
            if _close(mine, theirs, bound):
                continue
            return f"{head} {_first(mine, theirs, bound)}"
        return None

    def _quick(self, name: str, theirs: np.ndarray) -> np.ndarray | float:
        if name in self._sample.exact or not is_float(theirs.dtype):
            return 0.0
        # Below the normal numbers, units do not become smaller.
        least = float(ml_dtypes.finfo(theirs.dtype).smallest_normal)
        finite = np.abs(theirs[np.isfinite(theirs)].astype(np.float64))
        return QUICK * self._unit * float(finite.max(initial=least))

    def _bound(self, name: str, feed: Mapping[str, np.ndarray]) -> np.ndarray | float:
        if name in self._sample.exact:
            return 0.0
        if id(feed) not in self._spreads:
            self.trials = True
            self._spreads[id(feed)] = self._measure(feed)
        return SPREADS * self._spreads[id(feed)].get(name, np.zeros(()))

    def _measure(self, feed: Mapping[str, np.ndarray]) -> Arrays:
        """Return how far results move in some trials; nothing if none could be made."""
        rng = np.random.default_rng(0)
        base = self._replay(feed, None)
        found = [name for name in self._sample.outputs if name in base]
        spreads = {name: np.zeros(base[name].shape) for name in found}
        for _ in range(TRIALS):
            other = self._replay(feed, rng)
            if not other:
                continue
            for name, spread in spreads.items():
                with np.errstate(all="ignore"):
                    moved = np.abs(other[name].astype(np.float64) - base[name].astype(np.float64))
                    appears = np.isnan(other[name]) != np.isnan(base[name])
                moved = np.where(appears, np.inf, np.nan_to_num(moved, nan=0.0))
                spreads[name] = np.maximum(spread, moved)
        return spreads

    def _replay(self, feed: Mapping[str, np.ndarray], rng: np.random.Generator | None) -> Arrays:
        """Evaluate node by node, with errors if there is a generator.

        What a node adds up is rounded on the way, as if its operands had errors; and
        so is its result.
        """
        sample = self._sample
        values = dict(feed)
        values |= {t.name: onnx.numpy_helper.to_array(t) for t in sample.constants}
        for node in sample.nodes:
            names = [name for name in node.output if name]
            inexact = rng is not None and not sample.exact.issuperset(names)
            unit = epsilon(SINGLE) if node.op_type in STASHED else 0.0
            operands = {
                name: self._disturb(values[name], rng, unit)
                if inexact and (number == 0 or node.op_type not in CONTROLLED)
                else values[name]
                for number, name in enumerate(node.input)
                if name
            }
            types = [sample.values[n].dtype if n else None for n in node.output]
            try:
                results = self._evaluator.run(node, operands, types)
            except Impossible:
                return {}
            least = values[node.input[0]] if node.op_type in CANCELLING else 0
            if node.op_type in CONTROLLED and is_float(values[node.input[0]].dtype):
                read = values[node.input[0]]
                least = np.abs(read.astype(np.float64)).max(initial=0.0)
                unit = epsilon(SINGLE) * max(read.shape, default=1) / ROUNDINGS
            for name, array in zip(names, results, strict=True):
                disturbed = self._disturb(array, rng, unit, least)
                values[name] = array if name in sample.exact else disturbed
        return values

    @staticmethod
    def _disturb(
        array: np.ndarray,
        rng: np.random.Generator | None,
        unit: float = 0.0,
        least: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Add errors of some units of the type, or of a greater one.

        They are relative to each number or, if they are greater, to `least` and to the
        least normal number.
        """
        if rng is None or not is_float(array.dtype):
            return array
        unit = max(unit, epsilon(array.dtype))
        error = rng.uniform(-1, 1, array.shape) * ROUNDINGS * unit
        exact = array.astype(np.float64)
        with np.errstate(all="ignore"):
            normal = float(ml_dtypes.finfo(array.dtype).smallest_normal)
            size = np.maximum(np.abs(exact), normal)  # A zero may have been less than the least.
            size = np.maximum(size, np.abs(np.asarray(least, np.float64)))
            moved = np.where(np.isfinite(exact), exact + size * error, exact)
            return np.asarray(moved.astype(array.dtype))


def _close(mine: np.ndarray, theirs: np.ndarray, bound: np.ndarray | float) -> bool:
    return not _apart(mine, theirs, bound).any()


def _apart(mine: np.ndarray, theirs: np.ndarray, bound: np.ndarray | float) -> np.ndarray:
    if theirs.dtype.kind in "biu" and theirs.dtype != BFLOAT16 and np.ndim(bound) == 0:
        return np.asarray(mine != theirs)
    a, b = mine.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(all="ignore"):
        near = (np.abs(a - b) <= bound) | np.isposinf(bound)
    return ~np.asarray(near | (a == b) | (np.isnan(a) & np.isnan(b)))


def _first(mine: np.ndarray, theirs: np.ndarray, bound: np.ndarray | float) -> str:
    apart = _apart(mine, theirs, bound)
    at = tuple(int(i) for i in np.argwhere(apart)[0]) if apart.ndim else ()
    return (
        f"{theirs[at]!s}, but got {mine[at]!s} at {list(at)} of {list(theirs.shape)} "
        f"({int(apart.sum())} differ)"
    )
