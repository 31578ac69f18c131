"""Two products and the rows between them in one kernel, by blocks of rows."""

from dataclasses import dataclass

import numpy as np
import pytest

import espalier
from espalier import Options, compiler
from espalier.models import Net


@dataclass
class Case:
    """Attention over `batch` of `heads`, and what is special about it."""

    batch: int = 1
    heads: int = 2
    queries: int = 512
    keys: int = 512
    width: int = 32
    kind: str = ""

    def values(self) -> dict[str, np.ndarray]:
        random = np.random.default_rng(3)
        lead = (self.batch, self.heads)
        shapes = {
            "q": (*lead, self.queries, self.width),
            "k": (*lead, self.width, self.keys),
            "v": (*lead, self.keys, self.width + 3),
        }
        if self.kind == "masked":
            shapes["bias"] = (self.batch, 1, self.queries, self.keys)
        values = {n: random.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
        if "bias" in values:
            later = np.arange(self.keys) > np.arange(self.queries)[:, None]
            values["bias"] = np.where(later, -np.inf, values["bias"]).astype(np.float32)
        return values

    def model(self) -> object:
        net = Net("attention", 0)
        inputs = {n: net.input(n, list(v.shape)) for n, v in self.values().items()}
        scores = net.node("MatMul", inputs["q"], inputs["k"])
        scores = net.node("Mul", scores, net.constant(np.float32(0.25)))
        if "bias" in inputs:
            scores = net.node("Add", scores, inputs["bias"])
        weights = net.node("Softmax", scores, axis=-1)
        if self.kind == "relu":
            weights = net.node("Relu", scores)
        y = net.node("MatMul", weights, inputs["v"])
        shape = [self.batch, self.heads, self.queries, self.width + 3]
        if self.kind == "joined":
            y = net.node("Transpose", y, perm=[0, 2, 1, 3])
            shape = [shape[0], shape[2], shape[1], shape[3]]
        results = [(y, "y", shape)]
        if self.kind == "returned":
            results.append((weights, "w", [*shape[:3], self.keys]))
        return net.finish(*results)

    def reference(self) -> np.ndarray:
        values = {name: value.astype(np.float64) for name, value in self.values().items()}
        scores = values["q"] @ values["k"] * 0.25 + values.get("bias", 0)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        if self.kind == "relu":
            weights = np.maximum(scores, 0)
        y = weights @ values["v"]
        return y.transpose(0, 2, 1, 3) if self.kind == "joined" else y


def is_fused(model: object) -> bool:
    module, _ = compiler.load_module(model)
    espalier._espalier.lower(module, "poly", Options(cache=None).native())
    return "interleaved" in str(module)


FUSED = [
    Case(),
    Case(batch=2, queries=384, keys=640),
    Case(heads=3, queries=720, keys=500, width=7),
    Case(heads=1, queries=2048, keys=2000, width=16),
    Case(heads=12, queries=128, keys=300),
    Case(kind="masked"),
    Case(kind="joined"),
]
OTHERS = [
    Case(queries=1021),
    Case(heads=1, queries=16, keys=16),
    Case(kind="relu"),
    Case(kind="returned"),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", [*FUSED, *OTHERS], ids=repr)
def test_values(case: Case, threads: int) -> None:
    function = espalier.compile(case.model(), options=Options(cache=None))
    function.set_num_threads(threads)
    result = function(**case.values())
    y = result[0] if isinstance(result, tuple) else result
    np.testing.assert_allclose(y, case.reference(), rtol=2e-5, atol=2e-5)


def test_what_runs_by_blocks() -> None:
    assert [is_fused(case.model()) for case in FUSED] == [True] * len(FUSED)
    assert [is_fused(case.model()) for case in OTHERS] == [False] * len(OTHERS)
