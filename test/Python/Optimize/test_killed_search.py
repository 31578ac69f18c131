"""A search that is killed at any time loses no record, and leaves no process."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import espalier
from tuning import keeping, make_model

TRIALS = 40
DEADLINE = 20.0
"""Seconds in which the workers of a killed search must have gone."""


def members(group: int) -> list[str]:
    """Return the processes of a group that are not dead."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgrp = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # It has ended meanwhile.
            continue
        if int(pgrp) == group and state != "Z":
            found.append(stat.parent.name)
    return found


def rows(records: Path) -> dict[int, list]:
    """Return the trials of a file that is whole."""
    if not records.exists():
        return {}
    with sqlite3.connect(records) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'trials'").fetchone():
            return {}
        return {number: rest for number, *rest in connection.execute("SELECT * FROM trials")}


def fastest(records: Path) -> list[tuple]:
    """Return the script of each kernel that was the fastest when it was tried."""
    with sqlite3.connect(records) as connection:
        return connection.execute(
            "SELECT task, script, MIN(seconds) FROM trials WHERE status = 'measured' "
            "GROUP BY task ORDER BY task"
        ).fetchall()


def kill(model: Path, records: Path, seconds: float) -> None:
    """Kill a search after so many seconds, and wait until its workers have gone."""
    command = [sys.executable, "-m", "espalier", "tune", str(model)]
    command += [
        "-o",
        str(records.with_suffix(".mlir")),
        "--trials",
        str(TRIALS),
        "--records",
        str(records),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as search:
        time.sleep(seconds)
        os.kill(search.pid, signal.SIGKILL)
        assert search.wait() in (-signal.SIGKILL, 0)
        deadline = time.monotonic() + DEADLINE
        while members(search.pid):
            assert time.monotonic() < deadline, members(search.pid)
            time.sleep(0.05)


def test_a_killed_search_loses_nothing(tmp_path: Path) -> None:
    model, records = tmp_path / "model.onnx", tmp_path / "records.sqlite"
    model.write_bytes(make_model())
    generator = random.Random(1)
    known: dict[int, list] = {}
    for _ in range(int(os.environ.get("KILLS", 4))):
        kill(model, records, generator.uniform(0.5, 3.0))
        found = rows(records)
        assert found.items() >= known.items()
        known = found
    assert known
    best = fastest(records)
    tuned = espalier.tune(model.read_bytes(), trials=0, options=keeping(records))
    assert rows(records).items() >= known.items()
    # A search that goes on has what the killed ones found: all trials, and the best.
    assert [kernel.trials for kernel in tuned.kernels] == [len(known)]
    if best:
        assert fastest(records) == best
    with sqlite3.connect(records) as connection:
        winners = connection.execute("SELECT script FROM winners").fetchall()
        tried = connection.execute("SELECT script FROM trials").fetchall()
    assert set(winners) <= set(tried)
