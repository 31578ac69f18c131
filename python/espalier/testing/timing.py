"""Timing of repeated calls."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")
Clock = Callable[[], float]


@dataclass
class Timing:
    """Milliseconds of repeated calls."""

    warmup: int
    samples_ms: list[float]

    @property
    def median_ms(self) -> float:
        """The median."""
        return statistics.median(self.samples_ms)

    def as_dict(self) -> dict[str, float | int]:
        """Return what a result line has about it."""
        quartiles = statistics.quantiles([*self.samples_ms, *self.samples_ms[:1]], n=4)
        return {
            "warmup": self.warmup,
            "repeats": len(self.samples_ms),
            "median_ms": round(self.median_ms, 4),
            "lower_quartile_ms": round(quartiles[0], 4),
            "upper_quartile_ms": round(quartiles[2], 4),
        }

    def compared_with(self, baseline: str, other: "Timing") -> dict[str, float | str]:
        """Return what a result line has about another implementation's time."""
        return {
            "baseline": baseline,
            "baseline_ms": round(other.median_ms, 4),
            "ratio": round(self.median_ms / other.median_ms, 4),
        }


def timed(call: Callable[[], Result], clock: Clock = time.perf_counter) -> tuple[Result, float]:
    """Call once; return the result and the seconds that it took by a clock."""
    start = clock()
    result = call()
    return result, clock() - start


def measure(
    call: Callable[[], object],
    seconds: float,
    warmup: int = 3,
    least: int = 5,
    clock: Clock = time.perf_counter,
) -> Timing:
    """Call repeatedly for about `seconds`, at least `least` times after the warm-up."""
    for _ in range(warmup):
        call()
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while len(samples) < least or time.perf_counter() < end:
        samples.append(timed(call, clock)[1] * 1e3)
    return Timing(warmup, samples)


BURST_SECONDS = 0.1


def measure_alternately(
    calls: Sequence[Callable[[], object]], seconds: float, clock: Clock = time.perf_counter
) -> list[Timing]:
    """Time functions in turns, so that a busy machine hits all of them.

    Each is called for about `seconds`, in bursts of a tenth of a second. With
    `time.thread_time` as the clock, what other programs take does not count, nor does
    what other threads of this one do.
    """
    timings = [measure(call, 0, clock=clock) for call in calls]
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for call, timing in zip(calls, timings, strict=True):
            timing.samples_ms += measure(call, BURST_SECONDS, 1, 1, clock).samples_ms
    return timings
