"""Full disks, missing tools and folders that cannot be written: errors, never an exit."""

import contextlib
import resource
import stat
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from relu_model import optimized

import espalier
from espalier.__main__ import main
from espalier.models import MODELS
from support import one_op

MODEL = """
func.func @main(%x: tensor<1024xf32> {espalier.name = "x"}) -> (tensor<1024xf32> {espalier.name = "y"}) {
  %0 = graph.relu %x : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
"""  # noqa: E501
INPUT = np.linspace(-1, 1, 1024, dtype=np.float32)


@contextlib.contextmanager
def full_disk(size: int = 100) -> Iterator[None]:
    """Let no file grow beyond some bytes; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def function() -> espalier.Function:
    """Return a compiled function."""
    return espalier.compile(MODEL, options=espalier.Options(cache=None))


def names(folder: Path) -> set[str]:
    """Return the names of what is in a folder."""
    return {path.name for path in folder.rglob("*")}


def check_result(function: espalier.Function) -> None:
    """Compare what `MODEL` computes."""
    np.testing.assert_array_equal(function(INPUT), np.maximum(INPUT, 0))


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_cache_on_a_full_disk_is_a_warning(tmp_path, size):
    with full_disk(size), pytest.warns(RuntimeWarning, match="cannot write.*File too large"):
        function = espalier.compile(MODEL, options=espalier.Options(cache=tmp_path))
    check_result(function)
    assert not names(tmp_path)


def test_cache_that_is_no_folder_is_a_warning(tmp_path):
    (tmp_path / "file").write_text("")
    options = espalier.Options(cache=tmp_path / "file" / "cache")
    with pytest.warns(RuntimeWarning, match="cannot write the cache.*Not a directory"):
        check_result(espalier.compile(MODEL, options=options))


def test_warnings_may_be_errors(tmp_path):
    with full_disk(), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            espalier.compile(MODEL, options=espalier.Options(cache=tmp_path))


@pytest.mark.parametrize("name", ["f.so", "f.o"])
@pytest.mark.parametrize("size", [0, 100, 5000, 20000])
def test_save_on_a_full_disk_keeps_the_old_file(tmp_path, function, name, size):
    (tmp_path / name).write_text("old")
    with full_disk(size), pytest.raises(espalier.CompileError) as error:
        function.save(tmp_path / name)
    assert "File too large" in str(error.value) or "file truncated" in str(error.value)
    assert (tmp_path / name).read_text() == "old"
    assert names(tmp_path) == {name}


def test_save_to_a_device_that_is_full(tmp_path, function):
    (tmp_path / "f.so").symlink_to("/dev/full")
    function.save(tmp_path / "f.so")
    assert stat.S_ISREG((tmp_path / "f.so").lstat().st_mode)
    (tmp_path / "g.h").symlink_to("/dev/full")
    with pytest.raises(espalier.CompileError, match="No space left on device"):
        function.save(tmp_path / "g.so")
    assert "g.so" not in names(tmp_path)


def test_save_to_what_is_no_folder(tmp_path, function):
    (tmp_path / "file").write_text("")
    for folder, reason in (("none", "No such file or directory"), ("file", "Not a directory")):
        path = tmp_path / folder / "f.so"
        with pytest.raises(espalier.CompileError) as error:
            function.save(path)
        assert str(error.value) == f"cannot write '{path}': {reason}"


def test_save_over_a_folder(tmp_path, function):
    (tmp_path / "f.so").mkdir()
    with pytest.raises(espalier.CompileError, match=r"f\.so': Is a directory"):
        function.save(tmp_path / "f.so")
    assert names(tmp_path) <= {"f.so", "f.h"}


def test_commands_on_a_full_disk(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "m.mlir").write_text(MODEL)
    np.savez(tmp_path / "in.npz", x=INPUT)
    model, out = str(tmp_path / "m.mlir"), tmp_path / "out"
    out.mkdir()
    for command in (
        ["compile", model, "-o", str(out / "f.so")],
        ["run", model, "--inputs", str(tmp_path / "in.npz"), "--outputs", str(out / "y.npz")],
    ):
        with full_disk(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert main(command) == 1
        message = capsys.readouterr().err
        assert f"error: cannot write '{out}" in message
        assert "File too large" in message
    assert names(out) == set()


def test_demo_on_a_full_disk(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(MODELS, "tiny", lambda: one_op("Relu", {"x": (np.float32, [2, 3])}))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with full_disk(10):
        assert main(["demo", "tiny"]) == 1
    message = capsys.readouterr().err
    assert f"error: cannot write '{tmp_path}" in message
    assert "tiny.onnx': File too large" in message
    assert not names(tmp_path)


def test_demo_without_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert main(["demo", "dcgan"]) == 1
    message = f"cannot make a folder in '{tmp_path}/none': No such file or directory"
    assert capsys.readouterr().err == f"espalier: error: {message}\n"


def test_table_of_kernels_on_a_full_disk(tmp_path):
    with full_disk():
        function = optimized(tmp_path, MODEL)
    check_result(function)
    assert any("times.sqlite" in text for text in function.optimization["warnings"])


@pytest.mark.parametrize("content", [b"no database" * 100, b"SQLite format 3\0" + bytes(4096)])
def test_table_of_kernels_that_is_malformed(tmp_path, content):
    (tmp_path / "times.sqlite").write_bytes(content)
    function = optimized(tmp_path, MODEL)
    check_result(function)
    assert any("times.sqlite" in text for text in function.optimization["warnings"])
    assert (tmp_path / "times.sqlite").read_bytes() == content
