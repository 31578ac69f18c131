"""Ctrl-C while a model is compiled: an end in good order, soon, and a usable state."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

import espalier
from espalier.models import build
from espalier.testing.compare import largest_error


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Have Python's own handler; processes of parallel test runs ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


INTERRUPTED_IMPORT = """
import os, signal, sys
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    sys.exit("the caller's handler")
"""


def interrupting(calls: list[tuple[int, int]]) -> espalier.compiler.Progress:
    """Return a progress function that sends the signal when the first part is done."""

    def progress(done: int, total: int) -> None:
        if not calls:
            os.kill(os.getpid(), signal.SIGINT)
        calls.append((done, total))

    return progress


def test_compile_ends_before_its_parts_do_and_can_be_called_again(tmp_path, ctrl_c):
    options = espalier.Options(cache=tmp_path)
    calls: list[tuple[int, int]] = []
    with pytest.raises(KeyboardInterrupt):
        espalier.compile(build("resnet50", size=32), options=options, progress=interrupting(calls))
    assert not list(tmp_path.iterdir())
    tiny = build("squeezenet", size=48)
    feed = {i.name: np.ones([1, 3, 48, 48], np.float32) for i in tiny.graph.input}
    first, second = (espalier.compile(tiny, options=options) for _ in range(2))
    assert (first.cached, second.cached) == (False, True)
    assert largest_error(first.run(feed), second.run(feed)) == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_progress_that_raises_does_not_end_compilation():
    def progress(_done: int, _total: int) -> None:
        raise ValueError("progress")

    model = build("dcgan", width=4, latent=8)
    assert espalier.compile(model, options=espalier.Options(cache=None), progress=progress)


@pytest.mark.parametrize(
    ("command", "ended"),
    [
        (["-m", "espalier"], (130, b"espalier: interrupted\n")),
        (["-c", "import espalier"], (1, b"the caller's handler\n")),
    ],
)
def test_command_is_interrupted_while_it_imports(
    tmp_path: Path, ctrl_c: None, command: list[str], ended: tuple[int, bytes]
) -> None:
    """Who imports the package has a handler of their own."""
    (tmp_path / "numpy.py").write_text(INTERRUPTED_IMPORT)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    result = subprocess.run(
        [sys.executable, *command], env={**os.environ, "PYTHONPATH": path}, capture_output=True
    )
    assert (result.returncode, result.stderr) == ended


def test_command_ends_with_130_and_leaves_no_file(tmp_path):
    onnx.save(build("resnet50", size=32), tmp_path / "model.onnx")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "espalier", "compile", "model.onnx", "-o", "out.so"],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    while b"compiling 1/" not in shown:
        shown += os.read(master, 4096)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 130
    assert os.read(master, 65536).endswith(b"espalier: interrupted\r\n")
    os.close(master)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["model.onnx"]
