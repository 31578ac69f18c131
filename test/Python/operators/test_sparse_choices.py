"""Which weights are sparse: what types say, what is measured, and what somebody chose."""

import json

import numpy as np
import pytest
from onnx import helper

import espalier
from espalier import Options
from espalier.errors import EspalierError
from support import make_model, one_op
from test_sparse_weights import ROW_SUMS, prune, whole

COLUMNS = "#sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>"
STORED = Options(cache=None, sparse="stored")


def test_the_choice_is_what_is_faster(tmp_path):
    """Both ways are measured; the table knows the times afterwards."""
    wide, full = prune((96, 512), 0.02), prune((512, 64), 0.29)
    full[full == 0] = prune(full.shape, 0.25, seed=3)[full == 0]
    nodes = [
        helper.make_node("MatMul", ["x", "wide"], ["h"], name="first"),
        helper.make_node("MatMul", ["h", "full"], ["y"], name="second"),
    ]
    model = make_model(nodes, {"x": (np.float32, [64, 96])}, ["y"], {"wide": wide, "full": full})
    options = Options(cache=None, sparse="auto", kernel_times=tmp_path / "times.sqlite")
    function = espalier.compile(model, options=options)
    first, second = function.sparsity
    assert [first["node"], second["node"]] == ["first", "second"]
    assert abs(first["density"] - (wide != 0).mean()) < 1e-6
    for layer in (first, second):
        faster = layer["sparse_s"] < layer["dense_s"]
        assert layer["choice"] == ("sparse" if faster else "dense")
    assert first["choice"] == "sparse"
    x = whole((64, 96))
    np.testing.assert_array_equal(function(x), x @ wide @ full)
    assert espalier.compile(model, options=options).sparsity == [first, second]


def test_nothing_is_sparse_without_measuring(tmp_path):
    model = one_op("MatMul", {"x": (np.float32, [64, 40])}, {"w": prune((40, 48), 0.02)})
    options = Options(cache=None, sparse="auto", kernel_times=None, measure_seconds=0.0)
    (layer,) = espalier.compile(model, options=options).sparsity
    assert (layer["choice"], layer["reason"]) == ("dense", "no time is left")


def stored_product(operand="?x2", constant="dense<[[0.0, 2.0, 0.0], [0.0, 5.0, 3.0]]>"):
    """Return a product with a constant whose type says that it is sparse."""
    kind = f"tensor<2x3xf32, {COLUMNS}>"
    x, y = f"tensor<{operand}xf32>", f"tensor<{operand[:-1]}3xf32>"
    return f"""
    func.func @main(%x: {x}) -> {y} {{
      %w = graph.constant {constant} : {kind}
      %r = graph.matmul %x, %w : ({x}, {kind}) -> {y}
      return %r : {y}
    }}"""


def test_a_type_may_say_it():
    """Text has types with encodings of its own, in whatever order the dimensions are."""
    text = stored_product()
    assert ROW_SUMS in str(espalier.lower(text, options=STORED))
    x = whole((17, 2))
    result = espalier.compile(text, options=STORED)(x)
    np.testing.assert_array_equal(result, x @ np.array([[0, 2, 0], [0, 5, 3]], np.float32))
    np.testing.assert_array_equal(
        next(iter(espalier.interpret(text, {"input0": x}).values())), result
    )


@pytest.mark.parametrize("sparse", ["off", "stored", "all", "auto"])
def test_a_type_alone_drops_no_product(sparse):
    """Zero times infinity is left out where somebody asks for sparse weights, but never else."""
    text = stored_product()
    x = np.array([[np.inf, 1]], np.float32)
    options = Options(cache=None, sparse=sparse, kernel_times=None)
    result = espalier.compile(text, options=options)(x)
    (defined,) = espalier.interpret(text, {"input0": x}).values()
    assert np.isnan(defined).tolist() == [[True, False, True]]
    expected = defined if sparse == "off" else [[0, np.inf, 3]]
    np.testing.assert_array_equal(result, expected)


ARGUMENT = """
    func.func @main(%x: tensor<2x2xf32>, %w: KIND) -> tensor<2x3xf32> {
      %r = graph.matmul %x, %w : (tensor<2x2xf32>, KIND) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }"""
RESULT = """
    func.func @main(%x: tensor<2x3xf32>) -> KIND {
      %r = graph.relu %x : (tensor<2x3xf32>) -> KIND
      return %r : KIND
    }"""
LINALG = """
    func.func @main(%x: tensor<2x2xf32>, %w: KIND, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %r = linalg.matmul ins(%x, %w : tensor<2x2xf32>, KIND) outs(%y : tensor<2x3xf32>)
          -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }"""


