"""Weights that are mostly zero: entries row by row, against dense programs and NumPy."""

import contextlib
import itertools

import numpy as np
import onnx
import pytest
from onnx import helper

import espalier
from espalier import Options
from espalier.errors import EspalierError
from espalier.profiling import profile
from espalier.testing.guarded import guarded_all
from support import make_model, one_op

MAX_DENSITY = 0.3  # What `graph-sparsify` takes for sparse.
ROW_SUMS = "poly.monotonic"  # The starts of rows, in a kernel.


def prune(shape, density, kind="random", dtype=np.float32, seed=0):
    """Return weights of which some are zero; of small integers, so that sums are exact."""
    random = np.random.default_rng(seed)
    weights = random.integers(1, 5, shape) * random.choice([-1, 1], shape)
    kept = random.random(shape) < density
    if kind == "zero":
        kept[...] = False
    elif kind == "one":
        kept[...] = False
        kept.flat[weights.size // 2] = True
    elif kind == "row":
        kept[...] = False
        kept[3] = True
    elif kind == "column":
        kept[...] = False
        kept[:, 3] = True
    assert kept.mean() <= MAX_DENSITY
    return (weights * kept).astype(dtype)


def whole(shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def compile_sparse(model, threads=1):
    """Compile a model whose weights are to be sparse, and check that they are."""
    options = Options(cache=None, sparse="all")
    assert ROW_SUMS in str(espalier.lower(model, options=options))
    function = espalier.compile(model, options=options)
    with contextlib.suppress(EspalierError):  # Nothing in it may be parallel.
        function.set_num_threads(threads)
    return function


def check(model, *inputs, threads=1):
    """Compare with the dense program: small integers give the same sums in any order."""
    feeds = guarded_all({str(i): x for i, x in enumerate(inputs)}, "after")
    result = compile_sparse(model, threads)(*feeds.values())
    expected = espalier.compile(model, options=Options(cache=None))(*inputs)
    np.testing.assert_array_equal(result, expected)
    return result


@pytest.mark.parametrize("kind", ["random", "zero", "one", "row", "column"])
@pytest.mark.parametrize("rows", [1, 5, 16, 70])
def test_products_with_a_right_weight(kind, rows):
    w = prune((40, 48), 0.2, kind)
    x = whole((rows, 40))
    result = check(one_op("MatMul", {"x": (np.float32, x.shape)}, {"w": w}), x)
    np.testing.assert_array_equal(result, x @ w)


@pytest.mark.parametrize("kind", ["random", "zero", "one", "row", "column"])
@pytest.mark.parametrize("columns", [1, 17, 64])
def test_products_with_a_left_weight(kind, columns):
    w = prune((48, 40), 0.2, kind)
    x = whole((40, columns))
    model = one_op("MatMul", {"x": (np.float32, x.shape)}, {"w": w}, ["w", "x"])
    np.testing.assert_array_equal(check(model, x), w @ x)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32])
def test_other_numbers(dtype):
    w = prune((40, 48), 0.1, dtype=dtype)
    x = whole((20, 40), dtype)
    result = check(one_op("MatMul", {"x": (dtype, x.shape)}, {"w": w}), x)
    np.testing.assert_array_equal(result, x @ w)


@pytest.mark.parametrize("density", [0.01, 0.1, 0.29])
@pytest.mark.parametrize("threads", [1, 2])
def test_batches_of_any_size(density, threads):
    w = prune((64, 50), density)
    function = compile_sparse(
        one_op("MatMul", {"x": (np.float32, ["b", "s", 64])}, {"w": w}), threads
    )
    for shape in [(1, 1, 64), (2, 3, 64), (1, 33, 64), (3, 16, 64), (0, 5, 64)]:
        x = whole(shape)
        np.testing.assert_array_equal(function(x), x @ w)


def test_batches_of_weights():
    w = prune((3, 20, 24), 0.2)
    x = whole((3, 18, 20))
    np.testing.assert_array_equal(
        check(one_op("MatMul", {"x": (np.float32, x.shape)}, {"w": w}), x), x @ w
    )


@pytest.mark.parametrize("transposed", [0, 1])
def test_a_layer_is_one_kernel_beside_its_copies(transposed):
    w, bias, x = prune((48, 40), 0.2), whole(48), whole((32, 40))
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], transB=transposed),
        helper.make_node("Relu", ["h"], ["y"]),
    ]
    stored = w if transposed else np.ascontiguousarray(w.T)
    model = make_model(nodes, {"x": (np.float32, x.shape)}, ["y"], {"w": stored, "b": bias})
    np.testing.assert_array_equal(check(model, x), np.maximum(x @ w.T + bias, 0))
    text = str(espalier.lower(model, options=Options(sparse="all")))
    assert text.count("poly.call @") == 3  # Of the operand, the layer, of the result.


