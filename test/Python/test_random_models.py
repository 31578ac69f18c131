"""Random models: a share of what `python -m random_models` does by hand."""

import contextlib
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from espalier import _espalier, compiler
from espalier.errors import UnsupportedOperators
from random_models import heap, search
from random_models import judge as judging
from random_models.builder import DTYPES
from random_models.choices import choose
from random_models.compiling import load, store
from random_models.evaluate import Evaluator, Impossible, make_model
from random_models.generate import (
    FORMATS,
    Sample,
    generate,
    generate_attention,
    generate_convolutions,
    generate_one,
    generate_tokens,
)
from random_models.judge import judge
from random_models.minimize import minimize
from random_models.recipes import LEFT_OUT, RECIPES, claimed
from random_models.search import check_all

SEEDS = range(80)
REFUSALS = ("known", "not depend on", "may be shorter", "to agree")
"""What may be refused: what a size or an element decides that the model leaves open."""


def test_every_operator_has_a_recipe_or_a_reason():
    assert claimed() == set(RECIPES) | set(LEFT_OUT)
    assert not set(RECIPES) & set(LEFT_OUT)


def test_every_recipe_makes_a_node():
    samples = {name: generate_one(name, seed=1) for name in RECIPES}
    assert [name for name, sample in samples.items() if sample is None] == []
    made = {node.op_type for sample in samples.values() if sample for node in sample.nodes}
    assert made >= set(RECIPES)


def test_samples_have_the_corners():
    samples = [generate(seed) for seed in range(300)]
    arrays = [array for sample in samples for array in sample.values.values()]
    assert {array.dtype for array in arrays} == set(DTYPES)
    extents = {extent for array in arrays for extent in array.shape}
    assert {0, 1, 2, 3, 5, 7, 13, 17} <= extents
    assert any(sample.dynamic for sample in samples)
    assert any(sample.machine for sample in samples)
    assert any(not sample.inputs for sample in samples)
    assert any(set(sample.outputs) & set(sample.inputs) for sample in samples)
    assert len({sample.opset for sample in samples}) > 10


def test_sums_run_over_entries():
    """In each format, of models whose constants are stored without zeros."""
    seen = set()
    options = compiler.Options(cache=None, sparse="stored")
    for sample in map(generate, range(200)):
        if not sample.sparse or sample.sparse in seen:
            continue
        with contextlib.suppress(UnsupportedOperators):
            text = store(sample)
            if text and "poly.monotonic" in str(compiler.lower(text, options=options)):
                seen.add(sample.sparse)
    assert seen == set(FORMATS)


def test_choices_are_accepted():
    """Layouts, algorithms of convolutions, and splits: what compiles is judged with the rest."""
    accepted = []
    for seed in range(12):
        sample = generate_convolutions(seed)
        module, _ = compiler.load_module(sample.static().model())
        _espalier.lower(module, "statements", compiler.Options(cache=None).native())
        accepted += choose(module, sample.choices, winograd=True)
    layouts = ("buffer_layout %0 affine", "buffer_layout %0 read")
    for word in ("direct", "winograd", "separate", *layouts):
        assert any(word in command for command in accepted)


@pytest.mark.parametrize("seed", range(4))
def test_convolutions_by_chosen_algorithms(seed: int):
    assert judge(generate_convolutions(seed)).text == ""


def test_casts_beyond_integers_are_compared():
    """With the nearest integers; what onnxruntime makes of them depends on the machine."""
    samples = [generate_one("Cast", seed=seed) for seed in range(40)]
    beyond = [sample for sample in samples if sample and judging.casts_beyond(sample)]
    assert len(beyond) > 1
    assert [judge(sample).text for sample in beyond[:2]] == [""] * 2


def test_attention_is_one_kernel_where_caches_are_small():
    counts = set()
    for seed in range(12):
        text = load(generate_attention(seed))
        assert text is not None
        lowered = str(compiler.lower(text, options=compiler.Options(cache=None)))
        counts.add(lowered.count("poly.kernel private"))
    # Of whole blocks, of what they leave as well, and of a product each.
    assert counts >= {1, 2, 3}


