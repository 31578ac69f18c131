"""Long and deep programs are compiled, or refused, in little time."""

import importlib
import itertools
import time

import numpy as np
import onnx
import pytest
from onnx import helper

import espalier
from espalier import _espalier
from espalier.compiler import load_module

FUNCTIONS = ("Relu", "Neg", "Tanh", "Sigmoid")
SECONDS = 30.0
"""Of processor time; what is linear takes a second or two."""


def chain(kind: str, count: int) -> onnx.ModelProto:
    """Return a model of `count` nodes, each of which reads the one before."""
    names = ["x", *(f"v{i}" for i in range(count))]
    nodes = []
    for i, (x, y) in enumerate(itertools.pairwise(names)):
        if kind == "maps":
            nodes.append(helper.make_node(FUNCTIONS[i % len(FUNCTIONS)], [x], [y]))
        elif kind == "sums":
            nodes.append(helper.make_node("Add", [x, names[max(i - 1, 0)]], [y]))
        else:
            nodes.append(helper.make_node("MatMul", [x, "w"], [y]))
    weights = [onnx.numpy_helper.from_array(np.eye(8, dtype=np.float32), "w")]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", 1, [8, 8])],
        [helper.make_tensor_value_info(names[-1], 1, [8, 8])],
        weights if kind == "products" else [],
    )
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.parametrize(
    ("kind", "count"),
    [("maps", 3000), ("maps", 20000), ("sums", 2000), ("products", 3000), ("products", 6000)],
)
def test_chain_is_scheduled_in_linear_time(kind: str, count: int) -> None:
    start = time.process_time()
    module, _ = load_module(chain(kind, count))
    _espalier.lower(module, "scheduled")
    assert time.process_time() - start < SECONDS


def test_sums_of_a_long_chain_are_right() -> None:
    """More statements than a kernel takes; each is the sum of the two before."""
    model = chain("sums", 250)
    x = np.full((8, 8), 2.0**-120, np.float32)
    function = espalier.compile(model, options=espalier.Options(cache=None))
    before, value = x, x
    for _ in range(250):
        before, value = value, value + before
    # The first node adds x to itself.
    np.testing.assert_allclose(function(x), value, rtol=1e-4)


NESTED = {
    "regions": lambda n: 'func.func @main() {\n"scf.execute_region"() ({' * n,
    "types": lambda n: "func.func @main(%x: " + "tuple<" * n + "f32" + ">" * n + ") { return }",
    "attributes": lambda n: "module attributes {a = " + "[" * n + "]" * n + "} {\nfunc.func @f()}",
    "affine": lambda n: "#m = affine_map<(d0) -> (" + "(" * n + "d0" + ")" * n + ")>\nfunc.func",
    "locations": lambda n: "module {} loc(" + "fused[" * n + '"a"' + "]" * n + ")\nfunc.func",
}


@pytest.mark.parametrize("what", NESTED)
def test_deeply_nested_text_is_answered(what: str) -> None:
    with pytest.raises(espalier.EspalierError):
        espalier.compile(NESTED[what](100_000), options=espalier.Options(cache=None))


@pytest.mark.parametrize("depth", [50, 400, 900])
def test_deep_expression_in_a_kernel(tmp_path, monkeypatch, depth: int) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "a[i]" + " + a[i]" * depth
    (tmp_path / f"deep{depth}.py").write_text(
        "from espalier.kernels import f32, kernel, sizes\n(n,) = sizes('n')\n"
        "def k(a: f32[n], r: f32[n]) -> None:\n"
        f"    for i in range(n):\n        r[i] = {text}\n"
    )
    function = importlib.import_module(f"deep{depth}").k
    if depth > 150:
        with pytest.raises(espalier.KernelError, match="expects less depth than Python's limit"):
            espalier.kernel(function).module()
        return
    a, r = np.ones(3, np.float32), np.zeros(3, np.float32)
    espalier.kernel(function).compile(espalier.Options(cache=None))(a, r)
    assert r.tolist() == [depth + 1.0] * 3
