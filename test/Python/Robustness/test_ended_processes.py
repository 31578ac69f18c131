"""Processes that are ended while they write leave whole files, and nothing else."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import espalier
from espalier.errors import EspalierError
from espalier.files import replacing, write_text

MODEL = """
func.func @main(%x: tensor<64x64xf32> {espalier.name = "x"}) -> (tensor<64x64xf32> {espalier.name = "y"}) {
  %0 = graph.relu %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.matmul %0, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
"""  # noqa: E501
WORK = """
import sys
from pathlib import Path
import numpy as np
import espalier
from espalier.commands.common import save_arrays
folder = Path(sys.argv[1])
x = np.ones((64, 64), np.float32)
print("begin", flush=True)
while True:
    function = espalier.compile(sys.argv[2], options=espalier.Options(cache=folder / "cache"))
    function.save(folder / "f.so")
    save_arrays(folder / "y.npz", {"y": np.asarray(function(x))})
    for entry in (folder / "cache").glob("*.espalier"):
        entry.unlink()
"""
ENTRY = "llvmcache-"
SEARCH = """
import sys
from pathlib import Path
import espalier
options = espalier.Options(cache=None, records=Path(sys.argv[1]))
espalier.tune(sys.argv[2], trials=10**6, options=options, progress=lambda now: print(now.trials))
"""

DELAYS = (0.02, 0.3, 1.0)
WRITTEN = {"f.so", "f.h", "y.npz", "t.mlir", "r.html"}


def names(folder: Path) -> set[str]:
    """Return the names of the files in a folder."""
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ended_while_it_compiles_and_saves(tmp_path: Path, number: int) -> None:
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        command = [sys.executable, "-c", WORK, str(folder), MODEL]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.1 + 0.13 * attempt)
            process.send_signal(number)
            assert process.wait(60) == -number
        left = names(folder)
        entries = {name for name in left if name.startswith(ENTRY)}
        assert left - entries <= {"f.so", "f.h", "y.npz"}
        # What has its name is complete.
        if "y.npz" in left:
            assert np.load(folder / "y.npz")["y"].shape == (64, 64)
        options = espalier.Options(cache=folder / "cache")
        function = espalier.compile(MODEL, options=options)
        assert function.cached == bool(entries)


def processes_of(parent: int) -> list[int]:
    """Return the children of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if status_of(path)[1] == str(parent):
                found.append(int(path.name))
    return found


def status_of(process: Path) -> list[str]:
    """Return the state of a process, its parent, and so on."""
    return (process / "stat").read_text().rpartition(")")[2].split()


def runs(process: int) -> bool:
    """Say whether a process runs; one that ended may wait to be asked how."""
    try:
        return status_of(Path("/proc") / str(process))[0] != "Z"
    except OSError:
        return False


def session_of(leader: int) -> list[int]:
    """Return the processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if status_of(path)[3] == str(leader):
                found.append(int(path.name))
    return found


def wait_until(done: Callable[[], bool]) -> None:
    """Wait, but not for ever."""
    deadline = time.monotonic() + 20
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_killed_while_it_tunes(tmp_path: Path) -> None:
    """What it told of is in the records; what it had begun ends with it."""
    records = tmp_path / "records.sqlite"
    known = 0
    for attempt in range(3):
        command = [sys.executable, "-u", "-c", SEARCH, str(records), MODEL]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(2 + attempt):
                told = int(process.stdout.readline())
            time.sleep(0.03 * attempt)
            children = processes_of(process.pid)
            process.kill()
            process.wait(60)
        wait_until(lambda: not any(map(runs, children)))  # noqa: B023
        with contextlib.closing(sqlite3.connect(records)) as table:
            assert table.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            count = table.execute("SELECT count(*) FROM trials").fetchone()[0]
        assert count >= known + told
        known = count
    tuned = espalier.tune(MODEL, trials=1, options=espalier.Options(cache=None, records=records))
    assert sum(kernel.trials for kernel in tuned.kernels) == known + 1


COMMAND = """
import signal, sys
from espalier.__main__ import interrupt, main
signal.signal(signal.SIGINT, interrupt)
print("begin", flush=True)
sys.exit(main(sys.argv[1:]))
"""
COMMANDS = [
    "compile m.mlir -o f.so",
    "run m.mlir --inputs in.npz --outputs y.npz",
    "tune m.mlir --trials 50 -o t.mlir",
    "report m.mlir --optimize egraph -o r.html",
]


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_commands_that_are_ended(tmp_path: Path, line: str, number: int) -> None:
    """They leave no part of a file and no process, however far they have come."""
    (tmp_path / "m.mlir").write_text(MODEL)
    np.savez(tmp_path / "in.npz", x=np.ones((64, 64), np.float32))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "TMPDIR": str(tmp_path / "temporary"),
    }
    (tmp_path / "temporary").mkdir()
    for delay in DELAYS:
        for name in WRITTEN:
            (tmp_path / name).unlink(missing_ok=True)
        with subprocess.Popen(
            [sys.executable, "-c", COMMAND, *line.split()],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(number)
            status = process.wait(60)
            said = process.stderr.read().decode()
        left = {path.name for path in tmp_path.iterdir()}
        # Python itself answers what comes while it ends, after all is written.
        expected = {0, 128 + number if number == signal.SIGINT else -number}
        if left & WRITTEN:
            expected.add(-number)
        assert status in expected, said
        assert said == ("espalier: interrupted\n" if status == 128 + number else "")
        wait_until(lambda: not any(map(runs, session_of(process.pid))))
        assert left <= {"m.mlir", "in.npz", "cache", "temporary"} | WRITTEN
        assert not names(tmp_path / "temporary")


def test_file_has_no_name_before_it_is_complete(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    for name in ("new", "old"):
        child = os.fork()
        if child == 0:
            with replacing(tmp_path / name) as temporary:
                temporary.write_text("half")
                os.kill(os.getpid(), signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert names(tmp_path) == {"old"}
    assert (tmp_path / "old").read_text() == "old"


def test_error_while_it_is_written_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")

    def fail() -> None:
        with replacing(tmp_path / "file") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(tmp_path) == {"file"}
    assert (tmp_path / "file").read_text() == "old"


def test_new_and_replaced_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        for text in ("first", "second"):
            write_text(tmp_path / "file", text)
            assert (tmp_path / "file").read_text() == text
            assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)
    assert names(tmp_path) == {"file"}


def test_link_is_replaced_and_a_device_is_written(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "link").symlink_to("kept")
    write_text(tmp_path / "link", "new")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "kept").read_text() == "kept"
    (tmp_path / "full").symlink_to("/dev/full")
    with pytest.raises(EspalierError, match="No space left on device"):
        write_text(tmp_path / "full", "new")


@pytest.mark.parametrize("path", ["none/file", "file/file", "folder", "a\0b", "x" * 300])
def test_paths_that_cannot_be_written(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(EspalierError, match="cannot write"):
        write_text(tmp_path / path, "text")
    assert names(tmp_path) == {"file"}