@pytest.mark.parametrize("seed", range(6))
def test_attention_in_small_caches(seed: int):
    assert judge(generate_attention(seed)).text == ""


@pytest.mark.parametrize("seed", range(6))
def test_images_and_tokens(seed: int):
    assert judge(generate_tokens(seed)).text == ""


def test_a_seed_is_a_model():
    assert generate(5).model() == generate(5).model()


@pytest.fixture
def add() -> Sample:
    """Return the sum of two inputs, and of that with itself."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Add", ["y", "x"], ["z"])]
    values = {"x": x, "y": 2 * x, "z": 3 * x}
    return Sample(18, nodes, [], {"x": x}, ["y", "z"], values, set(values))


def test_a_bit_too_many_is_a_failure(add: Sample, monkeypatch: pytest.MonkeyPatch):
    assert judge(add).kind == "passed"
    wrong = {"y": add.values["y"], "z": np.nextafter(add.values["z"], np.float32(9))}
    monkeypatch.setattr(judging, "run_onnxruntime", lambda *_: wrong)
    assert judge(add).kind == "failed"
    assert judge(replace(add, exact=set())).kind == "passed"
    wrong["z"] = add.values["z"] + np.float32(0.01)
    assert judge(replace(add, exact=set())).kind == "failed"


def test_what_rounding_explains_is_no_failure():
    """A logarithm beside 1 has no more digits than its argument, here seven."""
    x = np.array([1e-4], np.float32)
    nodes = [
        helper.make_node("Cos", ["x"], ["y"]),
        helper.make_node("Log", ["y"], ["z"]),
    ]
    sample = Sample(18, nodes, [], {"x": x}, ["z"], {"x": x, "y": x, "z": x}, {"x"})
    verdict = judge(sample)
    assert (verdict.kind, verdict.text) == ("passed", "")


def test_a_root_beside_zero_may_be_no_number(monkeypatch: pytest.MonkeyPatch):
    x = np.array([1e-30, 1], np.float32)
    y = np.array([-1.4e-15, 1], np.float32)
    nodes = [helper.make_node("Mul", ["x", "y"], ["z"]), helper.make_node("Sqrt", ["z"], ["r"])]
    values = {"x": x, "y": y, "z": x, "r": x}
    sample = Sample(18, nodes, [], {"x": x, "y": y}, ["r"], values, {"x", "y"})
    for second, kind in ((1, "passed"), (2, "failed"), (np.nan, "failed")):
        result = {"r": np.array([np.nan, second], np.float32)}
        monkeypatch.setattr(judging, "run_onnxruntime", lambda *_, result=result: result)
        assert judge(sample).kind == kind


def test_the_least_numbers_have_units_of_their_own(monkeypatch: pytest.MonkeyPatch):
    """A product that vanishes in one order of its factors may not in another one."""
    x = np.array([2e-23], np.float32)
    nodes = [helper.make_node("Mul", ["x", "x"], ["y"])]
    sample = Sample(18, nodes, [], {"x": x}, ["y"], {"x": x, "y": x * x}, {"x"})
    assert judge(sample).kind == "passed"
    for other, kind in ((-0.0, "passed"), (1e-40, "failed")):
        result = {"y": np.array([other], np.float32)}
        monkeypatch.setattr(judging, "run_onnxruntime", lambda *_, result=result: result)
        assert judge(sample).kind == kind


def test_gelu_has_the_errors_of_its_formula(monkeypatch: pytest.MonkeyPatch):
    """onnxruntime rounds 1 + erf, of which two digits are left here."""
    x = np.array([-4.1116595], np.float32)
    nodes = [helper.make_node("Gelu", ["x"], ["y"])]
    sample = Sample(20, nodes, [], {"x": x}, ["y"], {"x": x, "y": x}, {"x"})
    verdict = judge(sample)
    assert (verdict.kind, verdict.text) == ("passed", "")
    wrong = {"y": np.array([-1.1e-4], np.float32)}
    monkeypatch.setattr(judging, "run_onnxruntime", lambda *_: wrong)
    assert judge(sample).kind == "failed"


@pytest.mark.parametrize(
    ("operator", "operand", "kept"),
    [
        # onnxruntime has -2**63 for this sum.
        ("ReduceSum", np.array([-(2**63) + 1, -14, 3]), [1, 2]),
        # 0 in this order, infinity times 0 in the other.
        ("ReduceProd", np.array([0, 1e30, 1e30], np.float32), [0, 1]),
        ("ReduceSum", np.array([6e4, -6e4, 6e4], np.float16), [0]),
    ],
)
def test_totals_that_depend_on_order_or_type_are_not_compared(
    operator: str, operand: np.ndarray, kept: list[int]
):
    node = helper.make_node(operator, ["x"], ["y"])
    with pytest.raises(Impossible, match="a total beyond the numbers"):
        Evaluator(18).run(node, {"x": operand}, [operand.dtype])
    expected = operand[kept].prod() if operator == "ReduceProd" else operand[kept].sum()
    assert Evaluator(18).run(node, {"x": operand[kept]}, [operand.dtype])[0] == [expected]


def test_a_crash_is_a_finding_and_gets_smaller(
    add: Sample, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    ends = {"failed": f"ended with {-signal.SIGSEGV}"}

    def crash_at_a_sum(names: list[str]):
        for name in names:
            sample = search.load(name)
            assert sample is not None
            sums = any(node.op_type == "Add" for node in sample.nodes)
            kind = "failed" if sums else "passed"
            yield name, judging.Verdict(kind, ends.get(kind, ""))

    monkeypatch.setattr("random_models.minimize.check_all", crash_at_a_sum)
    smaller = minimize(add, tmp_path)
    assert [node.op_type for node in smaller.nodes] == ["Add"]
    assert len(smaller.outputs) == 1
    assert smaller.model() == make_model(
        smaller.nodes, list(smaller.model().graph.input), [(smaller.outputs[0], np.dtype("f4"))], 18
    )


SMALL_OVERRUN = """
import sys
import ctypes
from pathlib import Path
from random_models.heap import guarded_heap, is_guarded
assert is_guarded()
libc = ctypes.CDLL(None)
libc.aligned_alloc.restype = ctypes.c_void_p
with guarded_heap("after"):
    data = libc.aligned_alloc(ctypes.c_size_t(64), ctypes.c_size_t(128))
