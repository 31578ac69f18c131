"""Disks, memory and processes that fail below public calls: an error, never an exit.

A few of the system calls below each; `ESPALIER_FUZZ_MUTANTS` and `ESPALIER_FUZZ_SEED` in the
environment ask for more and for others.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from failing_worker import CALLS

HERE = Path(__file__).parent
COUNT = max(int(os.environ.get("ESPALIER_FUZZ_MUTANTS", "40")) // 40, 1)
SEED = os.environ.get("ESPALIER_FUZZ_SEED", "1")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library whose calls fail."""
    path = tmp_path_factory.mktemp("library") / "failing_calls.so"
    source = str(HERE / "failing_calls.c")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", str(path), "-ldl"], check=True)
    return path


@pytest.mark.parametrize("call", CALLS)
def test_failing_system_calls_are_errors(library: Path, call: str) -> None:
    result = subprocess.run(
        [sys.executable, str(HERE / "failing_worker.py"), call, SEED, str(COUNT)],
        env={
            **os.environ,
            "LD_PRELOAD": str(library),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "OPENBLAS_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = result.stdout.splitlines() or [""]
    assert lines[-1] == "END", f"{lines[-1]}: status {result.returncode}: {result.stderr}"
    assert "FAULT" not in result.stdout, result.stdout
