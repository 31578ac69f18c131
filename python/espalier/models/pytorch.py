"""Weights of PyTorch's layers, for the models of `espalier.models.recursive`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from espalier.errors import EspalierError
from espalier.recursion import Recursive

PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def recurrent_weights(
    model: Recursive, state: Mapping[str, object], layer: str = "", number: int = 0
) -> dict[str, np.ndarray]:
    """Return the weights of a layer of `torch.nn.LSTM` or `torch.nn.GRU`, all but `emb`.

    PyTorch itself is not needed: a state is arrays by name.

    Arguments:
        model: `lstm` or `gru`.
        state: what `state_dict` returns.
        layer: what stands before the layer's own names, such as "encoder.".
        number: of a layer with several.

    Example:
        >>> weights = recurrent_weights(models.lstm, network.state_dict(), "encoder.")
        >>> h, c = models.lstm(sentences, emb=emb, **weights)
    """
    gates = {"lstm": 4, "gru": 3}.get(model.__name__)
    if gates is None:
        raise EspalierError(f"expects the model lstm or gru, but got {model.__name__}")
    parts = [_find(state, f"{layer}{part}_l{number}") for part in PARTS]
    w, u = parts[0].T, parts[1].T
    size = len(u)
    for name, part, shape in zip(
        PARTS,
        (w, u, *parts[2:]),
        ((len(w), gates * size), (size, gates * size), *2 * [(gates * size,)]),
        strict=True,
    ):
        if part.shape != shape:
            raise EspalierError(
                f"'{layer}{name}_l{number}': expects {gates} gates of {size}, but got {part.shape}"
            )
    if gates == 4:
        return _arrays(w=w, u=u, b=parts[2] + parts[3])
    if np.any(parts[3][2 * size :]):
        raise EspalierError(
            f"'{layer}bias_hh_l{number}': expects no bias inside of the reset gate, but got one"
        )
    return _arrays(w=w, u=u[:, : 2 * size], b=parts[2] + parts[3], un=u[:, 2 * size :])


def tree_lstm_weights(
    state: Mapping[str, object],
    layer: str = "",
    names: tuple[str, str, str, str] = ("ioux", "iouh", "fx", "fh"),
) -> dict[str, np.ndarray]:
    """Return the weights of a child-sum TreeLSTM for the model `tree_lstm`, all but `emb`.

    PyTorch has no such layer of its own, but people write it with four linear layers.

    Arguments:
        state: what `state_dict` returns.
        layer: what stands before the layers' own names, such as "encoder.".
        names: of the layers that give the gates i, o, u of the input, and of the sum of
            the children's states, and the forget gate of the input, and of a child's state.

    Example:
        >>> weights = tree_lstm_weights(network.state_dict(), "childsumtreelstm.")
        >>> h, c = models.tree_lstm(trees, emb=emb, **weights)
    """
    w, u, wf, uf = (_find(state, f"{layer}{name}.weight").T for name in names)
    biases = [_find(state, f"{layer}{name}.bias") for name in names]
    inputs, size = wf.shape
    gates = [3 * size, 3 * size, size, size]
    for name, part, bias, rows, columns in zip(
        names, (w, u, wf, uf), biases, 2 * [inputs, size], gates, strict=True
    ):
        if part.shape != (rows, columns) or bias.shape != (columns,):
            raise EspalierError(
                f"'{layer}{name}': expects a layer from {rows} to {columns} numbers, but got "
                f"weights of shape {part.shape[::-1]} and biases of shape {bias.shape}"
            )
    b, bf = biases[0] + biases[1], biases[2] + biases[3]
    return _arrays(w=w, u=u, b=b, wf=wf, uf=uf, bf=bf)


def _find(state: Mapping[str, object], name: str) -> np.ndarray:
    if name not in state:
        raise EspalierError(f"expects the weights '{name}', but got {', '.join(sorted(state))}")
    value = state[name]
    detach = getattr(value, "detach", None)  # A tensor may belong to a graph, or a device.
    return np.asarray(detach().cpu() if detach else value)


def _arrays(**arrays: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
