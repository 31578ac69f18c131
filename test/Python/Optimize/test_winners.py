"""Compiling with what a search has found."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import espalier
from espalier import Options
from tuning import keeping, make_inputs, make_model

SEQUENCE = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    COMMAND
    transform.yield
  }
}
"""
CLEAN_UP = "transform.apply_cse to %module : !transform.any_op"
LOOK_UP = """%s = transform.poly.computation @NAME::@s0 of %module
      : (!transform.any_op) -> !transform.any_op"""
DETACH = (
    LOOK_UP.replace("NAME", "kernel")
    + """
    transform.poly.detach %s into "other" : !transform.any_op"""
)


def keep_winner(records: Path, script: str) -> None:
    """Let a script have won for the kernel that was tuned."""
    with sqlite3.connect(records) as connection:
        connection.execute(
            "INSERT OR REPLACE INTO winners SELECT task, target, 'rule', ?, "
            "1e-6, 2e-6 FROM trials LIMIT 1",
            [script],
        )


def winning_script(records: Path) -> str:
    """Return the script of a trial whose code is not the default schedule's."""
    with sqlite3.connect(records) as connection:
        found = connection.execute(
            "SELECT script FROM trials WHERE status = 'measured' "
            "AND code != (SELECT code FROM trials ORDER BY id LIMIT 1) ORDER BY id LIMIT 1"
        )
        return str(found.fetchone()[0])


def code(options: Options, folder: Path) -> bytes:
    """Return the machine code of the model."""
    espalier.compile(make_model(), options=options, name="m").save(folder / "m.o")
    return (folder / "m.o").read_bytes()


def test_what_won_is_compiled(tmp_path: Path) -> None:
    """Also from the cache, which knows that what won has changed."""
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=8, options=keeping(records))
    with sqlite3.connect(records) as connection:
        connection.execute("DELETE FROM winners")
    options = Options(records=records, cache=tmp_path / "cache")
    usual = code(options, tmp_path)
    keep_winner(records, winning_script(records))
    tuned = code(options, tmp_path)
    assert tuned != usual
    assert code(Options(records=None, cache=tmp_path / "cache"), tmp_path) == usual
    assert code(Options(records=tmp_path / "missing", cache=None), tmp_path) == usual
    assert not (tmp_path / "missing").exists()
    inputs = make_inputs()
    function = espalier.compile(make_model(), options=options)
    expected = inputs["a"] @ inputs["b"] + inputs["c"]
    np.testing.assert_allclose(function.run(inputs)["y"], expected, rtol=1e-4, atol=1e-4)


def test_a_search_keeps_what_won(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    tuned = espalier.tune(make_model(), trials=8, options=keeping(records))
    with sqlite3.connect(records) as connection:
        winners = list(connection.execute("SELECT rule, seconds, original FROM winners"))
    assert [rule for rule, _, _ in winners] == [k.rule for k in tuned.kernels if k.rule]
    for _, seconds, original in winners:
        assert 0 < seconds < original


def test_the_code_of_the_default_never_wins(tmp_path: Path) -> None:
    """The first candidate is the default schedule's script, however fast it seems."""
    records = tmp_path / "records.sqlite"
    tuned = espalier.tune(make_model(), trials=1, options=keeping(records))
    assert [kernel.rule for kernel in tuned.kernels] == [""]
    with sqlite3.connect(records) as connection:
        assert connection.execute("SELECT count(*) FROM winners").fetchone() == (0,)
        ((code,),) = connection.execute("SELECT code FROM trials").fetchall()
    assert len(code) > 8


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("no script", "custom op 'no' is unknown"),
        ("module {}", "expects a script with a sequence"),
        (SEQUENCE.replace("COMMAND", CLEAN_UP), "transform.apply_cse"),
        (SEQUENCE.replace("COMMAND", LOOK_UP), "@NAME"),
        (SEQUENCE.replace("COMMAND", DETACH), "expects one call of @kernel"),
    ],
)
def test_what_does_not_fit_any_more_is_said(tmp_path: Path, script: str, reason: str) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=1, options=keeping(records))
    usual = code(keeping(None), tmp_path)
    keep_winner(records, script)
    with pytest.warns(RuntimeWarning, match=f"was tuned does not fit any more: .*{reason}"):
        assert code(keeping(records), tmp_path) == usual


def test_a_search_that_compares_nothing_keeps_what_won(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=1, options=keeping(records))
    keep_winner(records, "script")
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE trials SET compiler = 'another build'")
    espalier.tune(make_model(), trials=0, options=keeping(records))
    with sqlite3.connect(records) as connection:
        assert connection.execute("SELECT script FROM winners").fetchall() == [("script",)]


def test_compiling_leaves_records_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.warns(RuntimeWarning, match="cannot use what was tuned"):
        code(keeping(tmp_path / "empty"), tmp_path)
    assert (tmp_path / "empty").stat().st_size == 0


def test_what_won_depends_on_the_number_of_threads(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=8, options=keeping(records))
    keep_winner(records, winning_script(records))
    options = Options(records=records, cache=tmp_path / "cache", run_threads=2)
    usual = code(options, tmp_path)
    assert code(replace(options, run_threads=1), tmp_path) != usual


def test_records_that_cannot_be_read_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database\n" * 100)
    with pytest.warns(RuntimeWarning, match="cannot use what was tuned: .*file is not a database"):
        code(keeping(tmp_path / "text"), tmp_path)
