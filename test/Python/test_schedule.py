"""Schedules: each command applied at once, refusals, scripts."""

import inspect
import json
import subprocess

import numpy as np
import pytest

import espalier
from espalier import _espalier
from espalier.compiler import Options
from espalier.errors import CompileError, EspalierError
from espalier.kernels import f64, kernel, label, sizes
from espalier.models import Net
from espalier.schedules import Schedule, ScheduleError
from espalier.schedules.schedule import Commands
from support import one_op

m, n, k, t = sizes("m n k t")
NO_CACHE = Options(cache=None)


@kernel
def product(a: f64[m, k], b: f64[k, n], c: f64[m, n]) -> None:
    for i in range(m):
        for j in range(n):
            for p in range(k):
                label("acc")
                c[i, j] += a[i, p] * b[p, j]


@kernel
def seidel(a: f64[n]) -> None:
    for _s in range(t):
        for i in range(1, n - 1):
            label("step")
            a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3


def check_product(program, threads=1) -> None:
    program.set_num_threads(threads)
    for rows, columns, depth in [(37, 41, 13), (1, 1, 1), (64, 64, 64), (2, 0, 3)]:
        random = np.random.default_rng(rows)
        a, b = random.random((rows, depth)), random.random((depth, columns))
        c = random.random((rows, columns))
        expected = c + a @ b
        program(a, b, c)
        np.testing.assert_allclose(c, expected, rtol=1e-12)


def test_commands_show_in_the_loops():
    s = Schedule(product)
    assert s.kernel == "product"
    assert s.computations == {"acc": ["i", "j", "p"]}
    assert s.loops().splitlines() == [
        "for i = 0 to m",
        "  for j = 0 to n",
        "    for p = 0 to k",
        "      acc(i, j, p)",
    ]
    s.tile("acc", ["i", "j"], [[16, 32]])
    s.parallelize("acc", "i.0")
    s.vectorize("acc", "j.1", 8)
    assert s.loops().splitlines() == [
        "for i.0 = 0 to (m - 1) floordiv 16 + 1 parallel",
        "  for j.0 = 0 to (n - 1) floordiv 32 + 1",
        "    for i.1 = 0 to min(16, m - 16 * i.0)",
        "      for j.1.0 = 0 to min(4, (n - 1) floordiv 8 + 1 - 4 * j.0)",
        "        for p = 0 to k",
        "          for j.1.1 = 0 to min(8, n - 32 * j.0 - 8 * j.1.0) vector(8)",
        "            acc(16 * i.0 + i.1, 32 * j.0 + 8 * j.1.0 + j.1.1, p)",
    ]
    for threads in (1, 2):
        check_product(s.compile(NO_CACHE), threads)


def test_script_is_replayed(tmp_path):
    s = Schedule(product)
    s.split("acc", "i", [4], into=["rows", "row"])
    s.interchange("acc", ["row", "j"])
    script = str(s)
    assert script.count("transform.poly.computation @product::@acc") == 1
    assert 'transform.poly.split %0 loop "i" factors [4] into ["rows", "row"]' in script
    s.save(tmp_path / "product.mlir")

    replayed, loaded = Schedule(product), Schedule(product)
    replayed.replay(script)
    loaded.load(tmp_path / "product.mlir")
    assert str(replayed) == str(loaded) == script
    assert replayed.loops() == loaded.loops() == s.loops()
    check_product(loaded.compile(NO_CACHE))


def test_empty_script(tmp_path):
    s = Schedule(product)
    assert str(s) == ""
    s.save(tmp_path / "nothing.mlir")
    s.load(tmp_path / "nothing.mlir")
    check_product(s.compile(NO_CACHE))


def test_refusal_changes_nothing():
    s = Schedule(seidel)
    before = str(s.module), s.loops()
    with pytest.raises(ScheduleError) as error:
        s.parallelize("step", "i")
    assert str(error.value).splitlines()[0] == (
        "'transform.poly.parallelize' op expects the parallel loop \"i\" to carry no dependence, "
        "but got the flow dependence from @step(0, 1) to @step(0, 2), distance (0, 1), on 'a' "
        "(write 0 at [i], read 0 at [i - 1]), with n = 4, t = 1; no loop of @step may be parallel"
    )
    line = inspect.getsourcelines(seidel.__wrapped__)[1] + 5
    assert f"{__file__}:{line}: target op" in str(error.value)
    assert (str(s.module), s.loops(), str(s)) == (*before, "")


