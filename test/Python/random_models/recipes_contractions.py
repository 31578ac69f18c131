"""Recipes of products, convolutions, pools and recurrent layers."""

from collections.abc import Sequence

import numpy as np

from random_models.builder import Builder, Value
from random_models.evaluate import Impossible, schema
from random_models.recipes import recipe

SMALL = (-1.5, 1.5)
INT32 = np.dtype(np.int32)


@recipe("MatMul")
def _matmul(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), (1, 4))
    if x.rank == 1 or b.chance(0.2):
        shape: tuple[int, ...] = (x.shape[-1],)
    else:
        shape = (*b.broadcast(x.shape[:-2]), x.shape[-1], b.integer(0, 6))
    if x.rank == 1 and b.chance(0.7):
        shape = (*b.shape(b.integer(0, 1)), x.shape[0], b.integer(1, 6))
    b.add(name, [x, b.operand([x.dtype], shape=shape)])


@recipe("Gemm")
def _gemm(b: Builder, name: str) -> None:
    x = b.operand(b.types(name, 0), 2)
    trans_a, trans_b = b.integer(0, 1), b.integer(0, 1)
    m, k = x.shape[::-1] if trans_a else x.shape
    n = b.integer(1, 9)
    y = b.operand([x.dtype], shape=(n, k) if trans_b else (k, n))
    z = b.operand([x.dtype], shape=b.broadcast((m, n))) if b.chance(0.7) else None
    factors = {"alpha": b.choose([1.0, 0.5, 2.0]), "beta": b.choose([1.0, 0.5, 0.0])}
    if x.dtype.kind in "iu":
        factors = {}
    b.add(name, [x, y, z], transA=trans_a, transB=trans_b, **factors)


@recipe("Einsum")
def _einsum(b: Builder, name: str) -> None:
    """One to three terms; each label has one extent, over 0 as onnxruntime divides by it."""
    alphabet = list(b.rng.permutation(list("abcdxyzABCZ"))[: b.integer(1, 4)])
    extents = {label: b.choose([1, 2, 3, 5, 7]) for label in alphabet}
    dots = b.shape(b.integer(0, 2), 1) if b.chance(0.25) else None
    dtype = b.dtype(b.types(name, 0))
    terms, operands = [], []
    for _ in range(b.integer(1, 3)):
        labels = [str(c) for c in b.rng.permutation(alphabet)[: b.integer(0, len(alphabet))]]
        at = b.integer(0, len(labels))
        shape = [extents[c] for c in labels]
        if dots is not None:
            shape[at:at] = dots
            labels.insert(at, "...")
        terms.append("".join(labels))
        operands.append(b.operand([dtype], shape=shape, bounds=SMALL))
    used = sorted(set("".join(terms)) - {"."})
    kept = [str(c) for c in b.rng.permutation(used)[: b.integer(0, len(used))]] if used else []
    if dots is not None:
        kept.insert(b.integer(0, len(kept)), "...")
    b.add(name, operands, equation=",".join(terms) + "->" + "".join(kept))


def _geometry(
    b: Builder, count: int, spatial: Sequence[int], kernel: Sequence[int], pooled: bool = False
) -> dict:
    """Return strides, pads and dilations of windows that fit."""
    attributes: dict[str, object] = {}
    dilations = [b.choose([1, 1, 2]) for _ in range(count)]
    if b.chance(0.3):
        attributes["dilations"] = dilations
    else:
        dilations = [1] * count
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    if b.chance(0.6):
        attributes["strides"] = [b.integer(1, 3) for _ in range(count)]
    mode = b.choose(["pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID"])
    pads = [0] * (2 * count)
    if mode == "pads":
        pads = [b.integer(0, k - 1 if pooled else 2) for k in [*kernel, *kernel]]
        attributes["pads"] = pads
    elif mode != "none" and "dilations" not in attributes:
        attributes["auto_pad"] = mode
    if "SAME" in str(attributes.get("auto_pad")):
        wider = zip(attributes.get("strides", [1] * count), spans, strict=True)
        if pooled and any(stride > span for stride, span in wider):
            raise Impossible("less than no padding, which onnxruntime has for pools")
        return attributes
    for extent, span, low, high in zip(spatial, spans, pads[:count], pads[count:], strict=True):
        if extent + low + high < span:
            raise Impossible("a window that does not fit")
    return attributes