print(ctypes.c_char.from_address(data + 127).value, flush=True)
ctypes.c_char.from_address(data + int(sys.argv[1])).value
"""


def test_intermediate_tensors_may_be_guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LD_PRELOAD", "")
    heap.preload(tmp_path)
    for offset, status in (("127", 0), ("128", -signal.SIGSEGV)):
        result = subprocess.run(
            [sys.executable, "-c", SMALL_OVERRUN, offset],
            cwd=Path(__file__).parent,
            capture_output=True,
            check=False,
        )
        assert result.stdout == b"b'\\xa5'\n"
        assert result.returncode == status


@pytest.mark.parametrize(("element", "columns"), [("f32", 1024), ("f64", 512), ("i8", 4096)])
def test_padded_rows_may_be_guarded(element, columns, tmp_path, monkeypatch):
    """Rows of 4096 bytes are stored longer where tiles of floating-point numbers read them."""
    monkeypatch.setenv("LD_PRELOAD", "")
    heap.preload(tmp_path)
    result = subprocess.run(
        [sys.executable, "padded_rows.py", element, str(columns)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def test_random_models_agree_beside_guarded_intermediates():
    result = subprocess.run(
        [sys.executable, "-m", "random_models", "--separate", "--count", "20", "--seed", "500"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "passed" in result.stdout


def test_random_models_agree():
    """With the reference interpreter and with onnxruntime, beside guard pages."""
    verdicts = dict(check_all([str(seed) for seed in SEEDS], jobs=2))
    assert {seed: v.text for seed, v in verdicts.items() if v.kind == "failed"} == {}
    refused = {seed: v.text for seed, v in verdicts.items() if v.kind == "refused"}
    assert [t for t in refused.values() if not any(reason in t for reason in REFUSALS)] == []
    assert len(refused) < len(SEEDS) / 10
