"""What trying one candidate costs."""

import json
from pathlib import Path

import pytest

import espalier
from espalier.__main__ import main
from espalier.candidates import bench_path
from tuning import keeping, make_model

STEPS = ["draft", "fork", "apply", "loops", "program", "llvm", "translate"]
STEPS += ["optimize", "emit", "descriptor", "load", "run", "exit"]


def test_steps_are_measured() -> None:
    (path,) = bench_path(make_model(), repeats=3, options=keeping(None))
    assert path.name.startswith("matmul_add_")
    assert list(path.steps) == STEPS
    assert all(seconds >= 0 for seconds in path.steps.values())
    assert 0 < path.steps["optimize"] < path.seconds
    with pytest.raises(espalier.EspalierError, match=r"'repeats': expects 1 to 2\^32 - 1"):
        bench_path(make_model(), repeats=0)


def test_what_cannot_run_is_said() -> None:
    paths = bench_path(make_model("n"), repeats=1, options=keeping(None))
    unknown = [path for path in paths if "expects a known shape" in path.reason]
    assert unknown
    assert not any(path.steps for path in unknown)


def test_lengths_stand_for_unknown_sizes() -> None:
    paths = bench_path(make_model("n"), repeats=1, lengths=[3, 16], options=keeping(None))
    assert not any("expects a known shape" in path.reason for path in paths)
    assert any(list(path.steps) == STEPS for path in paths)
    with pytest.raises(espalier.EspalierError, match=r"'lengths': expects lengths of 1 .* got 0"):
        bench_path(make_model("n"), lengths=[0])


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(make_model())
    arguments = ["bench-path", str(model), "--repeat", "1", "--no-cache"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("matmul_add_")
    assert [line.split()[0] for line in lines[1:]] == STEPS
    assert main([*arguments, "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert list(kernel["steps"]) == STEPS
    model.write_bytes(make_model("n"))
    assert main([*arguments, "--lengths", "4,16"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == 2 * STEPS
    with pytest.raises(SystemExit):
        main([*arguments, "--lengths", "4,0"])
    assert "expects" in capsys.readouterr().err