def _reads_nothing(spatial: Sequence[int], kernel: Sequence[int], attributes: dict) -> bool:
    """Say whether some window has padding only, which dilations can do."""
    count = len(kernel)
    strides = attributes.get("strides", [1] * count)
    dilations = attributes.get("dilations", [1] * count)
    pads = attributes.get("pads", [0] * (2 * count))
    for dim, (extent, size) in enumerate(zip(spatial, kernel, strict=True)):
        span = (size - 1) * dilations[dim] + 1
        last = extent + pads[count + dim] - span
        for first in range(-pads[dim], last + 1, strides[dim]):
            taps = range(first, first + span, dilations[dim])
            if not any(0 <= tap < extent for tap in taps):
                return True
    return False


def _image(b: Builder, name: str, ranks: Sequence[int] = (1, 1, 2, 2, 2, 3)) -> Value:
    count = b.choose(ranks)
    shape = (b.choose([0, 1, 1, 2, 3]), b.choose([1, 2, 3, 4, 6]))
    shape += tuple(b.choose([1, 2, 3, 5, 7, 8]) for _ in range(count))
    if b.chance(0.6):
        return b.operand(b.types(name, 0), (3, 5), least=1, bounds=SMALL)
    return b.operand(b.types(name, 0), shape=shape, bounds=SMALL)


