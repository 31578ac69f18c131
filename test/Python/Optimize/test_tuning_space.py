"""Which candidates a search has to choose from: kernels of several kinds."""

import sqlite3
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

import espalier
from tuning import keeping


def make_weight(name: str, *shape: int) -> onnx.TensorProto:
    """Return a constant of small numbers."""
    numbers = np.random.default_rng(3).standard_normal(shape, np.float32)
    return numpy_helper.from_array(numbers * 0.1, name)


def make_model(node: onnx.NodeProto, shape: tuple[int, ...], weight: onnx.TensorProto) -> bytes:
    """Return a model of one operator with a constant."""
    x, y = (helper.make_tensor_value_info(*info) for info in (("x", 1, shape), ("y", 1, None)))
    graph = helper.make_graph([node], "g", [x], [y], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


def make_convolution() -> bytes:
    """Return a convolution that Winograd's algorithm computes."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)
    return make_model(node, (1, 64, 16, 16), make_weight("w", 64, 64, 3, 3))


def test_every_rule_is_measured(tmp_path: Path) -> None:
    """For a product with a packed operand; the first candidate of each sketch is no failure."""
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    model = make_model(node, (64, 256), make_weight("w", 256, 96))
    records = tmp_path / "records.sqlite"
    espalier.tune(model, trials=12, options=keeping(records))
    with sqlite3.connect(records) as connection:
        found = connection.execute("SELECT rule, status FROM trials ORDER BY id").fetchall()
    measured = {rule for rule, status in found if status == "measured"}
    # For grids, for sums that several threads add up, and for sizes that are not known.
    others = {"skew", "wavefront", "rfactor", "sizes"}
    assert measured == set(espalier.tuning.RULES) - others
    assert [status for _, status in found[:7]] == ["measured"] * 7


def test_lanes_of_single_computations_have_choices(tmp_path: Path) -> None:
    """A softmax has none that its computations share, and no tiles of rows."""
    records = tmp_path / "records.sqlite"
    node = helper.make_node("Softmax", ["x"], ["y"])
    weight = make_weight("unused", 1)
    espalier.tune(make_model(node, (64, 500), weight), trials=10, options=keeping(records))
    with sqlite3.connect(records) as connection:
        found = connection.execute("SELECT status, code FROM trials").fetchall()
    assert {status for status, _ in found} == {"measured"}
    assert len({code for _, code in found}) >= 8


def test_sums_inside_other_plans_have_choices(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    espalier.tune(make_convolution(), trials=12, algorithms=False, options=keeping(records))
    with sqlite3.connect(records) as connection:
        found = connection.execute(
            "SELECT code FROM trials WHERE status = 'measured' AND script LIKE '%inside 1%'"
        ).fetchall()
    assert len({code for (code,) in found}) >= 8
