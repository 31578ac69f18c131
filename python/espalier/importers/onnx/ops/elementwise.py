"""Operators that work element by element."""

import numpy as np

from espalier.dtypes import is_float
from espalier.importers.onnx.emitter import Emitter
from espalier.importers.onnx.registry import Emit, Node, Unsupported, op
from espalier.importers.onnx.tensors import element_type
from espalier.importers.onnx.values import Tensor, Value

# ONNX operator, graph operation, attributes that both have.
UNARY = [
    ("Neg", "neg", ()),
    ("Abs", "abs", ()),
    ("Sign", "sign", ()),
    ("Exp", "exp", ()),
    ("Log", "log", ()),
    ("Sqrt", "sqrt", ()),
    ("Reciprocal", "reciprocal", ()),
    *((name, name.lower(), ()) for name in ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan")),
    *((name, name.lower(), ()) for name in ("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh")),
    ("Erf", "erf", ()),
    ("Sigmoid", "sigmoid", ()),
    ("Relu", "relu", ()),
    ("Floor", "floor", ()),
    ("Ceil", "ceil", ()),
    ("Round", "round", ()),
    ("Not", "not", ()),
    ("IsNaN", "is_nan", ()),
    ("Softplus", "softplus", ()),
    ("HardSwish", "hard_swish", ()),
    ("BitwiseNot", "not", ()),
    ("LeakyRelu", "leaky_relu", ("alpha",)),
    ("Elu", "elu", ("alpha",)),
    ("HardSigmoid", "hard_sigmoid", ("alpha", "beta")),
]
# ONNX operator, graph operation.
BINARY = [
    ("Add", "add"),
    ("Sub", "sub"),
    ("Mul", "mul"),
    ("Div", "div"),
    ("And", "and"),
    ("Or", "or"),
    ("Xor", "xor"),
    ("BitwiseAnd", "and"),
    ("BitwiseOr", "or"),
    ("BitwiseXor", "xor"),
    ("Equal", "equal"),
    ("Less", "less"),
    ("LessOrEqual", "less_equal"),
    ("Greater", "greater"),
    ("GreaterOrEqual", "greater_equal"),
]
VARIADIC = [("Sum", "add", True), ("Max", "max", False), ("Min", "min", False)]


def _unary(name: str, attributes: tuple[str, ...]) -> Emit:
    def emit(e: Emitter, node: Node) -> Tensor:
        x = node.input(0)
        return e.ops(name, [x], {a: float(node[a]) for a in attributes}, [x.dims])[0]

    return emit


def _binary(name: str) -> Emit:
    return lambda e, node: e.op(name, node.input(0), node.input(1))


def _variadic(name: str) -> Emit:
    def emit(e: Emitter, node: Node) -> Tensor:
        result = e.tensor(node.input(0))
        for value in node.inputs[1:]:
            if value is not None:
                result = e.op(name, result, value)
        return result

    return emit


for _onnx, _graph, _attributes in UNARY:
    op(_onnx)(_unary(_graph, _attributes))
for _onnx, _graph in BINARY:
    op(_onnx)(_binary(_graph))
for _onnx, _graph, _rounds in VARIADIC:
    op(_onnx, rounds_once=_rounds)(_variadic(_graph))


@op("Mean", rounds_once=True)
def _mean(e: Emitter, node: Node) -> Tensor:
    count = sum(value is not None for value in node.inputs)
    total = _variadic("add")(e, node)
    assert isinstance(total, Tensor)
    return e.op("div", total, e.scalar(count, total.dtype))


@op("Mod")
def _mod(e: Emitter, node: Node) -> Tensor:
    return e.op("rem" if node["fmod"] else "mod", node.input(0), node.input(1))


@op("Pow", rounds_once=True)
def _pow(e: Emitter, node: Node) -> Tensor:
    base, exponent = node.input(0), node.input(1)
    dtype = base.dtype
    if exponent.dtype == dtype or is_float(dtype):
        return e.op("pow", base, e.cast(exponent, dtype))
    wide = exponent.dtype if is_float(exponent.dtype) else np.dtype(np.int64)
    return e.cast(e.op("pow", e.cast(base, wide), e.cast(exponent, wide)), dtype)


@op("Gelu")
def _gelu(e: Emitter, node: Node) -> Tensor:
    return e.op("gelu", node.input(0), approximate=f"#graph.gelu<{node['approximate']}>")


@op("Swish", rounds_once=True)
def _swish(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    scaled = e.op("mul", x, e.scalar(node["alpha"], x.dtype))
    return e.op("mul", x, e.op("sigmoid", scaled))


@op("Mish", rounds_once=True)
def _mish(e: Emitter, node: Node) -> Tensor:
    """Multiply with tanh(log(1 + p)) = n / (n + 2) for p = exp(x), n = p (p + 2).

    From 20 on, that is 1, also in f64.
    """
    x = node.input(0)
    two = e.scalar(2, x.dtype)
    power = e.op("exp", e.op("min", x, e.scalar(20, x.dtype)))
    part = e.op("mul", power, e.op("add", power, two))
    return e.op("mul", x, e.op("div", part, e.op("add", part, two)))


@op("Celu", rounds_once=True)
def _celu(e: Emitter, node: Node) -> Tensor:
    """Keep the rank, which ONNX's function does not for scalars."""
    x = node.input(0)
    alpha, zero = e.scalar(node["alpha"], x.dtype), e.scalar(0, x.dtype)
    scaled = e.op("elu", e.op("div", x, alpha), alpha=1.0)
    return e.op("select", e.op("greater", x, zero), x, e.op("mul", scaled, alpha))


@op("BitShift")
def _bit_shift(e: Emitter, node: Node) -> Tensor:
    """Multiply with a power of 2, or divide by it.

    Powers out of range are 0, and so is what is divided by 0. Negative numbers are
    divided as their complements, so that the result is rounded down.
    """
    x, y = node.input(0), node.input(1)
    if node["direction"] not in ("LEFT", "RIGHT"):
        raise node.error(f"expects the direction LEFT or RIGHT, but got '{node['direction']}'")
    power = e.op("pow", e.scalar(2, x.dtype), y)
    if node["direction"] == "LEFT":
        return e.op("mul", x, power)
    if x.dtype.kind == "u":
        return e.op("div", x, power)
    zero, ones = e.scalar(0, x.dtype), e.scalar(-1, x.dtype)
    sign = e.op("select", e.op("less", x, zero), ones, zero)
    return e.op("xor", e.op("div", e.op("xor", x, sign), power), sign)


@op("PRelu")
def _prelu(e: Emitter, node: Node) -> Tensor:
    """Before version 7, a slope of one dimension has one element per channel."""
    x, slope = node.input(0), node.input(1)
    if node.version < 7 and slope.rank == 1 and x.rank > 1:
        slope = e.reshape(slope, [*slope.dims, *[1] * (x.rank - 2)])
    return e.op("prelu", x, slope)


@op("Shrink", rounds_once=True)
def _shrink(e: Emitter, node: Node) -> Tensor:
    """Move elements towards zero; integers by fractions, too, cut off afterwards."""
    given = node.input(0)
    x = given if is_float(given.dtype) else e.cast(given, np.dtype(np.float64))
    lambd, bias, zero = (e.scalar(v, x.dtype) for v in (node["lambd"], node["bias"], 0))
    low = e.op("select", e.op("less", x, e.op("neg", lambd)), e.op("add", x, bias), zero)
    result = e.op("select", e.op("greater", x, lambd), e.op("sub", x, bias), low)
    return e.cast(result, given.dtype)


@op("Clip")
def _clip(e: Emitter, node: Node) -> Tensor:
    x = e.tensor(node.input(0))
    for index, name in ((1, "max"), (2, "min")):
        bound = node.inputs[index]
        if bound is not None:
            if bound.rank != 0:
                bound = e.reshape(bound, [])
            x = e.op(name, x, bound)
    return x


@op("Where")
def _where(e: Emitter, node: Node) -> Tensor:
    return e.op("select", node.input(0), node.input(1), node.input(2))


@op("IsInf")
def _is_inf(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    if node["detect_positive"] and node["detect_negative"]:
        return e.op("equal", e.op("abs", x), e.scalar(np.inf, x.dtype))
    if node["detect_positive"] or node["detect_negative"]:
        return e.op("equal", x, e.scalar(np.inf if node["detect_positive"] else -np.inf, x.dtype))
    return e.fill(e.scalar(False, np.dtype(np.bool_)), x.dims)


@op("Cast")
def _cast(e: Emitter, node: Node) -> Tensor:
    return e.cast(node.input(0), element_type(node, node["to"]))


@op("CastLike")
def _cast_like(e: Emitter, node: Node) -> Tensor:
    return e.cast(node.input(0), node.input(1).dtype)


@op("Identity")
def _identity(e: Emitter, node: Node) -> Value:
    return node.input(0)


@op("Dropout")
def _dropout(e: Emitter, node: Node) -> list[Value | None]:
    training = node.numbers(2, "training_mode")
    ratio = node.numbers(1, "ratio")
    if (
        training is not None
        and node.one(training, "training_mode")
        and (ratio is None or node.one(ratio, "ratio"))
    ):
        raise Unsupported("is random with training_mode = 1")
    x = node.input(0)
    if len(node.used) < 2 or not node.used[1]:
        return [x, None]
    return [x, e.fill(e.scalar(True, np.dtype(np.bool_)), x.dims)]
