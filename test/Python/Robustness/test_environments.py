"""What is missing, locked, closed or gone while a command or a program runs: an error."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from relu_model import MODEL, X, optimized

import espalier
from espalier.errors import EspalierError

NO_CACHE = espalier.Options(cache=None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a model and its inputs."""
    (tmp_path / "m.mlir").write_text(MODEL)
    np.savez(tmp_path / "in.npz", x=X)
    return tmp_path


def command(
    folder: Path,
    *arguments: str,
    stdout: int = subprocess.PIPE,
    before: Callable[[], None] | None = None,
    **changes: str | None,
) -> tuple[int, str]:
    """Run the command line; return its status and what it says on standard error."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **changes}
    # Output is written at the end, as it is for users.
    environment["PYTHONUNBUFFERED"] = ""
    result = subprocess.run(
        [sys.executable, "-m", "espalier", *arguments],
        cwd=folder,
        env={name: value for name, value in environment.items() if value is not None},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=before,
    )
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
    return result.returncode, result.stderr


PRINTING = [["--help"], ["check", "--help"], ["compile", "m.mlir", "-o", "f.so"]]


@pytest.mark.parametrize("arguments", PRINTING)
def test_nobody_reads_what_is_printed(folder, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert command(folder, *arguments, stdout=writer) == (1, "")
    finally:
        os.close(writer)


@pytest.mark.parametrize("arguments", PRINTING)
def test_what_is_printed_finds_no_space(folder, arguments):
    with open("/dev/full", "w") as full:
        status, message = command(folder, *arguments, stdout=full.fileno())
    assert status == 1
    assert message == "espalier: error: cannot use 'standard output': No space left on device\n"


@pytest.mark.parametrize("home", [None, "", "/nonexistent/home", "/proc", "/dev/null"])
def test_homes_that_are_none(folder, home):
    """The cache is missed; what is asked for is made."""
    arguments = ("compile", "m.mlir", "-o", "f.so")
    status, _ = command(folder, *arguments, HOME=home, XDG_CACHE_HOME=None)
    assert status == 0
    assert (folder / "f.so").is_file()


def test_no_temporary_folder_and_no_path(folder):
    arguments = ("compile", "m.mlir", "-o", "f.so", "--no-cache")
    assert command(folder, *arguments, TMPDIR="/nonexistent")[0] == 0
    for name in ("f.so", "f.h"):
        (folder / name).unlink()
    status, message = command(folder, *arguments, PATH="")
    assert (status, "cannot link with" in message) in [(0, False), (1, True)]
    assert {path.name for path in folder.iterdir()} <= {"m.mlir", "in.npz", "f.so", "f.h"}


@pytest.mark.parametrize("path", ["/proc/f.so", "/sys/f.so", "/dev/null/f.so"])
def test_folders_that_take_no_files(folder, path):
    status, message = command(folder, "compile", "m.mlir", "-o", path, "--no-cache")
    assert status == 1
    assert "cannot write" in message
    assert path.removesuffix(".so") in message


def test_a_limit_on_memory_is_not_a_fault_of_the_model(folder):
    """The process that reads MLIR first may ask for no more than there is."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    arguments = ("run", "m.mlir", "--inputs", "in.npz", "--outputs", "y.npz", "--no-cache")
    assert command(folder, *arguments, before=limit) == (0, "")
    np.testing.assert_array_equal(np.load(folder / "y.npz")["y"], np.maximum(X, 0))


# Databases and caches that others have.


