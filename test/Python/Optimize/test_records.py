"""Files of records: merged, pruned, replayed, shared, locked, damaged."""

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import espalier
from espalier.__main__ import main
from espalier.records import describe_records, merge_records, prune_records, replay_records
from tuning import keeping, make_model, statuses


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Return a file with a few trials."""
    path = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=6, options=keeping(path))
    return path


def results(records: Path) -> set[tuple]:
    """Return the candidates that were tried, and what came of each."""
    with sqlite3.connect(records) as connection:
        return set(connection.execute("SELECT script, status, seconds FROM trials"))


def test_merging_adds_what_is_missing(tmp_path: Path, records: Path) -> None:
    other = tmp_path / "other.sqlite"
    espalier.tune(make_model(), trials=4, seed=9, options=keeping(other))
    # Two searches may try, and be refused, the same candidate.
    missing = len(results(other) - results(records))
    assert missing > 0
    assert merge_records(records, other) == missing
    assert len(statuses(records)) == 6 + missing
    assert merge_records(records, other) == 0, "nothing twice"
    assert len(statuses(records)) == 6 + missing
    assert len(statuses(other)) == 4
    again = espalier.tune(make_model(), trials=0, options=keeping(records))
    assert sum(kernel.trials for kernel in again.kernels) >= 6


def test_merging_makes_a_file(tmp_path: Path, records: Path) -> None:
    assert merge_records(tmp_path / "new.sqlite", records) == 6
    assert statuses(tmp_path / "new.sqlite") == statuses(records)


def test_the_faster_winner_stays(tmp_path: Path, records: Path) -> None:
    other = tmp_path / "other.sqlite"
    merge_records(other, records)
    insert = "INSERT OR REPLACE INTO winners SELECT ?, target, ?, 's', ?, 9.0 FROM trials LIMIT 1"
    for path, rows in (
        (records, [("a", "own", 1.0), ("b", "own", 2.0)]),
        (other, [("a", "other", 2.0), ("b", "other", 1.0), ("c", "other", 1.0)]),
    ):
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM winners")
            connection.executemany(insert, rows)
    merge_records(records, other)
    with sqlite3.connect(records) as connection:
        found = connection.execute("SELECT task, rule FROM winners ORDER BY task").fetchall()
    assert found == [("a", "own"), ("b", "other"), ("c", "other")]


@pytest.mark.parametrize("is_own", [True, False])
def test_merging_foreign_files_changes_nothing(tmp_path: Path, records: Path, is_own: bool) -> None:
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE notes (text)")
    before = statuses(records), foreign.read_bytes()
    pair = (records, foreign) if is_own else (foreign, records)
    with pytest.raises(espalier.EspalierError, match="expects a table of ours, but got another"):
        merge_records(*pair)
    with pytest.raises(espalier.EspalierError, match="unable to open database file"):
        merge_records(records, tmp_path / "missing.sqlite")
    assert (statuses(records), foreign.read_bytes()) == before


def test_pruning_keeps_the_fastest(records: Path) -> None:
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE trials SET compiler = 'another build' WHERE id <= 2")
        connection.execute("UPDATE trials SET seconds = id, status = 'measured'")
        connection.execute("UPDATE trials SET seconds = NULL, status = 'refused' WHERE id = 3")
    assert prune_records(records, keep=2) == 2
    with sqlite3.connect(records) as connection:
        left = [row[0] for row in connection.execute("SELECT id FROM trials ORDER BY id")]
    assert left == [1, 2, 4, 5]
    assert prune_records(records, other_builds=True) == 2
    assert len(statuses(records)) == 2
    with pytest.raises(espalier.EspalierError, match="unable to open database file"):
        prune_records(records.with_name("missing.sqlite"), keep=1)
    assert not records.with_name("missing.sqlite").exists()
    with pytest.raises(espalier.EspalierError, match=r"'keep': expects 0 to .* but got -1"):
        prune_records(records, keep=-1)


def find_families(records: Path) -> set[tuple]:
    """Return each candidate with the one that it descends from."""
    with sqlite3.connect(records) as connection:
        return set(
            connection.execute(
                "SELECT t.script, p.script FROM trials t LEFT JOIN trials p ON p.id = t.parent"
            )
        )


def test_times_and_parents_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=30, search="evolution", options=keeping(path))
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT id, parent, seconds, times, rule FROM trials").fetchall()
    parents = {number: parent for number, parent, *_ in rows}
    assert parents[1] is None, "the default schedule"
    assert any(parent is not None for parent in parents.values())
    assert all(parent in parents and parent < n for n, parent in parents.items() if parent)
    for _, _, seconds, times, _ in rows:
        taken = [float(time) for time in times.split()]
        assert taken == sorted(taken)
        assert bool(taken) == (seconds is not None)
        if taken:
            assert taken[len(taken) // 2] == pytest.approx(seconds, rel=1e-5)
    # Elsewhere, the same ones have other numbers.
    other = tmp_path / "other.sqlite"
    espalier.tune(make_model(), trials=3, seed=9, options=keeping(other))
    merge_records(other, path)
    assert find_families(path) <= find_families(other)
    prune_records(path, keep=3)
    with sqlite3.connect(path) as connection:
        lost = "SELECT count(*) FROM trials WHERE parent NOT IN (SELECT id FROM trials)"
        assert connection.execute(lost).fetchone() == (0,)


def test_replaying_makes_the_same_code(records: Path) -> None:
    trials = replay_records(make_model(), records, keep=3, options=keeping(None))
    assert [trial.status for trial in trials] == ["measured"] * 3
    assert all(trial.same_code and not trial.build for trial in trials)
    assert all(trial.seconds > 0 and trial.recorded_s > 0 for trial in trials)
    with pytest.raises(espalier.EspalierError, match=r"'keep': expects 1 to .* but got 0"):
        replay_records(make_model(), records, keep=0)


def test_replaying_says_what_does_not_fit(
    tmp_path: Path, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE trials SET compiler = 'another build', code = ''")
        connection.execute("UPDATE trials SET seconds = id / 1e9, status = 'measured'")
        connection.execute("UPDATE trials SET script = 'no script' WHERE id = 1")
        connection.execute("UPDATE trials SET script = replace(script, '@s0', '@no') WHERE id = 2")
    model = tmp_path / "m.onnx"
    model.write_bytes(make_model())
    arguments = [str(model), "--records", str(records), "--keep", "3"]
    assert main(["records", "replay", *arguments]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "another build): 0.0 us, now refused: custom op 'no' is unknown" in lines[0]
    assert "now refused:" in lines[1]
    assert "other code" in lines[2]
    assert lines[3] == "3 trials, 1 as recorded"
    before = records.read_bytes()
    assert main(["records", "replay", *arguments]) == 1
    assert records.read_bytes() == before


def test_commands(tmp_path: Path, records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.sqlite"
    file = ["--records", str(other)]
    assert main(["records", "merge", *file, str(records)]) == 0
    assert "6 new trials" in capsys.readouterr().out
    assert main(["records", "prune", *file]) == 1
    assert "expects --keep, --other-builds or both, but got none" in capsys.readouterr().err
    assert main(["records", "prune", *file, "--keep", "2"]) == 0
    assert "4 trials removed" in capsys.readouterr().out


def test_what_another_build_found_is_tried_first(tmp_path: Path) -> None:
    """Behind the defaults of all sketches, which come first in every search."""
    records = tmp_path / "records.sqlite"
    espalier.tune(make_model(), trials=16, search="random", options=keeping(records))
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE trials SET compiler = 'another build'")
        connection.execute("UPDATE trials SET seconds = 1 WHERE status = 'measured'")
        number, script, rule = connection.execute(
            "SELECT id, script, rule FROM trials WHERE status = 'measured' ORDER BY id DESC"
        ).fetchone()
        connection.execute("UPDATE trials SET seconds = 1e-9 WHERE id = ?", [number])
    espalier.tune(make_model(), trials=16, search="random", seed=5, options=keeping(records))
    with sqlite3.connect(records) as connection:
        tried = connection.execute(
            "SELECT script, rule FROM trials WHERE compiler <> 'another build' ORDER BY id"
        ).fetchall()
    assert (script, rule) in tried


def test_two_searches_share_a_file(tmp_path: Path) -> None:
    model, records = tmp_path / "m.onnx", tmp_path / "records.sqlite"
    model.write_bytes(make_model())
    command = [sys.executable, "-m", "espalier", "tune", str(model), "--trials", "8"]
    command += ["--records", str(records)]
    searches = [
        subprocess.Popen([*command, "-o", str(tmp_path / f"{seed}.mlir"), "--seed", str(seed)])
        for seed in (1, 2)
    ]
    assert [search.wait() for search in searches] == [0, 0]
    assert len(statuses(records)) == 16
    with sqlite3.connect(records) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_file_that_stays_locked_is_said(records: Path) -> None:
    before = statuses(records)
    with sqlite3.connect(records) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(espalier.EspalierError, match=r"records.*database is locked"):
            espalier.tune(make_model(), trials=1, options=keeping(records))
        connection.rollback()
    assert statuses(records) == before


def test_a_damaged_file_is_said(records: Path) -> None:
    with sqlite3.connect(records) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damaged = bytearray(records.read_bytes())
    damaged[100:4096] = b"\xff" * (4096 - 100)
    records.write_bytes(damaged)
    with pytest.raises(espalier.EspalierError, match="malformed"):
        espalier.tune(make_model(), trials=1, options=keeping(records))
    assert records.read_bytes() == damaged


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from espalier.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


def test_a_full_disk_loses_nothing(tmp_path: Path, records: Path) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(make_model())
    with sqlite3.connect(records) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before, limit = statuses(records), records.stat().st_size // 2
    command = [sys.executable, "-c", FULL, str(limit), "tune", str(model), "--trials", "30"]
    command += ["-o", str(tmp_path / "s.mlir"), "--records", str(records)]
    search = subprocess.run(command, capture_output=True, text=True, check=False)
    assert search.returncode == 1
    assert "espalier: error:" in search.stderr
    assert "records" in search.stderr
    found = statuses(records)
    assert found[: len(before)] == before
    with sqlite3.connect(records) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_records_are_described(records: Path) -> None:
    (kernel,) = describe_records(records)
    assert [trial["status"] for trial in kernel["trials"]] == statuses(records)
    assert "vector_bits" in kernel["target"]


def test_pages_show_what_was_tried(tmp_path: Path, records: Path) -> None:
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE trials SET status = 'refused', error = 'a <b>' WHERE id = 2")
        connection.execute(
            "INSERT OR REPLACE INTO winners SELECT task, target, 'lanes', 'the script', 1e-6, "
            "2e-6 FROM trials LIMIT 1"
        )
    page = tmp_path / "page.html"
    assert main(["report", "--tuning", str(records), "-o", str(page)]) == 0
    text = page.read_text()
    assert "2.00 times as fast; the rule is lanes" in text
    assert "the script" in text
    refused = statuses(records).count("refused")
    assert f"<td>refused</td><td>{refused}</td><td><pre>a &lt;b&gt;</pre>" in text
    assert text.count("<svg") == 2
    assert "1 kernels, 6 trials; 1 kernels are faster" in text
    wrong = ["report", "--tuning", str(records), "-o", str(page), "--name", "k"]
    assert main(wrong) == 1


def test_threads_have_records_of_their_own(records: Path) -> None:
    options = replace(keeping(records), run_threads=2)
    assert replay_records(make_model(), records, options=options) == []
