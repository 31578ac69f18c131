"""Searching for schedules by measuring."""

import json
import re
import sqlite3
import warnings
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import espalier
from espalier.__main__ import main
from tuning import keeping, make_inputs, make_model, statuses


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
    unknown = [kernel for kernel in tuned.kernels if "expects a known shape" in kernel.reason]
    assert unknown
    assert not any(f"@{kernel.name}" in tuned.script for kernel in unknown)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trials": -1}, "argument 'trials': expects 0 to 2"),
        ({"trials": 2**32}, "argument 'trials': expects 0 to 2"),
        ({"seconds": -1.0}, "argument 'seconds': expects 0 or more, but got -1.0"),
        ({"seconds": float("nan")}, "argument 'seconds': expects 0 or more, but got nan"),
        ({"seed": -1}, "argument 'seed': expects 0 to 2"),
        ({"patience": -1}, "argument 'patience': expects 0 to 2^32 - 1, but got -1"),
        ({"target_s": -1.0}, "argument 'target_s': expects 0 or more, but got -1.0"),
    ],
)
def test_wrong_numbers_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(espalier.EspalierError, match=message.replace("^", r"\^")):
        espalier.tune(make_model(), options=keeping(None), **arguments)


def test_searches_that_there_are_not_are_refused() -> None:
    with pytest.raises(espalier.EspalierError, match=r"'search': expects one of random, evol.*'x'"):
        espalier.tune(make_model(), search="x", options=keeping(None))


def features(records: Path) -> list[dict[str, float]]:
    """Return what is known of the trials in a file."""
    with sqlite3.connect(records) as connection:
        rows = connection.execute("SELECT features FROM trials ORDER BY id").fetchall()
    return [
        {name: float(value) for name, value in (one.split("=") for one in row.split())}
        for (row,) in rows
    ]


@pytest.mark.parametrize("search", espalier.tuning.SEARCHES)
def test_every_search_keeps_what_is_known(tmp_path: Path, search: str) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=14, search=search, options=keeping(records))
    known = features(records)
    assert len(known) == 14
    assert all(row["Points"] > 0 and row["Cycles"] > 0 for row in known)
    assert len({tuple(row.values()) for row in known}) > 7


def test_without_the_library_an_estimate_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("espalier.tuning.find_model_library", lambda: "")
    tuned = espalier.tune(make_model(), trials=1, options=keeping(None))
    assert "expects XGBoost, but got no library" in tuned.model_fault
    with pytest.raises(espalier.EspalierError, match="expects XGBoost, but it is not installed"):
        espalier.tuning.judge_model(tmp_path / "records.sqlite")
    monkeypatch.setattr("espalier.tuning.find_model_library", lambda: str(tmp_path / "no.so"))
    model = tmp_path / "m.onnx"
    model.write_bytes(make_model())
    assert main(["tune", str(model), "-o", str(tmp_path / "s.mlir"), "--trials", "1"]) == 0
    assert re.search(
        "note: candidates were ranked by (an estimate|trees that were trained before): model of",
        capsys.readouterr().out,
    )


def keep_made_up(records: Path) -> None:
    """Add 3 kernels of 40 candidates whose times follow from one feature."""
    espalier.tune(make_model(), trials=1, options=keeping(records))
    with sqlite3.connect(records) as connection:
        (known,) = connection.execute("SELECT features FROM trials").fetchone()
        connection.execute("DELETE FROM trials")
        head = known[: known.index("Loads=")]
        tail = known[known.index(" Accumulators=") :]
        connection.executemany(
            "INSERT INTO trials (task, target, compiler, seed, rule, script, status, seconds, "
            "error, features) VALUES (?, 'machine', 'b', 0, 'r', 's', 'measured', ?, '', ?)",
            [
                (f"kernel{kernel}", (kernel + 1) * (1 + i), f"{head}Loads={i}{tail}")
                for kernel in range(3)
                for i in range(40)
            ],
        )


def test_the_model_learns_of_other_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("xgboost")
    records = tmp_path / "records.sqlite"
    keep_made_up(records)
    judged = espalier.tuning.judge_model(records)
    assert [kernel.candidates for kernel in judged] == [40] * 3
    assert all(kernel.model > 0.9 for kernel in judged)
    # It says the same of all.
    assert all(kernel.estimate == 0 for kernel in judged)
    assert main(["judge", "--records", str(records)]) == 0
    assert "3 kernels: model 1.00, estimate 0.00" in capsys.readouterr().out
    assert [len(kernel.measured) for kernel in judged] == [40] * 3
    assert [len(kernel.predicted) for kernel in judged] == [40] * 3


