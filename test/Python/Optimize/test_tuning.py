"""Searching for schedules by measuring."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import espalier
from espalier import Options
from espalier.__main__ import main

EXTENT = 48


def make_model(rows: int | str = EXTENT) -> bytes:
    """Return a product with an addition."""
    infos = [
        helper.make_tensor_value_info(name, 1, shape)
        for name, shape in (("a", (rows, EXTENT)), ("b", (EXTENT, EXTENT)), ("c", (EXTENT,)))
    ]
    nodes = [helper.make_node("MatMul", "ab", ["p"]), helper.make_node("Add", "pc", ["y"])]
    y = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph(nodes, "g", infos, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model.SerializeToString()


def make_inputs(rows: int = EXTENT) -> dict[str, np.ndarray]:
    """Return arrays for the model."""
    random = np.random.default_rng(1)
    shapes = {"a": (rows, EXTENT), "b": (EXTENT, EXTENT), "c": (EXTENT,)}
    return {k: random.standard_normal(shape, np.float32) for k, shape in shapes.items()}


def keeping(records: Path | None) -> Options:
    """Return options with a file of records, and no cache."""
    return Options(records=records, cache=None)


def statuses(records: Path) -> list[str]:
    """Return what became of the trials in a file."""
    with sqlite3.connect(records) as connection:
        return [row[0] for row in connection.execute("SELECT status FROM trials ORDER BY id")]


def test_candidates_compute_what_the_default_does(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    seen: list[espalier.tuning.TuneProgress] = []
    tuned = espalier.tune(make_model(), trials=12, options=keeping(records), progress=seen.append)
    assert [now.trials for now in seen] == list(range(1, 13))
    found = statuses(records)
    assert len(found) == 12
    assert found[0] == "measured", "the default schedule comes first"
    assert not {"wrong", "failed"} & set(found)
    assert tuned.best_s <= tuned.original_s
    with sqlite3.connect(records) as connection:
        scripts = [row[0] for row in connection.execute("SELECT script FROM trials")]
    assert len(set(scripts)) == 12, "nothing is tried twice"


def test_the_script_is_one_that_compile_takes(tmp_path: Path) -> None:
    """Also one of a candidate that lost: names and choices are those of the program."""
    model, script = make_model(), tmp_path / "tuned.mlir"
    tuned = espalier.tune(model, trials=6, seed=3, options=keeping(None))
    tuned.save(script)
    inputs = make_inputs()
    expected = inputs["a"] @ inputs["b"] + inputs["c"]
    function = espalier.compile(model, schedule=script, options=keeping(None))
    np.testing.assert_allclose(function.run(inputs)["y"], expected, rtol=1e-4, atol=1e-4)


def test_a_search_goes_on_from_its_records(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=5, options=keeping(records))
    again = espalier.tune(make_model(), trials=4, options=keeping(records))
    assert len(statuses(records)) == 9
    assert sum(kernel.trials for kernel in again.kernels) == 9


def test_without_trials_the_records_decide(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=5, options=keeping(records))
    espalier.tune(make_model(), trials=0, options=keeping(records))
    assert len(statuses(records)) == 5


def test_records_that_do_not_fit_are_passed_over(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=3, options=keeping(records))
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE trials SET script = 'no script' WHERE id = 1")
        connection.execute("UPDATE trials SET rule = 'no rule' WHERE id = 2")
        connection.execute("UPDATE trials SET seconds = -1 WHERE id = 3")
    again = espalier.tune(make_model(), trials=2, options=keeping(records))
    assert sum(kernel.trials for kernel in again.kernels) == 2


def test_kernels_of_unknown_size_are_left_alone() -> None:
    tuned = espalier.tune(make_model("n"), trials=3, options=keeping(None))
    assert any("expects a known shape" in kernel.reason for kernel in tuned.kernels)
    assert "transform.poly.plan" not in tuned.script


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trials": -1}, "argument 'trials': expects 0 to 2"),
        ({"trials": 2**32}, "argument 'trials': expects 0 to 2"),
        ({"seconds": -1.0}, "argument 'seconds': expects 0 or more, but got -1.0"),
        ({"seconds": float("nan")}, "argument 'seconds': expects 0 or more, but got nan"),
        ({"seed": -1}, "argument 'seed': expects 0 to 2"),
    ],
)
def test_wrong_numbers_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(espalier.EspalierError, match=message.replace("^", r"\^")):
        espalier.tune(make_model(), options=keeping(None), **arguments)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    records = tmp_path / "other.sqlite"
    with sqlite3.connect(records) as connection:
        connection.execute("CREATE TABLE notes (text)")
    before = records.read_bytes()
    with pytest.raises(espalier.EspalierError, match="expects a table of ours, but got another"):
        espalier.tune(make_model(), trials=1, options=keeping(records))
    assert records.read_bytes() == before
    (tmp_path / "text").write_text("no database\n" * 100)
    with pytest.raises(espalier.EspalierError, match="file is not a database"):
        espalier.tune(make_model(), trials=1, options=keeping(tmp_path / "text"))
    with pytest.raises(espalier.EspalierError, match="unable to open database file"):
        espalier.tune(make_model(), trials=1, options=keeping(tmp_path))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, script = tmp_path / "m.onnx", tmp_path / "fast.mlir"
    model.write_bytes(make_model())
    arguments = ["--trials", "3", "--records", str(tmp_path / "r.sqlite")]
    assert main(["tune", str(model), "-o", str(script), *arguments]) == 0
    assert "3 trials" in capsys.readouterr().out
    assert "transform.named_sequence @__transform_main" in script.read_text()
    arguments = ["--schedule", str(script), "-o", str(tmp_path / "m.so"), "--no-cache"]
    assert main(["compile", str(model), *arguments]) == 0


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
    """Return the script of a trial that is not the default schedule's."""
    with sqlite3.connect(records) as connection:
        found = connection.execute(
            "SELECT script FROM trials WHERE status = 'measured' ORDER BY id LIMIT 1 OFFSET 3"
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