def test_layers_in_a_row():
    """What one layer computes lies as the next one reads it."""
    sizes = [40, 48, 56, 32]
    weights = {f"w{i}": prune(s, 0.2, seed=i) for i, s in enumerate(itertools.pairwise(sizes))}
    nodes = [helper.make_node("MatMul", [f"h{i}", f"w{i}"], [f"h{i + 1}"]) for i in range(3)]
    model = make_model(nodes, {"h0": (np.float32, [32, 40])}, ["h3"], weights)
    check(model, whole((32, 40)))
    text = str(espalier.lower(model, options=Options(sparse="all")))
    assert text.count("poly.call @") == 5


CONVOLUTIONS = [
    ({"pads": [1, 1, 1, 1]}, (16, 8, 3, 3), (1, 8, 14, 14)),
    ({"pads": [1, 1, 1, 1]}, (16, 8, 3, 3), (3, 8, 9, 20)),
    ({"strides": [2, 2], "pads": [0, 1, 1, 0]}, (16, 8, 3, 3), (2, 8, 15, 15)),
    ({"dilations": [2, 1]}, (16, 8, 3, 3), (1, 8, 14, 17)),
    ({"group": 2}, (16, 8, 3, 3), (1, 16, 10, 18)),
    ({}, (64, 32, 1, 1), (2, 32, 7, 7)),
    ({}, (16, 16, 7), (2, 16, 30)),
    ({"group": 512}, (1536, 1, 1, 1), (2, 512, 4, 3)),
    ({"group": 512}, (1536, 1, 1), (2, 512, 7)),
]


@pytest.mark.parametrize(("attributes", "weights", "image"), CONVOLUTIONS)
@pytest.mark.parametrize("kind", ["random", "zero", "row"])
def test_convolutions(attributes, weights, image, kind):
    model = one_op(
        "Conv", {"x": (np.float32, image)}, {"w": prune(weights, 0.1, kind)}, **attributes
    )
    check(model, whole(image), threads=2)


def test_images_of_any_size():
    w = prune((16, 8, 3, 3), 0.1)
    model = one_op("Conv", {"x": (np.float32, ["n", 8, "h", "w"])}, {"w": w}, pads=[1, 1, 1, 1])
    sparse, dense = compile_sparse(model), espalier.compile(model, options=Options(cache=None))
    for shape in [(1, 8, 1, 1), (2, 8, 5, 33), (1, 8, 16, 16)]:
        x = whole(shape)
        np.testing.assert_array_equal(sparse(x), dense(x))


def test_pooling_and_a_residual_after_a_convolution():
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "x"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    model = make_model(
        nodes, {"x": (np.float32, [2, 16, 12, 12])}, ["y"], {"w": prune((16, 16, 3, 3), 0.1)}
    )
    check(model, whole((2, 16, 12, 12)))


def test_zero_times_infinity_is_left_out():
    """The one thing that is not as the definition says it."""
    w = prune((40, 48), 0.2)
    x = whole((4, 40))
    x[1, 7] = np.inf
    model = one_op("MatMul", {"x": (np.float32, x.shape)}, {"w": w})
    assert np.isnan(espalier.compile(model, options=Options(cache=None))(x)[1]).any()
    result = compile_sparse(model)(x)
    assert not np.isnan(result).any()
    np.testing.assert_array_equal(np.isinf(result[1]), w[7] != 0)


@pytest.mark.parametrize(
    "w", [prune((40, 48), 0.2) + 1, prune((8, 8), 0.2)], ids=["dense", "small"]
)
def test_what_stays_dense(w):
    model = one_op("MatMul", {"x": (np.float32, [4, len(w)])}, {"w": w})
    assert ROW_SUMS not in str(espalier.lower(model, options=Options(sparse="all")))


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def pruned_layer(kind, steps, batch, hidden=32, both=1, density=0.1, seed=0, **attributes):
    """Return a recurrent layer of small numbers, whose sums are not exact, but nearly."""
    gates = GATES[kind] * hidden
    w = prune((both, gates, 16), density, seed=seed) / 8
    r = prune((both, gates, hidden), density, seed=seed + 1) / 8
    b = whole((both, 2 * gates)) / 8
    inputs = {"x": (np.float32, [steps, batch, 16])}
    constants = {"w": w, "r": r, "b": b}
    return one_op(kind, inputs, constants, hidden_size=hidden, **attributes)


