"""Choices above kernels: how convolutions are computed, and what is one kernel."""

import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import espalier
from espalier.models import Net
from espalier.records import merge_records
from espalier.testing.compare import error_relative_to_scale
from espalier.tuning import TunedStatement
from tuning import keeping


def make_convolution(channels: int = 64, extent: int = 14, kernel: int = 3) -> bytes:
    """Return a convolution with a constant weight."""
    weight = np.random.default_rng(1).standard_normal((channels, channels, kernel, kernel))
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], pads=[kernel // 2] * 4)]
    shape = (1, channels, extent, extent)
    x, y = (helper.make_tensor_value_info(name, 1, shape) for name in "xy")
    w = helper.make_tensor("w", 1, weight.shape, weight.astype(np.float32).tobytes(), raw=True)
    graph = helper.make_graph(nodes, "g", [x], [y], [w])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


def make_pooled() -> bytes:
    """Return a convolution, Relu and pooling, which are one kernel by default."""
    net = Net("pooled")
    x = net.input("x", [2, 3, 18, 18])
    y = net.node("Relu", net.node("Conv", x, net.weight([16, 3, 3, 3], 0.1), kernel_shape=[3, 3]))
    pooled = net.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    return net.finish((pooled, "y", [2, 16, 8, 8]))


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, espalier.Tuned]:
    """Return the records and the result of one search."""
    records = tmp_path_factory.mktemp("choices") / "records.sqlite"
    return records, espalier.tune(make_convolution(), trials=1, options=keeping(records))


def test_both_algorithms_are_measured(tuned: tuple[Path, espalier.Tuned]) -> None:
    records, found = tuned
    (choice,) = (each for each in found.statements if each.command == "algorithm")
    assert choice.name.startswith("conv_")
    assert choice.option in ("direct", "winograd")
    assert choice.original_s > 0
    assert choice.best_s > 0
    assert choice.is_chosen == (choice.best_s < 0.98 * choice.original_s)
    with sqlite3.connect(records) as connection:
        kept = connection.execute(
            "SELECT count(*) FROM winners WHERE task LIKE 'statement conv_%'"
        ).fetchone()
    assert kept == (int(choice.is_chosen),)


def test_nothing_else_is_compared() -> None:
    tuned = espalier.tune(make_convolution(8, 6, 1), trials=0, options=keeping(None))
    assert tuned.statements == []
    tuned = espalier.tune(make_convolution(), trials=0, algorithms=False, options=keeping(None))
    assert tuned.statements == []


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, espalier.Tuned]:
    """Return the records and the result of a search for a pooled convolution."""
    records = tmp_path_factory.mktemp("split") / "records.sqlite"
    return records, espalier.tune(make_pooled(), trials=1, options=keeping(records))


def get_split(found: espalier.Tuned) -> TunedStatement:
    """Return what was found where pooling begins."""
    (choice,) = (each for each in found.statements if each.name.startswith("relu_"))
    return choice


def test_both_kernels_and_one_are_measured(split: tuple[Path, espalier.Tuned]) -> None:
    records, found = split
    choice = get_split(found)
    assert (choice.command, choice.option) == ("fusion", "separate")
    assert choice.is_chosen == (choice.best_s < 0.98 * choice.original_s)
    with sqlite3.connect(records) as connection:
        kept = connection.execute(
            "SELECT count(*) FROM winners WHERE task = ?", [f"fusion {choice.name} 1 0"]
        ).fetchone()
    assert kept == (int(choice.is_chosen),)


