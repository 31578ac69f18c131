"""Names of a model's kernels: saved scripts survive changes elsewhere."""

import itertools
import json
import re

import onnx
import pytest
from onnx import helper

from espalier import _espalier
from espalier.compiler import lower
from espalier.errors import CompileError
from espalier.models import MODELS, Net
from espalier.schedules import Schedule


def layers(*widths: int, softmax: bool = False) -> onnx.ModelProto:
    """Return a chain of dense layers, the first of `widths` being the input's."""
    net = Net("layers")
    x = net.input("x", [32, widths[0]])
    if softmax:
        x = net.node("Softmax", x)
    for depth, width in itertools.pairwise(widths):
        x = net.node("Relu", net.linear(x, depth, width))
    return net.finish((x, "y", [32, widths[-1]]))


def kernels(module: _espalier.Module) -> list[str]:
    return sorted(json.loads(_espalier.describe_kernels(module)))


def loops(module: _espalier.Module, kernel: str) -> str:
    return Schedule(module, kernel).loops()


@pytest.mark.parametrize("softmax", [False, True])
def test_scripts_survive_operators_upstream(softmax: bool) -> None:
    model = lower(layers(64, 48, 40))
    names = kernels(model)
    assert all(re.fullmatch(r"[a-z_]+_[0-9a-f]{8}", name) for name in names)
    script = _espalier.default_schedule(model)
    longer = lower(layers(24, 64, 48, 40, softmax=softmax))
    assert len(kernels(longer)) == len(names) + (2 if softmax else 1)
    assert set(names) < set(kernels(longer))
    _espalier.transform(model, script)
    _espalier.transform(longer, script)
    for name in names:
        assert loops(longer, name) == loops(model, name)


@pytest.mark.parametrize(
    ("name", "size"),
    [("dcgan", {"width": 8}), ("mobilenet_v2", {"size": 32}), ("resnet50", {"size": 32})],
)
def test_scripts_of_networks_survive(name: str, size: dict[str, int]) -> None:
    """Of a network, all but the kernel that read the input have their names and loops."""
    model = MODELS[name](**size)
    module = lower(model)
    script = _espalier.default_schedule(module)
    graph = model.graph
    for node in graph.node:
        node.input[:] = ["upstream" if value == "x" else value for value in node.input]
    graph.node.insert(0, helper.make_node("Softmax", ["x"], ["upstream"]))
    longer = lower(model)
    (lost,) = set(kernels(module)) - set(kernels(longer))
    assert f"poly.call @{lost}(%arg0," in str(module)
    with pytest.raises(
        CompileError, match=f"expects a kernel, one of .*, but got @{lost}"
    ) as caught:
        _espalier.transform(longer, script)
    assert "nor is there" not in str(caught.value)
    longer = lower(model)
    _espalier.lower(module, "scheduled")
    _espalier.lower(longer, "scheduled")
    for kernel in kernels(module):
        if kernel != lost:
            assert loops(longer, kernel) == loops(module, kernel)


def test_equal_layers_are_one_kernel() -> None:
    assert kernels(lower(layers(64, 64, 64, 64))) == kernels(lower(layers(64, 64, 64)))


def test_kernels_that_vanished_are_named() -> None:
    script = _espalier.default_schedule(lower(layers(64, 48, 40)))
    names = re.findall(r"transform.poly.computation @(\w+)::", script)
    other = lower(layers(64, 56, 24))
    with pytest.raises(CompileError) as caught:
        _espalier.transform(other, script)
    message = str(caught.value)
    first, *rest = message.splitlines()
    listed = ", ".join(f"@{name}" for name in re.findall(r"kernel private @(\w+)", str(other)))
    assert f"expects a kernel, one of [{listed}], but got @{names[0]}" in first
    assert "it is for 'transform.poly.plan'" in rest[0]
    assert f"nor is there a kernel @{names[1]}" in rest[1]


def test_of_many_kernels_the_nearest_are_listed() -> None:
    widths = [16 * count for count in range(1, 13)]
    model = lower(layers(*widths, softmax=True))
    softmax = next(name for name in kernels(model) if name.startswith("softmax"))
    script = _espalier.default_schedule(model)
    with pytest.raises(CompileError) as caught:
        _espalier.transform(model, script.replace(softmax, "softmax_00000000"))
    first = str(caught.value).splitlines()[0]
    assert f"expects a kernel, one of [@{softmax}, @" in first
    assert first.endswith(", ...], but got @softmax_00000000")
