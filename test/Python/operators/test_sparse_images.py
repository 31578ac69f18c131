"""Convolutions with pruned filters of many channels, whose entries are in blocks."""

import re

import numpy as np
import pytest
from onnx import helper

import espalier
from espalier import Options
from support import make_model, one_op
from test_sparse_weights import check, compile_sparse, prune, whole


def count_blocks(model, filters):
    """Return how many blocks of channels the lists of the program's only layer are in."""
    # Filters by themselves, whatever the machine has registers for.
    options = Options(cache=None, sparse_layers={"node": "each:1"})
    text = str(espalier.lower(model, options=options))
    (size,) = set(re.findall(r"memref<(\d+)xi32> \{[^{}]*poly\.monotonic", text))
    assert (int(size) - 1) % filters == 0
    return (int(size) - 1) // filters


IMAGES = [
    ({"pads": [1, 1, 1, 1]}, (24, 130, 3, 3), (1, 130, 14, 14)),
    ({"pads": [1, 1, 1, 1]}, (21, 130, 3, 3), (2, 130, 13, 29)),
    ({"pads": [0, 2, 1, 0]}, (8, 200, 3, 3), (3, 200, 11, 8)),
    ({"strides": [2, 2], "pads": [0, 1, 1, 0]}, (24, 130, 3, 3), (2, 130, 15, 33)),
    ({"strides": [1, 2]}, (24, 130, 3, 3), (1, 130, 9, 40)),
    ({"dilations": [2, 3], "pads": [2, 3, 2, 3]}, (24, 130, 3, 3), (1, 130, 14, 17)),
    ({}, (24, 200, 5, 2), (1, 200, 12, 30)),
    ({}, (24, 700, 5), (2, 700, 120)),
    ({}, (8, 160, 3, 3, 3), (1, 160, 5, 6, 9)),
]


@pytest.mark.parametrize(("attributes", "weights", "image"), IMAGES)
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_channels(attributes, weights, image, threads):
    model = one_op("Conv", {"x": (np.float32, image)}, {"w": prune(weights, 0.1)}, **attributes)
    assert count_blocks(model, weights[0]) > 1
    check(model, whole(image), threads=threads)


@pytest.mark.parametrize("kind", ["zero", "one", "row", "column"])
def test_filters_of_which_most_are_empty(kind):
    image = (2, 130, 10, 18)
    model = one_op(
        "Conv", {"x": (np.float32, image)}, {"w": prune((24, 130, 3, 3), 0.1, kind)}, pads=[1] * 4
    )
    check(model, whole(image), threads=2)


def test_groups_have_places_of_their_own():
    image = (2, 160, 9, 17)
    model = one_op("Conv", {"x": (np.float32, image)}, {"w": prune((16, 80, 3, 3), 0.1)}, group=2)
    check(model, whole(image), threads=2)


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_blocks_of_other_numbers(dtype):
    image = (1, 130, 9, 18)
    w = prune((24, 130, 3, 3), 0.05, dtype=dtype)
    check(one_op("Conv", {"x": (dtype, image)}, {"w": w}), whole(image, dtype))


def test_batches_of_any_size_in_blocks():
    model = one_op(
        "Conv",
        {"x": (np.float32, ["n", 130, 10, 12])},
        {"w": prune((24, 130, 3, 3), 0.1)},
        pads=[1, 1, 1, 1],
    )
    assert count_blocks(model, 24) > 1
    sparse = compile_sparse(model, threads=2)
    dense = espalier.compile(model, options=Options(cache=None))
    for batch in [0, 1, 3, 17]:
        x = whole((batch, 130, 10, 12))
        np.testing.assert_array_equal(sparse(x), dense(x))


def test_what_follows_is_in_the_kernel_of_the_blocks():
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "x"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["y"], pads=[1, 1, 1, 1]),
    ]
    weights = {
        "w": prune((130, 130, 3, 3), 0.05),
        "v": prune((16, 130, 3, 3), 0.1, seed=1),
        "b": whole(130),
    }
    model = make_model(nodes, {"x": (np.float32, [1, 130, 9, 14])}, ["y"], weights)
    check(model, whole((1, 130, 9, 14)), threads=2)
    text = str(espalier.lower(model, options=Options(cache=None, sparse="all")))
    assert text.count("poly.call @") == 4


def test_an_image_that_was_rearranged_is_read_in_blocks():
    """A dense convolution has its channels side by side, and the sparse one planes."""
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["h"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Conv", ["r", "w"], ["y"], name="node", pads=[1, 1, 1, 1]),
    ]
    weights = {"v": whole((130, 16, 3, 3)), "w": prune((24, 130, 3, 3), 0.1)}
    model = make_model(nodes, {"x": (np.float32, [1, 16, 14, 14])}, ["y"], weights)
    text = str(espalier.lower(model, options=Options(cache=None, sparse="all")))
    assert "memref<1x16x16x130xf32>" in text
    assert count_blocks(model, 24) > 1
    check(model, whole((1, 16, 14, 14)), threads=2)


