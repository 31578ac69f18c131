"""Searches for kernels of several unknown sizes, which have numbers by their names."""

import sqlite3
from pathlib import Path

import numpy as np
import onnx
import pytest

import espalier
from espalier.__main__ import main
from espalier.measured_sizes import Sizes
from espalier.models import Net
from tuning import keeping, statuses

SIZES = [{"batch": batch, "length": length} for batch in (1, 16) for length in (1, 64)]


def scores() -> onnx.ModelProto:
    """Return products of each row with each other one, by batch."""
    net = Net("scores")
    x = net.input("x", ["batch", "length", 48])
    y = net.node("MatMul", x, net.node("Transpose", x, perm=[0, 2, 1]))
    return net.finish((y, "y", ["batch", "length", "length"]))


def products() -> onnx.ModelProto:
    """Return products of kernels that are formed in one way, whatever is measured."""
    net = Net("products")
    x = net.input("x", ["batch", "length", 48])
    y = net.node("MatMul", x, net.input("z", ["batch", 48, "length"]))
    return net.finish((y, "y", ["batch", "length", "length"]))


def check(function: espalier.Function, batch: int, length: int) -> None:
    x = np.random.default_rng(3).standard_normal((batch, length, 48), np.float32)
    z = np.ascontiguousarray(x.transpose(0, 2, 1))
    np.testing.assert_allclose(function(*[x, z][: len(function.inputs)]), x @ z, 1e-4, 1e-4)


def measured_sizes(records: Path) -> set[tuple[str, ...]]:
    """Return what stood for the sizes of kernels."""
    with sqlite3.connect(records) as connection:
        tasks = {row[0] for row in connection.execute("SELECT task FROM trials")}
    return {tuple(one.partition(":")[0] for one in task.split()[1:]) for task in tasks}


def test_kernels_run_with_the_sizes_of_their_calls(tmp_path: Path) -> None:
    """A kernel of several sizes has a time for each, in the order that its calls pass them."""
    records = tmp_path / "records.sqlite"
    tuned = espalier.tune(scores(), trials=6, sizes=SIZES, options=keeping(records))
    assert not any(kernel.reason for kernel in tuned.kernels)
    assert not {"wrong", "failed"} & set(statuses(records))
    assert measured_sizes(records) == {("1x1", "1x64", "16x1", "16x64")}


def test_sizes_that_a_program_computes(tmp_path: Path) -> None:
    net = Net("rows")
    rows = net.node("Reshape", net.input("x", ["batch", "length", 48]), net.constant([-1, 48]))
    y = net.node("Softmax", net.node("MatMul", rows, net.weight([48, 64], 0.1)), axis=-1)
    model = net.finish((y, "y", ["rows", 64]))
    records = tmp_path / "records.sqlite"
    espalier.tune(model, trials=2, sizes=SIZES[1:], options=keeping(records))
    assert measured_sizes(records) == {("64", "16", "1024")}


def test_schedules_by_two_sizes(tmp_path: Path) -> None:
    """Times are made up, so that it depends on both sizes which schedule is fastest."""
    records = tmp_path / "records.sqlite"
    options = keeping(records)
    espalier.tune(products(), trials=10, sizes=SIZES, options=options)
    with sqlite3.connect(records) as connection:
        connection.execute("DELETE FROM trials WHERE rule = 'sizes'")
        tasks = connection.execute("SELECT DISTINCT task FROM trials").fetchall()
        for (task,) in tasks:
            for number, times in enumerate(
                ("1e-9; 8e-9; 8e-9; 8e-9", "8e-9; 1e-9; 8e-9; 8e-9", "8e-9; 8e-9; 1e-9; 1e-9")
            ):
                connection.execute(
                    "UPDATE trials SET times = ? WHERE id = (SELECT id FROM trials WHERE status = "
                    "'measured' AND task = ? ORDER BY id LIMIT 1 OFFSET ?)",
                    (times, task, number),
                )
    espalier.tune(products(), trials=0, sizes=SIZES, options=options)
    with sqlite3.connect(records) as connection:
        found = connection.execute("SELECT script, status FROM trials WHERE rule = 'sizes'")
        scripts = [script for script, status in found if status == "measured"]
        connection.execute(
            "INSERT OR REPLACE INTO winners SELECT substr(task, 1, instr(task, ' ') - 1), target, "
            "rule, script, 1e-6, 2e-6 FROM trials WHERE rule = 'sizes'"
        )
    assert any('["n0upto4n1upto8", "n0upto4"]' in script for script in scripts)
    function = espalier.compile(products(), options=options)
    for batch in (0, 1, 4, 5, 16):
        for length in (0, 1, 8, 9, 64):
            check(function, batch, length)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([{"batch": 1}], "sizes 1: expects numbers for 'batch', 'length', but got none for 'len"),
        ([*SIZES, {"batch": 1, "length": 2, "m": 3}], "sizes 5: .* but got one for 'm'"),
        ([{}], "'sizes': expects numbers by name and a weight above 0, but got {} with 1.0"),
        ([(SIZES[0], 0.0)], "a weight above 0, but got .* with 0.0"),
        ([{"batch": 0, "length": 2}], "expects numbers of 1 to 2.31 - 1, but got 0 for 'batch'"),
    ],
)
def test_wrong_sizes_are_refused(sizes: list[Sizes], message: str) -> None:
    with pytest.raises(espalier.EspalierError, match=message):
        espalier.tune(scores(), sizes=sizes, options=keeping(None))


def test_either_names_or_lengths() -> None:
    with pytest.raises(espalier.EspalierError, match="expects no lengths besides, but got both"):
        espalier.tune(scores(), sizes=SIZES, lengths=[1], options=keeping(None))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, script = tmp_path / "m.onnx", tmp_path / "fast.mlir"
    onnx.save(scores(), model)
    arguments = ["tune", str(model), "-o", str(script), "--no-cache", "--trials", "2"]
    assert main([*arguments, "--sizes", "batch=1,length=8:2", "--sizes", "batch=3,length=4"]) == 0
    assert "transform.named_sequence" in script.read_text()
    for wrong in ("batch", "batch=0", "batch=1:x"):
        with pytest.raises(SystemExit):
            main([*arguments, "--sizes", wrong])
    errors = capsys.readouterr().err
    assert errors.count("expects numbers by name, such as batch=1,length=64:2, but got") == 2
    assert "expects a number of at least 1, but got '0'" in errors