@pytest.mark.parametrize("sparse", ["off", "stored"])
@pytest.mark.parametrize(
    ("text", "what"),
    [(ARGUMENT, "argument #1"), (RESULT, "result #0"), (LINALG, "argument #1")],
)
def test_only_constants_are_stored_without_zeros(text, what, sparse):
    text = text.replace("KIND", f"tensor<2x3xf32, {COLUMNS}>")
    message = f"expects an encoding of constants alone, .* but {what} is 'tensor<2x3xf32, #spar"
    with pytest.raises(EspalierError, match=message):
        espalier.compile(text, options=Options(cache=None, sparse=sparse))


def test_sparse_kernels_are_not_tuned():
    model = one_op("MatMul", {"x": (np.float32, [64, 40])}, {"w": prune((40, 48), 0.02)})
    with pytest.raises(EspalierError, match='expects sparse="off" to tune'):
        espalier.tune(model, trials=1, options=Options(cache=None, sparse="all"))


def test_constants_without_elements_stay_dense():
    kind = (
        "tensor<0x3xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>"
    )
    text = f"""
    func.func @main(%x: tensor<2x0xf32>) -> tensor<2x3xf32> {{
      %w = graph.constant dense<> : {kind}
      %r = graph.matmul %x, %w : (tensor<2x0xf32>, {kind}) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }}"""
    result = espalier.compile(text, options=STORED)(np.zeros((2, 0), np.float32))
    np.testing.assert_array_equal(result, np.zeros((2, 3), np.float32))


def layers_model():
    """Return a model with weights of 10 %, 40 %, all, and few elements."""
    w = prune((40, 48), 0.1), prune((48, 64), 0.2), whole((64, 40)) + 9, prune((40, 8), 0.1)
    w[1][w[1] == 0] = prune(w[1].shape, 0.25, seed=3)[w[1] == 0]
    names = ["first", "second", "full", "small"]
    nodes = [
        helper.make_node("MatMul", [f"h{i}", f"w{i}"], [f"h{i + 1}"], name=name)
        for i, name in enumerate(names)
    ]
    constants = {f"w{i}": part.astype(np.float64) for i, part in enumerate(w)}
    return make_model(nodes, {"h0": (np.float64, [16, 40])}, ["h4"], constants), w


def check_layers(**options):
    """Compile the model; return what was chosen."""
    model, weights = layers_model()
    function = espalier.compile(model, options=Options(cache=None, kernel_times=None, **options))
    x = whole((16, 40), np.float64)
    expected = x
    for w in weights:
        expected = expected @ w
    np.testing.assert_array_equal(function(x), expected)
    return function.sparsity


def test_what_was_done_is_said():
    """Of each operator whose weights might be sparse, and why."""
    first, second = check_layers(sparse="all")
    assert (first["node"], first["choice"]) == ("first", "sparse")
    assert first["reason"] == "at most 30% are not zero"
    assert (second["node"], second["choice"]) == ("second", "dense")
    assert second["reason"] == "more than 30% are not zero"
    assert check_layers() == []


@pytest.mark.parametrize("whole", [False, True], ids=["list", "object"])
def test_a_report_is_an_input(tmp_path, whole):
    first, second = check_layers(sparse="auto", measure_seconds=0.0)
    assert [first["choice"], second["choice"]] == ["dense", "dense"]
    second |= {"choice": "sparse", "format": "union:4"}
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"sparsity": [first, second]} if whole else [first, second]))
    for sparse in (path, str(path)):
        layers = check_layers(sparse=sparse)
        assert [(layer["node"], layer["choice"]) for layer in layers] == [
            ("first", "dense"),
            ("second", "sparse"),
        ]
        assert layers[1]["format"] == "union:4"
        assert layers[1]["reason"] == "it was asked for"