def test_script_is_applied_as_a_whole(tmp_path):
    s = Schedule(seidel)
    other = Schedule(seidel)
    other.split("step", "i", [4])
    script = str(other).replace(
        "transform.yield",
        'transform.poly.parallelize %0 loop "i.1" : !transform.any_op\n transform.yield',
    )
    before = s.loops()
    with pytest.raises(ScheduleError, match=r"^script:5: 'transform\.poly\.parallelize' op"):
        s.replay(script)
    (tmp_path / "bad.mlir").write_text(script)
    with pytest.raises(ScheduleError, match=f"^{tmp_path}/bad.mlir:5: 'transform.poly.paral"):
        s.load(tmp_path / "bad.mlir")
    assert s.loops() == before
    assert str(s) == ""


def test_data_commands():
    s = Schedule(product)
    s.tile("acc", ["i", "j", "p"], [[16, 32, 8]])
    (copy,) = s.cache_read("acc", 2, loop="p.0", placement="stack")
    assert copy in s.computations
    assert f"{copy}(" in s.loops()
    s.place(copy, "heap")
    assert f"transform.poly.computation @product::@{copy} of" in str(s)
    assert "transform.poly.written_array of" in str(s)
    check_product(s.compile(NO_CACHE))
    with pytest.raises(ScheduleError, match="expects @acc to write an array of the kernel"):
        s.place("acc", "stack")
    for placement in ("x", ["heap"]):
        with pytest.raises(ScheduleError, match="expects one of heap, stack, register, but got "):
            s.place(copy, placement)


def test_skew_and_wavefront():
    s = Schedule(seidel)
    s.skew("step", "i", [2], ["_s"])
    s.tile("step", ["_s", "i"], [[4, 8]])
    a = np.random.default_rng(1).random(37)
    expected = a.copy()
    for _ in range(9):
        for i in range(1, 36):
            expected[i] = (expected[i - 1] + expected[i] + expected[i + 1]) / 3
    s.compile(NO_CACHE)(a, t=9)
    np.testing.assert_allclose(a, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.split("nix", "i", [4]), "expects a computation of @product, one of [@acc]"),
        (lambda s: s.split("acc", "x", [4]), 'one of ["i", "j", "p"], but got "x"'),
        (lambda s: s.split("acc", "i", [0]), "expects positive factors, but got 0"),
        (lambda s: s.split("acc", "i", 4), "expects a list, but got 4"),
        (lambda s: s.split("acc", "i", ["a"]), "expects an integer, but got 'a'"),
        (lambda s: s.split("acc", "i", [2**70]), "expects an integer of 64 bits, but got 118"),
        (lambda s: s.split("acc", "i", [2**20, 2**20]), "of at most 2^30, but got [1048576, 1048"),
        (lambda s: s.split("acc", "\u00e4\n", [4]), '["i", "j", "p"], but got "\u00e4\n"'),
        (lambda s: s.split("acc", 1, [4]), "expects a string, but got 1"),
        (lambda s: s.shift("acc", "i", "n + 1"), "expects a map such as 'affine_map<(i) ->"),
        (
            lambda s: s.remap("acc", ["i"], "affine_map<(i) -> (i mod 0)>"),
            "expects positive divisors, but got d0 mod 0",
        ),
        (
            lambda s: s.register_block("acc", ["i", "p"], [4, 8], 4),
            'expects loops over elements of what @acc writes, but "p" runs over updates of one',
        ),
        (
            lambda s: s.register_block("acc", ["i", "j"], [400, 800], 4),
            "expects at most 8192 copies of a point of @acc",
        ),
        (lambda s: s.rfactor("acc", ""), 'one of ["i", "j", "p"], but got ""'),
        (lambda s: s.rfactor("acc", "i"), 'in one iteration; legal for the loops ["p"]'),
        (lambda s: s.tensorize("acc", "i", "no"), "a micro-kernel, one of [@product], but got @no"),
        (lambda s: s.split(1, "i", [4]), "expects the name of a computation, but got 1"),
        (lambda s: s.replay("module {}"), "expects a script with a sequence @__transform_main"),
        (lambda s: s.replay("nonsense"), "custom op 'nonsense' is unknown"),
    ],
)
def test_bad_commands(call, message):
    s = Schedule(product)
    with pytest.raises(ScheduleError) as error:
        call(s)
    assert message in str(error.value)
    assert str(s) == ""


