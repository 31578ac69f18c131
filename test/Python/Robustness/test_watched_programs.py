"""Threads of compiled programs do not meet, and nothing depends on what nobody wrote."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import espalier
import watched
from espalier import Options
from espalier.function import Function
from espalier.models import Net
from espalier.recursion import Node, Structures, Tensor, concat, tanh

OPTIONS = Options(cache=None, cpu=watched.CPU)
Make = Callable[[], onnx.ModelProto]


def layers() -> onnx.ModelProto:
    """Return recurrent layers, which run side by side."""
    net = Net("layers")
    y = net.input("x", ["steps", 2, 24])
    for _ in range(3):
        w, r = net.weight([1, 96, 24], 0.1), net.weight([1, 96, 24], 0.1)
        y = net.node("LSTM", y, w, r, net.weight([1, 192], 0.1), hidden_size=24)
        y = net.node("Squeeze", y, net.constant([1]))
    return net.finish((y, "y", ["steps", 2, 24]))


def convolutions() -> onnx.ModelProto:
    """Return convolutions of several kinds, with borders."""
    net = Net("convolutions")
    y = net.conv(net.input("x", [2, 3, 33, 31]), 3, 32, 3)
    y = net.node("Relu", net.conv(y, 32, 32, 3))
    y = net.conv(y, 32, 32, 5, stride=2, groups=32)
    y = net.node("MaxPool", net.conv(y, 32, 40, 1), kernel_shape=[3, 3], strides=[2, 2])
    return net.finish((y, "y", [2, 40, 8, 7]))


def attention() -> onnx.ModelProto:
    """Return an attention of lengths that are not known."""
    net = Net("attention")
    x = net.input("x", ["batch", "length", 48])
    q, k, v = (net.node("MatMul", x, net.weight([48, 48], 0.1)) for _ in range(3))
    scores = net.node("MatMul", q, net.node("Transpose", k, perm=[0, 2, 1]))
    y = net.node("MatMul", net.node("Softmax", scores, axis=-1), v)
    y = net.node("ReduceMean", net.node("Add", x, y), net.constant([1]), keepdims=0)
    return net.finish((y, "y", ["batch", 48]))


@espalier.recursive("tree", arity=2)
def tree_rnn(node: Node, emb: Tensor, w: Tensor) -> Tensor:
    """Return the state of a node of a binary tree."""
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    return tanh(concat(tree_rnn(left), tree_rnn(right)) @ w)


MODELS = [layers, convolutions, attention]
EXTENTS = {"steps": 67, "batch": 3, "length": 131}


def compile_model(make: Make) -> tuple[Function, dict[str, np.ndarray]]:
    """Return a model's function and inputs."""
    function = espalier.compile(make(), options=OPTIONS)
    random = np.random.default_rng(1)
    inputs = {
        info.name: random.standard_normal(
            [EXTENTS[n] if isinstance(n, str) else n for n in info.shape], np.float32
        )
        for info in function.inputs
    }
    return function, inputs


def check(function: Function, inputs: dict[str, np.ndarray], folder: Path) -> None:
    program = watched.build(function, folder)
    for tool in watched.TOOLS:
        assert watched.watch(program, inputs, tool) is None


@pytest.mark.parametrize("make", MODELS)
def test_models(make: Make, tmp_path: Path) -> None:
    check(*compile_model(make), tmp_path)


def test_a_recursive_model(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    emb, w = (random.standard_normal(shape, np.float32) for shape in ((50, 64), (128, 64)))
    # Complete trees of 31 nodes, children before parents.
    table = np.concatenate([np.full((16, 2), -1), np.arange(30).reshape(15, 2)])
    words = [random.integers(0, 50, 31) for _ in range(20)]
    trees = Structures.from_children([table] * 20, words)
    model = tree_rnn.configure(options=OPTIONS)
    check(model.compile(trees, emb=emb, w=w), model.inputs(trees, emb=emb, w=w), tmp_path)


def test_what_meets_is_found(tmp_path: Path) -> None:
    """Where each thread does all of the work, as where each is the first one."""
    function, inputs = compile_model(convolutions)
    program = watched.build(function, tmp_path, ["THREADS_REPEAT"])
    assert "Conflicting store" in str(watched.watch(program, inputs, "drd"))


def test_what_nobody_wrote_is_found(tmp_path: Path) -> None:
    function, inputs = compile_model(convolutions)
    program = watched.build(function, tmp_path, ["INPUTS_UNWRITTEN"])
    assert "Uninitialised byte(s)" in str(watched.watch(program, inputs, "memcheck"))
