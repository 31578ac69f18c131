"""Networks over sequences: BERT and an LSTM encoder and decoder."""

import numpy as np
import onnx

from espalier.models.net import Dim, Net


class _Modern:
    """BERT's building blocks as today's exporters write them."""

    def __init__(self, net: Net, hidden: int, heads: int) -> None:
        self.net, self.hidden, self.heads = net, hidden, heads

    def layer_norm(self, x: str) -> str:
        net = self.net
        scale, bias = net.uniform([self.hidden], 0.8, 1.2), net.weight([self.hidden], 0.05)
        return net.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)

    def gelu(self, x: str) -> str:
        return self.net.node("Gelu", x)

    def split_heads(self, x: str) -> str:
        net = self.net
        shape = net.constant([0, 0, self.heads, self.hidden // self.heads])
        return net.node("Transpose", net.node("Reshape", x, shape), perm=[0, 2, 1, 3])

    def join_heads(self, x: str) -> str:
        net = self.net
        x = net.node("Transpose", x, perm=[0, 2, 1, 3])
        return net.node("Reshape", x, net.constant([0, 0, self.hidden]))


class _Primitive(_Modern):
    """The same blocks out of the smallest operators, with shapes computed by
    the graph, as older exporters write them.
    """

    def layer_norm(self, x: str) -> str:
        net = self.net
        centred = net.node("Sub", x, net.node("ReduceMean", x, net.constant([-1])))
        square = net.node("Pow", centred, net.constant(np.float32(2.0)))
        variance = net.node("ReduceMean", square, net.constant([-1]))
        deviation = net.node("Sqrt", net.node("Add", variance, net.constant(np.float32(1e-12))))
        scale, bias = net.uniform([self.hidden], 0.8, 1.2), net.weight([self.hidden], 0.05)
        return net.node("Add", net.node("Mul", net.node("Div", centred, deviation), scale), bias)

    def gelu(self, x: str) -> str:
        net = self.net
        inner = net.node("Div", x, net.constant(np.float32(2.0**0.5)))
        cumulative = net.node("Add", net.node("Erf", inner), net.constant(np.float32(1.0)))
        product = net.node("Mul", x, cumulative)
        return net.node("Mul", product, net.constant(np.float32(0.5)))

    def _reshape(self, x: str, tail: list[int]) -> str:
        net = self.net
        shape = net.node("Shape", x)
        lead = [
            net.node("Unsqueeze", net.node("Gather", shape, net.constant(i)), net.constant([0]))
            for i in (0, 1)
        ]
        target = net.node("Concat", *lead, net.constant(tail), axis=0)
        return net.node("Reshape", x, target)

    def split_heads(self, x: str) -> str:
        x = self._reshape(x, [self.heads, self.hidden // self.heads])
        return self.net.node("Transpose", x, perm=[0, 2, 1, 3])

    def join_heads(self, x: str) -> str:
        x = self.net.node("Transpose", x, perm=[0, 2, 1, 3])
        return self._reshape(x, [self.hidden])


def bert(
    batch: Dim = 1,
    sequence: Dim = 128,
    layers: int = 12,
    hidden: int = 768,
    heads: int = 12,
    vocabulary: int = 30522,
    positions: int = 512,
    primitive: bool = False,
    seed: int = 0,
) -> onnx.ModelProto:
    """Build BERT (the default sizes are BERT-base) with a pooled output.

    Inputs are `ids` and `mask` [batch, sequence] int64; outputs are `hidden`
    [batch, sequence, hidden] and `pooled` [batch, hidden].

    Arguments:
        primitive: use only small operators and shapes that the graph computes.
    """
    net = Net("bert", seed)
    block = (_Primitive if primitive else _Modern)(net, hidden, heads)
    ids = net.input("ids", [batch, sequence], "int64")
    mask = net.input("mask", [batch, sequence], "int64")

    length = net.node("Squeeze", net.node("Shape", ids, start=1, end=2), net.constant([0]))
    index = net.node("Range", net.constant(0), length, net.constant(1))
    x = net.node("Gather", net.weight([vocabulary, hidden], 0.5), ids)
    x = net.node("Add", x, net.node("Gather", net.weight([positions, hidden], 0.5), index))
    x = block.layer_norm(net.node("Add", x, net.weight([hidden], 0.5)))

    keep = net.node("Cast", net.node("Unsqueeze", mask, net.constant([1, 2])), to=1)
    drop = net.node("Sub", net.constant(np.float32(1.0)), keep)
    bias = net.node("Mul", drop, net.constant(np.float32(-10000.0)))
    scale = net.constant(np.float32((hidden // heads) ** -0.5))
    for _ in range(layers):
        q, k, v = (block.split_heads(net.linear(x, hidden, hidden)) for _ in range(3))
        k = net.node("Transpose", k, perm=[0, 1, 3, 2])
        scores = net.node("Add", net.node("Mul", net.node("MatMul", q, k), scale), bias)
        context = net.node("MatMul", net.node("Softmax", scores, axis=-1), v)
        y = net.linear(block.join_heads(context), hidden, hidden)
        x = block.layer_norm(net.node("Add", x, y))
        y = block.gelu(net.linear(x, hidden, 4 * hidden))
        x = block.layer_norm(net.node("Add", x, net.linear(y, 4 * hidden, hidden)))
    first = net.node("Gather", x, net.constant(0), axis=1)
    pooled = net.node("Tanh", net.dense(first, hidden, hidden))
    return net.finish((x, "hidden", [batch, sequence, hidden]), (pooled, "pooled", [batch, hidden]))


def _lstm(net: Net, x: str, inputs: int, hidden: int, state: tuple[str, ...]) -> list[str]:
    """Add one LSTM layer over [time, batch, inputs]; returns y, h and c."""
    w, r = (
        net.weight([1, 4 * hidden, inputs], inputs**-0.5),
        net.weight([1, 4 * hidden, hidden], hidden**-0.5),
    )
    bias = net.weight([1, 8 * hidden], 0.05)
    y, h, c = net.nodes("LSTM", 3, x, w, r, bias, "", *state, hidden_size=hidden)
    return [net.node("Squeeze", y, net.constant([1])), h, c]


def lstm_seq2seq(
    batch: Dim = 1,
    sequence: Dim = 20,
    hidden: int = 512,
    embedding: int = 256,
    layers: int = 2,
    vocabulary: int = 8000,
    seed: int = 0,
) -> onnx.ModelProto:
    """Build an encoder and a decoder of LSTM layers, with dot-product attention.

    Inputs are `source` and `target` [batch, sequence] int64; the output is
    the score of each word, [batch, sequence, vocabulary].
    """
    net = Net("lstm_seq2seq", seed)
    names = ("source", "target")
    rows = [net.input(name, [batch, sequence], "int64") for name in names]
    states: list[tuple[str, ...]] = [()] * layers
    tops = []
    for row in rows:
        x = net.node("Gather", net.weight([vocabulary, embedding], 0.5), row)
        x, width = net.node("Transpose", x, perm=[1, 0, 2]), embedding
        for layer in range(layers):
            x, h, c = _lstm(net, x, width, hidden, states[layer])
            states[layer], width = (h, c), hidden
        tops.append(net.node("Transpose", x, perm=[1, 0, 2]))
    memory, query = tops
    scores = net.node("MatMul", query, net.node("Transpose", memory, perm=[0, 2, 1]))
    context = net.node("MatMul", net.node("Softmax", scores, axis=-1), memory)
    joined = net.node("Concat", query, context, axis=-1)
    attended = net.node("Tanh", net.linear(joined, 2 * hidden, hidden))
    scores = net.linear(attended, hidden, vocabulary)
    return net.finish((scores, "output", [batch, sequence, vocabulary]))
