"""Weights of PyTorch's recurrent layers, for the models of `espalier.models.recursive`."""

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


def _find(state: Mapping[str, object], name: str) -> np.ndarray:
    if name not in state:
        raise EspalierError(f"expects the weights '{name}', but got {', '.join(sorted(state))}")
    value = state[name]
    detach = getattr(value, "detach", None)  # A tensor may belong to a graph, or a device.
    return np.asarray(detach().cpu() if detach else value)


def _arrays(**arrays: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
