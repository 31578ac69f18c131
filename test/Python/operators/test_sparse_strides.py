"""Convolutions with pruned filters that move by several points."""

import contextlib

import numpy as np
import pytest
from onnx import helper

import espalier
from espalier import Options
from espalier.errors import EspalierError
from espalier.testing.guarded import guarded_all
from support import make_model, one_op
from test_sparse_weights import check, prune, whole

WINDOWS = [
    ({"strides": [2, 2], "pads": [1, 1, 1, 1]}, (8, 6, 3, 3), (2, 6, 14, 14)),
    ({"strides": [2, 2], "pads": [1, 1, 1, 1]}, (8, 6, 3, 3), (17, 6, 9, 11)),
    ({"strides": [3, 2], "pads": [0, 2, 1, 0]}, (6, 5, 4, 5), (1, 5, 13, 37)),
    ({"strides": [2, 3]}, (8, 16, 1, 1), (3, 16, 11, 40)),
    ({"strides": [2, 2], "pads": [1, 1, 0, 0]}, (8, 16, 1, 1), (1, 16, 5, 6)),
    ({"strides": [2, 2], "dilations": [2, 2], "pads": [2, 1, 2, 1]}, (8, 6, 3, 3), (1, 6, 9, 40)),
    ({"strides": [4, 4], "dilations": [2, 3]}, (8, 6, 3, 3), (2, 6, 21, 70)),
    ({"strides": [2, 2], "group": 2, "pads": [1, 1, 1, 1]}, (8, 10, 3, 3), (2, 20, 10, 36)),
    ({"strides": [2, 2], "group": 32}, (32, 1, 5, 5), (1, 32, 12, 21)),
    ({"strides": [5]}, (8, 20, 7), (2, 20, 96)),
    ({"strides": [1, 2, 2], "pads": [1] * 6}, (4, 6, 3, 3, 3), (1, 6, 4, 7, 33)),
    ({"strides": [7, 7]}, (8, 20, 3, 3), (1, 20, 3, 3)),
]


def check_shapes(model, shapes, dtype=np.float32, threads=1):
    """Compare the only layer, which is small, with the dense program."""
    sparse = espalier.compile(model, options=Options(cache=None, sparse_layers={"node": "sparse"}))
    dense = espalier.compile(model, options=Options(cache=None))
    with contextlib.suppress(EspalierError):  # Nothing in it may be parallel.
        sparse.set_num_threads(threads)
    for shape in shapes:
        x = guarded_all({"x": whole(shape, dtype)}, "after")["x"]
        np.testing.assert_array_equal(sparse(x), dense(x))


@pytest.mark.parametrize(("attributes", "weights", "image"), WINDOWS)
@pytest.mark.parametrize("threads", [1, 2])
def test_windows_that_move_by_several_points(attributes, weights, image, threads):
    model = one_op("Conv", {"x": (np.float32, image)}, {"w": prune(weights, 0.2)}, **attributes)
    check_shapes(model, [image], threads=threads)


@pytest.mark.parametrize("kind", ["one", "row", "column"])
def test_patterns_of_filters(kind):
    w = prune((8, 20, 3, 3), 0.1, kind)
    image = (2, 20, 9, 34)
    model = one_op("Conv", {"x": (np.float32, image)}, {"w": w}, strides=[2, 2], pads=[1] * 4)
    check_shapes(model, [image])


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_other_numbers(dtype):
    w = prune((8, 20, 3, 3), 0.05, dtype=dtype)
    model = one_op("Conv", {"x": (dtype, (1, 20, 9, 34))}, {"w": w}, strides=[2, 2], pads=[1] * 4)
    check_shapes(model, [(1, 20, 9, 34)], dtype)


@pytest.mark.parametrize("pads", [0, 1])
@pytest.mark.parametrize("size", [1, 3])
def test_images_of_any_size(size, pads):
    model = one_op(
        "Conv",
        {"x": (np.float32, ["n", 20, "h", "w"])},
        {"w": prune((8, 20, size, size), 0.2)},
        strides=[2, 2],
        pads=[pads] * 4,
    )
    shapes = [(1, 20, 3, 3), (2, 20, 8, 9), (1, 20, 11, 70), (0, 20, 5, 5)]
    check_shapes(model, shapes, threads=2)


def test_two_layers_read_one_image():
    """Both copy it, and another operator reads it as it is."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["a"], strides=[2, 2], pads=[1] * 4),
        helper.make_node("Conv", ["r", "w"], ["b"], strides=[2, 2]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Add", ["a", "b"], ["s"]),
        helper.make_node("Concat", ["s", "p"], ["y"], axis=1),
    ]
    weights = {"v": prune((24, 16, 3, 3), 0.1), "w": prune((24, 16, 1, 1), 0.2, seed=1)}
    model = make_model(nodes, {"x": (np.float32, [2, 16, 12, 34])}, ["y"], weights)
    check(model, whole((2, 16, 12, 34)), threads=2)
