"""Processes that are ended while they write leave whole files, and nothing else."""

import os
import signal
import subprocess
import sys
import time
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
