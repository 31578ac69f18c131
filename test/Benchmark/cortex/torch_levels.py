"""Recursive models in PyTorch, one level of nodes at a time, as a person would write them.

States of all nodes are rows of a tensor, which has one more row of zeros for children
that nodes do not have. Sequences of one batch are equally long.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from peers import Peer

if TYPE_CHECKING:
    import torch

Arrays = dict[str, np.ndarray]
Cell = Callable[..., Any]


def _tree_fc(w: Mapping[str, torch.Tensor]) -> Cell:
    import torch
    from torch.nn.functional import linear

    return lambda hl, hr: torch.relu(linear(torch.cat([hl, hr], 1), w["w"], w["b"]))


def _tree_gru(w: Mapping[str, torch.Tensor]) -> Cell:
    import torch
    from torch.nn.functional import linear

    def cell(hl: torch.Tensor, hr: torch.Tensor) -> torch.Tensor:
        s = hl + hr
        r, z = torch.sigmoid(linear(s, w["u"], w["b"])).chunk(2, 1)
        n = torch.tanh(linear(r * s, w["un"], w["bn"]))
        return (1 - z) * n + z * s

    return cell


def _tree_lstm(w: Mapping[str, torch.Tensor]) -> Cell:
    import torch
    from torch.nn.functional import linear

    def cell(
        hl: torch.Tensor, hr: torch.Tensor, cl: torch.Tensor, cr: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        i, o, g = linear(hl + hr, w["u"], w["b"]).chunk(3, 1)
        left = torch.sigmoid(linear(hl, w["uf"], w["bf"])) * cl
        right = torch.sigmoid(linear(hr, w["uf"], w["bf"])) * cr
        c = torch.sigmoid(i) * torch.tanh(g) + left + right
        return torch.sigmoid(o) * torch.tanh(c), c

    return cell


def _mv_rnn(w: Mapping[str, torch.Tensor]) -> Cell:
    import torch
    from torch.nn.functional import linear

    def cell(
        hl: torch.Tensor, hr: torch.Tensor, ml: torch.Tensor, mr: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        both = torch.cat([torch.bmm(mr, hl.unsqueeze(2)), torch.bmm(ml, hr.unsqueeze(2))], 1)
        h = torch.tanh(linear(both.squeeze(2), w["u"], w["b"]))
        return h, torch.matmul(w["um"], torch.cat([ml, mr], 1)) + w["bm"]

    return cell


def _dag_rnn(w: Mapping[str, torch.Tensor]) -> Cell:
    import torch
    from torch.nn.functional import linear

    return lambda hl, hr, x: torch.tanh(linear(hl + hr, w["u"], w["b"]) + x)


def _lstm(w: Mapping[str, torch.Tensor]) -> Cell:
    import torch
    from torch.nn.functional import linear

    def cell(
        h: torch.Tensor, c: torch.Tensor, x: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        i, f, g, o = (linear(h, w["u"]) + x).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    return cell


def _gru(w: Mapping[str, torch.Tensor]) -> Cell:
    import torch
    from torch.nn.functional import linear

    def cell(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        size = h.shape[1]
        r, z = torch.sigmoid(linear(h, w["u"]) + x[:, : 2 * size]).chunk(2, 1)
        n = torch.tanh(x[:, 2 * size :] + r * linear(h, w["un"]))
        return (1 - z) * n + z * h

    return cell


CELLS = {
    "tree_fc": _tree_fc,
    "tree_gru": _tree_gru,
    "tree_lstm": _tree_lstm,
    "mv_rnn": _mv_rnn,
    "dag_rnn": _dag_rnn,
    "lstm": _lstm,
    "gru": _gru,
}


class _Plan:
    """The numbers of a batch, in the order in which levels gather them."""

    def __init__(self, inputs: Arrays) -> None:
        import torch

        self.nodes, inner = len(inputs["arity"]), len(inputs["children"])
        self.leaves = self.nodes - inner
        missing = np.arange(inputs["children"].shape[1]) >= inputs["arity"][self.leaves :, None]
        children = np.where(missing, self.nodes, inputs["children"]).astype(np.int64)
        self.words = torch.from_numpy(inputs["word"].astype(np.int64))
        self.roots = torch.from_numpy(inputs["roots"].astype(np.int64))
        bounds = inputs["levels"].tolist()
        self.levels = []
        for first, end in itertools.pairwise(bounds):
            rows = children[first - bounds[0] : end - bounds[0]]
            columns = [torch.from_numpy(np.ascontiguousarray(column)) for column in rows.T]
            start = first - bounds[0] + self.leaves
            self.levels.append((start, start + len(rows), columns))


def _run_sequences(
    row: str, cell: Cell, w: Mapping[str, torch.Tensor], plan: _Plan
) -> torch.Tensor:
    """Run a recurrence whose input products are one product for all words."""
    import torch
    from torch.nn.functional import linear

    x = linear(w["emb"].index_select(0, plan.words), w["w"], w["b"])
    state = [torch.zeros(plan.leaves, w["emb"].shape[1])] * (2 if row == "lstm" else 1)
    starts = [(0, plan.leaves)] + [(first, end) for first, end, _ in plan.levels]
    for first, end in starts:
        result = cell(*state, x[first:end])
        state = [*result] if isinstance(result, tuple) else [result]
    return state[0]


def _run_levels(row: str, cell: Cell, w: Mapping[str, torch.Tensor], plan: _Plan) -> torch.Tensor:
    """Run a model of trees or graphs level by level."""
    import torch

    x = w["emb"].index_select(0, plan.words[: None if row == "dag_rnn" else plan.leaves])
    first = x[: plan.leaves]
    if row == "tree_lstm":
        values = first.chunk(2, 1)
    elif row == "mv_rnn":
        values = (first, w["mats"].index_select(0, plan.words[: plan.leaves]))
    elif row == "dag_rnn":
        values = (torch.tanh(first + w["b"]),)
    else:
        values = (first,)
    states = [torch.empty(plan.nodes + 1, *value.shape[1:]) for value in values]
    for state, value in zip(states, values, strict=True):
        state[: plan.leaves] = value
        if row == "dag_rnn":
            state[plan.nodes] = 0
    for begin, end, columns in plan.levels:
        children = [state.index_select(0, column) for state in states for column in columns]
        results = cell(*children, x[begin:end]) if row == "dag_rnn" else cell(*children)
        results = results if isinstance(results, tuple) else (results,)
        for state, result in zip(states, results, strict=True):
            state[begin:end] = result
    return states[0].index_select(0, plan.roots)


def _open_module(row: str, w: Mapping[str, torch.Tensor]) -> torch.nn.Module:
    """Return PyTorch's own module of sequences, with these weights."""
    import torch

    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[row](*[w["emb"].shape[1]] * 2)
    hidden = [w["u"], w["un"]] if row == "gru" else [w["u"]]
    with torch.no_grad():
        module.weight_ih_l0.copy_(w["w"])
        module.weight_hh_l0.copy_(torch.cat(hidden, 0))
        module.bias_ih_l0.copy_(w["b"])
        module.bias_hh_l0.zero_()
    return module


