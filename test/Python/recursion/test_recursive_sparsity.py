"""Pruned weights of recursive models: sums of a cell run over entries."""

import numpy as np
import pytest

from espalier import _espalier
from espalier.compiler import Options
from espalier.models.recursive import tree_lstm
from espalier.recursion import Scheduling, Structures
from espalier.sparsity import choose_sparse

HIDDEN, WORDS = 48, 11
PRUNED = ("w", "u", "wf", "uf")
OPTIONS = Options(cache=None, sparse="all")


def weights(seed: int = 0) -> dict[str, np.ndarray]:
    """Return weights of a TreeLSTM of which a tenth is not zero, but for one full column."""
    random = np.random.default_rng(seed)
    shapes = {"w": 3, "u": 3, "wf": 1, "uf": 1}
    result = {"emb": random.standard_normal((WORDS, HIDDEN)).astype(np.float32)}
    for name, gates in shapes.items():
        weight = random.standard_normal((HIDDEN, gates * HIDDEN)) / 6
        kept = random.random(weight.shape) < 0.1
        kept[:, 5], kept[:, 7] = True, False
        result[name] = (weight * kept).astype(np.float32)
    result |= {"b": np.full(3 * HIDDEN, 0.1, np.float32), "bf": np.zeros(HIDDEN, np.float32)}
    return result


TREES = Structures.from_nested([((1, 2), (3, (4, 5, 6))), 7, ((1,), 2), tuple(range(9))])


@pytest.mark.parametrize("hoist", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_pruned_tree_lstm(hoist: bool, threads: int) -> None:
    given = weights()
    model = tree_lstm.configure(options=OPTIONS, scheduling=Scheduling(hoist=hoist)).bind(**given)
    model.compile(TREES).set_num_threads(threads)
    for trees in (TREES, Structures.from_nested([3]), Structures.from_nested([(1, 2)] * 40)):
        for own, expected in zip(model(trees), model.reference(trees), strict=True):
            np.testing.assert_allclose(own, expected, 1e-4, 1e-5)


def test_its_sums_have_both_conditions() -> None:
    """A point of the recursion is in a level, and an entry in a row: in one kernel."""
    given = weights()
    module = _espalier.Module.parse(tree_lstm.mlir(TREES, **given))
    for name in PRUNED:
        module.bind_input(name, given[name].reshape(-1).view(np.uint8))
    assert {layer["choice"] for layer in choose_sparse(module, OPTIONS)} >= {"sparse"}
    _espalier.lower(module, "poly", OPTIONS.native())
    kernels = str(module).split("poly.kernel")
    (recursion,) = (kernel for kernel in kernels if "interleaved 1" in kernel)
    assert recursion.count("poly.monotonic") == 2  # Of `u` and `uf`.
