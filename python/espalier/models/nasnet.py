"""NASNet-A, from the cell tables of the paper's reference implementation."""

from dataclasses import dataclass

import onnx

from espalier.models.net import Dim, Net

# Each cell starts from states 0 (its input) and 1 (the input of the cell
# before), and adds five states: the sum of two operations on earlier ones. The
# states that nothing used are joined.
Step = tuple[str, int]
NORMAL: list[tuple[Step, Step]] = [
    (("separable_5", 0), ("separable_3", 1)),
    (("separable_5", 1), ("separable_3", 1)),
    (("average", 0), ("none", 1)),
    (("average", 1), ("average", 1)),
    (("separable_3", 0), ("none", 0)),
]
REDUCTION: list[tuple[Step, Step]] = [
    (("separable_5", 0), ("separable_7", 1)),
    (("maximum", 0), ("separable_7", 1)),
    (("average", 0), ("separable_5", 1)),
    (("none", 3), ("average", 2)),
    (("separable_3", 2), ("maximum", 0)),
]


@dataclass
class State:
    """A value with its channels and how often the image was halved."""

    value: str
    channels: int
    level: int


def _fit(net: Net, x: State, filters: int) -> State:
    """Bring a state to `filters` channels."""
    y = net.conv(net.node("Relu", x.value), x.channels, filters, 1)
    return State(net.batch_norm(y, filters), filters, x.level)


def _factorized_reduction(net: Net, x: State, filters: int) -> State:
    """Halve the image by two strided paths, the second shifted by one pixel."""
    y = net.node("Relu", x.value)
    pads = net.constant([0, 0, 0, 0, 0, 0, 1, 1])
    shifted = net.node(
        "Slice", net.node("Pad", y, pads), *map(net.constant, ([1, 1], [2**31, 2**31], [2, 3]))
    )
    widths = (filters // 2, filters - filters // 2)
    paths = [
        net.conv(
            net.node("AveragePool", path, kernel_shape=[1, 1], strides=[2, 2]), x.channels, width, 1
        )
        for path, width in zip((y, shifted), widths, strict=True)
    ]
    joined = net.node("Concat", *paths, axis=1)
    return State(net.batch_norm(joined, filters), filters, x.level + 1)


def _separable(net: Net, x: State, kernel: int, stride: int, filters: int) -> str:
    y, channels = x.value, x.channels
    for layer_stride in (stride, 1):
        y = net.node("Relu", y)
        y = net.conv(y, channels, channels, kernel, layer_stride, groups=channels)
        y = net.batch_norm(net.conv(y, channels, filters, 1), filters)
        channels = filters
    return y


def _operation(net: Net, name: str, x: State, stride: int, filters: int) -> str:
    if name == "none":
        return x.value
    if name.startswith("separable"):
        return _separable(net, x, int(name[-1]), stride, filters)
    op = "AveragePool" if name == "average" else "MaxPool"
    return net.node(op, x.value, kernel_shape=[3, 3], strides=[stride] * 2, pads=[1] * 4)


def _cell(net: Net, x: State, previous: State, filters: int, reduce: bool) -> State:
    if previous.level != x.level:
        previous = _factorized_reduction(net, previous, filters)
    elif previous.channels != filters:
        previous = _fit(net, previous, filters)
    states, used = [_fit(net, x, filters), previous], set()
    for pair in REDUCTION if reduce else NORMAL:
        ends = []
        for name, index in pair:
            stride = 2 if reduce and index < 2 else 1
            ends.append(_operation(net, name, states[index], stride, filters))
            used.add(index)
        states.append(State(net.node("Add", *ends), filters, x.level + reduce))
    loose = [state for index, state in enumerate(states) if index not in used]
    joined = net.node("Concat", *[state.value for state in loose], axis=1)
    return State(joined, filters * len(loose), x.level + reduce)


def nasnet_a(
    batch: Dim = 1, size: Dim = 224, filters: int = 44, repeats: int = 4, seed: int = 0
) -> onnx.ModelProto:
    """Build NASNet-A mobile (4 @ 1056) on an input [batch, 3, size, size].

    Arguments:
        filters: channels of the first normal cells; 24 times that reach the classifier.
        repeats: normal cells between two reductions.
    """
    net = Net("nasnet_a", seed)
    x = net.input("x", [batch, 3, size, size])
    x = net.batch_norm(net.conv(x, 3, 32, 3, stride=2, pad=0), 32)
    previous = current = State(x, 32, 1)
    plan = [(filters // 4, True), (filters // 2, True)]
    for stage in range(3):
        plan += [(filters << stage, True)] * (stage > 0) + [(filters << stage, False)] * repeats
    for width, reduce in plan:
        previous, current = current, _cell(net, current, previous, width, reduce)
    x = net.node("Relu", current.value)
    return net.finish((net.classifier(x, current.channels, 1000), "output", [batch, 1000]))
