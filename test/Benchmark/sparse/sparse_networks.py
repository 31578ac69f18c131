"""Networks with pruned weights: VGG-16, ResNet-20 and BERT."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import sparse_layers
from onnx import numpy_helper
from peers import Peer, open_peers
from sparse_layers import prune
from sparse_rows import Comparison

import espalier
from espalier.compiler import Options
from espalier.models import MODELS, Net
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from espalier.testing.timing import measure_alternately

PERCENT = {
    "vgg_16": "49.5 34.6 77.7 79.5 77.1 65.9 45.7 24.2 5.8 1.0 0.2 0.2 0.3 0.4 0.7 1.0",
    "resnet_20": "61.3 22.2 24.0 23.8 21.3 27.6 19.4 26.8 20.3 16.1 12.4 16.3 11.0 15.7 13.0 11.3 "
    "9.2 10.0 2.1",
}
"""Of each layer's weights, what pruning left, in table 1 of the paper on sparse networks in
TIRAMISU; what is behind the last one is dense."""


def vgg_16(batch: int, size: int = 224, width: int = 64) -> onnx.ModelProto:
    """Build VGG-16 for images of a multiple of 32 points."""
    net = Net("vgg_16")
    y, channels = net.input("x", [batch, 3, size, size]), 3
    for filters, layers in ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3)):
        for _ in range(layers):
            y = net.node("Relu", net.conv(y, channels, filters * width, 3, bias=True))
            channels = filters * width
        y = net.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y, features = net.node("Flatten", y, axis=1), channels * (size // 32) ** 2
    for outputs in (64 * width, 64 * width):
        y, features = net.node("Relu", net.dense(y, features, outputs)), outputs
    return net.finish((net.dense(y, features, 1000), "y", [batch, 1000]))


def resnet_20(batch: int, size: int = 32, width: int = 16) -> onnx.ModelProto:
    """Build ResNet-20, whose shortcuts have no weights."""
    net = Net("resnet_20")
    y = net.node("Relu", net.conv(net.input("x", [batch, 3, size, size]), 3, width, 3, bias=True))
    channels = width
    for filters in (width, 2 * width, 4 * width):
        for block in range(3):
            stride = 2 if block == 0 and filters > width else 1
            z = net.node("Relu", net.conv(y, channels, filters, 3, stride, bias=True))
            z = net.conv(z, filters, filters, 3, bias=True)
            if stride > 1:
                y = net.node("MaxPool", y, kernel_shape=[1, 1], strides=[2, 2])
                pads = net.constant([0, 0, 0, 0, 0, filters - channels, 0, 0])
                y = net.node("Pad", y, pads)
            y, channels = net.node("Relu", net.node("Add", y, z)), filters
    return net.finish((net.classifier(y, channels, 10), "y", [batch, 10]))


BUILDERS = MODELS | {"vgg_16": vgg_16, "resnet_20": resnet_20}


def prune_layers(model: onnx.ModelProto, densities: Sequence[float | str]) -> onnx.ModelProto:
    """Leave a share, or N of M ("2:4"), of each layer's weights, in the order of the layers."""
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    layers = [
        stored[node.input[1]]
        for node in model.graph.node
        if node.op_type in ("Conv", "Gemm", "MatMul") and node.input[1] in stored
    ]
    # A layer's terms are rows of a product's constant, and columns of others.
    products = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    for tensor, density in zip(layers, densities, strict=False):
        weights = numpy_helper.to_array(tensor)
        rows = weights.T if tensor.name in products else weights.reshape(len(weights), -1)
        kept = (prune(*rows.shape, density) != 0) * rows
        kept = kept.T if tensor.name in products else kept.reshape(weights.shape)
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(kept), tensor.name))
    return model


def make_network(network: str, density: float | str | None = None, **sizes: int) -> onnx.ModelProto:
    """Build a network with the densities of the paper, or one density for all layers."""
    model = BUILDERS[network](**sizes)
    if density is None:
        return prune_layers(model, [float(percent) / 100 for percent in PERCENT[network].split()])
    return prune_layers(model, [density] * len(model.graph.node))


def run_network(case: dict[str, Any], toy: bool, seconds: float) -> Comparison:
    """Compile a pruned network; compare and time it, also with our dense one."""
    model = make_network(**(case["sizes"] | (case["toy"] if toy else {})))
    inputs = OnnxRuntime(model).random_inputs()
    expected = OnnxRuntime(model).run(inputs)
    calls = []
    for sparse in ("all" if toy else "auto", "off"):
        options = Options(cache=None, kernel_times=None, sparse=sparse)
        function = espalier.compile(model, options=options)
        function.set_num_threads(case["threads"])
        calls.append(function.bind(inputs))
        if sparse != "off":
            error = largest_error(function.run(inputs), expected)
    peers = [Peer("dense", "ours", calls[1])]
    names = [name for name in case["baselines"] if name != "dense"]
    peers += open_peers(names, model, inputs, case["threads"])
    clock = time.process_time if case["threads"] == 1 else time.perf_counter
    own, *others = measure_alternately([calls[0], *(peer.call for peer in peers)], seconds, clock)
    timings = {peer.name: timing for peer, timing in zip(peers, others, strict=True)}
    return Comparison(error, own, timings, peers)


SPARSE = sparse_layers.SPARSE | {"sparse_network": run_network}
"""What runs a case of each model."""
