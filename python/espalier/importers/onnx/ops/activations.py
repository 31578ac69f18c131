"""The activations of recurrent layers, with their parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from espalier.importers.onnx.emitter import Emitter
from espalier.importers.onnx.registry import Node
from espalier.importers.onnx.values import Tensor


def _thresholded(e: Emitter, x: Tensor, alpha: float) -> Tensor:
    above = e.op("greater", x, e.scalar(alpha, x.dtype))
    return e.op("select", above, x, e.scalar(0, x.dtype))


def _softsign(e: Emitter, x: Tensor) -> Tensor:
    return e.op("div", x, e.op("add", e.scalar(1, x.dtype), e.op("abs", x)))


def _scale(e: Emitter, x: Tensor, factor: float) -> Tensor:
    return e.op("mul", e.scalar(factor, x.dtype), x)


Parameters = dict[str, float | None]
"""The names and defaults; None where ONNX has no default."""

_ACTIVATIONS: dict[str, tuple[Callable[..., Tensor], Parameters]] = {
    "relu": (lambda e, x: e.op("relu", x), {}),
    "tanh": (lambda e, x: e.op("tanh", x), {}),
    "sigmoid": (lambda e, x: e.op("sigmoid", x), {}),
    "affine": (
        lambda e, x, alpha, beta: e.op("add", _scale(e, x, alpha), e.scalar(beta, x.dtype)),
        {"alpha": 1.0, "beta": 0.0},
    ),
    "leakyrelu": (lambda e, x, alpha: e.op("leaky_relu", x, alpha=alpha), {"alpha": 0.01}),
    "thresholdedrelu": (_thresholded, {"alpha": 1.0}),
    "scaledtanh": (
        lambda e, x, alpha, beta: _scale(e, e.op("tanh", _scale(e, x, beta)), alpha),
        {"alpha": None, "beta": None},
    ),
    "hardsigmoid": (
        lambda e, x, alpha, beta: e.op("hard_sigmoid", x, alpha=alpha, beta=beta),
        {"alpha": 0.2, "beta": 0.5},
    ),
    "elu": (lambda e, x, alpha: e.op("elu", x, alpha=alpha), {"alpha": 1.0}),
    "softsign": (_softsign, {}),
    "softplus": (lambda e, x: e.op("softplus", x), {}),
}


@dataclass
class Activation:
    """A function by its name in lower case, and the values of its parameters."""

    name: str
    parameters: dict[str, float]

    def __call__(self, e: Emitter, x: Tensor) -> Tensor:
        """Emit the function of `x`."""
        return _ACTIVATIONS[self.name][0](e, x, **self.parameters)


def read_activations(node: Node, default: Sequence[str], directions: int) -> list[Activation]:
    """Return the activations of all directions.

    The parameters of all are listed one after the other: those that have none are
    left out, and what the lists are too short for has its default.
    """
    names = [name.lower() for name in node["activations"] or []] or [*default] * directions
    if names == [*default] * 2:  # RNN has those of two directions as its own default.
        names = names[: len(default) * directions]
    if len(names) != len(default) * directions:
        raise node.error(
            f"expects {len(default) * directions} activations, but got {node['activations']}"
        )
    given = {name: list(node[f"activation_{name}"] or []) for name in ("alpha", "beta")}
    result = []
    for index, name in enumerate(names):
        if name not in _ACTIVATIONS:
            raise node.error(
                f"expects activations out of {sorted(_ACTIVATIONS)}, "
                f"but got '{node['activations'][index]}'"
            )
        values: dict[str, float] = {}
        for parameter, standard in _ACTIVATIONS[name][1].items():
            value = given[parameter].pop(0) if given[parameter] else standard
            if value is None:
                raise node.error(f"expects activation_{parameter} for '{name}', but got none")
            values[parameter] = float(value)
        result.append(Activation(name, values))
    for parameter, left in given.items():
        if left:
            raise node.error(
                f"expects an activation that takes each of activation_{parameter}, "
                f"but got {left} more"
            )
    return result
