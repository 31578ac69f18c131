"""Every way to schedule a model computes the same.

Run this file for every example in every way: `python test_recursive_scheduling.py`.
"""

from dataclasses import astuple
from itertools import combinations, product

import numpy as np
import pytest
from structure_samples import BINARY, WORDS, Sample
from test_recursive_models import MODELS as EXAMPLES
from test_recursive_models import TOLERANCE, assert_close, make_weights

from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.models import recursive as models
from espalier.recursion import (
    Node,
    Recursive,
    Scheduling,
    Structures,
    Tensor,
    recursive,
    sigmoid,
    tanh,
)
from espalier.recursion import model as recursion_model


def choices(
    hoist: bool, specialize: bool, refactor: bool, share: bool, batch: str, threads: int
) -> tuple[Scheduling, int]:
    """Return a scheduling, and a number of threads."""
    return Scheduling(hoist, specialize, refactor, share, batch), threads


# All pairs of values of two choices are in one of these.
CHOICES = [
    choices(True, True, True, False, "soonest", 2),
    choices(True, False, False, True, "post-order", 1),
    choices(False, True, True, True, "latest", 1),
    choices(False, False, False, False, "latest", 2),
    choices(False, True, False, True, "post-order", 2),
    choices(False, False, False, True, "soonest", 1),
    choices(False, False, True, False, "post-order", 1),
    choices(True, True, False, False, "latest", 1),
]
MODELS: dict[str, dict[str, Sample]] = {name: shapes for name, (_, shapes) in EXAMPLES.items()}


def test_all_pairs_are_chosen() -> None:
    rows = [(*astuple(scheduling), threads) for scheduling, threads in CHOICES]
    for one, other in combinations(zip(*rows, strict=True), 2):
        assert set(zip(one, other, strict=True)) == set(product(set(one), set(other)))
    assert [len(set(column)) for column in zip(*rows, strict=True)] == [2, 2, 2, 2, 3, 1, 2]


def check(name: str, scheduling: Scheduling, threads: int, fuse: bool = True) -> None:
    """Compare a model with its recursion on all structures that it is for."""
    source: Recursive = getattr(models, name)
    model = source.configure(options=Options(cache=None, fuse=fuse), scheduling=scheduling)
    random = np.random.default_rng(8)
    # Products of a level are worth a second thread from 74 columns on.
    weights = make_weights(random, name, hidden=5 if threads == 1 else 80)
    for sample, make in MODELS[name].items():
        structures = make(random)
        for at in ("nodes", "roots") if sample == "batch" else ("nodes",):
            model.compile(structures, at=at, **weights).set_num_threads(threads)
            got = model(structures, at=at, **weights)
            assert_close(got, model.reference(structures, at=at, **weights), sample)


@pytest.mark.parametrize(("scheduling", "threads"), CHOICES, ids=str)
def test_results_are_the_same(scheduling: Scheduling, threads: int) -> None:
    check("dag_rnn", scheduling, threads)


@pytest.mark.parametrize("name", ["tree_lstm", "binary_tree_lstm", "gru"])
def test_two_threads_run_each_level_together(name: str) -> None:
    """Each waits for the other where a level reads what another has computed."""
    check(name, Scheduling(), threads=2)


@pytest.mark.parametrize(
    ("name", "choice"),
    [("tree_lstm", 0), ("binary_tree_lstm", 2), ("gru", 1), ("gru", 3), ("gru", 4)],
)
def test_other_models(name: str, choice: int) -> None:
    check(name, *CHOICES[choice])


@pytest.mark.parametrize(("name", "count"), [("tree_lstm", 2), ("dag_rnn", 3)])
def test_levels_in_a_row(name: str, count: int) -> None:
    check(name, Scheduling(unroll=count), threads=2)


@pytest.mark.parametrize("name", ["binary_tree_lstm", "gru"])
def test_computations_that_share_no_loops(name: str) -> None:
    check(name, Scheduling(), threads=2, fuse=False)


def test_nodes_whose_loops_are_all_in_order() -> None:
    """Node by node, nothing is left for threads to share in what fusion leaves apart."""
    check("binary_tree_lstm", *CHOICES[4], fuse=False)


def gated(options: Options, scheduling: Scheduling) -> tuple[Recursive, dict[str, np.ndarray]]:
    """Return a model with three products of one vector, and weights."""
    random = np.random.default_rng(2)
    arrays = {"emb": random.standard_normal((WORDS, 64)).astype(np.float32)}
    for name in ("wr", "wz", "wn"):
        arrays[name] = (random.standard_normal((64, 64)) / 8).astype(np.float32)

    @recursive("tree", arity=2, options=options, scheduling=scheduling)
    def f(node: Node, emb: Tensor, wr: Tensor, wz: Tensor, wn: Tensor) -> Tensor:
        if node.is_leaf:
            return emb[node.word]
        left, right = map(f, node.children)
        s = left + right
        return sigmoid(s @ wr) * s + sigmoid(s @ wz) * tanh(s @ wn)

    return f, arrays


