"""Random cases, each in a process that it may end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from espalier.testing.pool import run_isolated


def run_in_children(
    run_case: Callable[[str], tuple[str, Counter[str]]],
    show: Callable[[str], str],
    names: Sequence[str],
    jobs: int,
    timeout: float,
) -> tuple[list[str], Counter[str]]:
    """Run cases in processes that may end; return what is wrong, and counts.

    `show` gives the text of a case that has ended its process.
    """
    faults, counts = [], Counter[str]()
    for name, result in run_isolated(run_case, names, jobs=jobs, timeout=timeout):
        if isinstance(result, str):
            faults.append(f"case {name}: {result}\n{show(name)}")
            continue
        fault, own = result
        counts += own
        if fault:
            faults.append(f"case {name}: {fault}")
    return faults, counts