def test_every_command_is_documented():
    commands = {name for name, f in vars(Commands).items() if inspect.isfunction(f)}
    assert {"split", "tile", "fuse", "vectorize"} <= commands
    for name in commands:
        assert inspect.getdoc(getattr(Commands, name)), name


TWO = """
poly.kernel @first(%A: memref<4xf32>) {
}
poly.kernel @second(%A: memref<4xf32>) {
}
"""


def test_kernels_of_a_module():
    with pytest.raises(EspalierError, match=r"one of the kernels \['first', 'second'\], but got"):
        Schedule(TWO)
    with pytest.raises(CompileError, match=r"one of \[first, second\], but got 'third'"):
        Schedule(TWO, "third")
    with pytest.raises(CompileError, match="expects one of the stages"):
        _espalier.lower(_espalier.Module.parse(TWO), "fifth")


SCATTER = """
#i = affine_map<(i)[n] -> (i)>
poly.kernel @scatter(
    %at: memref<?xi32> {espalier.name = "at", poly.shape = affine_map<()[n] -> (n)>,
                        poly.injective, poly.bounded_by = affine_map<()[n] -> (n)>},
    %x: memref<?xf32> {espalier.name = "x", poly.shape = affine_map<()[n] -> (n)>},
    %y: memref<?xf32> {espalier.name = "y", poly.shape = affine_map<()[n] -> (n)>},
    %n: index {espalier.name = "n"}) {
  poly.compute @put dims ["i"] domain [affine_set<(i)[n] : (i >= 0, n - 1 - i >= 0)>]
      reads(%at[#i], %x[#i] : memref<?xi32>, memref<?xf32>)
      writes(%y[affine_map<(i)[n, v, w] -> (v)>] : memref<?xf32>) {
  ^bb0(%v: i32, %a: f32):
    poly.yield %a : f32
  }
}
"""


def test_scatter_to_different_places_is_parallel():
    s = Schedule(SCATTER)
    s.parallelize("put", "i")
    program = s.compile(NO_CACHE)
    program.set_num_threads(2)
    at = np.array([3, 0, 4, 1, 2], np.int32)
    x, y = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    program(at, x, y)
    np.testing.assert_array_equal(y[at], x)
    for values, message in [
        ([3, 0, 3, 1, 2], "expects different values, but got 3 once more in element 2"),
        ([3, 0, 5, 1, 2], "expects values from 0 to less than 5, but got 5 in element 2"),
    ]:
        with pytest.raises(EspalierError, match=message):
            program(np.array(values, np.int32), x, y)
    with pytest.raises(ScheduleError, match="output dependence"):
        Schedule(SCATTER.replace("poly.injective, ", "")).parallelize("put", "i")


def test_model(tmp_path):
    model = one_op("MatMul", {"a": (np.float32, ["r", 5]), "b": (np.float32, [5, 6])})
    module = espalier.lower(model)
    kernels = json.loads(_espalier.describe_kernels(module))
    s = Schedule(module, next(iter(kernels)))
    name, dims = next(iter(s.computations.items()))
    s.split(name, dims[0], [2])
    s.save(tmp_path / "schedule.mlir")
    function = espalier.compile(model, schedule=tmp_path / "schedule.mlir", options=NO_CACHE)
    random = np.random.default_rng(1)
    a, b = (random.random(shape).astype(np.float32) for shape in [(3, 5), (5, 6)])
    np.testing.assert_allclose(function(a, b), a @ b, rtol=1e-5)
    with pytest.raises(EspalierError, match="cannot read"):
        espalier.compile(model, schedule=tmp_path / "missing.mlir")


def test_winograd():
    """How a convolution is computed can be chosen before it is scheduled."""
    net = Net("conv")
    x = net.input("x", [1, 64, 18, 18])
    y = net.node("Conv", x, net.weight([64, 64, 3, 3], 0.05), kernel_shape=[3, 3])
    model = net.finish((y, "y", [1, 64, 16, 16]))

    def count_computations(winograd: bool) -> int:
        kernels = json.loads(
            _espalier.describe_kernels(espalier.lower(model, options=Options(winograd=winograd)))
        )
        return sum(len(kernel["computations"]) for kernel in kernels.values())

    assert count_computations(True) > 16 > count_computations(False)
    image = np.random.default_rng(1).random((1, 64, 18, 18), np.float32)
    fast, plain = (
        espalier.compile(model, options=Options(cache=None, winograd=winograd))(image)
        for winograd in (True, False)
    )
    assert not np.array_equal(fast, plain)
    np.testing.assert_allclose(fast, plain, rtol=1e-4, atol=1e-5)