def test_what_was_learned_is_a_file(tmp_path: Path) -> None:
    pytest.importorskip("xgboost")
    records, trees = tmp_path / "records.sqlite", tmp_path / "trees.json"
    keep_made_up(records)
    assert main(["judge", "--records", str(records), "--train", str(trees)]) == 0
    written = json.loads(trees.read_text())
    assert (written["format"], written["version"]) == ("espalier-trees", 2)
    assert written["speed"]["trees"]
    with sqlite3.connect(records) as connection:
        connection.execute("DELETE FROM trials")
    with pytest.raises(espalier.EspalierError, match="expects candidates that it learned from"):
        espalier.tuning.train_trees(records)


def test_features_that_were_counted_otherwise_teach_nothing(tmp_path: Path) -> None:
    pytest.importorskip("xgboost")
    records = tmp_path / "records.sqlite"
    keep_made_up(records)
    for now, then in (("Version=2", "Version=1"), ("Version=1 ", "")):
        with sqlite3.connect(records) as connection:
            connection.execute(
                "UPDATE trials SET features = replace(features, ?, ?) WHERE task = 'kernel2'",
                (now, then),
            )
        judged = espalier.tuning.judge_model(records)
        assert sorted(kernel.task for kernel in judged) == ["kernel0", "kernel1"]


def test_few_candidates_judge_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xgboost")
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=2, options=keeping(records))
    assert main(["judge", "--records", str(records)]) == 0
    assert "no kernel with enough candidates" in capsys.readouterr().out
    with pytest.raises(espalier.EspalierError, match="unable to open database file"):
        espalier.tuning.judge_model(tmp_path / "missing")


def bring_back(records: Path) -> None:
    """Make a file of the version before."""
    with sqlite3.connect(records) as connection:
        connection.executescript(
            "ALTER TABLE trials DROP COLUMN parent; ALTER TABLE trials DROP COLUMN times; "
            "PRAGMA user_version = 4"
        )


def test_records_of_the_version_before_are_taken_over(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=2, options=keeping(records))
    bring_back(records)
    with warnings.catch_warnings(action="error"):
        espalier.compile(make_model(), options=keeping(records))
    bring_back(records)
    with sqlite3.connect(records) as connection:
        connection.execute(
            "INSERT INTO winners SELECT 'other', target, '', '', 1, 2 FROM trials LIMIT 1"
        )
    again = espalier.tune(make_model(), trials=1, options=keeping(records))
    assert sum(kernel.trials for kernel in again.kernels) == 3
    with sqlite3.connect(records) as connection:
        other = "SELECT seconds, original FROM winners WHERE task = 'other'"
        assert connection.execute(other).fetchone() == (1, 2)


def scripts(records: Path) -> list[str]:
    """Return what was tried, in its order."""
    with sqlite3.connect(records) as connection:
        return [row[0] for row in connection.execute("SELECT script FROM trials ORDER BY id")]


def test_what_ended_its_process_is_tried_twice(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    for times in (1, 2, 2):
        espalier.tune(make_model(), trials=1, options=keeping(records))
        with sqlite3.connect(records) as connection:
            connection.execute("UPDATE trials SET status = 'failed'")
        found = scripts(records)
        assert found.count(found[0]) == times
    assert len(set(found)) == 2


def make_unary(operator: str, dtype: int, shape: tuple[int, ...]) -> bytes:
    """Return a model of one operator with one operand."""
    x, y = (helper.make_tensor_value_info(name, dtype, shape) for name in "xy")
    nodes = [helper.make_node("Abs", "x", "a"), helper.make_node("Neg", "a", "n")]
    nodes.append(helper.make_node(operator, "n", "y"))
    graph = helper.make_graph(nodes, "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


@pytest.mark.parametrize(
    ("operator", "dtype", "shape", "reason"),
    [
        ("Sqrt", 1, (64, 64), "has results that are not numbers, which cannot be compared"),
        ("Abs", 7, (64, 64), ""),
        ("Abs", 1, (0, 64), "has no results to compare"),
    ],
)
def test_results_can_be_compared(
    operator: str, dtype: int, shape: tuple[int, ...], reason: str
) -> None:
    tuned = espalier.tune(make_unary(operator, dtype, shape), trials=2, options=keeping(None))
    assert [kernel.reason for kernel in tuned.kernels] in ([reason], [])
    assert all(kernel.failures == 0 for kernel in tuned.kernels)


def test_a_budget_covers_the_default_schedules() -> None:
    tuned = espalier.tune(make_model(), trials=9, seconds=1e-9, options=keeping(None))
    assert [kernel.trials for kernel in tuned.kernels] == [0]
    assert "before the default schedule could be measured" in tuned.kernels[0].reason


def test_a_search_ends_early() -> None:
    tuned = espalier.tune(make_model(), trials=90, target_s=10.0, options=keeping(None))
    assert [kernel.trials for kernel in tuned.kernels] == [0], "the default is good enough"
    tuned = espalier.tune(make_model(), trials=90, patience=3, options=keeping(None))
    assert 3 <= tuned.kernels[0].trials < 90


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
