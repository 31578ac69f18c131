"""Modules built, read, interpreted and compiled through the extension."""

import gc

import ml_dtypes
import numpy as np
import pytest

import espalier
from espalier import _espalier
from espalier.compiler import compile_module, interpret_module, load_module
from espalier.dtypes import DTYPES
from espalier.errors import CompileError, EspalierError
from support import one_op

F32 = np.float32
RELU = """
func.func @main(%x: tensor<?x3xf32> {espalier.name = "x", espalier.dims = ["n", ""]})
    -> (tensor<?x3xf32> {espalier.name = "y"}) {
  %0 = graph.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""
LINALG = """
func.func @main(%x: tensor<?x3xf32> {espalier.name = "x"},
                %w: tensor<3x3xf32> {espalier.name = "w"}) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x3xf32>)
      outs(%zeros : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""
NO_CACHE = espalier.Options(cache=None)


def test_module_is_built():
    module = espalier.Module()
    x = module.input("x", [None, 3], "f32", ["batch", ""])
    (y,) = module.op("graph.elu", [x], {"alpha": 0.5}, "node")
    assert (y.shape, y.dtype) == ([None, 3], "f32")
    rows = module.index_op("mul", module.dim(y, 0), module.dim(y, 1))
    (flat,) = module.op("graph.reshape", [y, rows], {"static_sizes": [-(2**63)]})
    module.finish([flat], ["y"])
    text = str(module)
    assert 'espalier.dims = ["batch", ""]' in text
    assert "graph.elu" in text
    assert (module.input_names, module.output_names) == (["x"], ["y"])
    inputs = {"x": np.array([[1, -1, 2]], F32)}
    (result,) = interpret_module(module, inputs).values()
    np.testing.assert_allclose(result, [1, 0.5 * np.expm1(-1), 2], rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (3,), (20, 30)], ids=str)
def test_constants_keep_their_elements(dtype, shape):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    module = espalier.Module()
    module.finish([module.constant(array)], ["y"])
    result = interpret_module(module, {})["y"]
    assert result.dtype == dtype
    assert result.shape == shape
    assert (result == array).all()


def test_large_constants_are_not_copied_and_stay_alive():
    module = espalier.Module()
    value = module.constant(np.full((100, 100), 3, F32) * np.arange(100, dtype=F32))
    gc.collect()
    module.finish([value], ["y"])
    assert "dense_resource" in str(module)
    assert interpret_module(module, {})["y"].sum() == 3 * 4950 * 100


def test_big_endian_constant():
    module = espalier.Module()
    module.finish([module.constant(np.arange(99, dtype=">i4").astype(">i4"))], ["y"])
    assert interpret_module(module, {})["y"].tolist() == list(range(99))


def test_errors_name_the_node_and_leave_the_module_usable():
    module = espalier.Module()
    x = module.input("x", [2, 3], "f32", ["", ""])
    with pytest.raises(CompileError, match=r"expects a known operation, but got 'graph\.nope'"):
        module.op("graph.nope", [x])
    with pytest.raises(CompileError, match=r"node 'here': .* expects a permutation"):
        module.op("graph.transpose", [x], {"permutation": [0, 0]}, "here")
    with pytest.raises(CompileError, match="expects an element type, but got 'f33'"):
        module.input("z", [2], "f33", [""])
    with pytest.raises(CompileError, match="expects a function of indices, but got 'xor'"):
        module.index_op("xor", module.index(1), module.index(2))
    with pytest.raises(CompileError, match="expects a dimension of a tensor, but got 2"):
        module.dim(x, 2)
    with pytest.raises(CompileError, match="expects data that fills the shape"):
        module.constant_bytes("f32", [2], np.zeros(7, np.uint8))
    with pytest.raises(ValueError, match="expects values of this module"):
        espalier.Module().op("graph.relu", [x])
    (y,) = module.op("graph.relu", [x])
    module.finish([y], ["y"])
    with pytest.raises(CompileError, match="expects a function under construction"):
        module.finish([y], ["y"])


def test_text_is_read():
    module, bound = load_module(RELU)
    assert (module.input_names, bound) == (["x"], {})
    x = np.array([[-1, 0, 1]], F32)
    assert interpret_module(module, {"x": x})["y"].tolist() == [[0, 0, 1]]


