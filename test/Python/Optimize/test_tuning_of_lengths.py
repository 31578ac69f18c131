"""Searches for kernels of unknown sizes: one program for several lengths."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import espalier
from espalier.__main__ import main
from tuning import keeping, make_inputs, make_model, statuses

LENGTHS = (1, 5, 16)


def test_a_program_for_all_lengths_is_tuned(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    tuned = espalier.tune(make_model("n"), trials=10, lengths=LENGTHS, options=keeping(records))
    assert not any(kernel.reason for kernel in tuned.kernels)
    # One more may branch between those that were tried.
    assert len(statuses(records)) in (10, 11)
    assert statuses(records)[0] == "measured"
    assert not {"wrong", "failed"} & set(statuses(records))
    with sqlite3.connect(records) as connection:
        tasks = {row[0] for row in connection.execute("SELECT task FROM trials")}
    # Beside it is a kernel whose sizes are known.
    measured = {tuple(one.partition(":")[0] for one in task.split()[1:]) for task in tasks}
    assert measured - {()} == {("1", "5", "16")}


def test_what_won_is_compiled_for_all_lengths(tmp_path: Path) -> None:
    """Whichever script won: that of a trial is made to."""
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model("n"), trials=10, lengths={2: 1.0, 9: 3.0}, options=keeping(records))
    with sqlite3.connect(records) as connection:
        connection.execute(
            "INSERT OR REPLACE INTO winners SELECT substr(task, 1, instr(task, ' ') - 1), target, "
            "'rule', script, 1e-6, 2e-6 FROM trials WHERE status = 'measured' ORDER BY id"
        )
    usual = espalier.compile(make_model("n"), options=keeping(None), name="m")
    usual.save(tmp_path / "usual.o")
    function = espalier.compile(make_model("n"), options=keeping(records), name="m")
    function.save(tmp_path / "tuned.o")
    assert (tmp_path / "usual.o").read_bytes() != (tmp_path / "tuned.o").read_bytes()
    for rows in (1, 2, 9, 33):
        inputs = make_inputs(rows)
        expected = inputs["a"] @ inputs["b"] + inputs["c"]
        np.testing.assert_allclose(function.run(inputs)["y"], expected, rtol=1e-4, atol=1e-4)


def test_schedules_by_length(tmp_path: Path) -> None:
    """Times are made up, so that one schedule is faster for few rows, another for many."""
    records = tmp_path / "records.sqlite"
    options, lengths = keeping(records), (2, 9, 40)
    espalier.tune(make_model("n"), trials=6, lengths=lengths, options=options)
    with sqlite3.connect(records) as connection:
        connection.execute("DELETE FROM trials WHERE rule = 'sizes'")
        for number, times in enumerate(
            ("1e-9; 2e-9; 3e-9", "2e-9; 1e-9; 3e-9", "3e-9; 2e-9; 1e-9")
        ):
            connection.execute(
                "UPDATE trials SET times = ? WHERE id = (SELECT id FROM trials WHERE status = "
                "'measured' AND task LIKE '% 2:1%9:1%40:1%' ORDER BY id LIMIT 1 OFFSET ?)",
                (times, number),
            )
    espalier.tune(make_model("n"), trials=0, lengths=lengths, options=options)
    with sqlite3.connect(records) as connection:
        ((script, status),) = connection.execute(
            "SELECT script, status FROM trials WHERE rule = 'sizes'"
        )
        assert status == "measured"
        connection.execute(
            "INSERT OR REPLACE INTO winners SELECT substr(task, 1, instr(task, ' ') - 1), target, "
            "rule, script, 1e-6, 2e-6 FROM trials WHERE rule = 'sizes'"
        )
    # Between 2 and 9, and between 9 and 40.
    assert '["upto4", "upto18"]' in script
    function = espalier.compile(make_model("n"), options=options)
    for rows in range(45):
        inputs = make_inputs(rows)
        expected = inputs["a"] @ inputs["b"] + inputs["c"]
        np.testing.assert_allclose(function.run(inputs)["y"], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("lengths", [[0], [2**31], {4: 0.0}, {4: float("inf")}])
def test_wrong_lengths_are_refused(lengths: list[int] | dict[int, float]) -> None:
    with pytest.raises(espalier.EspalierError, match="'lengths': expects lengths of 1 to 2"):
        espalier.tune(make_model("n"), lengths=lengths, options=keeping(None))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, script = tmp_path / "m.onnx", tmp_path / "fast.mlir"
    model.write_bytes(make_model("n"))
    arguments = ["tune", str(model), "-o", str(script), "--no-cache", "--trials", "2"]
    assert main([*arguments, "--lengths", "1:2,8"]) == 0
    assert "trials" in capsys.readouterr().out
    assert "transform.named_sequence" in script.read_text()
    with pytest.raises(SystemExit):
        main([*arguments, "--lengths", "1:x"])
    assert "expects numbers with weights, such as 1:2,64" in capsys.readouterr().err