BATCHES = [
    ({"pads": [1, 1, 1, 1]}, (12, 16, 3, 3), (64, 16, 22, 24), "each:1"),
    ({"pads": [1, 1, 1, 1]}, (12, 16, 3, 3), (67, 16, 22, 24), "subsets:2"),
    ({"pads": [2, 0, 1, 3]}, (16, 12, 4, 3), (64, 12, 30, 19), "union:4"),
    ({"pads": [1, 1, 1, 1], "strides": [2, 2]}, (12, 16, 3, 3), (64, 16, 31, 40), "each:1"),
    ({"pads": [1, 1, 1, 1], "group": 4}, (12, 4, 3, 3), (64, 16, 22, 24), "each:1"),
]


@pytest.mark.parametrize(("attributes", "weights", "image", "form"), BATCHES)
@pytest.mark.parametrize("threads", [1, 2])
def test_borders_image_by_image(attributes, weights, image, form, threads):
    """A batch that leaves the cache has its border in the kernel of the sum."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="node", **attributes),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    constants = {"w": prune(weights, 0.2), "b": whole(weights[0])}
    model = make_model(nodes, {"x": (np.float32, image)}, ["y"], constants)
    options = Options(cache=None, sparse_layers={"node": form})
    sparse = espalier.compile(model, options=options)
    sparse.set_num_threads(threads)
    dense = espalier.compile(model, options=Options(cache=None))
    x = whole(image)
    np.testing.assert_array_equal(sparse(x), dense(x))


POOLED = [
    ("MaxPool", {}, (12, 16, 3, 3), (1, 16, 22, 128), np.float32),
    ("MaxPool", {}, (12, 130, 3, 3), (2, 130, 13, 131), np.float32),
    ("MaxPool", {}, (12, 16, 3, 3), (64, 16, 23, 70), np.float32),
    ("MaxPool", {"kernel_shape": [3, 2], "strides": [4, 3]}, (8, 12, 3, 3), (3, 12, 25, 97), None),
    ("AveragePool", {}, (12, 16, 3, 3), (1, 16, 18, 66), np.float64),
    ("MaxPool", {"pads": [1, 1, 1, 1]}, (12, 16, 3, 3), (1, 16, 22, 128), np.float32),
    ("MaxPool", {"kernel_shape": [3, 3]}, (12, 16, 3, 3), (1, 16, 22, 128), np.float32),
    ("MaxPool", {"strides": [1, 2]}, (12, 16, 3, 3), (1, 16, 22, 128), np.float32),
    ("MaxPool", {"kernel_shape": [2, 1]}, (12, 16, 3, 3), (1, 16, 22, 140), np.float32),
    ("MaxPool", {}, (12, 16, 3, 3), ("n", 16, 22, 128), np.float32),
]


@pytest.mark.parametrize(("op", "pooling", "weights", "image", "dtype"), POOLED)
@pytest.mark.parametrize("rows", ["alone", "grouped", "strided"])
def test_pooling_of_what_entries_add_up_to(op, pooling, weights, image, dtype, rows):
    """Windows that do not overlap are in the kernel of the sum; others follow it."""
    dtype = dtype or np.float32
    w = prune(weights, 0.1, dtype=dtype)
    strides = [2, 1] if rows == "strided" else [1, 1]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "node", pads=[1] * 4, strides=strides),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node(op, ["r"], ["p"], **{"kernel_shape": [2, 2], "strides": [2, 2]} | pooling),
        helper.make_node("Conv", ["p", "v"], ["y"], pads=[1] * 4),
    ]
    constants = {"w": w, "b": whole(weights[0], dtype), "v": whole((8, weights[0], 3, 3), dtype)}
    model = make_model(nodes, {"x": (dtype, image)}, ["y"], constants)
    form = "subsets:2" if rows == "grouped" else "each:1"
    sparse = espalier.compile(model, options=Options(cache=None, sparse_layers={"node": form}))
    x = whole([5 if size == "n" else size for size in image], dtype)
    expected = espalier.compile(model, options=Options(cache=None))(x)
    for threads in (1, 2):
        sparse.set_num_threads(threads)
        np.testing.assert_array_equal(sparse(x), expected)


def test_pooling_is_in_the_kernel_where_rows_are_long():
    """Of short ones a tile would be a few vectors."""
    for size, kernels in ((128, ["conv_relu_max_pool"]), (14, ["conv_relu", "max_pool"])):
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["c"], name="node"),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
        ]
        image = [1, 16, 20, size]
        weights = {"w": prune((12, 16, 3, 3), 0.1)}
        model = make_model(nodes, {"x": (np.float32, image)}, ["y"], weights)
        options = Options(cache=None, sparse_layers={"node": "each:1"})
        text = str(espalier.lower(model, options=options))
        assert re.findall(r"poly\.call @(\w+)_\w{8}\(", text) == kernels
