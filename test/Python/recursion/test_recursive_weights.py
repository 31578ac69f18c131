"""Weights that PyTorch has saved, by its names and in its order of gates."""

import numpy as np
import pytest

from espalier.errors import EspalierError
from espalier.models import recursive as models
from espalier.models.pytorch import recurrent_weights, tree_lstm_weights
from espalier.recursion import Structures

INPUT, HIDDEN, WORDS = 5, 4, 7
SENTENCE = [3, 0, 6, 6, 1]


def make_state(gates: int) -> dict[str, np.ndarray]:
    """Return what `state_dict` of a network with such a layer returns."""
    random = np.random.default_rng(gates)
    rows = gates * HIDDEN
    shapes = {"weight_ih": (rows, INPUT), "weight_hh": (rows, HIDDEN)}
    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
    return {f"net.{name}_l0": random.standard_normal(s) for name, s in shapes.items()}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def test_lstm() -> None:
    """The equations are those of torch.nn.LSTM's manual page."""
    state = make_state(4)
    emb = np.random.default_rng(0).standard_normal((WORDS, INPUT)).astype(np.float32)
    h = c = np.zeros(HIDDEN)
    for word in SENTENCE:
        gates = state["net.weight_ih_l0"] @ emb[word] + state["net.bias_ih_l0"]
        gates = gates + state["net.weight_hh_l0"] @ h + state["net.bias_hh_l0"]
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    weights = recurrent_weights(models.lstm, state, "net.")
    got = models.lstm.reference(Structures.from_sequences([SENTENCE]), emb=emb, **weights)
    np.testing.assert_allclose(got[0][0], h, 1e-5, 1e-5)
    np.testing.assert_allclose(got[1][0], c, 1e-5, 1e-5)


def test_gru() -> None:
    """The equations are those of torch.nn.GRU's manual page."""
    state = make_state(3)
    state["net.bias_hh_l0"][2 * HIDDEN :] = 0
    emb = np.random.default_rng(1).standard_normal((WORDS, INPUT)).astype(np.float32)
    h = np.zeros(HIDDEN)
    for word in SENTENCE:
        x = np.split(state["net.weight_ih_l0"] @ emb[word] + state["net.bias_ih_l0"], 3)
        y = np.split(state["net.weight_hh_l0"] @ h + state["net.bias_hh_l0"], 3)
        r, z = sigmoid(x[0] + y[0]), sigmoid(x[1] + y[1])
        h = (1 - z) * np.tanh(x[2] + r * y[2]) + z * h
    weights = recurrent_weights(models.gru, state, "net.")
    got = models.gru.reference(Structures.from_sequences([SENTENCE]), emb=emb, **weights)
    np.testing.assert_allclose(got[0], h, 1e-5, 1e-5)


def test_tree_lstm() -> None:
    """The equations are those of Tai and others, with four linear layers."""
    random = np.random.default_rng(2)
    shapes = {"ioux": (3, INPUT), "iouh": (3, HIDDEN), "fx": (1, INPUT), "fh": (1, HIDDEN)}
    state = {}
    for name, (gates, size) in shapes.items():
        state[f"net.{name}.weight"] = random.standard_normal((gates * HIDDEN, size))
        state[f"net.{name}.bias"] = random.standard_normal(gates * HIDDEN)

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return state[f"net.{name}.weight"] @ x + state[f"net.{name}.bias"]

    def cell(
        x: np.ndarray, states: list[tuple[np.ndarray, np.ndarray]]
    ) -> tuple[np.ndarray, np.ndarray]:
        total = sum((h for h, _ in states), np.zeros(HIDDEN))
        i, o, u = np.split(linear("ioux", x) + linear("iouh", total), 3)
        c = sigmoid(i) * np.tanh(u)
        for h, memory in states:
            c = c + sigmoid(linear("fx", x) + linear("fh", h)) * memory
        return sigmoid(o) * np.tanh(c), c

    emb = random.standard_normal((WORDS, INPUT)).astype(np.float32)
    expected = cell(emb[3], [cell(emb[0], []), cell(emb[6], [])])
    trees = Structures.from_parents([([3, 0, 6], [-1, 0, 0])])
    got = models.tree_lstm.reference(trees, emb=emb, **tree_lstm_weights(state, "net."))
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one[0], other, 1e-5, 1e-5)
    with pytest.raises(EspalierError, match=r"expects the weights 'ioux\.weight', but got net"):
        tree_lstm_weights(state)
    state["net.fh.bias"] = np.zeros(3)
    with pytest.raises(EspalierError, match=r"'net\.fh': expects a layer from 4 to 4 numbers"):
        tree_lstm_weights(state, "net.")


def test_refusals() -> None:
    state = make_state(3)
    with pytest.raises(EspalierError, match="expects no bias inside of the reset gate"):
        recurrent_weights(models.gru, state, "net.")
    with pytest.raises(EspalierError, match=r"'net\.weight_ih_l0': expects 4 gates of 4, but got"):
        recurrent_weights(models.lstm, state, "net.")
    with pytest.raises(EspalierError, match="expects the weights 'weight_ih_l0', but got net"):
        recurrent_weights(models.lstm, state)
    with pytest.raises(EspalierError, match="expects the model lstm or gru, but got tree_fc"):
        recurrent_weights(models.tree_fc, state)
    bound = models.gru.bind(b=np.zeros(12, np.float32))
    with pytest.raises(EspalierError, match=r"'b': expects a weight out of \['emb', 'w', 'u', "):
        bound.bind(u=np.zeros((4, 8), np.float32), b=np.ones(12, np.float32))
