"""Formats of the entries of sparse weights, against NumPy."""

import itertools

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
OWN_FORMATS = ["lists:0+1+2+3,0+2,1+3,3", "lists:5,0+1+2,3+4", "lists:7,0,1+2+3+4+5+6,2+4+6"]
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


def product_text(weights, kind, columns, form, encoding=COLUMNS):
    """Return the product of a matrix and weights whose entries have a format."""
    places, rows = weights.shape
    sparse = f"tensor<{places}x{rows}x{kind}, {encoding}>"
    form = f'{{poly.entries = "{form}"}}' if form else ""
    literal = weights.tolist() if kind.startswith("i") else weights.astype(float).tolist()
    x, y = (f"tensor<{columns}x{extent}x{kind}>" for extent in (places, rows))
    return f"""
    func.func @main(%x: {x}) -> {y} {{
      %w = graph.constant {form} dense<{literal}> : {sparse}
      %y = graph.matmul %x, %w : ({x}, {sparse}) -> {y}
      return %y : {y}
    }}"""


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        *itertools.product(FORMATS, PATTERNS),
        *itertools.product(OWN_FORMATS, ["random", "full", "ragged"]),
    ],
)
def test_formats_of_entries(form, pattern):
    """Each format gives what the dense product does, whatever the pattern is."""
    kinds = [(24, "?", "f32"), (24, 17, "f32"), (48, 1, "f32"), (24, 3, "f64"), (24, 16, "i32")]
    number = [*FORMATS, *OWN_FORMATS].index(form) + PATTERNS.index(pattern)
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


BLOCKS = (
    "#sparse_tensor.encoding<{{ map = (k, j) -> (j floordiv {0} : dense, k floordiv {1} : "
    "compressed, j mod {0} : dense, k mod {1} : dense) }}>"
)
STRUCTURED = (
    "#sparse_tensor.encoding<{{ map = (k, j) -> "
    "(j : dense, k floordiv {1} : dense, k mod {1} : structured[{0}, {1}]) }}>"
)


@pytest.mark.parametrize("form", ["", "union:2"])
@pytest.mark.parametrize("block", [(2, 2), (4, 3), (3, 5)])
@pytest.mark.parametrize("pattern", ["random", "diagonal"])
def test_blocks(block, form, pattern):
    """All elements of a block that has an entry are entries: what is zero there, too."""
    rows, columns = 24, [1, 17][block[0] % 2]
    weights = draw(pattern, [40, 7][block[1] % 2], rows, block[0])
    text = product_text(weights, "f32", columns, form, BLOCKS.format(*block))
    x = whole((columns, len(weights)), np.float32)
    feeds = guarded_all({"x": x}, "after")
    np.testing.assert_array_equal(
        espalier.compile(text, options=STORED)(feeds["x"]), x @ weights.astype(np.float32)
    )


def test_a_zero_in_a_block_is_multiplied():
    """Times infinity it is not a number; what is in no block is left out."""
    weights = np.zeros((8, 4), np.float32)
    weights[1, 0] = 1
    text = product_text(weights, "f32", 16, "", BLOCKS.format(2, 4))
    x = np.full((16, 8), np.inf, np.float32)
    result = espalier.compile(text, options=STORED)(x)
    np.testing.assert_array_equal(result, np.tile([np.nan, np.nan, 0, 0], (16, 1)))


@pytest.mark.parametrize(("most", "of", "columns"), [(2, 4, 17), (1, 2, 1), (4, 8, 1)])
def test_structured_weights(most, of, columns):
    """Of so many neighbours so many may not be zero; the last ones may be fewer."""
    random = np.random.default_rng(most)
    weights = np.zeros((42, 24), np.float32)
    for first, row in np.ndindex(-(-42 // of), 24):
        places = first * of + random.choice(of, random.integers(0, most + 1), replace=False)
        weights[places[places < 42], row] = random.integers(1, 4)
    text = product_text(weights, "f32", columns, "", STRUCTURED.format(most, of))
    x = whole((columns, 42), np.float32)
    np.testing.assert_array_equal(espalier.compile(text, options=STORED)(x), x @ weights)
    weights[of : 2 * of, 5] = 1
    text = product_text(weights, "f32", columns, "", STRUCTURED.format(most, of))
    message = rf"at most {most} of {of} neighbours .* but got {of} from element \[{of}, 5\] on"
    with pytest.raises(EspalierError, match=message):
        espalier.compile(text, options=STORED)


def test_own_lists_are_the_known_ones():
    """What `union` and `subsets` have may be written out."""
    for known, own in (("union:3", "lists:0+1+2"), ("subsets:3", "lists:0,1,0+1,2,0+2,1+2,0+1+2")):
        texts = [product_text(draw("random", 40, 24, 1), "f32", 17, form) for form in (known, own)]
        kernels = [str(espalier.lower(text, options=STORED)) for text in texts]
        assert kernels[0] == kernels[1]


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
        ("rows", "expects poly.entries to be a format of entries, which is each:N or union:N"),
        ("each:65", "with N from 1 to 64"),
        ("subsets:5", "subsets:N with N from 1 to 4, or lists .* but got 'subsets:5'"),
        ("lists:", "a format of entries with rows from 0 to 63 in a list, but got '' of 'lists:'"),
        ("lists:0,64", "with rows from 0 to 63 in a list, but got '64' of 'lists:0,64'"),
        ("lists:0+x,1", "with rows from 0 to 63 in a list, but got 'x' of"),
        ("lists:0+1,0+1", "with lists of different rows, but got '0.1' twice"),
        ("lists:1+0", "with rows in ascending order and at equal distances .* but got '1.0' of"),
        ("lists:0+1+3,2", "and at equal distances in a list, but got '0.1.3' of"),
        ("lists:0,2", "with each of rows 0 to 2 in some list, but got row 1 in none of"),
        ("lists:" + ",".join(map(str, range(17))), "with at most 16 lists, but got 17 of"),
        ("lists:0+1+2+3+4", "expects a sum that 'lists:0.1.2.3.4' is for: over the entries"),
        ("union:0", "but got 'union:0'"),
        ("union:5", "expects a sum that 'union:5' is for: over the entries of rows"),
    ],
)
def test_formats_that_are_refused(form, message):
    text = product_text(draw("random", 7, 24, 1), "f32", 16, form)
    with pytest.raises(EspalierError, match=message):
        espalier.compile(text, options=STORED)
