"""What is said of layers and networks with pruned weights."""

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper

sys.path.append(str(Path(__file__).parents[2] / "Benchmark"))

import bench  # noqa: F401  (puts the folders of the rows where they are found)
from sparse_layers import find_break_even
from sparse_networks import PERCENT, make_network

TOY = {"vgg_16": {"size": 32, "width": 8}, "resnet_20": {"size": 16, "width": 8}}


@pytest.mark.parametrize("network", list(PERCENT))
def test_networks_have_the_densities_of_their_layers(network):
    model = make_network(network, batch=1, **TOY[network])
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    layers = [weights[n.input[1]] for n in model.graph.node if n.op_type in ("Conv", "Gemm")]
    percent = [float(number) for number in PERCENT[network].split()]
    assert len(layers) == len(percent) + (network == "resnet_20")
    for layer, expected in zip(layers, percent, strict=False):
        kept = 100 * np.count_nonzero(layer) / layer.size
        assert abs(kept - expected) < 5 + 100 / layer.size**0.5


def line(density, own, dense):
    """Return what a row of a layer has, where plain C skips the zeros as we do."""
    times = {"dense": dense, "c": 0.001}
    return {"layer": "conv", "density": density, "median_ms": own, "baselines_ms": times}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([(0.1, 1.0), (0.2, 3.0)], {"density": 0.15}),
        ([(0.2, 3.0), (0.1, 1.0)], {"density": 0.15}),
        ([(0.1, 1.0), (0.2, 1.5)], {"at_least": 0.2}),
        ([(0.1, 2.5), (0.2, 3.0)], {"at_most": 0.1}),
    ],
)
def test_the_density_at_which_layers_are_as_fast(times, expected):
    (found,) = find_break_even([line(density, own, 2.0) for density, own in times])
    assert found["case"] == "conv/break_even"
    assert {name: found[name] for name in found if name in ("density", "at_least", "at_most")} == (
        expected
    )


def test_one_density_says_nothing():
    assert not list(find_break_even([line(0.1, 1.0, 2.0)]))