def test_big_endian_arrays_are_interpreted() -> None:
    x = np.array([[-1, 2, 3]], ">f4")
    assert espalier.interpret(RELU, {"x": x})["y"].tolist() == [[0, 2, 3]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": np.zeros((1, 3), np.complex64)}, "'x': expects an element type .* got complex64"),
        ({"x": np.zeros((1, 3), object)}, "'x': expects an element type .* got object"),
        ({"x": "text"}, "'x': expects an element type out of .* got <U4"),
        ({"x": [[1], [2, 3]]}, "argument 'x': "),
        ({"x": np.ma.masked_array(np.ones((1, 3), F32), mask=True)}, "'x': .* without a mask"),
        (None, "expects arrays by name, but got NoneType"),
    ],
)
def test_what_is_no_array_is_not_interpreted(inputs: object, message: str) -> None:
    with pytest.raises(EspalierError, match=message):
        espalier.interpret(RELU, inputs)


@pytest.mark.parametrize("text", ["func.func @main(", "func.func @main() {}\n\0", "\n"])
def test_text_is_refused(text):
    with pytest.raises(EspalierError):
        compile_module(load_module(text)[0], options=NO_CACHE)


def test_text_is_parsed_in_a_child_process_first(monkeypatch):
    def parse(text: str) -> None:
        raise AssertionError("the child did not refuse the text")

    monkeypatch.setattr(_espalier.Module, "parse", parse)
    with pytest.raises(CompileError, match="expects valid MLIR, but line 1"):
        load_module("func.func @main( {\n")


def test_missing_file_of_text(tmp_path):
    with pytest.raises(EspalierError, match=r"cannot read '.*none.mlir'"):
        load_module(str(tmp_path / "none.mlir"))


@pytest.mark.parametrize("n", [1, 2, 17])
def test_text_is_compiled(n):
    function = espalier.compile(RELU, options=NO_CACHE)
    x = np.random.default_rng(n).standard_normal((n, 3)).astype(F32)
    np.testing.assert_array_equal(function(x=x), np.maximum(x, 0))


def test_bfloat16_passes_through():
    model = one_op("Add", {"x": (ml_dtypes.bfloat16, [5])}, {"c": np.ones(5, ml_dtypes.bfloat16)})
    function = espalier.compile(model, options=NO_CACHE)
    assert function(np.ones(5, ml_dtypes.bfloat16)).tolist() == [2] * 5


def test_linalg_on_tensors_is_compiled():
    function = espalier.compile(LINALG, options=NO_CACHE)
    x, w = (np.arange(n, dtype=F32).reshape(-1, 3) for n in (15, 9))
    np.testing.assert_allclose(function(x=x, w=w), x @ w)


def test_progress_and_cache(tmp_path):
    model = one_op("Exp", {"x": (F32, [7])})
    options = espalier.Options(cache=tmp_path)
    calls = []
    first = espalier.compile(model, options=options, progress=lambda *c: calls.append(c))
    second = espalier.compile(model, options=options)
    assert calls
    assert calls[-1][0] == calls[-1][1]
    assert (first.cached, second.cached) == (False, True)
    x = np.arange(7, dtype=F32)
    np.testing.assert_array_equal(first(x), second(x))


def test_unknown_cpu_is_refused():
    model = one_op("Exp", {"x": (F32, [7])})
    with pytest.raises(CompileError, match="no-such-cpu"):
        espalier.compile(model, options=espalier.Options(cpu="no-such-cpu", cache=None))


def test_plain_arrays_are_taken_as_they_are():
    """Whatever is not plain is left to the checks that have messages."""
    program = espalier.compile(LINALG, options=NO_CACHE).program
    x, w = np.arange(6, dtype=F32).reshape(2, 3), np.eye(3, dtype=F32)
    (y,) = program.run({"x": x, "w": w})
    assert y.dtype == F32
    assert y.tolist() == x.tolist()
    assert y.flags.writeable
    assert y.ctypes.data % 64 == 0
    assert program.run({"x": x[:0], "w": w})[0].shape == (0, 3)
    unaligned = np.frombuffer(bytes(25), np.uint8)[1:].view(F32).reshape(2, 3)
    for wrong in (
        x.astype(">f4"),
        x.astype(np.float64),
        x[:, :2],
        np.asfortranarray(x),
        x.view(np.ma.MaskedArray),
        unaligned,
        x.astype(ml_dtypes.bfloat16),
        x.tolist(),
        None,
    ):
        assert program.run({"x": wrong, "w": w}) is None
    assert program.run({"x": x}) is None
    assert program.run({"x": x, "w": w, "z": w}) is None
    assert program.run({"x": x, "z": w}) is None
