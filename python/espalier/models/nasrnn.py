"""NasRNN: the recurrent cell that neural architecture search found, unrolled."""

import onnx

from espalier.models.net import Dim, Net

# The functions on the eight sums of projections, and how they are combined.
GATES = ["Relu", "Sigmoid", "Tanh", "Sigmoid", "Sigmoid", "Tanh", "Sigmoid", "Relu"]
PAIRS = [("Add", 0, 3), ("Add", 1, 2), ("Mul", 4, 5), ("Mul", 6, 7)]


def _cell(net: Net, x: str, state: str, weights: list[tuple[str, str]]) -> str:
    """Return the next state."""
    gates = []
    for function, (of_x, of_state) in zip(GATES, weights, strict=True):
        products = net.node("MatMul", x, of_x), net.node("MatMul", state, of_state)
        gates.append(net.node(function, net.node("Add", *products)))
    first, second, third, fourth = (net.node(op, gates[a], gates[b]) for op, a, b in PAIRS)
    left = net.node("Add", net.node("Sigmoid", second), net.node("Tanh", third))
    right = net.node("Mul", net.node("Tanh", first), net.node("Tanh", fourth))
    return net.node("Tanh", net.node("Mul", net.node("Tanh", left), net.node("Tanh", right)))


def nasrnn(
    batch: Dim = 1, steps: int = 10, hidden: int = 512, shared: bool = True, seed: int = 0
) -> onnx.ModelProto:
    """Build the cell for `steps` inputs `x0`, `x1`, ... [batch, hidden].

    The output is the last state; the first one is a weight.

    Arguments:
        shared: whether the steps have the same weights, as in a recurrent network.
            TASO and Tensat optimize the cell with weights of its own in each step.
    """
    net = Net("nasrnn", seed)

    def draw() -> list[tuple[str, str]]:
        scale = hidden**-0.5
        pair = [hidden, hidden]
        return [(net.weight(pair, scale), net.weight(pair, scale)) for _ in GATES]

    state = net.weight([1, hidden], 0.5)
    weights = draw()
    for step in range(steps):
        if step and not shared:
            weights = draw()
        state = _cell(net, net.input(f"x{step}", [batch, hidden]), state, weights)
    return net.finish((state, "state", [batch, hidden]))