def open_torch(case: Mapping[str, Any], weights: Arrays, inputs: Sequence[Arrays]) -> list[Peer]:
    """Return what a case names of "torch", "torch.compile" and "torch.nn", if it is installed.

    A peer's outputs are the first result at the roots, by the number of the batch.
    """
    try:
        import torch
    except ImportError:
        return []
    torch.set_num_threads(case["threads"])
    row = case["row"]
    # Linear layers have their weights transposed.
    w = {
        name: torch.from_numpy(value.T.copy() if name in ("w", "u", "uf", "un") else value)
        for name, value in weights.items()
    }
    if row == "mv_rnn":
        w["um"] = torch.from_numpy(weights["um"])
    plans = [_Plan(arrays) for arrays in inputs]
    run = _run_sequences if row in ("lstm", "gru") else _run_levels
    cell = CELLS[row](w)
    ways: dict[str, Callable[[_Plan], torch.Tensor]] = {}
    if "torch" in case["baselines"]:
        ways["torch"] = lambda plan: run(row, cell, w, plan)
    if "torch.compile" in case["baselines"]:
        compiled = torch.compile(cell, dynamic=True)
        ways["torch.compile"] = lambda plan: run(row, compiled, w, plan)
    if "torch.nn" in case["baselines"]:
        module = _open_module(row, w)
        ways["torch.nn"] = lambda plan: module(
            w["emb"].index_select(0, plan.words).view(-1, plan.leaves, w["emb"].shape[1])
        )[0][-1]

    def open_way(name: str, way: Callable[[_Plan], torch.Tensor]) -> Peer:
        last: Arrays = {}

        def call() -> None:
            with torch.inference_mode():
                last.update({str(i): way(plan).numpy() for i, plan in enumerate(plans)})

        return Peer(name, f"torch {torch.__version__}", call, lambda: last)

    return [open_way(name, way) for name, way in ways.items()]
