"""Scripts with choices: listed, selected, replayed, compiled."""

import json
import subprocess

import numpy as np
import pytest

import espalier
from espalier import _espalier
from espalier.compiler import Options, lower
from espalier.errors import EspalierError
from espalier.kernels import f64, kernel, label, sizes
from espalier.models import Net
from espalier.schedules import Choice, Schedule, ScheduleError, choices, select

m, n, k = sizes("m n k")
NO_CACHE = Options(cache=None)


@kernel
def product(a: f64[m, k], b: f64[k, n], c: f64[m, n]) -> None:
    for i in range(m):
        for j in range(n):
            for p in range(k):
                label("acc")
                c[i, j] += a[i, p] * b[p, j]


def check_product(program) -> None:
    random = np.random.default_rng(1)
    a, b = random.random((37, 13)), random.random((13, 41))
    c = np.zeros((37, 41))
    program(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-12)


SKETCH = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %acc = transform.poly.computation @product::@acc of %m
      : (!transform.any_op) -> !transform.any_op
    %rows = transform.tune.knob<"rows"> options = [4, 8] -> !transform.param<i64>
    %kind = transform.tune.knob<"kind"> options = ["plain", "packed"] -> !transform.any_param
    transform.tune.alternatives<"order"> {
      transform.poly.tile %acc loops ["i", "j"] sizes [[%rows, 16]] : !transform.any_op
    }, {
      transform.poly.split %acc loop "p" factors [%rows] : !transform.any_op
    }
    transform.yield
  }
}
"""


def test_choices_are_listed_selected_and_replayed():
    assert choices(SKETCH) == {
        "rows": Choice([4, 8]),
        "kind": Choice(["plain", "packed"]),
        "order": Choice([0, 1]),
    }
    s = Schedule(product)
    s.replay(SKETCH, {"rows": 8, "kind": "plain", "order": 1})
    assert "for p.1 = 0 to min(8, k - 8 * p.0)" in s.loops()
    check_product(s.compile(NO_CACHE))
    assert s.choices()["order"] == Choice([0, 1], selected=1)
    # What was applied is a script with choices, which may be selected again.
    again = Schedule(product)
    again.replay(select(str(s), {"rows": 4}))
    assert "for p.1 = 0 to min(4, k - 4 * p.0)" in again.loops()
    third = Schedule(product)
    third.replay(str(again), {"order": 0})
    assert "for i.1 = 0 to min(4, m - 4 * i.0)" in third.loops()
    assert Schedule(product).choices() == {}


def test_choices_that_are_open_or_wrong():
    s = Schedule(product)
    before = s.loops()

    def refused(call, *arguments):
        with pytest.raises(ScheduleError) as caught:
            call(*arguments)
        return str(caught.value)

    open_rows = 'script:6: expects the choice "rows" to be selected, one of [4, 8], but nothing is'
    assert refused(s.replay, SKETCH) == open_rows
    assert 'the choice "order" to be selected, one of [0, 1], but' in refused(
        s.replay, SKETCH, {"rows": 4, "kind": "plain"}
    )
    assert 'expects one of [4,8] for the choice "rows", but got 5' in refused(
        s.replay, SKETCH, {"rows": 5}
    )
    assert 'expects one of [0,1] for the choice "order", but got 2' in refused(
        select, SKETCH, {"order": 2}
    )
    assert "one of the choices [rows, kind, order], but got 'columns'" in refused(
        select, SKETCH, {"columns": 2}
    )
    assert "expects numbers, strings or booleans" in refused(select, SKETCH, {"rows": object()})
    assert refused(choices, SKETCH.replace('"kind"', '"rows"')).startswith(
        'script:7: expects the options [4, 8] where the choice "rows" is made again, but got '
        '["plain", "packed"]'
    )
    assert "expects a script with a sequence" in refused(choices, "module {}")
    # A selected number is refused as a written one is, and nothing happens.
    zero = SKETCH.replace("[4, 8]", "[4, 0]")
    assert "'transform.poly.split' op expects" in refused(
        s.replay, zero, {"rows": 0, "kind": "plain", "order": 1}
    )
    assert s.loops() == before


def test_choices_of_any_value():
    script = SKETCH.replace("options = [4, 8]", 'options = "2 to 8"')
    assert choices(script)["rows"] == Choice("2 to 8")
    s = Schedule(product)
    s.replay(script, {"rows": 7, "kind": "packed", "order": 1})
    assert "for p.1 = 0 to min(7, k - 7 * p.0)" in s.loops()


def test_choices_of_a_model(tmp_path):
    net = Net("layer")
    x = net.input("x", [32, 64])
    model = net.finish((net.linear(x, 64, 48), "y", [32, 48]))
    (tmp_path / "layer.onnx").write_bytes(model.SerializeToString())
    module = lower(tmp_path / "layer.onnx")
    (name,) = json.loads(_espalier.describe_kernels(module))
    (s, *_), (row, *_) = zip(*Schedule(module, name).computations.items(), strict=True)
    script = tmp_path / "layer.mlir"
    script.write_text(
        SKETCH.replace("@product::@acc", f"@{name}::@{s}")
        .replace('loops ["i", "j"] sizes [[%rows, 16]]', f'loops ["{row[0]}"] sizes [[%rows]]')
        .replace('loop "p"', f'loop "{row[0]}"')
    )
    x = np.random.default_rng(0).random((32, 64), np.float32)
    values = {"rows": 8, "kind": "plain", "order": 0}
    plain = espalier.compile(tmp_path / "layer.onnx", options=NO_CACHE)(x=x)
    tuned = espalier.compile(
        tmp_path / "layer.onnx", schedule=script, select=values, options=NO_CACHE
    )(x=x)
    np.testing.assert_allclose(np.asarray(tuned), np.asarray(plain), rtol=1e-5)
    with pytest.raises(EspalierError, match="expects a schedule for what is selected"):
        espalier.compile(tmp_path / "layer.onnx", select=values, options=NO_CACHE)
    command = ["espalier", "compile", tmp_path / "layer.onnx", "-o", tmp_path / "layer.so"]
    chosen = ["--select", "rows=8", "--select", "kind=plain", "--select"]

    def run(*more):
        return subprocess.run([*command, "--no-cache", *more], capture_output=True, text=True)

    assert run("--schedule", script, *chosen, "order=0").returncode == 0
    assert (
        'the choice "order" to be selected, one of [0, 1]'
        in run("--schedule", script, *chosen[:-1]).stderr
    )
    assert (
        "expects CHOICE=VALUE, but got 'order'"
        in run("--schedule", script, *chosen, "order").stderr
    )
    assert "expects --schedule" in run(*chosen, "order=0").stderr
