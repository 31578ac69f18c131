"""Steps on kernels: one after the other as passes, and all in one."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from espalier import EspalierError, compiler
from random_models.compiling import steps
from random_models.generate import generate

PROGRAMS = Path(__file__).parents[2] / "Conversion" / "GraphToPoly"
AFTER = "canonicalize,cse,poly-name-kernels"
"""What is written may differ in computations of sizes that nobody uses."""


def form(text: str, *passes: str) -> str:
    """Return the kernels that passes make of a module."""
    pipeline = ",".join(["canonicalize,cse,convert-graph-to-poly", *passes, AFTER])
    command = ["espalier-opt", "-", f"-pass-pipeline=builtin.module({pipeline})"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@cache
def chain() -> list[str]:
    """Return each step as a pass."""
    return [f"poly-{step}" for step in steps()]


def compare(text: str) -> None:
    """What a step has written and the next one reads is what it had decided."""
    expected = form(text, "poly-form-kernels")
    assert form(text, *chain(), "poly-apply-layouts") == expected


@pytest.mark.parametrize(
    "name",
    [
        "assign-layouts",
        "pair-terms",
        "fuse-windows",
        "fuse-products",
        "fuse-copies",
        "decompose-phases",
        "trim-windows",
        "winograd",
    ],
)
def test_programs_of_steps(name: str):
    text = (PROGRAMS / f"{name}.mlir").read_text()
    for module in text.split("// -----"):
        compare(module)


def test_random_models():
    for seed in range(40):
        sample = generate(seed)
        model = sample.model() if sample.dynamic else sample.static().model()
        try:
            module, bound = compiler.load_module(model)
        except EspalierError:  # What a size decides that the model leaves open.
            continue
        if not bound:
            compare(str(module))