def check_layer(model, shapes, threads=1):
    """Compare a recurrent layer with the dense program; return its kernels' text."""
    sparse = compile_sparse(model, threads)
    dense = espalier.compile(model, options=Options(cache=None))
    for shape in shapes:
        x = guarded_all({"x": whole(shape) / 4}, "after")["x"]
        np.testing.assert_allclose(sparse(x), dense(x), rtol=1e-4, atol=1e-5)
    return str(espalier.lower(model, options=Options(sparse="all")))


@pytest.mark.parametrize("kind", list(GATES))
@pytest.mark.parametrize("batch", [1, 11])
def test_weights_of_recurrences(kind, batch):
    """Sums of a recurrence run over entries, as those of its inputs do.

    A GRU has one for the gates of the state, one for that of the part that it keeps.
    """
    model = pruned_layer(kind, "steps", batch)
    text = check_layer(model, [(n, batch, 16) for n in (1, 5, 0)])
    recurrence = next(k for k in text.split("poly.kernel") if "interleaved" in k)
    assert recurrence.count("where") == {"RNN": 1, "GRU": 2, "LSTM": 1}[kind]


@pytest.mark.parametrize(("hidden", "threads"), [(256, True), (64, False)])
def test_threads_share_a_long_step(hidden, threads):
    """They meet in every step, so its entries have to be many."""
    model = pruned_layer("LSTM", "steps", 1, hidden=hidden, density=0.15)
    check_layer(model, [(3, 1, 16), (1, 1, 16)], threads=2)
    text = str(espalier.lower(model, options=Options(sparse="all"), stage="scheduled"))
    recurrence = next(k for k in text.split("poly.kernel") if "interleaved" in k)
    assert ("loops [parallel" in recurrence) == threads


@pytest.mark.parametrize("kind", list(GATES))
def test_recurrences_of_any_batch(kind):
    model = pruned_layer(kind, "steps", "batch")
    check_layer(model, [(4, 1, 16), (3, 9, 16), (2, 2, 16)], threads=2)


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("LSTM", {"direction": "bidirectional"}),
        ("GRU", {"direction": "reverse", "linear_before_reset": 1}),
        ("LSTM", {"clip": 0.5, "input_forget": 1}),
        ("RNN", {"direction": "bidirectional", "activations": ["Relu", "Sigmoid"]}),
    ],
)
def test_recurrences_with_attributes(kind, attributes):
    both = 2 if attributes.get("direction") == "bidirectional" else 1
    for batch in (1, 8):
        model = pruned_layer(kind, "steps", batch, both=both, hidden=48, **attributes)
        text = check_layer(model, [(4, batch, 16)])
        assert all("where" in k for k in text.split("poly.kernel") if "interleaved" in k)


@pytest.mark.parametrize("kind", ["zero", "one", "row", "column"])
def test_patterns_in_recurrences(kind):
    w, r = prune((128, 16), 0.1)[None], prune((128, 32), 0.1, kind)[None] / 8
    for batch in (1, 8):
        model = one_op(
            "LSTM",
            {"x": (np.float32, ["n", batch, 16])},
            {"w": w / 8, "r": r.astype(np.float32)},
            hidden_size=32,
        )
        check_layer(model, [(4, batch, 16)])


def test_the_choice_in_a_recurrence(tmp_path):
    model = pruned_layer("LSTM", 3, 1, hidden=64, density=0.02)
    options = Options(cache=None, sparse="auto", kernel_times=tmp_path / "times.sqlite")
    assert len(espalier.compile(model, options=options).sparsity) == 2


def test_the_model_stays_as_it_is():
    """The model itself stays what it was."""
    model = one_op("MatMul", {"x": (np.float32, [4, 40])}, {"w": prune((40, 48), 0.2)})
    before = model.SerializeToString()
    compile_sparse(model)
    assert onnx.ModelProto.SerializeToString(model) == before


@pytest.mark.parametrize("sparse", ["all", "auto"])
def test_a_profile_is_of_the_kernels_that_run(sparse):
    w, x = prune((40, 48), 0.02), whole((64, 40))
    model = one_op("MatMul", {"x": (np.float32, x.shape)}, {"w": w})
    options = Options(cache=None, sparse=sparse, kernel_times=None)
    times = profile(model, {"x": x}, options=options, seconds=0.01)
    assert len(times) == 3