def test_a_table_that_another_process_has_locked(tmp_path):
    optimized(tmp_path)
    before = (tmp_path / "times.sqlite").read_bytes()
    connection = sqlite3.connect(tmp_path / "times.sqlite", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    begin = time.monotonic()
    function = optimized(tmp_path)
    assert time.monotonic() - begin < 60
    connection.execute("ROLLBACK")
    connection.close()
    np.testing.assert_array_equal(function(X), np.maximum(X, 0))
    assert any("locked" in text for text in function.optimization["warnings"])
    assert (tmp_path / "times.sqlite").read_bytes() == before


def test_a_table_that_is_a_folder(tmp_path):
    (tmp_path / "times.sqlite").mkdir()
    function = optimized(tmp_path)
    np.testing.assert_array_equal(function(X), np.maximum(X, 0))
    assert any("times.sqlite" in text for text in function.optimization["warnings"])


def test_a_cache_that_goes_away(tmp_path):
    options = espalier.Options(cache=tmp_path / "cache")
    first = espalier.compile(MODEL, options=options)
    shutil.rmtree(tmp_path / "cache")
    np.testing.assert_array_equal(first(X), np.maximum(X, 0))
    second = espalier.compile(MODEL, options=options)
    assert not second.cached
    third = espalier.compile(MODEL, options=options)
    assert third.cached
    shutil.rmtree(tmp_path / "cache")
    np.testing.assert_array_equal(third(X), np.maximum(X, 0))
    (tmp_path / "cache").write_text("a file")
    with pytest.warns(RuntimeWarning, match="cannot write the cache"):
        fourth = espalier.compile(MODEL, options=options)
    np.testing.assert_array_equal(fourth(X), np.maximum(X, 0))
    assert (tmp_path / "cache").read_text() == "a file"


READ_ONLY = """
import warnings
import numpy as np
import espalier
from relu_model import MODEL, X, optimized
from pathlib import Path

folder = Path("read-only")
with warnings.catch_warnings(record=True) as warned:
    function = espalier.compile(MODEL, options=espalier.Options(cache=folder))
np.testing.assert_array_equal(function(X), np.maximum(X, 0))
print(*(warning.message for warning in warned))
function = optimized(folder)
np.testing.assert_array_equal(function(X), np.maximum(X, 0))
print(*function.optimization["warnings"])
try:
    function.save(folder / "f.so")
except espalier.CompileError as error:
    print(error)
"""


def test_folders_and_tables_that_others_own(tmp_path):
    """Nobody may write what is there; root may, and becomes another user."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    optimized(folder)
    before = (folder / "times.sqlite").read_bytes()
    names = {path.name for path in folder.iterdir()}
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents[:2]):
        parent.chmod(0o755)
    result = subprocess.run(
        [sys.executable, "-c", READ_ONLY],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": "/nonexistent"},
        user=65534 if os.getuid() == 0 else None,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    cache, table, save = result.stdout.splitlines()
    assert "cannot write the cache" in cache
    assert "times.sqlite" in table
    assert "Permission denied" in save
    assert (folder / "times.sqlite").read_bytes() == before
    assert {path.name for path in folder.iterdir()} == names


def test_a_cache_that_is_removed_all_the_time(tmp_path):
    options = espalier.Options(cache=tmp_path / "cache")
    stop = threading.Event()

    def remove() -> None:
        while not stop.is_set():
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)

    thread = threading.Thread(target=remove)
    thread.start()
    try:
        for _ in range(30):
            with warnings.catch_warnings(record=True) as warned:
                function = espalier.compile(MODEL, options=options)
            # Whether the folder was there is a matter of chance.
            assert all("cannot write the cache" in str(w.message) for w in warned)
            np.testing.assert_array_equal(function(X), np.maximum(X, 0))
    finally:
        stop.set()
        thread.join()


# Programs that get no memory, or are forked.

CHILD = """
import resource, sys
import numpy as np
import espalier
from espalier.kernels import f32, kernel, local, sizes

n, m = sizes("n m")

@kernel
def sums(x: f32[n], r: f32[n]) -> None:
    t = local(f32[n, m])
    for i in range(n):
        for j in range(m):
            t[i, j] = x[i]
    for i in range(n):
        r[i] = 0.0
        for j in range(m):
            r[i] += t[i, j]

program = sums.compile(espalier.Options(cache=None))
x, r = np.ones(4, np.float32), np.full(4, -1, np.float32)
program(x, r, m=3)
assert (r == 3).all()
limit = 8 << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for m in (2**32, 2**59, 2**60, 2**61 - 1, 2**63 - 1):
    r[:] = -1
    try:
        program(x, r, m=m)
    except espalier.EspalierError as error:
        print(error)
    assert (r == -1).all()
program(x, r, m=5)
assert (r == 5).all()
print("still there")
"""


def test_programs_that_get_no_memory(tmp_path):
    (tmp_path / "child.py").write_text(CHILD)
    result = subprocess.run(
        [sys.executable, "child.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stderr
    assert lines[-1] == "still there"
    assert len(lines) == 6
    for line in lines[:-1]:
        assert "bytes for intermediate tensors, but got none" in line or "overflow" in line


def test_a_process_that_forks(tmp_path):
    function = espalier.compile(MODEL, options=NO_CACHE)
    function.set_num_threads(2)
    x = np.ones((4096, 8), np.float32)
    function(x)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function(x)
            text = MODEL.replace("x8x", "x4x")
            espalier.compile(text, options=NO_CACHE)(np.ones((3, 4), np.float32))
            status = 7
        except EspalierError:
            pass
        finally:
            os._exit(status)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 7
            return
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the child waits for a thread that it does not have")