FIRST = {"node": "first", "choice": "dense"}
SECOND = {"node": "second", "choice": "sparse"}


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("[", "expects JSON, but line 1 has another thing at column 2"),
        ("[" * 100_000, "expects choices, but got deeper JSON"),
        ("3", "expects a list of choices, or an object that has one as sparsity, but got int"),
        ("{}", "or an object that has one as sparsity, but got dict with NoneType"),
        ("[3]", "choice #0: expects an object, but got int"),
        ([{"choice": "dense"}], "choice #0: expects the name of a node as node, but got nothing"),
        ([{"node": 3}], "choice #0: expects the name of a node as node, but got 3"),
        (
            [FIRST | {"choice": "on"}],
            'node .first.: expects sparse or dense as choice, but got "o',
        ),
        ([FIRST, {"node": "second"}], "node .second.: expects sparse or dense .* but got nothing"),
        ([SECOND | {"format": "rows"}], "node .second.: expects format to be a format of entries,"),
        ([SECOND | {"format": 4}], "node .second.: expects format to be .* but got '4'"),
        ([FIRST | {"density": "low"}], "node .first.: expects density to be a number from 0 to 1"),
        ([FIRST, SECOND | {"density": 1.5}], "node .second.: .* from 0 to 1, but got 1.5"),
        (
            [FIRST, SECOND | {"density": 0.25}],
            "node .second.: expects a choice for these weights, of which [0-9]+ of 3072 elements "
            "are not zero, a density of 0.[34][0-9]*, but got one for a density of 0.25; without",
        ),
        ([FIRST, SECOND, FIRST], "node .first.: expects one choice, but got two"),
        ([FIRST], "for each node whose weights might be sparse, but there is none for .second."),
        ([], "there is none for .first., .second."),
        (
            [FIRST, SECOND, {"node": "third", "choice": "dense"}],
            "which are .first., .second., .full., .small., but got .third.",
        ),
    ],
)
def test_reports_that_are_refused(tmp_path, report, message):
    path = tmp_path / "report.json"
    path.write_text(report if isinstance(report, str) else json.dumps(report))
    with pytest.raises(EspalierError, match=message):
        check_layers(sparse=path)


def test_a_report_that_cannot_be_read(tmp_path):
    for sparse in (tmp_path, tmp_path / "none.json", "a\0.json"):
        with pytest.raises(EspalierError, match="cannot read"):
            check_layers(sparse=sparse)
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    with pytest.raises(EspalierError, match=r"cannot read .*bytes\.json"):
        check_layers(sparse=tmp_path / "bytes.json")


@pytest.mark.parametrize(
    ("sparse", "layers", "expected"),
    [
        ("off", {"small": "sparse"}, ["dense", "dense", "sparse"]),
        ("all", {"first": "dense"}, ["dense", "dense"]),
        ("all", {"second": "subsets:2", "full": "each:1"}, ["sparse", "sparse", "sparse"]),
        ("auto", {"first": "union:2"}, ["sparse", "dense"]),
        ("stored", {"first": "sparse"}, ["sparse", "dense"]),
    ],
)
def test_one_layer_is_chosen_otherwise(sparse, layers, expected):
    chosen = check_layers(sparse=sparse, sparse_layers=layers, measure_seconds=0.0)
    assert [layer["choice"] for layer in chosen] == expected
    formats = {layer["node"]: layer["format"] for layer in chosen if "format" in layer}
    assert formats == {n: c for n, c in layers.items() if c not in ("dense", "sparse")}


def test_a_layer_that_cannot_be_sparse(tmp_path):
    """The results of a transposed convolution with strides are of several sums."""
    weights = {"w": prune((16, 8, 3, 3), 0.1)}
    model = one_op("ConvTranspose", {"x": (np.float32, (2, 16, 5, 6))}, weights, strides=[2, 2])
    for choice in ("sparse", "union:4"):
        message = "node 'node': expects a sum of products .* but got no sum of its products; the"
        with pytest.raises(EspalierError, match=message):
            espalier.compile(model, options=Options(cache=None, sparse_layers={"node": choice}))
    x = whole((2, 16, 5, 6))
    dense = espalier.compile(model, options=Options(cache=None))(x)
    path = tmp_path / "report.json"
    for sparse in ("all", "auto"):
        options = Options(cache=None, sparse=sparse, kernel_times=None)
        function = espalier.compile(model, options=options)
        np.testing.assert_array_equal(function(x), dense)
        (layer,) = function.sparsity
        assert layer["choice"] == "dense"
        assert layer["reason"].startswith("expects a sum of products")
        path.write_text(json.dumps(function.sparsity))
        (read,) = espalier.compile(model, options=Options(cache=None, sparse=path)).sparsity
        assert (read["choice"], read["reason"]) == ("dense", "it was asked for")


W = prune((16, 8, 3, 3), 0.1)


