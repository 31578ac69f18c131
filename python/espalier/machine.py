"""What the machine at hand reaches: multiply-adds, and reads from each cache."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time

import numpy as np

from espalier.function import Function
from espalier.kernels import f32, kernel, label, sizes
from espalier.schedules import Schedule
from espalier.testing.timing import timed

team, repeats, n, k = sizes("team repeats n k")

ROWS, COLUMNS, LANES = 14, 32, 16
"""The register tile of processors with 32 vector registers of 512 bits."""
SMALL_ROWS, SMALL_COLUMNS, SMALL_LANES = 6, 16, 8
"""That of processors with 16 registers of 256 bits."""
READ_BYTES = (16 << 10, 256 << 10, 16 << 20, 128 << 20)
SECONDS = 0.02
"""How long one sample takes."""


@kernel
def _multiply(
    count: f32[repeats], a: f32[k, ROWS], b: f32[k, COLUMNS], c: f32[team, ROWS, COLUMNS]
) -> None:
    for t in range(team):
        for _r in range(repeats):
            for i in range(ROWS):
                for j in range(COLUMNS):
                    for p in range(k):
                        label("acc")
                        c[t, i, j] += a[p, i] * b[p, j]


@kernel
def _read(count: f32[repeats], x: f32[team, n, 128], s: f32[team, 128]) -> None:
    for t in range(team):
        for _r in range(repeats):
            for j in range(128):
                for i in range(n):
                    label("acc")
                    s[t, j] += x[t, i, j]


@dataclass
class Machine:
    """What some threads reach together.

    Arguments:
        gflops: multiply-adds of f32 in registers, in GFLOP/s.
        read_rates: pairs of bytes, which each thread reads again and again, and the GB/s of
            all threads.
        threads: how many.
    """

    gflops: float
    read_rates: list[tuple[int, float]]
    threads: int = 1

    def rate(self, size: float) -> float:
        """Return the GB/s for data of `size` bytes, of which each thread reads its part."""
        fitting = [rate for limit, rate in self.read_rates if size <= limit * self.threads]
        return fitting[0] if fitting else self.read_rates[-1][1]

    def bound_ms(self, operations: float, size: float) -> float:
        """Return the least time for arithmetic operations on so many bytes."""
        return 1e-6 * max(operations / self.gflops, size / self.rate(size))

    def __str__(self) -> str:
        rates = ", ".join(f"{rate:.0f} ({size >> 10} KiB)" for size, rate in self.read_rates)
        return f"{self.gflops:.0f} GFLOP/s; reads in GB/s: {rates}"


def measure_machine(threads: int = 1) -> Machine:
    """Measure what a number of threads reach, in about a second."""
    gflops = max(
        _products(threads, ROWS, COLUMNS, LANES),
        _products(threads, SMALL_ROWS, SMALL_COLUMNS, SMALL_LANES),
    )
    program = _compile(Schedule(_read), ["j"], [128], LANES, threads)
    rates = []
    for size in READ_BYTES:
        data = np.ones((threads, size // 512, 128), np.float32)
        sums = np.zeros((threads, 128), np.float32)
        seconds = _seconds_each(threads, lambda count, d=data, s=sums: program(count, d, s))
        rates.append((size, data.nbytes / seconds / 1e9))
    return Machine(gflops, rates, threads)


def _products(threads: int, rows: int, columns: int, lanes: int) -> float:
    program = _compile(Schedule(_multiply), ["i", "j"], [rows, columns], lanes, threads)
    depth = 128
    a = np.ones((depth, ROWS), np.float32)
    b = np.ones((depth, COLUMNS), np.float32)
    c = np.zeros((threads, ROWS, COLUMNS), np.float32)
    seconds = _seconds_each(threads, lambda count: program(count, a, b, c))
    return 2e-9 * threads * ROWS * COLUMNS * depth / seconds


def _compile(
    schedule: Schedule, loops: list[str], block: list[int], lanes: int, threads: int
) -> Function:
    schedule.register_block("acc", loops, block, lanes)
    schedule.parallelize("acc", "t")
    program = schedule.compile()
    program.set_num_threads(threads)
    return program


def _seconds_each(threads: int, run: Callable[[np.ndarray], object]) -> float:
    """Return the best time of one repetition inside of the kernel."""
    # What other programs take does not count, where that can be told.
    clock = thread_time if threads == 1 else perf_counter

    def sample(count: int) -> float:
        return timed(lambda: run(np.empty(count, np.float32)), clock)[1]

    count = 1
    while (seconds := sample(count)) < SECONDS:
        count *= max(2, round(1.5 * SECONDS / max(seconds, 1e-6)))
    return min(sample(count) for _ in range(5)) / count
