"""Tensors that an ONNX model stores without their zeros: initializers, values of nodes."""

import math
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import espalier
from espalier.errors import ModelError, UnsupportedOperators
from espalier.importers.onnx import import_model
from espalier.importers.onnx.tensors import MAX_SPARSE_BYTES, sparse_array
from numpy_builder import NumpyBuilder

WEIGHT = np.array([[0, 1.5, 0], [0, 0, 0], [-2, 0, 3]], np.float32)
PLACES = [[0, 1], [2, 0], [2, 2]]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def stored(
    values: object = (1.5, -2, 3),
    indices: object = PLACES,
    dims: tuple[int, ...] = (3, 3),
    dtype: type = np.float32,
    index_type: type = np.int64,
) -> onnx.SparseTensorProto:
    """Return a tensor called w."""
    parts = np.array(values, dtype), np.array(indices, index_type)
    return helper.make_sparse_tensor(*(numpy_helper.from_array(p, "w") for p in parts), dims)


def model(tensor: onnx.SparseTensorProto, as_node: bool = False) -> onnx.ModelProto:
    """Return a model that multiplies by a tensor: an initializer, or the value of a node."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    if as_node:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], "c", sparse_value=tensor))
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, X.shape) for n in "xy")
    sparse = None if as_node else [tensor]
    graph = helper.make_graph(nodes, "test", [x], [y], sparse_initializer=sparse)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


@pytest.mark.parametrize("as_node", [False, True])
@pytest.mark.parametrize("indices", [PLACES, [1, 6, 8]])
@pytest.mark.parametrize("sparse", ["off", "all"])
def test_both_kinds_of_indices(as_node, indices, sparse):
    options = espalier.Options(cache=None, sparse=sparse)
    function = espalier.compile(model(stored(indices=indices), as_node), options=options)
    np.testing.assert_array_equal(function(X), X @ WEIGHT)


@pytest.mark.parametrize("dims", [(3, 3), (0, 3), (2**31, 0)])
def test_no_entries(dims):
    for indices in (np.zeros((0, 2)), np.zeros(0)):
        made = sparse_array(np.zeros(0, np.int8), indices.astype(np.int64), list(dims), "w")
        np.testing.assert_array_equal(made, np.zeros(dims, np.int8))


DEFECTS = [
    ({"dims": (3, -1)}, "expects extents of at least 0, but got [3, -1]"),
    (
        {"dims": (2**31, 2**31)},
        f"expects at most {MAX_SPARSE_BYTES} bytes with all zeros, but got "
        "float32[2147483648, 2147483648]",
    ),
    ({"dims": (2**62, 2**62, 0)}, f"expects at most {MAX_SPARSE_BYTES} bytes with all zeros"),
    ({"values": [[1, 2, 3]]}, "expects values in one dimension, but got [1, 3]"),
    (
        {"values": [1, 2]},
        "expects indices of int64[2] or int64[2, 2], but got int64[3, 2]",
    ),
    (
        {"index_type": np.int32},
        "expects indices of int64[3] or int64[3, 2], but got int32[3, 2]",
    ),
    ({"indices": [[0], [1], [2]]}, "or int64[3, 2], but got int64[3, 1]"),
    ({"indices": [[0, 1], [2, 0], [2, 3]]}, "expects index #2 within [3, 3], but got [2, 3]"),
    ({"indices": [[0, 1], [-1, 0], [2, 2]]}, "expects index #1 within [3, 3], but got [-1, 0]"),
    ({"indices": [[0, 1], [2**63 - 1, 0], [2, 2]]}, "expects index #1 within [3, 3]"),
    ({"indices": [0, 4, 9]}, "expects index #2 within [9], but got [9]"),
    ({"indices": [0, 4, -(2**63)]}, "expects index #2 within [9]"),
    ({"indices": [[2, 0], [0, 1], [2, 2]]}, "expects index #1 after [2, 0], but got [0, 1]"),
    ({"indices": [[0, 1], [2, 2], [2, 2]]}, "expects index #2 after [2, 2], but got [2, 2]"),
    ({"indices": [3, 2, 4]}, "expects index #1 after [3], but got [2]"),
]


@pytest.mark.parametrize(("change", "message"), DEFECTS)
def test_what_is_malformed(change, message):
    for as_node in (False, True):
        what = "node 'c' (Constant): attribute 'sparse_value'" if as_node else "initializer 'w'"
        with pytest.raises(ModelError, match=f"^{re.escape(what)}: .*{re.escape(message)}"):
            import_model(model(stored(**change), as_node), NumpyBuilder([{"x": X}]))


def test_a_type_that_is_not_supported():
    with pytest.raises(UnsupportedOperators, match="node 'w': initializer needs an element type"):
        import_model(model(stored(dtype=np.complex64)), NumpyBuilder([{"x": X}]))


def test_a_name_that_is_taken():
    twice = model(stored())
    twice.graph.initializer.append(numpy_helper.from_array(WEIGHT, "w"))
    with pytest.raises(ModelError, match="initializer 'w': expects a new name, but 'w' is defined"):
        import_model(twice, NumpyBuilder([{"x": X}]))


def slowly(values, indices, dims):
    """Return all elements as the specification has it; None for what is malformed."""
    result = np.zeros(dims, values.dtype)
    last = -1
    for value, index in zip(values, indices, strict=True):
        place = [int(index)] if index.ndim == 0 else index.tolist()
        extents = [math.prod(dims)] if index.ndim == 0 else dims
        if any(not 0 <= i < extent for i, extent in zip(place, extents, strict=True)):
            return None
        flat = int(np.ravel_multi_index(place, extents))
        if flat <= last:
            return None
        result.flat[flat] = value
        last = flat
    return result


def test_random_tensors():
    """Some are right and some are not; both are told apart as the specification does."""
    random = np.random.default_rng(5)
    seen = {True: 0, False: 0}
    for _ in range(2000):
        dims = random.integers(1, 5, random.integers(1, 4)).tolist()
        count = int(random.integers(0, math.prod(dims) + 1))
        flat = np.sort(random.choice(math.prod(dims), count, replace=False)).astype(np.int64)
        indices = flat
        if random.random() < 0.5:
            indices = np.stack(np.unravel_index(flat, dims), 1)
        if count and random.random() < 0.5:
            indices.flat[random.integers(indices.size)] = random.integers(-1, 6)
        values = random.integers(1, 9, count).astype(np.int32)
        expected = slowly(values, indices, dims)
        seen[expected is None] += 1
        if expected is None:
            with pytest.raises(ModelError, match=r"^w: expects index #"):
                sparse_array(values, indices, dims, "w")
        else:
            np.testing.assert_array_equal(sparse_array(values, indices, dims, "w"), expected)
    assert min(seen.values()) > 200
