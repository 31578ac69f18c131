"""Two products and the rows between them in one kernel, by blocks of rows."""

from dataclasses import dataclass, replace

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
    unknown: str = ""
    """What the model leaves open: of `batch`, `queries` and `keys`."""

    def shapes(self) -> dict[str, list[int | str]]:
        """Return the shapes of the operands, with names for what is open."""
        batch, queries, keys = (
            name if name in self.unknown else getattr(self, name)
            for name in ("batch", "queries", "keys")
        )
        group = self.heads // 2 if self.kind == "grouped" else self.heads
        shapes: dict[str, list[int | str]] = {
            "q": [batch, self.heads, queries, self.width],
            "k": [batch, group, self.width, keys],
            "v": [batch, group, keys, self.width + 3],
        }
        if self.kind == "masked":
            shapes["bias"] = [batch, 1, queries, keys]
        return shapes

    def values(self) -> dict[str, np.ndarray]:
        random = np.random.default_rng(3)
        shapes = {name: replace(self, unknown="").shapes()[name] for name in self.shapes()}
        values = {n: random.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
        if "bias" in values:
            values["bias"] = np.where(self.is_later(), -np.inf, values["bias"]).astype(np.float32)
        return values

    def is_later(self) -> np.ndarray:
        """Return which keys come after each query."""
        return np.arange(self.keys) > np.arange(self.queries)[:, None]

    def model(self) -> object:
        net = Net("attention", 0)
        shapes = self.shapes()
        inputs = {n: net.input(n, shape) for n, shape in shapes.items()}
        k, v = (self.expand(net, inputs[name]) for name in "kv")
        scores = net.node("MatMul", inputs["q"], k)
        scores = net.node("Mul", scores, net.constant(np.float32(0.25)))
        if "bias" in inputs:
            scores = net.node("Add", scores, inputs["bias"])
        if self.kind == "causal":
            least = net.constant(np.float32(np.finfo(np.float32).min))
            scores = net.node("Where", net.constant(self.is_later()), least, scores)
        weights = net.node("Softmax", scores, axis=-1)
        if self.kind == "relu":
            weights = net.node("Relu", scores)
        y = net.node("MatMul", weights, v)
        batch, _, queries, _ = shapes["q"]
        shape = [batch, self.heads, queries, self.width + 3]
        if self.kind == "joined":
            y = net.node("Transpose", y, perm=[0, 2, 1, 3])
            shape = [shape[0], shape[2], shape[1], shape[3]]
        results = [(y, "y", shape)]
        if self.kind == "returned":
            results.append((weights, "w", [*shape[:3], shapes["k"][3]]))
        return net.finish(*results)

    def expand(self, net: Net, value: str) -> str:
        """Repeat what two heads share, as networks with grouped keys do."""
        if self.kind != "grouped":
            return value
        between = net.node("Unsqueeze", value, net.constant(np.array([2])))
        twice = net.node("Expand", between, net.constant(np.array([1, 1, 2, 1, 1])))
        extents = [self.width, -1] if value == "k" else [-1, self.width + 3]
        shape = [0, self.heads, *extents]
        return net.node("Reshape", twice, net.constant(np.array(shape)))

    def reference(self) -> np.ndarray:
        values = {name: value.astype(np.float64) for name, value in self.values().items()}
        if self.kind == "grouped":
            values |= {name: np.repeat(values[name], 2, axis=1) for name in "kv"}
        scores = values["q"] @ values["k"] * 0.25 + values.get("bias", 0)
        if self.kind == "causal":
            scores = np.where(self.is_later(), -np.inf, scores)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        if self.kind == "relu":
            weights = np.maximum(scores, 0)
        y = weights @ values["v"]
        return y.transpose(0, 2, 1, 3) if self.kind == "joined" else y


@pytest.fixture(scope="module")
def any_length() -> espalier.Function:
    """Return attention of any number of queries and keys."""
    return espalier.compile(ANY_LENGTH.model(), options=Options(cache=None))


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
    Case(kind="causal"),
    Case(kind="grouped"),
    # Rows are left after whole blocks.
    Case(heads=12, queries=197, keys=197, width=24),
    Case(queries=577, keys=577, kind="masked"),
    Case(heads=1, queries=1009, keys=1009, kind="joined"),
    Case(queries=1021, keys=300),
    # The model leaves extents open.
    Case(heads=4, queries=1, keys=300, unknown="queries keys", kind="grouped"),
    Case(batch=3, queries=64, keys=31, unknown="batch queries keys", kind="masked"),
    Case(queries=197, keys=197, unknown="queries keys", kind="joined"),
    Case(queries=45, keys=600, unknown="queries"),
    Case(queries=70, keys=333, unknown="keys"),
    Case(batch=5, queries=300, keys=256, unknown="batch"),
]
ANY_LENGTH = Case(heads=1, width=8, unknown="queries keys")
OTHERS = [
    Case(heads=1, queries=16, keys=16),
    Case(queries=8, keys=600, unknown="keys"),
    Case(kind="relu"),
    Case(kind="returned"),
]


@pytest.mark.parametrize("case", [*FUSED, *OTHERS], ids=repr)
def test_values(case: Case) -> None:
    function = espalier.compile(case.model(), options=Options(cache=None))
    for threads in (1, 2):
        function.set_num_threads(threads)
        result = function(**case.values())
        y = result[0] if isinstance(result, tuple) else result
        np.testing.assert_allclose(y, case.reference(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 64, 100])
def test_any_length(length: int, any_length: espalier.Function) -> None:
    """None of its own, no whole block, and rows that whole blocks leave."""
    case = replace(ANY_LENGTH, queries=length, keys=length + 3)
    np.testing.assert_allclose(any_length(**case.values()), case.reference(), rtol=2e-5, atol=2e-5)


def test_what_runs_by_blocks() -> None:
    assert [is_fused(c.model()) for c in [*FUSED, ANY_LENGTH]] == [True] * (len(FUSED) + 1)
    assert [is_fused(case.model()) for case in OTHERS] == [False] * len(OTHERS)
