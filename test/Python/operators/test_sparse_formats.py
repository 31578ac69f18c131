"""Formats of the entries of sparse weights, against NumPy."""

import numpy as np
import pytest
from onnx import helper

import espalier
from espalier import Options
from espalier.errors import EspalierError
from espalier.testing.guarded import guarded_all
from support import make_model

COLUMNS = "#sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>"
STORED = Options(cache=None, sparse="stored")
FORMATS = [
    "each:1",
    "each:3",
    "each:8",
    "union:2",
    "union:3",
    "subsets:2",
    "subsets:3",
    "subsets:4",
]
PATTERNS = ["random", "zero", "full", "first", "last", "diagonal", "alike", "ragged"]
TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32}


def whole(shape, dtype, seed=1):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def draw(pattern, places, rows, seed):
    """Return weights with a place for each element of a sum and a row for each sum."""
    random = np.random.default_rng(seed)
    kept = random.random((places, rows)) < random.choice([0.05, 0.3, 0.7])
    if pattern == "alike":  # All rows have the same places.
        kept[...] = kept[:, :1]
    elif pattern == "ragged":
        kept = np.arange(places)[:, None] < random.integers(0, places + 1, rows)
    elif pattern != "random":
        kept[...] = pattern == "full"
        kept[:, 0] |= pattern == "first"
        kept[:, -1] |= pattern == "last"
        if pattern == "diagonal":
            np.fill_diagonal(kept, True)
    return random.integers(1, 4, kept.shape) * kept


def product_text(weights, kind, columns, form):
    """Return the product of a matrix and weights whose entries have a format."""
    places, rows = weights.shape
    sparse = f"tensor<{places}x{rows}x{kind}, {COLUMNS}>"
    literal = weights.tolist() if kind.startswith("i") else weights.astype(float).tolist()
    x, y = (f"tensor<{columns}x{extent}x{kind}>" for extent in (places, rows))
    return f"""
    func.func @main(%x: {x}) -> {y} {{
      %w = graph.constant {{poly.entries = "{form}"}} dense<{literal}> : {sparse}
      %y = graph.matmul %x, %w : ({x}, {sparse}) -> {y}
      return %y : {y}
    }}"""


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_formats_of_entries(form, pattern):
    """Each format gives what the dense product does, whatever the pattern is."""
    kinds = [(24, "?", "f32"), (24, 17, "f32"), (48, 1, "f32"), (24, 3, "f64"), (24, 16, "i32")]
    number = FORMATS.index(form) + PATTERNS.index(pattern)
    for seed in (number, number + 2):
        rows, columns, kind = kinds[seed % len(kinds)]
        places = [1, 7, 40][seed % 3]
        weights = draw(pattern, places, rows, seed)
        text = product_text(weights, kind, columns, form)
        program = espalier.compile(text, options=STORED)
        for extent in [0, 1, 5, 16, 35] if columns == "?" else [columns]:
            x = whole((extent, places), TYPES[kind])
            feeds = guarded_all({"x": x}, "after")
            result = program(feeds["x"])
            np.testing.assert_array_equal(result, x @ weights.astype(TYPES[kind]))


def test_rows_of_a_layer_are_lanes_of_one_vector():
    """A layer at batch 1 has groups of rows, side by side, and a bias and an activation."""
    w = np.where(draw("random", 48, 40, 1), whole((48, 40), np.float32, 3), np.float32(0))
    bias, x = whole(48, np.float32), whole((1, 40), np.float32)
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["y"]),
    ]
    model = make_model(nodes, {"x": (np.float32, x.shape)}, ["y"], {"w": w, "b": bias})
    program = espalier.compile(model, options=Options(cache=None, sparse="all"))
    np.testing.assert_array_equal(program(x), np.maximum(x @ w.T + bias, 0))


def test_a_zero_that_is_stored_is_one_of_the_constant():
    """Lists that are filled up read elements that the definition multiplies by zero."""
    weights = draw("ragged", 9, 16, 3)
    weights[0] = 1
    text = product_text(weights, "f32", 1, "each:8")
    x = whole((1, 9), np.float32)
    x[0, 0] = np.inf
    result = espalier.compile(text, options=STORED)(x)
    np.testing.assert_array_equal(result, np.full((1, 16), np.inf, np.float32))


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("lists", "expects poly.entries to be a format of entries, which is each:N or union:N"),
        ("each:65", "with N from 1 to 64"),
        ("subsets:5", "or subsets:N with N from 1 to 4, but got 'subsets:5'"),
        ("union:0", "but got 'union:0'"),
        ("union:5", "expects a sum that 'union:5' is for: over the entries of rows"),
    ],
)
def test_formats_that_are_refused(form, message):
    text = product_text(draw("random", 7, 24, 1), "f32", 16, form)
    with pytest.raises(EspalierError, match=message):
        espalier.compile(text, options=STORED)
