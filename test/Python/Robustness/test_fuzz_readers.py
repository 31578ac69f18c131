"""Readers of files answer mutated files with a result or an error of ours, in bounded time.

A few mutants each; `fuzz.py` reads more.
"""

import zipfile

import pytest
from fuzz import Result, prepare, read
from originals import MAKERS

import espalier
from espalier.commands.common import load_arrays

MUTANTS = 40
SEED = 1
# Each of these compiles or searches again, or is read by a command.
SLOW = {
    "encodings",
    "cache",
    "times",
    "records",
    "passes",
    "rules",
    "patterns",
    "proof",
    "costs",
    "input",
    "partition",
}


@pytest.mark.parametrize("reader", MAKERS)
def test_mutants_are_answered(tmp_path, reader):
    prepare(reader, tmp_path, wide=False)
    result = Result()
    read(reader, tmp_path, SEED, MUTANTS // 5 if reader in SLOW else MUTANTS, result)
    assert not result.faults, "\n".join(result.faults)
    assert len(result.answers) > 1, result.answers


def test_names_that_are_no_text(tmp_path):
    MAKERS["onnx"](tmp_path, False)
    model = (tmp_path / "tiny").read_bytes().replace(b"Softmax", b"Soft\xffax")
    with pytest.raises(espalier.EspalierError, match="expects names in UTF-8"):
        espalier.compile(model)


def test_names_that_c_would_cut(tmp_path):
    """Those of two inputs would be one to a program in C."""
    MAKERS["onnx"](tmp_path, False)
    model = (tmp_path / "tiny").read_bytes().replace(b"Softmax", b"Soft\0ax")
    message = r"expects names without null characters, but got 'Soft\\x00ax'"
    with pytest.raises(espalier.EspalierError, match=message):
        espalier.compile(model)


def test_archive_with_unknown_compression(tmp_path):
    MAKERS["arrays"](tmp_path, False)
    data = bytearray((tmp_path / "a.npz").read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + 10] = 99
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(espalier.EspalierError, match=r"cannot read .*a\.npz"):
        load_arrays(tmp_path / "a.npz")


def test_archive_whose_header_is_no_value(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00\x04\x00{{}}")
    with pytest.raises(espalier.EspalierError, match=r"cannot read .*unhashable"):
        load_arrays(tmp_path / "a.npz")
