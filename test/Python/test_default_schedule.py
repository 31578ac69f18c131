"""The default schedule as a script: printed, replayed, edited."""

import argparse
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from espalier import _espalier
from espalier.commands import compile as compile_command
from espalier.compiler import Options, compile, lower
from espalier.errors import EspalierError
from espalier.kernels import f32, kernel, label, sizes
from espalier.models import MODELS, Net
from espalier.schedules import Schedule, ScheduleError
from operator_cases import CASES

NO_CACHE = Options(cache=None)
SMALL = {
    "bert_base": {"sequence": 8, "layers": 1, "hidden": 64, "heads": 4, "vocabulary": 100},
    "dcgan": {"width": 8},
    "mobilenet_v2": {"size": 32},
    "resnet50": {"size": 32},
    "resnext50": {"size": 32},
}
m, n, k = sizes("m n k")


@kernel
def product(a: f32[m, k], b: f32[k, n], c: f32[m, n]) -> None:
    for i in range(m):
        for j in range(n):
            for p in range(k):
                label("acc")
                c[i, j] += a[i, p] * b[p, j]


def without_names(module: _espalier.Module) -> str:
    """Return a module's text but for its stage and the names of loops."""
    text = re.sub(
        r"^module attributes \{espalier.stage = [^}]*\}", "module", str(module), flags=re.M
    )
    return re.sub(r" names \[[^\]]*\]", "", text)


BENCHMARK = Path(__file__).parents[1] / "Benchmark"
sys.path += [
    str(BENCHMARK),
    *(str(BENCHMARK / name) for name in ("operators", "polybench", "sparse")),
]

import bench  # noqa: E402  (benchmarks are no package)
from operator_rows import ROWS  # noqa: E402
from sparse_kernels import spmm, spmv  # noqa: E402
from suite import CASES as POLYBENCH  # noqa: E402


def replay(text: str) -> int:
    """Compare the script's replay with the default schedule; return its length."""
    # Kernels with a script run one after the other.
    expected = _espalier.Module.parse(text)
    _espalier.lower(expected, "scheduled", Options(overlap=False).native())
    module = _espalier.Module.parse(text)
    script = _espalier.default_schedule(module)
    _espalier.transform(module, script)
    _espalier.lower(module, "scheduled")
    assert without_names(module) == without_names(expected)
    return script.count("transform.poly.plan")


@pytest.mark.parametrize("name", SMALL)
def test_replayed_networks(name: str) -> None:
    """Every kernel of a network gets the same tree from its printed script."""
    assert replay(str(lower(MODELS[name](batch="n", **SMALL[name])))) > 10


@pytest.mark.parametrize("name", CASES)
def test_replayed_operators(name: str) -> None:
    """So do the kernels of single operators."""
    replay(str(lower(CASES[name])))


def test_replayed_rows() -> None:
    """And those of all operators that others have measured, at full size."""
    counts = [replay(str(lower(row.model()))) for row in ROWS.values()]
    assert len(counts) == 185
    print(f"{sum(counts)} plans of {len(counts)} rows")
    assert sum(counts) > 400


@pytest.mark.parametrize("folder", ["Networks", "blas", "tiramisu"])
def test_replayed_benchmarks(folder: str) -> None:
    """And those of benchmarks that are models."""
    cases = [case for case in bench.load_cases(toy=True) if case["name"].startswith(folder + "/")]
    counts = [replay(str(lower(bench.BUILDERS[case["model"]](**case["toy"])))) for case in cases]
    print(f"{folder}: {sum(counts)} plans of {len(counts)} models")
    assert all(counts)


def test_replayed_kernels() -> None:
    """And kernels in Python; where program order is the default, there is no plan."""
    kernels = [*(case.kernel for case in POLYBENCH.values()), spmv, spmm]
    counts = [replay(str(each.module())) for each in kernels]
    print(f"{sum(counts)} plans of {len(counts)} kernels")
    assert len(counts) == 32
    assert sum(map(bool, counts)) >= 25


