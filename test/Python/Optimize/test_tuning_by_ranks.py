"""A search of several processes that MPI starts, on one machine."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from tuning import make_model, statuses

MPIRUN = shutil.which("mpirun")
needs_mpi = pytest.mark.skipif(
    MPIRUN is None or find_spec("mpi4py") is None, reason="expects mpirun and mpi4py"
)
ESPALIER = [sys.executable, "-m", "espalier"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a model."""
    (tmp_path / "model.onnx").write_bytes(make_model())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tune(trials: int, *more: str) -> list[str]:
    """Return a command that searches."""
    arguments = ["model.onnx", "-o", "s.mlir", "--records", "r.sqlite", "--search", "random"]
    return [*ESPALIER, "tune", *arguments, "--trials", str(trials), *more]


def mpirun(*parts: tuple[int, Sequence[str]], options: Sequence[str] = ()) -> list[str]:
    """Return the command that starts each of several others so many times."""
    command = [str(MPIRUN), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", *options]
    for number, (count, part) in enumerate(parts):
        command += [":"] * (number > 0) + ["-n", str(count), *part]
    return command


def run(command: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command, which ends soon."""
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=280
    )


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Return a list of processes, which are ended with the test."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def count_trials() -> int:
    """Return how many trials the search has made; its file has no tables at first."""
    if not Path("r.sqlite").exists():
        return 0
    with sqlite3.connect("r.sqlite") as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    return len(statuses(Path("r.sqlite"))) if ("trials",) in tables else 0


def start(
    started: list[subprocess.Popen[str]], command: Sequence[str], trials: int
) -> subprocess.Popen[str]:
    """Start a search, and wait until it has made some trials."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started.append(process)
    while count_trials() < trials:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return process


def find_ranks(process: subprocess.Popen[str]) -> dict[int, psutil.Process]:
    """Return the ranks that mpirun started."""
    ranks = psutil.Process(process.pid).children()
    return {int(one.environ()["OMPI_COMM_WORLD_RANK"]): one for one in ranks}


@needs_mpi
def test_one_rank_searches_and_the_others_measure(folder: Path) -> None:
    done = run(mpirun((3, tune(9))))
    assert done.returncode == 0, done.stderr
    # One of them prints, and writes.
    assert done.stdout.count("; 9 trials\n") == 1
    assert done.stdout.count("s.mlir: ") == 1
    assert "note: rank" not in done.stdout
    assert "@__transform_main" in (folder / "s.mlir").read_text()
    assert len(statuses(folder / "r.sqlite")) == 9
    assert not {"failed", "wrong"} & set(statuses(folder / "r.sqlite"))


@needs_mpi
@pytest.mark.parametrize("sizes", [("--lengths", "3,16"), ("--sizes", "n=3", "--sizes", "n=16")])
def test_sizes_that_are_not_known_are_sent(folder: Path, sizes: tuple[str, ...]) -> None:
    (folder / "model.onnx").write_bytes(make_model("n"))
    done = run(mpirun((2, tune(3, *sizes))))
    assert "; 3 trials\n" in done.stdout, done.stderr
    with sqlite3.connect("r.sqlite") as connection:
        measured = "SELECT times FROM trials WHERE status = 'measured'"
        times = [row[0] for row in connection.execute(measured)]
    assert times
    assert all(len(one.split("; ")) == 2 for one in times)


@needs_mpi
def test_another_machine_is_refused(folder: Path) -> None:
    done = run(mpirun((2, tune(3)), (1, tune(3, "--cpu", "x86-64"))))
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: rank 2 on '")]
    assert len(notes) == 1
    assert "': expects the target of rank 0, #poly.target<cpu = " in notes[0]
    assert ', but got #poly.target<cpu = "x86-64"' in notes[0]
    assert len(statuses(folder / "r.sqlite")) == 3


@needs_mpi
def test_ranks_that_are_all_refused_end_the_search(folder: Path) -> None:
    done = run(mpirun((1, tune(3)), (1, tune(3, "--threads", "1", "--cpu", "x86-64"))))
    assert done.returncode != 0
    assert "error: " in done.stderr
    assert "expects a rank that measures, but there is none any more: rank 1 on '" in done.stderr
    assert statuses(folder / "r.sqlite") == []


@needs_mpi
def test_a_rank_that_is_killed_is_done_without(
    folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    process = start(started, mpirun((3, tune(12)), options=["--enable-recovery"]), trials=2)
    find_ranks(process)[1].kill()
    output, errors = process.communicate(timeout=280)
    assert process.returncode == 0, errors
    assert "; 12 trials\n" in output
    assert "note: rank 1 on '" in output
    assert ": expects a sign of life within 30000 ms, but got none\n" in output
    assert len(statuses(folder / "r.sqlite")) == 12
    assert "failed" not in statuses(folder / "r.sqlite")


@needs_mpi
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_stopped_goes_on(
    folder: Path, started: list[subprocess.Popen[str]], number: signal.Signals
) -> None:
    process = start(started, mpirun((3, tune(1000))), trials=2)
    ranks = find_ranks(process).values()
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert psutil.wait_procs(ranks, timeout=20)[1] == []
    known = len(statuses(folder / "r.sqlite"))
    assert known >= 2
    done = run(mpirun((2, tune(1, "--resume"))))
    assert f"; {known + 1} trials\n" in done.stdout, done.stderr


@needs_mpi
def test_an_error_of_the_first_rank_ends_all(folder: Path) -> None:
    (folder / "model.onnx").unlink()
    done = run(mpirun((3, tune(3))))
    assert done.returncode != 0
    assert done.stderr.count("espalier: error: ") == 1


@needs_mpi
def test_processes_that_are_alone_are_refused() -> None:
    """As those are that srun starts for another MPI than that of mpi4py."""
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = run(tune(1), SLURM_STEP_NUM_TASKS="2", **environment)
    assert done.returncode == 1
    assert "expects 2 ranks, as many as were started, but to MPI each is alone" in done.stderr


def test_mpi4py_is_asked_for(folder: Path) -> None:
    (folder / "mpi4py.py").write_text("raise ImportError('none here')")
    path = os.pathsep.join([str(folder), *sys.path])
    done = run(tune(1), PMI_SIZE="2", PYTHONPATH=path)
    assert done.returncode == 1
    assert "expects MPI and the package mpi4py (pip install mpi4py)" in done.stderr
    assert "none here" in done.stderr
    # One process needs neither.
    assert "; 1 trials\n" in run(tune(1), PMI_SIZE="1", PYTHONPATH=path).stdout
