"""Searching for schedules of several models at once."""

import json
from pathlib import Path

import numpy as np
import pytest

import espalier
from espalier.__main__ import main
from tuning import keeping, make_inputs, make_model, statuses


def test_what_models_have_in_common_is_tuned_once(tmp_path: Path) -> None:
    """And each model has a script of its own that it compiles by."""
    records = tmp_path / "r.sqlite"
    models = [make_model(), make_model(), make_model(24)]
    tuned = espalier.tune(models, trials=8, options=keeping(records))
    assert [len(one.kernels) for one in tuned] == [1, 1, 1]
    assert tuned[0].kernels == tuned[1].kernels
    assert len(statuses(records)) == 8
    assert tuned[0].kernels[0].trials + tuned[2].kernels[0].trials == 8
    inputs = make_inputs(24)
    tuned[2].save(tmp_path / "fast.mlir")
    function = espalier.compile(models[2], schedule=tmp_path / "fast.mlir", options=keeping(None))
    expected = inputs["a"] @ inputs["b"] + inputs["c"]
    np.testing.assert_allclose(function.run(inputs)["y"], expected, rtol=1e-4, atol=1e-4)


def test_one_model_in_a_list_has_one_result() -> None:
    (tuned,) = espalier.tune([make_model()], trials=1, options=keeping(None))
    assert [kernel.trials for kernel in tuned.kernels] == [1]


def test_models_that_reached_their_targets_get_no_trials() -> None:
    models = [make_model(), make_model(24)]
    tuned = espalier.tune(models, trials=3, target_s=[10.0, 1e-12], options=keeping(None))
    assert [one.kernels[0].trials for one in tuned] == [0, 3]
    tuned = espalier.tune(models, trials=3, target_s=10.0, options=keeping(None))
    assert [one.kernels[0].trials for one in tuned] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": [1.0]}, "'weights': expects a number for each of 2 models, but got 1"),
        ({"weights": [1.0, -1.0]}, "'weights': expects 0 or more, but got -1.0"),
        ({"weights": [1.0, 0.0]}, "model 2: expects a weight above 0, but got 0"),
        ({"target_s": [1.0] * 3}, "'target_s': expects a number for each of 2 models, but got 3"),
        ({"target_s": [1.0, 0.0]}, "model 2: expects a target above 0 for objective 'target'"),
        ({"objective": "target"}, "model 1: expects a target above 0 for objective 'target'"),
        (
            {"objective": "geomean", "target_s": 1.0},
            "model 1: expects no target for objective 'geomean', but got 1",
        ),
        ({"objective": "speed"}, "'objective': expects one of sum, target, geomean, but got 'sp"),
    ],
)
def test_what_is_no_search_of_models_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(espalier.EspalierError, match=message):
        espalier.tune([make_model(), make_model()], options=keeping(None), **arguments)


def test_no_models_are_refused() -> None:
    with pytest.raises(
        espalier.EspalierError, match="'model': expects a model, or several, but got none"
    ):
        espalier.tune([], options=keeping(None))


@pytest.fixture
def models(tmp_path: Path) -> list[str]:
    """Return two models in files."""
    paths = [tmp_path / "one.onnx", tmp_path / "other.onnx"]
    for path, rows in zip(paths, (48, 24), strict=True):
        path.write_bytes(make_model(rows))
    return [str(path) for path in paths]


def test_the_command_writes_an_output_for_each_model(
    tmp_path: Path, models: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    script, library = tmp_path / "one.mlir", tmp_path / "other.so"
    arguments = ["-o", str(script), "-o", str(library), "--trials", "3", "--no-cache"]
    arguments += ["--weights", "1,2", "--objective", "geomean"]
    assert main(["tune", *models, *arguments]) == 0
    shown = capsys.readouterr().out
    assert f"{script}: " in shown
    assert f"{library}: " in shown
    assert "@__transform_main" in script.read_text()
    assert library.with_suffix(".h").exists()
    assert main(["tune", *models, *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["models"]
    assert [one["output"] for one in found] == [str(script), str(library)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "option -o: expects one for each of 2 models, but got 1"),
        (["-o", "a.mlir"], "option -o: expects a file of its own for each model, but got 'a.mlir'"),
        (["-o", "b.mlir", "--weights", "1,x"], "--weights: expects numbers, such as 1,2, but"),
        (["-o", "b.mlir", "--weights", "1"], "'weights': expects a number for each of 2 models"),
        (["-o", "b.mlir", "--target", "1s,soon"], "--target: expects a number of seconds, but"),
        (["-o", "b.mlir", "--objective", "speed"], "--objective: invalid choice: 'speed'"),
    ],
)
def test_what_is_no_command_is_refused(
    tmp_path: Path,
    models: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = main(["tune", *models, "-o", "a.mlir", "--no-cache", *arguments])
    except SystemExit as ended:
        status = ended.code
    assert status == 1
    assert message in capsys.readouterr().err
    assert not Path("a.mlir").exists()