@recipe("Conv")
def _conv(b: Builder, name: str) -> None:
    x = _image(b, name)
    count, channels = x.rank - 2, x.shape[1]
    group = b.choose([g for g in (1, 1, 2, 3, channels) if g and channels % g == 0])
    features = group * b.integer(1, 5)
    kernel = [b.choose([1, 2, 3, 3]) for _ in range(count)]
    geometry = _geometry(b, count, x.shape[2:], kernel)
    w = b.operand([x.dtype], shape=(features, channels // group, *kernel), bounds=SMALL)
    bias = b.operand([x.dtype], shape=(features,)) if b.chance(0.5) else None
    b.add(name, [x, w, bias], group=group, **geometry)


@recipe("ConvTranspose")
def _conv_transpose(b: Builder, name: str) -> None:
    x = _image(b, name)
    count, channels = x.rank - 2, x.shape[1]
    group = b.choose([g for g in (1, 1, 2, 3) if channels % g == 0])
    kernel = [b.choose([1, 2, 3]) for _ in range(count)]
    each = b.integer(1, 4)
    w = b.operand([x.dtype], shape=(channels, each, *kernel), bounds=SMALL)
    bias = b.operand([x.dtype], shape=(each * group,)) if b.chance(0.5) else None
    if x.dtype == np.float64 and group > 1:
        bias = None  # ONNX's reference adds those of the first group to all.
    strides = [b.integer(1, 3) for _ in range(count)]
    attributes: dict[str, object] = {"strides": strides}
    if b.chance(0.4):
        attributes["pads"] = [b.integer(0, k - 1) for k in [*kernel, *kernel]]
    if b.chance(0.3):
        attributes["output_padding"] = [b.integer(0, s - 1) for s in strides]
    b.add(name, [x, w, bias], group=group, **attributes)


@recipe("MaxPool", "AveragePool", "LpPool")
def _pool(b: Builder, name: str) -> None:
    x = _image(b, name)
    count = x.rank - 2
    kernel = [b.choose([1, 2, 3]) for _ in range(count)]
    known = schema(name, b.opset).attributes
    attributes = _geometry(b, count, x.shape[2:], kernel, pooled=True)
    attributes = {k: v for k, v in attributes.items() if k in known}
    if "ceil_mode" in known and name != "LpPool" and "auto_pad" not in attributes:
        attributes["ceil_mode"] = b.integer(0, 1)
    if name == "AveragePool":
        attributes["count_include_pad"] = b.integer(0, 1)
        if attributes.get("ceil_mode") and "dilations" in attributes:
            del attributes["dilations"]
        if not attributes["count_include_pad"] and _reads_nothing(x.shape[2:], kernel, attributes):
            raise Impossible("the mean of nothing: 0 in onnxruntime, 0 / 0 by ONNX's reference")
    if name == "LpPool":
        attributes["p"] = b.integer(1, 3)
    exact = "move" if name == "MaxPool" else ""
    b.add(name, [x], kernel_shape=kernel, exact=exact, **attributes)


@recipe("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global_pool(b: Builder, name: str) -> None:
    x = _image(b, name)
    if 0 in x.shape[2:]:
        raise Impossible("a pool over nothing")
    b.add(name, [x], exact="move" if name == "GlobalMaxPool" else "")


ACTIVATIONS = {
    "Relu": 0, "Tanh": 0, "Sigmoid": 0, "Affine": 2, "LeakyRelu": 1, "ThresholdedRelu": 1,
    "ScaledTanh": 2, "HardSigmoid": 2, "Elu": 1, "Softsign": 0, "Softplus": 0,
}  # fmt: skip
"""How many parameters each function of a recurrent layer has."""


def _odd_attributes(b: Builder, name: str, both: int, is_plain: bool) -> dict[str, object]:
    """Draw what few layers have."""
    attributes: dict[str, object] = {}
    if name == "GRU":
        attributes["linear_before_reset"] = b.integer(0, 1)
    if is_plain:
        return attributes
    if name == "LSTM" and b.chance(0.3):
        attributes["input_forget"] = 1
    if b.chance(0.3):
        attributes["clip"] = b.integer(1, 12) / 8
    if b.chance(0.4):
        count = {"LSTM": 3, "GRU": 2, "RNN": 1}[name] * both
        names = [b.choose(ACTIVATIONS) for _ in range(count)]
        attributes["activations"] = names
        for place, parameter in enumerate(("alpha", "beta")):
            taking = sum(ACTIVATIONS[each] > place for each in names)
            if taking:
                attributes[f"activation_{parameter}"] = [b.integer(1, 8) / 8 for _ in range(taking)]
    return attributes


@recipe("LSTM", "GRU", "RNN")
def _recurrent(b: Builder, name: str) -> None:
    gates, states = {"LSTM": (4, 2), "GRU": (3, 1), "RNN": (1, 1)}[name]
    x = b.operand(b.types(name, 0), 3, bounds=SMALL, least=1)
    steps, batch, size = x.shape
    hidden = b.integer(1, 5)
    direction = b.choose(["forward", "reverse", "bidirectional"])
    both = 2 if direction == "bidirectional" else 1
    # Those of float64 only ONNX's reference computes, which reads neither lengths nor clip.
    is_plain = x.dtype == np.float64

    def part(*shape: int) -> Value:
        return b.operand([x.dtype], shape=shape, bounds=(-1, 1))

    operands = [x, part(both, gates * hidden, size), part(both, gates * hidden, hidden)]
    operands.append(part(both, 2 * gates * hidden) if b.chance(0.7) else None)
    if b.chance(0.6):
        least = steps if is_plain else 1
        lengths = np.array([b.integer(least, steps) for _ in range(batch)], INT32)
        operands.append(b.leaf(lengths) if b.chance(0.5) else None)
        operands += [part(both, batch, hidden) if b.chance(0.7) else None for _ in range(states)]
        if name == "LSTM" and b.chance(0.3):
            operands.append(part(both, 3 * hidden))
    attributes = _odd_attributes(b, name, both, is_plain)
    used = [True, b.chance(0.5), b.chance(0.5)][: 1 + states]
    b.add(name, operands, used, hidden_size=hidden, direction=direction, **attributes)