def test_continues_and_replays() -> None:
    """Commands go on from the default schedule, and the whole script replays."""
    schedule = Schedule.default(product)
    assert "transform.poly.plan" in str(schedule)
    schedule.serialize("acc", "i")
    again = Schedule(product)
    again._apply(str(schedule), "")
    assert again.loops() == schedule.loops()
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(s, dtype=np.float32) for s in ((7, 19), (19, 37)))
    c = np.zeros((7, 37), np.float32)
    schedule.compile(NO_CACHE)(a=a, b=b, c=c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


def test_of_a_scheduled_kernel() -> None:
    """A kernel in program order may have a schedule; with commands it is refused."""
    module = product.module()
    Schedule(module)
    schedule = Schedule.default(module)
    assert "transform.poly.plan" in str(schedule)
    assert schedule.loops() == Schedule.default(product).loops()
    with pytest.raises(ScheduleError, match=r"expects the kernel 'product' in program order, but "):
        Schedule.default(module)
    with pytest.raises(EspalierError, match=r"expects a kernel, one of \[product\], but got 'p'"):
        Schedule.default(product, "p")


def test_another_tile() -> None:
    """A plan is a method like other commands, and refused like them."""
    schedule = Schedule(product)
    schedule.plan("acc", 2, loops=["i", "j"], tile=["i", "j"], by=[3, 16], lanes="j", width=8)
    assert "vector(8)" in schedule.loops()
    with pytest.raises(ScheduleError, match="expects a tile of whole vectors of 8"):
        schedule.plan("acc", 2, loops=["i", "j"], tile=["j"], by=[12], lanes="j", width=8)


def test_command_prints(tmp_path) -> None:
    """`espalier compile --print-schedule` writes what `compile(schedule=...)` reads."""
    net = Net("dense")
    x = net.input("x", ["n", 24])
    model = net.finish((net.node("MatMul", x, net.weight([24, 40], 1.0)), "y", ["n", 40]))
    path = tmp_path / "dense.onnx"
    path.write_bytes(model.SerializeToString())
    script = tmp_path / "dense.mlir"
    parser = argparse.ArgumentParser()
    compile_command.add_arguments(parser)
    options = [str(path), "-o", str(tmp_path / "dense.so"), "--no-cache"]
    assert compile_command.run(parser.parse_args([*options, "--print-schedule", str(script)])) == 0
    assert "transform.poly.plan" in script.read_text()
    x = np.random.default_rng(1).standard_normal((5, 24), dtype=np.float32)
    plain, scripted = (
        compile(str(path), schedule=schedule, options=NO_CACHE)(x=x) for schedule in (None, script)
    )
    np.testing.assert_array_equal(*(np.asarray(r) for r in (plain, scripted)))
    with pytest.raises(EspalierError, match="expects --optimize none"):
        compile_command.run(
            parser.parse_args([*options, "--print-schedule", str(script), "--optimize", "egraph"])
        )


@pytest.mark.parametrize(
    ("rows", "width"), [(1001, 2051), (35, 8200), (8, 2048), (700, 2047), (3, 70001), (7, 200000)]
)
def test_vector_by_matrix(rows: int, width: int) -> None:
    """A matrix that is read once, of any number of rows of any width."""
    net = Net("product")
    a, b = net.input("a", [1, rows]), net.input("b", [rows, width])
    model = net.finish((net.node("MatMul", a, b), "y", [1, width]))
    random = np.random.default_rng(rows)
    a, b = (
        random.integers(-8, 8, shape).astype(np.float32) for shape in ((1, rows), (rows, width))
    )
    function = compile(model, options=NO_CACHE)
    for threads in (1, 2):
        function.set_num_threads(threads)
        np.testing.assert_array_equal(function(a=a, b=b), a @ b)


@pytest.mark.parametrize(
    ("count", "terms", "width"), [(2, 1003, 4001), (5, 1024, 1030), (7, 301, 5000), (7, 2050, 33)]
)
def test_few_rows_by_rows(count: int, terms: int, width: int) -> None:
    """Rows of a matrix that is read once for the few rows that multiply them."""
    net = Net("product")
    a, b = net.input("a", [count, terms]), net.input("b", [width, terms])
    model = net.finish((net.node("Gemm", a, b, transB=1), "y", [count, width]))
    random = np.random.default_rng(count)
    a, b = (random.integers(-8, 8, (rows, terms)).astype(np.float32) for rows in (count, width))
    function = compile(model, options=NO_CACHE)
    for threads in (1, 2):
        function.set_num_threads(threads)
        np.testing.assert_array_equal(function(a=a, b=b), a @ b.T)


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize(
    ("count", "terms", "width"), [(8, 1024, 1536), (33, 515, 4096), (65, 1024, 2048)]
)
def test_rows_by_panels(count: int, terms: int, width: int, is_transposed: bool) -> None:
    """A matrix larger than the cache, of which a panel at a time is rearranged."""
    net = Net("product")
    a = net.input("a", [count, terms])
    b = net.input("b", [width, terms] if is_transposed else [terms, width])
    product = net.node("Gemm", a, b, transB=int(is_transposed))
    biased = net.node("Relu", net.node("Add", product, net.input("c", [width])))
    model = net.finish((product, "y", [count, width]), (biased, "z", [count, width]))
    random = np.random.default_rng(count)
    a = random.integers(-8, 8, (count, terms)).astype(np.float32)
    b = random.integers(-8, 8, (terms, width)).astype(np.float32)
    c = random.integers(-8, 8, width).astype(np.float32)
    function = compile(model, options=NO_CACHE)
    given = np.ascontiguousarray(b.T) if is_transposed else b
    for threads in (1, 2):
        function.set_num_threads(threads)
        y, z = function(a=a, b=given, c=c)
        np.testing.assert_array_equal(y, a @ b)
        np.testing.assert_array_equal(z, np.maximum(a @ b + c, 0))


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize(
    ("batch", "count", "terms", "width"),
    [(3, 32, 1024, 2048), (17, 40, 1024, 96), (2, 70, 1024, 1536)],
)
def test_batches_of_rows(
    batch: int, count: int, terms: int, width: int, is_transposed: bool
) -> None:
    """Products of a batch with matrices from memory, each of which is read once."""
    net = Net("product")
    a = net.input("a", [batch, count, terms])
    b = net.input("b", [batch, width, terms] if is_transposed else [batch, terms, width])
    if is_transposed:
        b = net.node("Transpose", b, perm=[0, 2, 1])
    model = net.finish((net.node("MatMul", a, b), "y", [batch, count, width]))
    random = np.random.default_rng(count)
    a = random.integers(-8, 8, (batch, count, terms)).astype(np.float32)
    b = random.integers(-8, 8, (batch, terms, width)).astype(np.float32)
    given = np.ascontiguousarray(b.swapaxes(1, 2)) if is_transposed else b
    function = compile(model, options=NO_CACHE)
    for threads in (1, 2):
        function.set_num_threads(threads)
        np.testing.assert_array_equal(function(a=a, b=given), a @ b)


@pytest.mark.parametrize("is_transposed", [False, True])
def test_product_with_itself(is_transposed: bool) -> None:
    """The matrix that is rearranged panel by panel is the other operand as well."""
    net = Net("product")
    x = net.input("x", [512, 1024] if is_transposed else [1024, 512])
    turned = net.node("Transpose", x, perm=[1, 0])
    operands = (x, turned) if is_transposed else (turned, x)
    model = net.finish((net.node("MatMul", *operands), "y", [512, 512]))
    x = np.random.default_rng(0).integers(-8, 8, (1024, 512)).astype(np.float32)
    given = np.ascontiguousarray(x.T) if is_transposed else x
    np.testing.assert_array_equal(compile(model, options=NO_CACHE)(x=given), x.T @ x)
