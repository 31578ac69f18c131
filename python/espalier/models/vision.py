"""Convolutional networks: ResNet, ResNeXt, MobileNetV2, SqueezeNet, DCGAN."""

import numpy as np
import onnx

from espalier.models.net import Dim, Net


def _conv_bn(
    net: Net, x: str, channels: int, filters: int, kernel: int, stride: int = 1, groups: int = 1
) -> str:
    y = net.conv(x, channels, filters, kernel, stride, groups=groups)
    return net.batch_norm(y, filters)


def _bottleneck(
    net: Net, x: str, channels: int, width: int, filters: int, stride: int, groups: int
) -> str:
    y = net.node("Relu", _conv_bn(net, x, channels, width, 1))
    y = net.node("Relu", _conv_bn(net, y, width, width, 3, stride=stride, groups=groups))
    y = _conv_bn(net, y, width, filters, 1)
    if stride != 1 or channels != filters:
        x = _conv_bn(net, x, channels, filters, 1, stride=stride)
    return net.node("Relu", net.node("Add", y, x))


def residual(
    name: str,
    blocks: tuple[int, ...],
    groups: int,
    group_width: int,
    batch: Dim = 1,
    size: Dim = 224,
    seed: int = 0,
) -> onnx.ModelProto:
    """Build a residual network of bottleneck blocks.

    Arguments:
        blocks: number of blocks in each stage.
        groups: groups of the 3x3 convolutions.
        group_width: channels per group in the first stage.
        batch, size: extents of the input [batch, 3, size, size].
    """
    net = Net(name, seed)
    x = net.input("x", [batch, 3, size, size])
    x = net.node("Relu", _conv_bn(net, x, 3, 64, 7, stride=2))
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, count in enumerate(blocks):
        width, filters = groups * group_width << stage, 256 << stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            x = _bottleneck(net, x, channels, width, filters, stride, groups)
            channels = filters
    return net.finish((net.classifier(x, channels, 1000), "output", [batch, 1000]))


# Expansion, output channels, repeats and stride of each group of blocks.
MOBILENET_V2 = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


def mobilenet_v2(batch: Dim = 1, size: Dim = 224, seed: int = 0) -> onnx.ModelProto:
    """Build MobileNetV2 (width 1.0) on an input [batch, 3, size, size]."""
    net = Net("mobilenet_v2", seed)
    low, high = net.constant(np.float32(0.0)), net.constant(np.float32(6.0))

    def relu6(x: str) -> str:
        return net.node("Clip", x, low, high)

    x = net.input("x", [batch, 3, size, size])
    x, channels = relu6(_conv_bn(net, x, 3, 32, 3, stride=2)), 32
    for expansion, filters, repeats, first_stride in MOBILENET_V2:
        for block in range(repeats):
            y, width = x, channels * expansion
            stride = first_stride if block == 0 else 1
            if expansion != 1:
                y = relu6(_conv_bn(net, y, channels, width, 1))
            y = relu6(_conv_bn(net, y, width, width, 3, stride=stride, groups=width))
            y = _conv_bn(net, y, width, filters, 1)
            x = net.node("Add", x, y) if stride == 1 and channels == filters else y
            channels = filters
    x = relu6(_conv_bn(net, x, channels, 1280, 1))
    return net.finish((net.classifier(x, 1280, 1000), "output", [batch, 1000]))


# "pool", or the squeeze width and the width of each of the two expansions.
SQUEEZENET: list[str | tuple[int, int]] = [
    "pool",
    (16, 64),
    (16, 64),
    "pool",
    (32, 128),
    (32, 128),
    "pool",
    (48, 192),
    (48, 192),
    (64, 256),
    (64, 256),
]


def squeezenet(batch: Dim = 1, size: Dim = 224, seed: int = 0) -> onnx.ModelProto:
    """Build SqueezeNet 1.1 on an input [batch, 3, size, size]."""
    net = Net("squeezenet", seed)
    x = net.input("x", [batch, 3, size, size])
    x, channels = net.node("Relu", net.conv(x, 3, 64, 3, stride=2, pad=0, bias=True)), 64
    for layer in SQUEEZENET:
        if isinstance(layer, str):
            x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
            continue
        squeeze, expand = layer
        s = net.node("Relu", net.conv(x, channels, squeeze, 1, bias=True))
        branches = [
            net.node("Relu", net.conv(s, squeeze, expand, kernel, bias=True)) for kernel in (1, 3)
        ]
        x, channels = net.node("Concat", *branches, axis=1), 2 * expand
    x = net.node("Relu", net.conv(x, channels, 1000, 1, bias=True))
    x = net.node("Flatten", net.node("GlobalAveragePool", x), axis=1)
    return net.finish((x, "output", [batch, 1000]))


def dcgan(batch: Dim = 1, latent: int = 100, width: int = 64, seed: int = 0) -> onnx.ModelProto:
    """Build the DCGAN generator: [batch, latent, 1, 1] to [batch, 3, 64, 64]."""
    net = Net("dcgan", seed)
    x, channels = net.input("x", [batch, latent, 1, 1]), latent
    for layer, filters in enumerate([8 * width, 4 * width, 2 * width, width, 3]):
        stride, pad = (1, 0) if layer == 0 else (2, 1)
        # Each output element sums over 4 * 4 / stride^2 taps of every channel.
        scale = (2.0 * stride * stride / (channels * 16)) ** 0.5 if layer else channels**-0.5
        weight = net.weight([channels, filters, 4, 4], scale)
        x = net.node(
            "ConvTranspose",
            x,
            weight,
            kernel_shape=[4, 4],
            strides=[stride, stride],
            pads=[pad] * 4,
        )
        if filters != 3:
            x = net.node("Relu", net.batch_norm(x, filters))
        channels = filters
    return net.finish((net.node("Tanh", x), "output", [batch, 3, 64, 64]))
