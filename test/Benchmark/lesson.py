#!/usr/bin/env python3
"""Measures the steps of the lesson on schedules; prints one JSON object per step.

Usage: lesson.py [--size N] [--seconds S]

Runs the code of docs/Tutorials/02-schedule-a-matmul.md, with another `show`: that of
the page compares results at a small size, this one collects the programs. They and
OpenBLAS, by NumPy, are then timed in turns.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

from machines import name_vectors

if name_vectors() == "AVX-512":
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from espalier.kernels.program import KernelProgram
from espalier.schedules import Schedule

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "Tutorials" / "02-schedule-a-matmul.md"
IMPORT = "from __main__ import show\n"
steps: dict[str, tuple[KernelProgram, int]] = {}


def show(step: str, schedule: Schedule, threads: int = 1) -> None:
    """Keep the program of a step."""
    steps[step] = schedule.compile(), threads


def run_lesson(folder: pathlib.Path) -> None:
    """Run the page's blocks, in a file: kernels are read from their text."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python (\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    code = "\n".join(IMPORT if name == "show" else block for name, block in blocks)
    for name, block in re.findall(r"^```mlir (\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        (folder / f"{name}.mlir").write_text(block, encoding="utf-8")
    path = folder / "lesson_code.py"
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("lesson_code", path)
    module = importlib.util.module_from_spec(spec)
    os.chdir(folder)
    spec.loader.exec_module(module)


def measure(calls: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Return the median of each call's seconds; they take turns."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end or len(samples["openblas"]) < 3:
        for name, call in calls.items():
            clock = time.perf_counter if steps.get(name, (None, 1))[1] > 1 else time.thread_time
            start = clock()
            call()
            samples[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in samples.items()}


def main() -> int:
    """Measure; return 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each step")
    parser.add_argument("--skip", nargs="*", default=[], help="steps that are not measured")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run_lesson(pathlib.Path(folder))
    rng = np.random.default_rng(0)
    a, b = (rng.random((args.size, args.size), np.float32) for _ in range(2))
    expected = a @ b
    results: dict[str, np.ndarray] = {}
    scratch = np.zeros_like(expected)

    def caller(name: str) -> Callable[[], object]:
        program, threads = steps[name]
        results[name] = np.zeros_like(expected)
        program.set_num_threads(threads)
        program(a, b, results[name])
        return lambda: program(a, b, scratch)

    calls = {name: caller(name) for name in steps if name not in args.skip}
    times = measure({**calls, "openblas": lambda: np.matmul(a, b, out=scratch)}, args.seconds)
    right = {name: bool(np.allclose(results[name], expected, rtol=1e-3)) for name in calls}
    for name in calls:
        line = {
            "step": name,
            "size": args.size,
            "threads": steps[name][1],
            "gflops": round(2 * args.size**3 / times[name] / 1e9, 1),
            "of_openblas": round(times["openblas"] / times[name], 3),
            "right": right[name],
        }
        print(json.dumps(line))
    return 0 if all(right.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
