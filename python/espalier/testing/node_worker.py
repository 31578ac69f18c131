"""Running the node tests in processes of their own.

The processes are forked from one that has imported this module, and with it
has loaded the tests, which takes seconds.
"""

from collections.abc import Iterator

import numpy as np
import onnx

from espalier.compiler import Options, compile_for
from espalier.testing.node_suite import Arrays, Outcome, node_cases, run_case
from espalier.testing.pool import run_isolated

CASES = {case.name: case for case in node_cases()}


def compile_and_run(model: onnx.ModelProto, feed: Arrays) -> list[np.ndarray]:
    """Compile a model for its inputs and run it."""
    function = compile_for(model, feed, options=Options(cache=None))
    return list(function.run(feed).values())


def run_by_name(name: str) -> Outcome:
    """Run one test with the compiler."""
    return run_case(CASES[name], compile_and_run)


def run_suite(
    only: str | None = None, jobs: int = 2, timeout: float = 120
) -> Iterator[tuple[int, Outcome]]:
    """Run tests whose name contains `only`; yield their number and each outcome."""
    names = [name for name in CASES if only is None or only in name]
    for name, result in run_isolated(run_by_name, names, jobs, timeout):
        outcome = result if isinstance(result, Outcome) else Outcome(name, "failed", result)
        yield len(names), outcome