SCRIPT = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %sum = transform.poly.computation @NAME::@s0 of %module
        : (!transform.any_op) -> !transform.any_op
    transform.poly.COMMAND %sum OPTION : !transform.any_op
    transform.yield
  }
}
"""


def keep_choice(
    tuned: tuple[Path, espalier.Tuned], records: Path, option: str, command: str = "algorithm"
) -> str:
    """Make a file in which an option has won for a statement; return its name."""
    merge_records(records, tuned[0])
    name = next(each.name for each in tuned[1].statements if each.command == command)
    kind = {"algorithm": "statement"}.get(command, command)
    script = SCRIPT.replace("NAME", name).replace("COMMAND", command).replace("OPTION", option)
    with sqlite3.connect(records) as connection:
        # The key says how kernels were measured: one thread, constants in cache.
        connection.execute("DELETE FROM winners")
        connection.execute(
            "INSERT INTO winners SELECT ?, target, ?, ?, 1e-6, 2e-6 FROM trials LIMIT 1",
            [f"{kind} {name} 1 0", command, script],
        )
    return name


def code(model: bytes, options: espalier.Options, folder: Path) -> bytes:
    """Return the machine code of a model."""
    espalier.compile(model, options=options, name="m").save(folder / "m.o")
    return (folder / "m.o").read_bytes()


def test_what_was_chosen_is_compiled(tmp_path: Path, tuned: tuple[Path, espalier.Tuned]) -> None:
    records, model = tmp_path / "records.sqlite", make_convolution()
    codes = {}
    for algorithm in ("direct", "winograd"):
        keep_choice(tuned, records, algorithm)
        codes[algorithm] = code(model, keeping(records), tmp_path)
        x = np.random.default_rng(2).standard_normal((1, 64, 14, 14)).astype(np.float32)
        made = espalier.compile(model, options=keeping(records)).run({"x": x})["y"]
        usual = espalier.compile(model, options=keeping(None)).run({"x": x})["y"]
        assert error_relative_to_scale(made, usual) < 1e-5
    assert codes["direct"] != codes["winograd"]
    assert code(model, keeping(None), tmp_path) in codes.values()


def test_choices_that_do_not_fit_are_said(
    tmp_path: Path, tuned: tuple[Path, espalier.Tuned]
) -> None:
    records, model = tmp_path / "records.sqlite", make_convolution()
    name = keep_choice(tuned, records, "winograd")
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE winners SET script = ?", [SCRIPT.replace("NAME", f"{name}x")])
    usual = code(model, keeping(None), tmp_path)
    with pytest.warns(RuntimeWarning, match="what was tuned does not fit any more"):
        assert code(model, keeping(records), tmp_path) == usual


def test_who_wants_plain_sums_gets_them(tmp_path: Path, tuned: tuple[Path, espalier.Tuned]) -> None:
    records, model = tmp_path / "records.sqlite", make_convolution()
    keep_choice(tuned, records, "winograd")
    plain = espalier.Options(cache=None, records=None, winograd=False)
    usual = code(model, plain, tmp_path)
    assert code(model, replace(plain, records=records), tmp_path) == usual
    compared = espalier.tune(model, trials=0, options=plain).statements
    assert all(choice.command != "algorithm" for choice in compared)


def test_kernels_are_split_as_was_chosen(
    tmp_path: Path, split: tuple[Path, espalier.Tuned]
) -> None:
    records, model = tmp_path / "records.sqlite", make_pooled()
    x = np.random.default_rng(2).standard_normal((2, 3, 18, 18)).astype(np.float32)
    expected = espalier.interpret(model, {"x": x})["y"]
    usual = code(model, keeping(None), tmp_path)
    keep_choice(split, records, "separate", "fusion")
    assert code(model, keeping(records), tmp_path) != usual
    made = espalier.compile(model, options=keeping(records)).run({"x": x})["y"]
    assert error_relative_to_scale(made, expected) < 1e-5
    # Other numbers of threads were not measured, and plain sums may be split.
    other = replace(keeping(records), run_threads=2)
    assert code(model, other, tmp_path) == code(
        model, replace(keeping(None), run_threads=2), tmp_path
    )
    plain = replace(keeping(records), winograd=False)
    assert code(model, plain, tmp_path) != code(
        model, replace(keeping(None), winograd=False), tmp_path
    )


def test_what_is_fused_anyway_stays(tmp_path: Path, split: tuple[Path, espalier.Tuned]) -> None:
    records, model = tmp_path / "records.sqlite", make_pooled()
    keep_choice(split, records, "fused", "fusion")
    usual = code(model, keeping(None), tmp_path)
    assert code(model, keeping(records), tmp_path) == usual
    with sqlite3.connect(records) as connection:
        connection.execute("UPDATE winners SET script = replace(script, ' fused', ' apart')")
    with pytest.warns(RuntimeWarning, match="what was tuned does not fit any more"):
        assert code(model, keeping(records), tmp_path) == usual


SHAPES = {"q": (64, 32), "k": (32, 64), "v": (64, 32)}
STATEMENTS = """module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_statements(
      %module: !transform.any_op {{transform.readonly}}) {{
{commands}
    transform.yield
  }}
}}
"""


def test_products_are_one_kernel_where_that_is_chosen(tmp_path: Path) -> None:
    net = Net("attention")
    q, k, v = (net.input(name, [2, *shape]) for name, shape in SHAPES.items())
    rows = net.node("Softmax", net.node("MatMul", q, k), axis=2)
    model = net.finish((net.node("MatMul", rows, v), "y", [2, 64, 32]))
    statements = str(espalier.lower(model, stage="statements"))
    kernels = re.findall(r"kernel private @(\w+)", statements)
    targets = [name for name in kernels if name.startswith("matmul_")][1], kernels[-3]
    lines = [
        f"    %{number} = transform.poly.computation @{name}::@s0 of %module"
        f" : (!transform.any_op) -> !transform.any_op\n"
        f"    transform.poly.fusion %{number} fused : !transform.any_op"
        for number, name in enumerate(targets)
    ]
    script = tmp_path / "fused.mlir"
    script.write_text(STATEMENTS.format(commands="\n".join(lines)))
    rng = np.random.default_rng(3)
    inputs = {
        name: rng.standard_normal((2, *shape)).astype(np.float32) for name, shape in SHAPES.items()
    }
    expected = espalier.interpret(model, inputs)["y"]
    fused = espalier.compile(model, schedule=script, options=keeping(None))
    assert error_relative_to_scale(fused.run(inputs)["y"], expected) < 1e-5
    fused.save(tmp_path / "fused.o")
    assert (tmp_path / "fused.o").read_bytes() != code(model, keeping(None), tmp_path)
