"""Half precision: chains of operators, each of which rounds, and all numbers of 16 bits."""

import math

import numpy as np
import pytest
from onnx import helper

from espalier.compiler import Options, compile, interpret
from support import make_model, one_op

F16, F32 = np.float16, np.float32
ALL = np.arange(1 << 16, dtype=np.uint16).view(F16)
TERNARY = ("Clip",)
UNARY = ("Abs", "Neg", "Relu", "Sqrt", "Reciprocal")
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min")
DIVISORS = [1.4140625, 26.0, 3.0, -0.1, 6.1035156e-05, 5.9604645e-08, 65504.0, 49152.0, 8.0, 0.0]


def run(model, feeds):
    return compile(model, options=Options(cache=None)).run(feeds)


def check_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Compare all bits but those of NaN, and the sign of a zero."""
    assert actual.dtype == expected.dtype == F16
    both = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    assert both.all(), (actual[~both][:4], expected[~both][:4])


def check_nearest(actual: np.ndarray, exact: np.ndarray, limit: float = 0.51) -> None:
    """Compare with what is not rounded, in units in the last place of f16."""
    with np.errstate(over="ignore"):
        rounded = exact.astype(F16)
    odd = ~np.isfinite(rounded)
    check_same(actual[odd], rounded[odd])
    exact, actual = exact[~odd], actual[~odd]
    _, exponents = np.frexp(np.maximum(np.abs(exact), 2.0**-14))
    errors = np.abs(actual.astype(np.float64) - exact) / np.ldexp(1.0, exponents - 11)
    assert errors.max() <= limit
    assert (np.signbit(actual) == np.signbit(exact)).all()


def chain(seed: int) -> tuple[list, dict[str, np.ndarray]]:
    """Return the nodes of a chain of operators from `x` to `y`, and its constants."""
    rng = np.random.default_rng(seed)
    nodes, constants, before = [], {}, ["x"]
    count = int(rng.integers(2, 9))
    for step in range(count):
        op = str(rng.choice(UNARY + BINARY + TERNARY))
        operands = [str(rng.choice(before[-2:]))]
        for index in range(2 if op in TERNARY else op in BINARY):
            if op in BINARY and rng.random() < 0.3:
                operands.append(str(rng.choice(before)))
                continue
            name = f"c{step}_{index}"
            constants[name] = F16(rng.normal() * 2.0 ** rng.integers(-12, 12))
            operands.append(name)
        if op in TERNARY and constants[operands[1]] > constants[operands[2]]:
            operands[1:] = operands[:0:-1]
        result = "y" if step == count - 1 else f"v{step}"
        nodes.append(helper.make_node(op, operands, [result]))
        before.append(result)
    return nodes, constants


@pytest.mark.parametrize("seed", range(24))
def test_chains_round_after_each_operator(seed):
    """Kernels that fuse operators compute what the interpreter does, bit for bit."""
    nodes, constants = chain(seed)
    model = make_model(nodes, {"x": (F16, ALL.shape)}, ["y"], constants)
    check_same(run(model, {"x": ALL})["y"], interpret(model, {"x": ALL})["y"])


@pytest.mark.parametrize("divisor", DIVISORS)
def test_quotients_by_numbers(divisor):
    """Products with a reciprocal are quotients, or quotients stay."""
    model = one_op("Div", {"x": (F16, ALL.shape)}, {"c": F16(divisor)})
    with np.errstate(all="ignore"):
        expected = (ALL.astype(F32) / F32(F16(divisor))).astype(F16)
    actual = run(model, {"x": ALL})["y"]
    check_same(actual, expected)
    assert (np.signbit(actual) == np.signbit(expected))[~np.isnan(expected)].all()


def sigmoid(x: float) -> float:
    """Return the logistic function, without an overflow."""
    return 0.0 if x < -80 else 1 / (1 + math.exp(-x))


FUNCTIONS = {
    "Erf": math.erf,
    "Exp": lambda x: math.exp(min(x, 80.0)),
    "Sigmoid": sigmoid,
    "Swish": lambda x: x * sigmoid(x),
}
OPSETS = {"Swish": 24}


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_of_all_numbers(op):
    """What is rounded to 16 bits is almost always the nearest number."""
    exact = np.array([FUNCTIONS[op](float(x)) for x in ALL])
    model = one_op(op, {"x": (F16, ALL.shape)}, opset=OPSETS.get(op, 20))
    check_nearest(run(model, {"x": ALL})["y"], exact)


def test_gelu_of_an_exporter():
    """Each of five operators rounds: 1 + erf(x) loses its digits near -1."""
    nodes = [
        helper.make_node("Div", ["x", "root"], ["a"]),
        helper.make_node("Erf", ["a"], ["b"]),
        helper.make_node("Add", ["b", "one"], ["c"]),
        helper.make_node("Mul", ["x", "c"], ["d"]),
        helper.make_node("Mul", ["d", "half"], ["y"]),
    ]
    constants = {"root": F16(math.sqrt(2)), "one": F16(1), "half": F16(0.5)}
    model = make_model(nodes, {"x": (F16, ALL.shape)}, ["y"], constants)
    x = ALL[np.isfinite(ALL)]
    erf = run(one_op("Erf", {"x": (F16, x.shape)}), {"x": (x / constants["root"]).astype(F16)})
    with np.errstate(over="ignore"):
        expected = x * (erf["y"] + F16(1)) * F16(0.5)
    check_same(run(model, {"x": ALL})["y"][np.isfinite(ALL)], expected)


BIASED = {
    "Conv": ((1, 3, 4, 5), (2, 3, 1, 1)),
    "ConvTranspose": ((1, 3, 4, 5), (3, 2, 1, 1)),
    "Gemm": ((4, 3), (3, 2)),
}


@pytest.mark.parametrize("op", BIASED)
def test_sums_and_biases_round_once(op):
    """A bias is added to the sum before that is rounded."""
    rng = np.random.default_rng(0)
    (x, w), b = ((rng.normal(size=s) * 10).astype(F16) for s in BIASED[op]), F16([2048, -4096])
    model = one_op(op, {"x": (F16, x.shape)}, {"w": w, "b": b})
    wide = one_op(op, {"x": (F32, x.shape)}, {"w": w.astype(F32), "b": b.astype(F32)})
    expected = interpret(wide, {"x": x.astype(F32)})["y"].astype(F16)
    check_same(run(model, {"x": x})["y"], expected)
    check_same(interpret(model, {"x": x})["y"], expected)
