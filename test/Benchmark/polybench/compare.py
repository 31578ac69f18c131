"""Times the kernels of the suite against other compilers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from plain_c import COMPILERS, bind, compile_c, describe, to_c
from schedules import PARALLEL, schedule
from suite import CASES, Arguments, Case, defined

from espalier.compiler import Options
from espalier.kernels import KernelProgram

EXPECTED = 1.5
"""How many times faster than each peer the suite is to be, as a geometric mean."""
TOLERANCE = {"f64": 1e-9, "f32": 1e-4, "i32": 0.0}
LONG_MS = 1000.0
"""What takes longer is timed once."""


@dataclass
class Runner:
    """One program for a kernel, with arguments of its own."""

    name: str
    build: str
    call: Callable[[], object]
    arguments: Arguments
    samples_ms: list[float]

    def run(self, start: Arguments, clock: Callable[[], float]) -> float:
        """Run from the same values as all others; return the milliseconds."""
        for name, value in start.items():
            if isinstance(value, np.ndarray):
                self.arguments[name][...] = value
        begin = clock()
        self.call()
        return (clock() - begin) * 1e3

    @property
    def median_ms(self) -> float:
        """The median."""
        return statistics.median(self.samples_ms)


def compile_own(case: Case, parallel: bool = False) -> KernelProgram:
    """Compile with the schedule that a person wrote, or the default."""
    written = schedule(case.kernel, parallel)
    if written is None:
        return case.kernel.compile(Options(cache=None))
    return written.compile(Options(cache=None))


def own_runner(case: Case, program: KernelProgram, sizes: dict[str, int], threads: int) -> Runner:
    """Return our program."""
    arguments = case.arguments(sizes)
    program.set_num_threads(threads)
    call = program.bind(**arguments, **case.own_sizes(sizes))
    return Runner("espalier", "", call, arguments, [])


def peer_runners(case: Case, sizes: dict[str, int], names: list[str]) -> Iterator[Runner]:
    """Yield the other compilers' programs, of those that are installed."""
    source = to_c(case.kernel.tree, sizes)
    for name in names:
        library = compile_c(source, COMPILERS[name])
        if library is not None:
            arguments = case.arguments(sizes)
            call = bind(case.kernel.tree, library, arguments)
            yield Runner(name, describe(COMPILERS[name]), call, arguments, [])


def time_all(
    runners: list[Runner], start: Arguments, seconds: float, clock: Callable[[], float]
) -> None:
    """Time programs in turns for about `seconds` each; long ones once."""
    for runner in runners:
        runner.samples_ms = [runner.run(start, clock)]
    end = time.perf_counter() + seconds * len(runners)
    first = True
    while time.perf_counter() < end:
        for runner in runners:
            if runner.samples_ms[0] > LONG_MS:
                continue
            if first:
                # The first run warmed up.
                runner.samples_ms = []
            runner.samples_ms.append(runner.run(start, clock))
        first = False
        if all(runner.samples_ms[0] > LONG_MS for runner in runners):
            break


def largest_error(case: Case, actual: Arguments, expected: Arguments) -> float:
    """Return the largest difference, relative to the largest element of its array."""
    errors = [0.0]
    results = defined(case.name, actual)
    for name, value in defined(case.name, expected).items():
        if isinstance(value, np.ndarray) and value.size:
            scale = max(float(np.abs(value).max()), 1e-30)
            errors.append(float(np.abs(results[name] - value).max()) / scale)
    return max(errors)


def run_case(case: Case, toy: bool, seconds: float) -> dict[str, Any]:
    """Compare one kernel on one thread."""
    sizes = dict(case.small if toy else case.large)
    own = own_runner(case, compile_own(case), sizes, 1)
    peers = list(peer_runners(case, sizes, ["gcc"] if toy else list(COMPILERS)))
    start = case.arguments(sizes)
    time_all([own, *peers], start, seconds, time.thread_time)
    reference = case.arguments(sizes)
    if toy or not peers:
        case.reference(reference, sizes)
    error = largest_error(
        case, own.arguments, reference if toy or not peers else peers[0].arguments
    )
    for peer in peers if toy else []:
        error = max(error, largest_error(case, own.arguments, peer.arguments))
    element = next(
        a.type.element.name for a in case.kernel.tree.arguments if hasattr(a.type, "element")
    )
    result = {
        "case": f"polybench/{case.name}",
        "threads": 1,
        "error": error,
        "median_ms": round(own.median_ms, 4),
        "baselines_ms": {peer.name: round(peer.median_ms, 4) for peer in peers},
        "baseline_builds": {peer.name: peer.build for peer in peers},
        "speedups": {peer.name: round(peer.median_ms / own.median_ms, 3) for peer in peers},
    }
    # Toy sizes are compared with the definition, others only with what there is.
    return result | {"passed": error <= TOLERANCE[element] and (toy or bool(peers))}


def _with_threads(
    program: KernelProgram, threads: int, call: Callable[[], object]
) -> Callable[[], object]:
    def run() -> None:
        program.set_num_threads(threads)
        call()

    return run


def run_wavefront(case: Case, toy: bool, seconds: float) -> dict[str, Any]:
    """Compare two threads with one."""
    sizes = dict(case.small if toy else case.large)
    program = compile_own(case, parallel=True)
    start = case.arguments(sizes)
    runners = [own_runner(case, program, sizes, threads) for threads in (1, 2)]
    for threads, runner in enumerate(runners, 1):
        # The number of threads is a state of the program.
        runner.call = _with_threads(program, threads, runner.call)
    one, two = runners
    time_all(runners, start, seconds, time.thread_time)
    cpu_speedup = one.median_ms / two.median_ms
    time_all(runners, start, seconds, time.perf_counter)
    expected = case.arguments(sizes)
    if toy:
        case.reference(expected, sizes)
    else:
        serial = own_runner(case, compile_own(case), sizes, 1)
        serial.run(start, time.perf_counter)
        expected = serial.arguments
    error = max(largest_error(case, runner.arguments, expected) for runner in runners)
    return {
        "case": f"polybench/{case.name}_wavefront",
        "threads": 2,
        "error": error,
        "median_ms": round(two.median_ms, 4),
        "one_thread_ms": round(one.median_ms, 4),
        "speedup": round(one.median_ms / two.median_ms, 3),
        "cpu_speedup": round(cpu_speedup, 3),
        "passed": error <= TOLERANCE["f64"],
    }


def compare(only: str | None, toy: bool, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the result lines of kernels whose name contains `only`, and the means."""
    speedups: dict[str, list[float]] = {}
    for case in CASES.values():
        if only is None or only in f"polybench/{case.name}":
            result = run_case(case, toy, seconds)
            for name, value in result["speedups"].items():
                speedups.setdefault(name, []).append(value)
            yield result
    for name in PARALLEL:
        if only is None or only in f"polybench/{name}_wavefront":
            yield run_wavefront(CASES[name], toy, seconds)
    if speedups:
        means = {name: round(statistics.geometric_mean(s), 3) for name, s in speedups.items()}
        number = len(next(iter(speedups.values())))
        complete = number == len(CASES)
        passed = toy or not complete or min(means.values()) >= EXPECTED
        yield {
            "case": "polybench/mean",
            "kernels": number,
            "speedups": means,
            "expected": EXPECTED,
            "passed": passed,
        }
