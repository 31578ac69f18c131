"""Functions of one number keep, or drop, the sign of a zero as the interpreter does."""

import numpy as np
import pytest

from espalier.compiler import Options, compile, interpret

FUNCTIONS = [
    "relu",
    "tanh",
    "erf",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "sqrt",
    "abs",
    "neg",
    "ceil",
    "floor",
    "round",
    "sign",
    "sigmoid",
    "gelu",
    "hard_swish",
    "softplus",
]


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_zeros(element: str) -> None:
    kind = f"tensor<17x{element}>"
    kinds = ", ".join([kind] * len(FUNCTIONS))
    lines = [f"func.func @main(%x: {kind}) -> ({kinds}) {{"]
    lines += [f"%{name} = graph.{name} %x : ({kind}) -> {kind}" for name in FUNCTIONS]
    lines += [f"return {', '.join(f'%{name}' for name in FUNCTIONS)} : {kinds}", "}"]
    text = "\n".join(lines)
    zeros = np.array([-0.0, 0.0] * 8 + [-0.0], {"f32": np.float32, "f64": np.float64}[element])
    program = compile(text, options=Options(cache=None))
    got = program.run({program.inputs[0].name: zeros}).values()
    expected = interpret(text, {program.inputs[0].name: zeros}).values()
    for name, here, there in zip(FUNCTIONS, got, expected, strict=True):
        defined = ~np.isnan(there)
        assert (np.signbit(here) == np.signbit(there))[defined].all(), name
