"""Recursive models equal their recursion in NumPy, on structures of every shape."""

from collections.abc import Sequence

import numpy as np
import pytest
from structure_samples import BINARY, DAGS, SEQUENCES, TREES, WORDS, Sample

from espalier.compiler import Options, interpret
from espalier.models import recursive as models
from espalier.recursion import Recursive

TOLERANCE = 1e-5
MODELS: dict[str, tuple[str, dict[str, Sample]]] = {
    "tree_fc": ("emb:vh w:2hh b:h", BINARY),
    "tree_fc_split": ("emb:vh wl:hh wr:hh b:h", BINARY),
    "tree_rnn": ("emb:vh w:2hh b:h", BINARY),
    "tree_gru": ("emb:vh u:h2h b:2h un:hh bn:h", BINARY),
    "simple_tree_gru": ("emb:vh u:h2h b:2h un:hh bn:h", BINARY),
    "tree_lstm": ("emb:vh w:h3h u:h3h b:3h wf:hh uf:hh bf:h", TREES),
    "binary_tree_lstm": ("emb:vh u:2h5h b:5h", BINARY),
    "mv_rnn": ("emb:vh mats:vhh u:2hh b:h um:h2h bm:hh", BINARY),
    "dag_rnn": ("emb:vh u:hh b:h", DAGS),
    "lstm": ("emb:vh w:h4h u:h4h b:4h", SEQUENCES),
    "gru": ("emb:vh w:h3h u:h2h b:3h un:hh", SEQUENCES),
}


def extents(text: str, hidden: int) -> list[int]:
    """Return the extents that such as "v2h" stands for."""
    result, factor = [], 1
    for char in text:
        if char.isdigit():
            factor = int(char)
        else:
            result.append(factor * (WORDS if char == "v" else hidden))
            factor = 1
    return result


def make_weights(random: np.random.Generator, model: str, hidden: int) -> dict[str, np.ndarray]:
    """Return random weights of a model."""
    entries = (entry.split(":") for entry in MODELS[model][0].split())
    return {
        name: (random.standard_normal(extents(text, hidden)) / hidden**0.5).astype(np.float32)
        for name, text in entries
    }


Results = np.ndarray | Sequence[np.ndarray]


def assert_close(got: Results, expected: Results, sample: str = "") -> None:
    """Compare the results of a model, which are one or several."""
    pairs = [[x] if isinstance(x, np.ndarray) else x for x in (got, expected)]
    for one, other in zip(*pairs, strict=True):
        np.testing.assert_allclose(one, other, TOLERANCE, TOLERANCE, err_msg=sample)


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Recursive:
    """A model of its own options, compiled once for all structures."""
    source = getattr(models, request.param)
    return Recursive(source.function, source.structure, source.arity, Options(cache=None))


def check(model: Recursive, at: str, patch: pytest.MonkeyPatch) -> None:
    """Compare a model with its recursion, on all structures that it is for."""
    name = model.__name__
    patch.setitem(model.function.__globals__, name, model)
    random = np.random.default_rng(5)
    weights = make_weights(random, name, hidden=7)
    for sample, make in MODELS[name][1].items():
        structures = make(random)
        got = model(structures, at=at, **weights)
        assert_close(got, model.reference(structures, at=at, **weights), sample)


def test_equals_recursion(model: Recursive, monkeypatch: pytest.MonkeyPatch) -> None:
    check(model, "nodes", monkeypatch)


@pytest.mark.parametrize("model", ["tree_lstm", "dag_rnn"], indirect=True)
def test_roots(model: Recursive, monkeypatch: pytest.MonkeyPatch) -> None:
    check(model, "roots", monkeypatch)


def test_interpreter_agrees(model: Recursive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference interpreter runs the definition that the model is."""
    name = model.__name__
    monkeypatch.setitem(model.function.__globals__, name, model)
    random = np.random.default_rng(6)
    weights = make_weights(random, name, hidden=3)
    structures = list(MODELS[name][1].values())[-1](random)
    program = model.mlir(structures, **weights)
    got = list(interpret(program, model.inputs(structures, **weights)).values())
    assert_close(got, model.reference(structures, **weights))