def test_made_up_structures_are_not_measured() -> None:
    """A program of models is kept as it is, with the reason, unless `share` asks."""
    # Estimates say every time that a shared product gains something.
    options = Options(cache=None, optimize="egraph", kernel_times=None, measure_seconds=0.0)
    f, arrays = gated(options, Scheduling())
    structures = BINARY["batch"](np.random.default_rng(3))
    found = f.compile(structures, **arrays).optimization
    assert found["result"] == "original"
    assert found["reason"].startswith("cannot be compared: ")
    np.testing.assert_allclose(
        f(structures, **arrays), f.reference(structures, **arrays), TOLERANCE, TOLERANCE
    )


def test_gates_share_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Substitutions in a cell: three products of one vector become one."""
    f, arrays = gated(Options(cache=None), Scheduling(share=True))
    structures = BINARY["batch"](np.random.default_rng(3))
    found = []
    original = recursion_model.optimize_module
    monkeypatch.setattr(
        recursion_model, "optimize_module", lambda *args: found.append(original(*args))
    )
    np.testing.assert_allclose(
        f(structures, **arrays), f.reference(structures, **arrays), TOLERANCE, TOLERANCE
    )
    assert [s["rule"] for s in found[0]["substitutions"]] == ["merge-products"]


def test_nodes_with_large_products_are_computed_one_by_one() -> None:
    """Where one thread gains nothing from what nodes of a level share."""
    random = np.random.default_rng(9)
    structures = BINARY["batch"](random)

    def text(
        name: str, hidden: int = 64, scheduling: Scheduling | None = None, threads: bool = False
    ) -> str:
        source: Recursive = getattr(models, name)
        model = source.configure(options=Options(threads=threads), scheduling=scheduling)
        return model.mlir(structures, **make_weights(random, name, hidden=hidden))

    nodes = "batching = #rec.batching<nodes>"
    assert nodes in text("mv_rnn")
    assert nodes not in text("mv_rnn", threads=True)
    assert nodes not in text("mv_rnn", scheduling=Scheduling(batch="soonest"))
    assert nodes not in text("mv_rnn", scheduling=Scheduling(unroll=2))
    assert nodes not in text("mv_rnn", 5)  # Too few rows.
    assert nodes not in text("tree_lstm")
    assert nodes not in text("tree_gru")


def test_results_one_by_one_are_the_same() -> None:
    model = models.mv_rnn.configure(options=Options(cache=None, threads=False))
    random = np.random.default_rng(9)
    weights = make_weights(random, "mv_rnn", hidden=64)
    structures = BINARY["batch"](random)
    assert_close(model(structures, **weights), model.reference(structures, **weights), "one by one")


def test_choices_are_checked() -> None:
    known = "auto, soonest, latest, post-order"
    with pytest.raises(EspalierError, match=f"expects one of {known}, but got"):
        Scheduling(batch="late")
    with pytest.raises(EspalierError, match="expects hoist to be a bool, but got int"):
        Scheduling(hoist=1)
    for unroll in (0, 17, 2.0, True):
        with pytest.raises(EspalierError, match=f"expects from 1 to 16 levels .*got {unroll}"):
            Scheduling(unroll=unroll)
    with pytest.raises(EspalierError, match="expects levels to unroll, but got 2 of them with"):
        Scheduling(unroll=2, batch="post-order")
    with pytest.raises(EspalierError, match="expects a scheduling, but got str"):
        Recursive(models.gru.function, "sequence", scheduling="latest")
    with pytest.raises(EspalierError, match="expects a scheduling, but got str"):
        models.gru.configure(scheduling="latest")


def test_a_function_is_wrapped_once() -> None:
    again = Recursive(models.tree_fc.function, "tree", 2)
    trees = Structures.from_nested([(1, 2)])
    weights = {name: np.ones((4, 4), np.float32) for name in again.weights}
    with pytest.raises(EspalierError, match=r"^expects 'tree_fc' to be called by itself .*once"):
        again(trees, **weights)


if __name__ == "__main__":
    for name, choice, fuse in product(MODELS, CHOICES, (False, True)):
        check(name, *choice, fuse=fuse)
        print(name, *choice, f"fuse={fuse}: equal", flush=True)
