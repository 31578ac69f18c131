"""A model that is quick to tune, and what a search leaves behind."""

import sqlite3
from pathlib import Path

import numpy as np
from onnx import helper

from espalier import Options

EXTENT = 48


def make_model(rows: int | str = EXTENT) -> bytes:
    """Return a product with an addition."""
    infos = [
        helper.make_tensor_value_info(name, 1, shape)
        for name, shape in (("a", (rows, EXTENT)), ("b", (EXTENT, EXTENT)), ("c", (EXTENT,)))
    ]
    nodes = [helper.make_node("MatMul", "ab", ["p"]), helper.make_node("Add", "pc", ["y"])]
    y = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph(nodes, "g", infos, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model.SerializeToString()


def make_inputs(rows: int = EXTENT) -> dict[str, np.ndarray]:
    """Return arrays for the model."""
    random = np.random.default_rng(1)
    shapes = {"a": (rows, EXTENT), "b": (EXTENT, EXTENT), "c": (EXTENT,)}
    return {k: random.standard_normal(shape, np.float32) for k, shape in shapes.items()}


def keeping(records: Path | None) -> Options:
    """Return options with a file of records, and no cache."""
    return Options(records=records, cache=None)


def statuses(records: Path) -> list[str]:
    """Return what became of the trials in a file."""
    with sqlite3.connect(records) as connection:
        return [row[0] for row in connection.execute("SELECT status FROM trials ORDER BY id")]
