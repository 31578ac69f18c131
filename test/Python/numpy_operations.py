"""What each graph operation means, in NumPy."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from espalier.dtypes import DTYPES
from numpy_resize import resize

ANGULAR = ("sin", "cos", "tan", "sinh", "cosh", "tanh")

_erf = np.frompyfunc(math.erf, 1, 1)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype)


def _gelu(x: np.ndarray, approximate: str) -> np.ndarray:
    if approximate == "tanh":
        return (x * 0.5 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))).astype(x.dtype)
    return (x * 0.5 * (1 + _erf(x / 2**0.5).astype(np.float64))).astype(x.dtype)


def _div(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind not in "iu":
        return a / b
    divisor = np.where(b == 0, 1, b)
    inexact = (a % divisor != 0) & ((a < 0) != (divisor < 0))
    return np.where(b == 0, 0, a // divisor + inexact).astype(a.dtype)


def _pow(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind not in "iu":
        return np.power(a, b)
    negative = (b < 0) & (np.abs(a) != 1)
    return np.where(negative, 0, np.power(a, np.abs(b))).astype(a.dtype)


def _sizes(static: list[int], sizes: Sequence[int]) -> list[int]:
    rest = iter(sizes)
    return [next(rest) if s == -(2**63) else s for s in static]


def _windows(x: np.ndarray, kernel, strides, dilations) -> np.ndarray:
    """Return [n, c, outputs.., kernel..] of a padded image."""
    count = len(kernel)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, tuple(range(2, 2 + count)))
    index = [slice(None)] * 2 + [slice(None, None, s) for s in strides]
    return view[tuple(index + [slice(None, None, d) for d in dilations])]


def _conv(x, w, strides, pads_low, pads_high, dilations, groups=1):
    pads = [(0, 0), (0, 0), *zip(pads_low, pads_high, strict=True)]
    windows = _windows(np.pad(x, pads), w.shape[2:], strides, dilations)
    count = len(strides)
    features, channels = w.shape[0] // groups, w.shape[1]
    axes = [1, *range(2 + count, 2 + 2 * count)]
    parts = [
        np.tensordot(
            windows[:, g * channels : (g + 1) * channels],
            w[g * features : (g + 1) * features],
            (axes, list(range(1, 2 + count))),
        )
        for g in range(groups)
    ]
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, 1)


def _conv_transpose(x, w, strides, pads_low, pads_high, dilations, output_padding, groups=1):
    spatial = x.shape[2:]
    full = [
        (d - 1) * s + (k - 1) * t + 1 + o
        for d, s, k, t, o in zip(
            spatial, strides, w.shape[2:], dilations, output_padding, strict=True
        )
    ]
    features, channels = w.shape[1], w.shape[0] // groups
    result = np.zeros((x.shape[0], features * groups, *full), x.dtype)
    for g in range(groups):
        part = x[:, g * channels : (g + 1) * channels]
        for tap in np.ndindex(*w.shape[2:]):
            weight = w[(slice(g * channels, (g + 1) * channels), slice(None), *tap)]
            index = tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilations, spatial, strides, strict=True)
            )
            value = np.moveaxis(np.tensordot(part, weight, ([1], [0])), -1, 1)
            result[(slice(None), slice(g * features, (g + 1) * features), *index)] += value
    crop = [slice(lo, n - hi) for lo, n, hi in zip(pads_low, full, pads_high, strict=True)]
    return result[(slice(None), slice(None), *crop)]


def _pool(kind):
    def pool(
        x, kernel, strides, pads_low, pads_high, dilations, ceil_mode, count_include_pad=False
    ):
        pads, extra = [(0, 0), (0, 0)], [(0, 0), (0, 0)]
        for n, k, s, lo, hi, d in zip(
            x.shape[2:], kernel, strides, pads_low, pads_high, dilations, strict=True
        ):
            room = n + lo + hi - (k - 1) * d - 1
            count = (-(-room // s) if ceil_mode else room // s) + 1
            if ceil_mode and (count - 1) * s >= n + lo:
                count -= 1
            pads.append((lo, hi))
            extra.append((0, max(0, (count - 1) * s - room)))
        low = np.finfo(x.dtype).min if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        fill = low if kind == "max" else 0
        padded = np.pad(np.pad(x, pads, constant_values=fill), extra, constant_values=fill)
        axes = tuple(range(x.ndim, 2 * x.ndim - 2))
        windows = _windows(padded, kernel, strides, dilations)
        if kind == "max":
            return windows.max(axis=axes)
        inside = np.pad(np.ones_like(x), pads, constant_values=int(count_include_pad))
        count = _windows(np.pad(inside, extra), kernel, strides, dilations).sum(axis=axes)
        return (windows.sum(axis=axes) / count).astype(x.dtype)

    return pool


def _reduce(function):
    def reduce(x, axes, keepdims):
        if x.size == 0 and function in (np.max, np.min):
            info = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
            inf = np.inf if x.dtype.kind == "f" else None
            start = (-inf if inf else info.min) if function is np.max else (inf or info.max)
            return function(x, axis=tuple(axes), keepdims=keepdims, initial=start)
        return np.asarray(function(x, axis=tuple(axes), keepdims=keepdims)).astype(x.dtype)

    return reduce


def _arg(function):
    def arg(x, axis, keepdims, select_last):
        if select_last:
            result = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis)
        else:
            result = function(x, axis=axis)
        return np.expand_dims(result, axis) if keepdims else result

    return arg


def _softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _normalize(x, axes, epsilon):
    wide = x.astype(np.float64)
    mean, var = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    return (wide - mean) / np.sqrt(var + epsilon)


def _channel(v, x):
    return v.reshape([-1, *[1] * (x.ndim - 2)])


def _lrn(x, alpha, beta, bias, window):
    low = (window - 1) // 2
    pads = [(0, 0)] * x.ndim
    pads[1] = (low, window - 1 - low)
    square = np.pad(x * x, pads)
    total = sum(square[:, k : k + x.shape[1]] for k in range(window))
    return x / (bias + alpha / window * total) ** beta


def _slice(x, *rest, static_offsets, static_sizes, steps, operandSegmentSizes):  # noqa: N803
    split = int(operandSegmentSizes.split(",")[1])
    offsets = _sizes(static_offsets, rest[:split])
    sizes = _sizes(static_sizes, rest[split:])
    for axis, (o, n, s) in enumerate(zip(offsets, sizes, steps, strict=True)):
        assert n >= 0
        assert n == 0 or (0 <= o < x.shape[axis] and 0 <= o + (n - 1) * s < x.shape[axis])
        x = np.take(x, o + s * np.arange(n), axis)
    return x


def _pad(x, value, low, high, mode):
    crop = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, x.shape, strict=True)
    )
    pads = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
    options = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x[crop], pads, mode=mode, **options)


def _clamped(indices, extent):
    return np.clip(np.where(indices < 0, indices + extent, indices), 0, extent - 1)


def _gather_elements(x, indices, axis):
    index = list(np.indices(indices.shape, sparse=True))
    index[axis] = _clamped(indices, x.shape[axis])
    return x[tuple(index)]


def _gather_nd(x, indices, batch_dims):
    depth = indices.shape[-1]
    index = [_clamped(indices[..., i], x.shape[batch_dims + i]) for i in range(depth)]
    shape = indices.shape[:-1]
    lead = [
        np.arange(x.shape[b]).reshape([-1 if i == b else 1 for i in range(len(shape))])
        for b in range(batch_dims)
    ]
    return x[tuple(lead + index)]


def _cumsum(x, axis, exclusive, reverse):
    x = np.flip(x, axis) if reverse else x
    total = np.cumsum(x, axis, dtype=x.dtype)
    total = total - x if exclusive else total
    return np.flip(total, axis) if reverse else total


def _iota(*sizes, static_sizes, axis, element_type):
    shape = _sizes(static_sizes, sizes)
    line = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.broadcast_to(line, shape).astype(DTYPES[element_type])


def _scatter(x, index, updates, reduction):
    result = x.copy()
    if reduction == "none":
        result[index] = updates
    else:
        functions = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
        functions[reduction].at(result, index, updates)
    return result


def _scatter_elements(x, indices, updates, axis, reduction):
    index = list(np.indices(indices.shape, sparse=True))
    index[axis] = _clamped(indices, x.shape[axis])
    return _scatter(x, tuple(index), updates, reduction)


def _scatter_nd(x, indices, updates, reduction):
    index = [_clamped(indices[..., i], x.shape[i]) for i in range(indices.shape[-1])]
    return _scatter(x, tuple(index), updates, reduction)


def _lstm(x, w, r, bias, h, c, direction):
    ys = []
    hidden = h.shape[1]
    for t in range(len(x))[:: 1 if direction == "forward" else -1]:
        gates = x[t] @ w.T + h @ r.T + bias[: 4 * hidden] + bias[4 * hidden :]
        i, o, f, g = np.split(gates, 4, axis=1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        ys.append(h)
    ys = ys if direction == "forward" else ys[::-1]
    return np.stack(ys), h, c


def _gru(x, w, r, bias, h, direction, linear_before_reset):
    ys = []
    hidden = h.shape[1]
    wz, wr, wh = np.split(w, 3)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh, cz, cr, ch = np.split(bias, 6)
    assert len(bz) == hidden
    for t in range(len(x))[:: 1 if direction == "forward" else -1]:
        z = _sigmoid(x[t] @ wz.T + h @ rz.T + bz + cz)
        s = _sigmoid(x[t] @ wr.T + h @ rr.T + br + cr)
        inner = s * (h @ rh.T + ch) if linear_before_reset else (s * h) @ rh.T + ch
        h = (1 - z) * np.tanh(x[t] @ wh.T + inner + bh) + z * h
        ys.append(h)
    ys = ys if direction == "forward" else ys[::-1]
    return np.stack(ys), h


OPERATIONS: dict[str, Callable] = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
    **{name: getattr(np, name) for name in ANGULAR},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ANGULAR},
    "erf": lambda x: _erf(x).astype(x.dtype),
    "sigmoid": _sigmoid,
    "relu": lambda x: np.maximum(x, 0),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "not": np.invert,
    "is_nan": np.isnan,
    "softplus": lambda x: np.logaddexp(x, 0).astype(x.dtype),
    "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "leaky_relu": lambda x, alpha: np.where(x < 0, alpha * x, x).astype(x.dtype),
    "elu": lambda x, alpha: np.where(x < 0, alpha * np.expm1(x), x).astype(x.dtype),
    "hard_sigmoid": lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1).astype(x.dtype),
    "gelu": _gelu,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _div,
    "pow": _pow,
    "max": np.maximum,
    "min": np.minimum,
    "mod": np.mod,
    "rem": np.fmod,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "equal": np.equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "prelu": lambda x, s: np.where(x < 0, s * x, x),
    "select": np.where,
    "cast": lambda x, to: x.astype(DTYPES[to]),
    "matmul": np.matmul,
    "conv": _conv,
    "conv_transpose": _conv_transpose,
    "max_pool": _pool("max"),
    "avg_pool": _pool("avg"),
    "reduce_sum": _reduce(np.sum),
    "reduce_mean": _reduce(np.mean),
    "reduce_prod": _reduce(np.prod),
    "reduce_max": _reduce(np.max),
    "reduce_min": _reduce(np.min),
    "arg_max": _arg(np.argmax),
    "arg_min": _arg(np.argmin),
    "cumsum": _cumsum,
    "softmax": _softmax,
    "log_softmax": lambda x, axis: np.log(_softmax(x.astype(np.float64), axis)).astype(x.dtype),
    "layer_norm": lambda x, s, b, axis, epsilon: (
        _normalize(x, tuple(range(axis, x.ndim)), epsilon) * s + b
    ).astype(x.dtype),
    "batch_norm": lambda x, s, b, m, v, epsilon: (
        (x - _channel(m, x)) / np.sqrt(_channel(v, x) + epsilon) * _channel(s, x) + _channel(b, x)
    ).astype(x.dtype),
    "instance_norm": lambda x, s, b, epsilon: (
        _normalize(x, tuple(range(2, x.ndim)), epsilon) * _channel(s, x) + _channel(b, x)
    ).astype(x.dtype),
    "lrn": _lrn,
    "transpose": lambda x, permutation: np.transpose(x, permutation),
    "reshape": lambda x, *sizes, static_sizes: x.reshape(_sizes(static_sizes, sizes)),
    "expand": lambda x, *sizes, static_sizes: np.broadcast_to(x, _sizes(static_sizes, sizes)),
    "slice": _slice,
    "concat": lambda *xs, axis: np.concatenate(xs, axis),
    "pad": _pad,
    "tile": lambda x, repeats: np.tile(x, repeats),
    "gather": lambda x, i, axis: np.take(x, _clamped(i, x.shape[axis]), axis),
    "gather_elements": _gather_elements,
    "gather_nd": _gather_nd,
    "resize": lambda x, *sizes, static_sizes, **options: resize(
        x, _sizes(static_sizes, sizes), **options
    ),
    "scatter_elements": _scatter_elements,
    "scatter_nd": _scatter_nd,
    "fill": lambda v, *sizes, static_sizes: np.full(_sizes(static_sizes, sizes), v, v.dtype),
    "iota": _iota,
    "lstm": _lstm,
    "gru": _gru,
}
