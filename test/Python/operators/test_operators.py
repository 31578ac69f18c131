"""Compiled operators against the reference interpreter."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import operator_convolution_cases
import operator_map_cases
import operator_shape_cases
import operator_window_cases
from espalier.testing.pool import run_isolated
from operator_support import Case, build_module, forms_of, run_case

MODULES = (
    operator_convolution_cases,
    operator_map_cases,
    operator_shape_cases,
    operator_window_cases,
)


def all_cases() -> Iterator[Case]:
    """Yield the cases that the functions of the modules yield."""
    for module in MODULES:
        for _, make in inspect.getmembers(module, inspect.isgeneratorfunction):
            if make.__module__ == module.__name__:
                yield from make()


CASES = {case.name: case for case in all_cases()}
RUNS = [f"{name}@{form}" for name, case in CASES.items() for form in forms_of(case)]


def work(run: str) -> str:
    """Run a case in one form; lives in a worker process."""
    name, form = run.rsplit("@", 1)
    try:
        return run_case(CASES[name], form) or ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.fixture(scope="session")
def problems(request: pytest.FixtureRequest) -> dict[str, str]:
    """Run what was selected, in processes that may crash."""
    selected = [
        item.callspec.params["run"]
        for item in request.session.items
        if getattr(item, "callspec", None) and "run" in item.callspec.params
    ]
    return dict(run_isolated(work, selected, jobs=2, timeout=120))


def test_names_are_unique():
    assert len(CASES) == len(list(all_cases()))


def test_every_operator_has_a_case():
    folder = Path(__file__).parents[3] / "include" / "espalier" / "Dialect" / "Graph" / "IR"
    text = "".join(path.read_text() for path in sorted(folder.glob("*.td")))
    defined = re.findall(r'^def Graph_\w+Op\b\s*:\s*Graph_(\w*)Op<"(\w+)"', text, re.MULTILINE)
    prefixes = {"Reduce": "reduce_", "ArgReduce": "arg_", "KnownTensor": "const_"}
    used = "".join(str(build_module(case, "static")) for case in CASES.values())
    names = {prefixes.get(kind, "") + name for kind, name in defined}
    assert len(names) > 80
    assert names - set(re.findall(r"= graph\.(\w+)", used)) == set()


@pytest.mark.parametrize("run", RUNS)
def test_operator(run: str, problems: dict[str, str]):
    assert problems[run] == ""