@pytest.mark.parametrize(
    ("op", "shape", "weights", "attributes"),
    [
        ("ConvTranspose", (2, 16, 5, 6), {"w": W}, {}),
        ("ConvTranspose", (2, 16, 5, 6), {"w": W}, {"dilations": [2, 2], "pads": [1, 0, 1, 2]}),
        ("ConvTranspose", (2, 16, 5, 6), {"w": W}, {"strides": [1, 2]}),
        ("ConvTranspose", (2, 16, 5, 6), {"w": W}, {"group": 4}),
        ("Conv", (2, 16, 7, 6), {"w": W}, {"group": 2, "strides": [2, 1]}),
        ("Conv", (2, 8, 1, 1), {"w": W}, {"pads": [1, 1, 1, 1]}),
        ("Gemm", (1, 40), {"w": prune((48, 40), 0.1), "b": whole(48)}, {"transB": 1}),
        ("MatMul", (3, 2, 40), {"w": prune((3, 40, 16), 0.1)}, {}),
        ("MatMul", (3, 40), {"w": prune((40, 1), 0.1)}, {}),
        ("Add", (40, 48), {"w": prune((40, 48), 0.1)}, {}),
        (
            "LSTM",
            (3, 1, 16),
            {"w": prune((1, 128, 16), 0.1), "r": prune((1, 128, 32), 0.1)},
            {"hidden_size": 32},
        ),
    ],
)
def test_what_a_report_says_can_be_read(op, shape, weights, attributes, tmp_path):
    """Whatever operator it is about, and it says how its weights are stored."""
    model = one_op(op, {"x": (np.float32, shape)}, weights, **attributes)
    made = espalier.compile(model, options=Options(cache=None, sparse="all"))
    path = tmp_path / "report.json"
    path.write_text(json.dumps(made.sparsity))
    read = espalier.compile(model, options=Options(cache=None, sparse=path))
    chosen = [[(layer["node"], layer["choice"]) for layer in f.sparsity] for f in (made, read)]
    assert chosen[0] == chosen[1]
    x = whole(shape)
    np.testing.assert_array_equal(made(x), read(x))


def test_a_report_of_other_weights_is_refused(tmp_path):
    """As one of another pruning is, where the numbers of elements differ by one."""
    w = prune((40, 48), 0.1).astype(np.float64)
    path = tmp_path / "report.json"

    def compile_with(weights, sparse):
        model = one_op("MatMul", {"x": (np.float64, [16, 40])}, {"w": weights})
        return espalier.compile(model, options=Options(cache=None, sparse=sparse))

    path.write_text(json.dumps(compile_with(w, "all").sparsity))
    assert compile_with(w, path).sparsity[0]["choice"] == "sparse"
    row, column = np.argwhere(w)[0]
    w[row, column] = 0
    message = f"of which {(w != 0).sum()} of 1920 elements are not zero, a density of 0.*, but got"
    with pytest.raises(EspalierError, match=message):
        compile_with(w, path)


def test_one_choice_of_a_report_is_replaced(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps([FIRST, SECOND]))
    chosen = check_layers(sparse=path, sparse_layers={"second": "dense"})
    assert [layer["choice"] for layer in chosen] == ["dense", "dense"]


def test_nodes_of_one_name_are_told_apart():
    """A recurrent layer multiplies by two constants, and both are of its node."""
    w, r = prune((1, 128, 16), 0.1), prune((1, 128, 32), 0.1)
    model = one_op("LSTM", {"x": (np.float32, [3, 1, 16])}, {"w": w, "r": r}, hidden_size=32)
    names = [
        layer["node"]
        for layer in espalier.compile(model, options=Options(cache=None, sparse="all")).sparsity
    ]
    assert len(names) == 2
    assert names[1] == names[0] + "#2"
    options = Options(cache=None, sparse_layers={names[1]: "sparse"})
    chosen = espalier.compile(model, options=options).sparsity
    assert [layer["choice"] for layer in chosen] == ["dense", "sparse"]
    # What the recurrence multiplies by has no rows in groups.
    options = Options(cache=None, sparse_layers={names[1]: "union:4"})
    with pytest.raises(EspalierError, match="expects a sum that 'union:4' is for"):
        espalier.compile(model, options=options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sparse": "some"},
            "expects sparse to be one of off, stored, all, auto, or the path of a report that ends "
            "in .json, but got 'some'",
        ),
        ({"sparse": "auto", "optimize": "egraph"}, 'expects optimize="none"'),
        ({"sparse_layers": {"first": "dense"}, "optimize": "egraph"}, 'expects optimize="none"'),
        ({"sparse_layers": {"fist": "dense"}}, "which are .first., .second., .* but got .fist."),
        ({"sparse_layers": {"first": "rows"}}, "node .first.: expects format to be a format of e"),
        ({"sparse_layers": {"first": 3}}, "a format for the name of a node, but got 3 for 'first'"),
        ({"sparse_layers": ["first"]}, "expects choices by the names of nodes as sparse_layers"),
        ({"sparse_layers": {"second": "union:5"}}, "expects a sum that 'union:5' is for"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(EspalierError, match=message):
        check_layers(**options)
