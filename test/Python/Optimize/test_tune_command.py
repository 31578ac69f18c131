"""The command that searches: its budgets, what it writes, and what it says."""

from pathlib import Path

import pytest

from espalier.__main__ import main
from espalier.commands.common import budget
from espalier.commands.tune import describe
from espalier.tuning import TuneProgress
from tuning import make_model, statuses


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a model in a file."""
    path = tmp_path / "model.onnx"
    path.write_bytes(make_model())
    return path


def test_what_was_tuned_is_compiled(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the same as `espalier compile` makes of the script."""
    script, library = tmp_path / "fast.mlir", tmp_path / "fast.so"
    arguments = ["--trials", "4", "--no-cache"]
    assert main(["tune", str(model), "-o", str(script), "-o", str(library), *arguments]) == 0
    assert f"{script}, {library}: " in capsys.readouterr().out
    assert "@__transform_main" in script.read_text()
    other = tmp_path / "other" / library.name
    other.parent.mkdir()
    arguments = ["--schedule", str(script), "-o", str(other), "--no-cache"]
    assert main(["compile", str(model), *arguments]) == 0
    assert library.read_bytes() == other.read_bytes()
    assert library.with_suffix(".h").read_bytes() == other.with_suffix(".h").read_bytes()


@pytest.mark.parametrize(
    ("text", "seconds"), [("60", 60), ("60s", 60), ("2m", 120), ("0.5h", 1800), ("1e1", 10)]
)
def test_budgets_have_units(text: str, seconds: float) -> None:
    assert budget(text) == seconds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "0"], "--budget: expects a time above 0, such as 60s or 2m, but got '0'"),
        (["--budget", "0s"], "--budget: expects a time above 0, such as 60s or 2m, but got '0s'"),
        (["--budget", "soon"], "--budget: expects a number of seconds, but got 'soon'"),
        (["--budget", "s"], "--budget: expects a number of seconds, but got 's'"),
        (["--trials", "0"], "--trials: expects a number of at least 1, but got '0'"),
        (["--resume", "--no-cache"], "--resume: expects --records with --no-cache"),
        (["--resume", "--records", "no.sqlite"], "--resume: expects records of a search, but"),
        (["-o", "fast"], "cannot write 'fast': expects a name that ends in .mlir or .so or .o"),
    ],
)
def test_what_is_no_search_is_refused(
    tmp_path: Path,
    model: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    command = ["tune", str(model), "-o", str(tmp_path / "s.mlir"), *arguments]
    try:
        status = main(command)
    except SystemExit as ended:
        status = ended.code
    assert status == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "s.mlir").exists()


def test_a_search_of_a_budget_is_resumed(tmp_path: Path, model: Path) -> None:
    """And a search that is resumed goes on."""
    records = tmp_path / "r.sqlite"
    arguments = ["--budget", "4s", "--search", "random", "--records", str(records)]
    assert main(["tune", str(model), "-o", str(tmp_path / "s.mlir"), *arguments]) == 0
    first = len(statuses(records))
    assert first > 0
    arguments += ["--resume"]
    assert main(["tune", str(model), "-o", str(tmp_path / "s.mlir"), *arguments]) == 0
    assert len(statuses(records)) > first


@pytest.mark.parametrize(
    ("trials", "seconds", "left"),
    [(30, 0.0, ", 10 s left"), (30, 8.0, ", 3 s left"), (None, 60.0, ", 55 s left")],
)
def test_the_line_says_how_long_it_takes(trials: int | None, seconds: float, left: str) -> None:
    now = TuneProgress(trials=10, failures=1, elapsed_s=5.0, original_s=2e-3, best_s=1e-3)
    line = describe(now, trials, seconds)
    assert line == f"trial 10, 2.0/s{left}, 1 failed: 1.000 ms, by default 2.000 ms"
