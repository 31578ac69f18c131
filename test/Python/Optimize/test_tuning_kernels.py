"""Kernels that are no model's are tuned, too."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import espalier
from espalier.kernels import f32, kernel, sizes
from espalier.schedules import Schedule
from tuning import keeping, make_model

t, n = sizes("t n")


@kernel
def jacobi(a: f32[64, 64], b: f32[64, 64]) -> None:
    """Ten steps back and forth."""
    for _s in range(10):
        for i in range(1, 63):
            for j in range(1, 63):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, 63):
            for j in range(1, 63):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


@kernel
def seidel(a: f32[n, n]) -> None:
    """Steps in place, over a grid of unknown size."""
    for _s in range(t):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.25 * (a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


def find_trials(records: Path) -> list[tuple[str, str, str]]:
    """Return rule, status and script of each trial."""
    with sqlite3.connect(records) as connection:
        return connection.execute("SELECT rule, status, script FROM trials ORDER BY id").fetchall()


def run(program: espalier.kernels.KernelProgram) -> np.ndarray:
    """Return what ten steps make of a grid."""
    a = np.random.default_rng(1).random((64, 64), np.float32)
    b = a.copy()
    program(a, b)
    return np.stack([a, b])


def test_steps_are_skewed(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    tuned = espalier.tune(jacobi, trials=10, options=keeping(records))
    assert [k.name for k in tuned.kernels] == ["jacobi"]
    assert tuned.kernels[0].trials == 10
    trials = find_trials(records)
    measured = {rule: script for rule, status, script in trials if status == "measured"}
    assert {"default", "skew", "wavefront"} <= set(measured)
    assert {status for rule, status, _ in trials if rule in ("skew", "wavefront")} == {"measured"}
    expected = run(jacobi.compile(espalier.Options(records=None)))
    for rule in "skew", "wavefront":
        schedule = Schedule(jacobi)
        schedule.replay(measured[rule].replace("@kernel::", "@jacobi::"))
        assert ".0" in schedule.loops(), "tiles"
        for threads in 1, 2:
            options = espalier.Options(records=None, run_threads=threads)
            np.testing.assert_allclose(run(schedule.compile(options)), expected, rtol=1e-6)
    if tuned.kernels[0].rule:
        Schedule(jacobi).replay(tuned.script)


def test_what_won_is_compiled(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    options = keeping(records)
    espalier.tune(jacobi, trials=6, options=options)
    script = next(script for rule, _, script in find_trials(records) if rule == "skew")
    with sqlite3.connect(records) as connection:
        connection.execute(
            "INSERT OR REPLACE INTO winners SELECT task, target, rule, ?, 1.0, 2.0 "
            "FROM trials LIMIT 1",
            (script,),
        )
    expected = run(jacobi.compile(espalier.Options(records=None)))
    np.testing.assert_allclose(run(jacobi.compile(options)), expected, rtol=1e-6)
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE winners SET script = replace(script, '@S1', '@S9')")
    with pytest.warns(RuntimeWarning, match="kernel 'jacobi': what was tuned does not fit any"):
        jacobi.compile(options)


def test_models_and_kernels_are_tuned_together(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    options = keeping(records)
    both = espalier.tune([make_model(), seidel], trials=8, lengths=[32], options=options)
    assert [len(one.kernels) for one in both] == [1, 1]
    assert both[1].kernels[0].name == "seidel"
    rules = {rule for rule, _, _ in find_trials(records)}
    assert {"default", "skew"} <= rules
    statuses = {status for _, status, _ in find_trials(records)}
    assert "wrong" not in statuses


@kernel
def center(x: f32[3, 20000], mean: f32[3], y: f32[3, 20000]) -> None:
    """Long sums, of few elements, and what many points do with them."""
    for i in range(3):
        mean[i] = 0.0
    for i in range(3):
        for k in range(20000):
            mean[i] += 5e-5 * x[i, k]
    for i in range(3):
        for k in range(20000):
            y[i, k] = x[i, k] - mean[i]


@kernel
def add_columns(x: f32[9000, 5], y: f32[5]) -> None:
    """Elements side by side, which are no whole vector."""
    for j in range(5):
        y[j] = 0.0
    for term in range(9000):
        for j in range(5):
            y[j] += x[term, j]


def test_parts_of_long_sums_are_those_of_threads(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    options = espalier.Options(records=records, cache=None, run_threads=2)
    for of in center, add_columns:
        espalier.tune(of, trials=10, options=options)
    trials = find_trials(records)
    parts = [(status, script) for rule, status, script in trials if rule == "rfactor"]
    assert len(parts) > 2
    assert {status for status, _ in parts} == {"measured"}
    x = np.random.default_rng(1).random((3, 20000), np.float32)
    columns = np.random.default_rng(2).random((9000, 5), np.float32)
    seen = set()
    for _, script in parts:
        of = add_columns if '"part.term"' in script else center
        schedule = Schedule(of)
        schedule.replay(script.replace("@kernel::", f"@{of.name}::"))
        seen.add(of.name)
        for threads in 1, 2:
            program = schedule.compile(espalier.Options(records=None, run_threads=threads))
            if of is center:
                mean, y = np.full(3, np.nan, np.float32), np.full_like(x, np.nan)
                program(x, mean, y)
                np.testing.assert_allclose(mean, x.mean(axis=1), rtol=1e-5)
                np.testing.assert_allclose(y, x - x.mean(axis=1)[:, None], atol=1e-5)
            else:
                total = np.full(5, np.nan, np.float32)
                program(columns, total)
                np.testing.assert_allclose(total, columns.sum(axis=0), rtol=1e-5)
    assert seen == {"center", "add_columns"}


def test_one_thread_adds_up_no_parts(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(add_columns, trials=4, options=keeping(records))
    assert "rfactor" not in {rule for rule, _, _ in find_trials(records)}