def test_script_runs_in_the_tool(tmp_path):
    """What is printed is what `espalier-opt` takes."""
    s = Schedule(product)
    s.split("acc", "i", [4])
    s.save(tmp_path / "script.mlir")
    (tmp_path / "kernel.mlir").write_text(product.mlir)
    command = [
        "espalier-opt",
        "kernel.mlir",
        "--transform-preload-library=transform-library-paths=script.mlir",
        "--transform-interpreter",
    ]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'names ["i.0", "i.1", "j", "p"]' in result.stdout, result.stderr


CHOICES = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_statements(%module: !transform.any_op {{transform.readonly}}) {{
    %0 = transform.poly.computation @{kernel}::@s0 of %module : (!transform.any_op) -> !transform.any_op
    {command} : !transform.any_op
    transform.yield
  }}
}}
"""  # noqa: E501


def choose(tmp_path, model, operator, command):
    """Return a script that runs `command` on the sum of an operator."""
    module = espalier.lower(model, stage="statements")
    kernels = json.loads(_espalier.describe_kernels(module))
    kernel = max(
        (name for name in kernels if name.startswith(operator)),
        key=lambda name: ("s0_init" in kernels[name]["computations"], name),
    )
    path = tmp_path / "choices.mlir"
    path.write_text(CHOICES.format(kernel=kernel, command=command))
    return path


def test_algorithm_of_one_kernel(tmp_path):
    """Winograd's algorithm or the plain sum, for this convolution."""
    net = Net("conv")
    x = net.input("x", [1, 64, 18, 18])
    y = net.node("Conv", x, net.weight([64, 64, 3, 3], 0.05), kernel_shape=[3, 3])
    model = net.finish((y, "y", [1, 64, 16, 16]))
    image = np.random.default_rng(1).random((1, 64, 18, 18), np.float32)
    expected = espalier.compile(model, options=Options(cache=None, winograd=False))(image)
    script = choose(tmp_path, model, "conv", "transform.poly.algorithm %0 direct")
    direct = espalier.compile(model, schedule=script, options=NO_CACHE)
    np.testing.assert_array_equal(direct(image), expected)
    script = choose(tmp_path, model, "conv", "transform.poly.algorithm %0 winograd")
    fast = espalier.compile(model, schedule=script, options=NO_CACHE)(image)
    assert 0 < np.abs(fast - expected).max() < 1e-4


@pytest.mark.parametrize(
    "layout",
    [
        "read 1 affine_map<(k, j) -> (k, j)>",
        "read 1 affine_map<(k, j) -> (j, k)>",
        "read 1 affine_map<(k, j) -> (j floordiv 5, k, j mod 5)>",
        "affine_map<(i, j) -> (j floordiv 3, i floordiv 2, j mod 3, i mod 2)>",
    ],
)
def test_layout_of_one_buffer(tmp_path, layout):
    """Weights, or a result between kernels, in layouts that nobody would choose."""
    net = Net("layers")
    x = net.input("x", ["rows", 19])
    y = net.node("Softmax", net.node("MatMul", x, net.weight([19, 33], 0.1)))
    model = net.finish((net.node("MatMul", y, net.weight([33, 8], 0.1)), "y", ["rows", 8]))
    script = choose(tmp_path, model, "matmul", f"transform.poly.buffer_layout %0 {layout}")
    rows = np.random.default_rng(1).random((7, 19), np.float32)
    chosen, default = (
        espalier.compile(model, schedule=schedule, options=NO_CACHE)(rows)
        for schedule in (script, None)
    )
    np.testing.assert_allclose(chosen, default, rtol=1e-5)


def test_choices_come_before_kernels(tmp_path):
    model = one_op("MatMul", {"a": (np.float32, ["r", 5]), "b": (np.float32, [5, 6])})
    path = choose(tmp_path, model, "matmul", "transform.poly.algorithm %0 direct")
    with pytest.raises(ScheduleError, match="expects a script for kernels that are formed"):
        Schedule(espalier.lower(model)).replay(path.read_text())
    formed = espalier.lower(model)
    with pytest.raises(CompileError, match="whose kernels are not formed yet"):
        _espalier.schedule(formed, path.read_text())
