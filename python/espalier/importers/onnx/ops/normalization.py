"""Normalizations and softmax."""

from espalier.importers.onnx.emitter import Emitter
from espalier.importers.onnx.registry import Node, op
from espalier.importers.onnx.tensors import element_type
from espalier.importers.onnx.values import Tensor, Value


@op("Softmax")
def _softmax(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    return e.op("softmax", x, axis=node.axis(x.rank))


@op("LogSoftmax")
def _log_softmax(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    return e.op("log_softmax", x, axis=node.axis(x.rank))


@op("BatchNormalization")
def _batch_norm(e: Emitter, node: Node) -> list[Value | None]:
    """Normalize by the mean and variance given, or in training by those of each channel."""
    given = node.input(0)
    if given.rank < 2:
        raise node.error(f"expects input #0 of rank 2 or more, but got rank {given.rank}")
    scale, bias, *running = [node.input(i) for i in range(1, 5)]
    mixed = any(p.dtype != given.dtype for p in (scale, bias, *running))
    x = e.widen(given) if mixed else given
    used: list[Value] = running
    updated: list[Value | None] = [None] * (len(node.used) - 1)
    if node["training_mode"]:
        used = _channel_statistics(e, x)
        momentum = float(node["momentum"])
        updated = [_blend(e, old, new, momentum) for old, new in zip(running, used, strict=True)]
        del updated[len(node.used) - 1 :]
    parameters = [e.cast(p, x.dtype) for p in (scale, bias, *used)]
    result = e.op("batch_norm", x, *parameters, dims=x.dims, epsilon=float(node["epsilon"]))
    return [e.cast(result, given.dtype), *updated]


def _channel_statistics(e: Emitter, x: Value) -> list[Value]:
    """Return the mean of each channel and its variance, of all elements."""
    axes = [axis for axis in range(x.rank) if axis != 1]
    wide = e.widen(x)
    mean = e.reduce("mean", wide, axes, keepdims=True)
    centred = e.op("sub", wide, mean)
    variance = e.reduce("mean", e.op("mul", centred, centred), axes, keepdims=False)
    return [e.reshape(mean, [x.dims[1]]), variance]


def _blend(e: Emitter, old: Value, new: Value, momentum: float) -> Tensor:
    """Return `momentum` times the old value and the rest of the new one."""
    wide = e.widen(old)
    kept = e.op("mul", wide, e.scalar(momentum, wide.dtype))
    new = e.cast(new, wide.dtype)
    sum_ = e.op("add", kept, e.op("mul", new, e.scalar(1 - momentum, wide.dtype)))
    return e.cast(sum_, old.dtype)


@op("InstanceNormalization")
def _instance_norm(e: Emitter, node: Node) -> Tensor:
    x, scale, bias = (node.input(i) for i in range(3))
    return e.op("instance_norm", x, scale, bias, dims=x.dims, epsilon=float(node["epsilon"]))


@op("LayerNormalization")
def _layer_norm(e: Emitter, node: Node) -> list[Value | None]:
    x, scale, bias = node.input(0), node.input(1), node.inputs[2]
    axis = node.axis(x.rank)
    epsilon = float(node["epsilon"])
    if not any(node.used[1:]):
        if bias is None:
            bias = e.scalar(0, x.dtype)
        result = e.op("layer_norm", x, scale, bias, dims=x.dims, axis=axis, epsilon=epsilon)
        return [result, *[None] * (len(node.used) - 1)]
    result, mean, inverse = _layer_norm_by_parts(e, x, scale, bias, axis, epsilon)
    stash = element_type(node, node["stash_type"])
    return [result, e.cast(mean, stash), e.cast(inverse, stash)]


def _layer_norm_by_parts(
    e: Emitter, x: Value, scale: Value, bias: Value | None, axis: int, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the result, the mean and the reciprocal of the deviation."""
    axes = list(range(axis, x.rank))
    wide = e.widen(x)
    mean = e.reduce("mean", wide, axes, keepdims=True)
    centred = e.op("sub", wide, mean)
    variance = e.reduce("mean", e.op("mul", centred, centred), axes, keepdims=True)
    deviation = e.op("sqrt", e.op("add", variance, e.scalar(epsilon, wide.dtype)))
    inverse = e.op("reciprocal", deviation)
    result = e.op("mul", e.op("mul", centred, inverse), e.widen(scale))
    if bias is not None:
        result = e.op("add", result, e.widen(bias))
    return e.cast(result, x.dtype), mean, inverse


@op("RMSNormalization")
def _rms_norm(e: Emitter, node: Node) -> Tensor:
    """Divide by the root of the mean square, computed in the type of `stash_type`.

    The result is of the scale's type, which ONNX allows to differ from that of the input;
    the function that it gives does not.
    """
    x, scale = node.input(0), node.input(1)
    axes = list(range(node.axis(x.rank), x.rank))
    wide = e.cast(x, element_type(node, node["stash_type"]))
    square = e.reduce("mean", e.op("mul", wide, wide), axes, keepdims=True)
    root = e.op("sqrt", e.op("add", square, e.scalar(float(node["epsilon"]), wide.dtype)))
    normalized = e.cast(e.op("div", wide, root), x.dtype)
    return e.op("mul", e.cast(normalized, scale.dtype), scale)


@op("MeanVarianceNormalization", rounds_once=True)
def _mean_variance(e: Emitter, node: Node) -> Tensor:
    """Take the mean from the elements and divide by the deviation.

    ONNX's function does it in float32 only: its constants have no other type.
    """
    x = node.input(0)
    axes = node.normalize_axes(node["axes"], x.rank)
    centred = e.op("sub", x, e.reduce("mean", x, axes, keepdims=True))
    variance = e.reduce("mean", e.op("mul", centred, centred), axes, keepdims=True)
    deviation = e.op("add", e.op("sqrt", variance), e.scalar(1e-9, x.dtype))
    return e.op("div", centred, deviation)


@op("LRN")
def _lrn(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    factors = {name: float(node[name]) for name in ("alpha", "beta", "bias")}
    return e.op("lrn", x, dims=x.dims, window=node["size"], **factors)


@op("LpNormalization", rounds_once=True)
def _lp_norm(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    axis = node.axis(x.rank)
    if node["p"] not in (1, 2):
        raise node.error(f"expects p of 1 or 2, but got {node['p']}")
    term = e.op("abs", x) if node["p"] == 1 else e.op("mul", x, x)
    norm = e.reduce("sum", term, [axis], keepdims=True)
    norm = norm if node["p"] == 1 else e.op("sqrt", norm)
    quotient = e.op("div", x, norm)
    zero = e.scalar(0, x.dtype)
    return e.op("select", e.op("equal", norm, zero), zero, quotient)
