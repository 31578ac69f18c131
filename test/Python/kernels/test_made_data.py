"""What kernels state of arrays that a program makes is checked where they are complete."""

import re

import numpy as np
import pytest

from espalier import _espalier
from espalier.compiler import Options
from espalier.errors import EspalierError
from espalier.kernels.program import KernelProgram, compile_kernel
from espalier.schedules import Schedule, ScheduleError

NO_CACHE = Options(cache=None)

# order[i] = first[i] + step[0], then y[order[i]] = x[i], then z[i] = 2 y[i].
PROGRAM = """
#i = affine_map<(i)[n] -> (i)>
#all = affine_set<(i)[n] : (i >= 0, n - 1 - i >= 0)>
#size = affine_map<()[n] -> (n)>
poly.kernel @make(%first: memref<?xINT>, %step: memref<1xINT>, %order: memref<?xINT>, %n: index) {
  poly.compute @m dims ["i"] domain [#all]
      reads(%first[#i], %step[affine_map<(i)[n] -> (0)>] : memref<?xINT>, memref<1xINT>)
      writes(%order[#i] : memref<?xINT>) {
  ^bb0(%v: INT, %s: INT):
    %r = arith.addi %v, %s : INT
    poly.yield %r : INT
  }
}
poly.kernel @scatter(
    %order: memref<?xINT> {espalier.name = "order", poly.shape = #size, FACTS},
    %x: memref<?xf32> {poly.shape = #size}, %y: memref<?xf32> {poly.shape = #size},
    %n: index {espalier.name = "n"}) {
  GIVEN
  poly.compute @s dims ["i"] domain [#all]
      reads(%order[#i], %x[#i] : memref<?xINT>, memref<?xf32>)
      writes(%y[affine_map<(i)[n, c, v] -> (c)>] : memref<?xf32>) {
  ^bb0(%c: INT, %v: f32):
    poly.yield %v : f32
  }
  poly.schedule {
    poly.band [@s] maps [#i] loops [KIND] names ["i"]
  }
}
poly.kernel @double(%y: memref<?xf32>, %z: memref<?xf32>, %n: index) {
  poly.compute @d dims ["i"] domain [#all] reads(%y[#i] : memref<?xf32>)
      writes(%z[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    %r = arith.addf %v, %v : f32
    poly.yield %r : f32
  }
}
func.func @main(
    %first: memref<?xINT> {espalier.name = "first", espalier.dims = ["n"]},
    %step: memref<1xINT> {espalier.name = "step"},
    %x: memref<?xf32> {espalier.name = "x", espalier.dims = ["n"]},
    %y: memref<?xf32> {espalier.name = "y"}, %z: memref<?xf32> {espalier.name = "z"})
    attributes {espalier.num_inputs = 3 : i64} {
  %zero = arith.constant 0 : index
  %n = memref.dim %first, %zero : memref<?xINT>
  %order = memref.alloc(%n) : memref<?xINT>
  poly.call @make(%first, %step, %order, %n)
      : memref<?xINT>, memref<1xINT>, memref<?xINT>, index
  poly.call @scatter(%order, %x, %y, %n) : memref<?xINT>, memref<?xf32>, memref<?xf32>, index
  poly.call @double(%y, %z, %n) : memref<?xf32>, memref<?xf32>, index
  return
}
func.func @main_plan(%n: index, %one: index, %m: index) -> (index, index) {
  return %n, %n : index, index
}
"""
BOUND = "poly.bounded_by = #size"
DIFFERENT = f"{BOUND}, poly.injective"
SORTED = f"{BOUND}, poly.monotonic"
INSIDE = """poly.given @inside dims ["i"] domain [#all] reads(%order[#i] : memref<?xINT>)
      holds affine_set<(i)[n, c] : (c >= 0, n - 1 - c >= 0)>"""


def make_program(facts: str, given: str = "", kind: str = "sequential", dtype: str = "i32") -> str:
    """Return the program; the kernel that scatters states what is said."""
    text = PROGRAM.replace("GIVEN", given).replace("KIND", kind)
    text = text.replace(", FACTS", f", {facts}" if facts else "")
    return text.replace("INT", dtype)


def compile_program(text: str) -> KernelProgram:
    """Compile a module with several kernels."""
    return compile_kernel(_espalier.Module.parse(text), [], NO_CACHE)


def run(
    program: KernelProgram, first: list[int], step: int, dtype: type = np.int32
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, y and z."""
    n = len(first)
    x = np.arange(1, n + 1, dtype=np.float32)
    y, z = np.zeros(n, np.float32), np.zeros(n, np.float32)
    arrays = {"first": np.array(first, dtype), "step": np.array([step], dtype)}
    program.bind(**arrays, x=x, y=y, z=z)()
    return x, y, z


@pytest.mark.parametrize(("facts", "given"), [(BOUND, ""), (DIFFERENT, ""), ("", INSIDE)])
@pytest.mark.parametrize(("dtype", "numpy_type"), [("i32", np.int32), ("i64", np.int64)])
def test_right_data(facts: str, given: str, dtype: str, numpy_type: type) -> None:
    program = compile_program(make_program(facts, given, dtype=dtype))
    random = np.random.default_rng(1)
    for n in (0, 1, 2, 7, 100):
        order = random.permutation(n)
        x, y, z = run(program, (order - 3).tolist(), 3, numpy_type)
        expected = np.zeros(n, np.float32)
        expected[order] = x
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(z, 2 * expected)


@pytest.mark.parametrize(
    ("facts", "given", "first", "message"),
    [
        (BOUND, "", [0, 1, 3], "'order' of @scatter from 0 to less than n, but element 2 is 3"),
        (BOUND, "", [-1, 1, 2], "from 0 to less than n, but element 0 is -1"),
        (DIFFERENT, "", [2, 0, 2], "that are different, but 2 is there more than once"),
        (DIFFERENT, "", [2, 2, 9], "from 0 to less than n, but element 2 is 9"),
        (SORTED, "", [1, 2, 0], "not decrease, but element 2 is 0 and the one before it 2"),
        ("", INSIDE, [0, 3, 1], r"expects @inside of @scatter .* got i = 1, order\[i\] = 3"),
    ],
)
def test_wrong_data(facts: str, given: str, first: list[int], message: str) -> None:
    """Nothing is read or written out of bounds, and a program that failed can run again."""
    program = compile_program(make_program(facts, given))
    for _ in range(2):
        with pytest.raises(EspalierError, match=message):
            run(program, [v - 5 for v in first], 5)
        x, y, _ = run(program, [-5, -4, -3], 5)
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("value", [2**31, 2**62, -(2**63)])
def test_wide_values(value: int) -> None:
    program = compile_program(make_program(BOUND, dtype="i64"))
    with pytest.raises(EspalierError, match=f"but element 1 is {value}"):
        run(program, [0, value], 0, np.int64)


def test_schedules_rely_on_it() -> None:
    """What is scattered to different places is scattered in parallel."""
    facts = DIFFERENT
    module = _espalier.Module.parse(make_program(facts))
    s = Schedule(module, "scatter")
    s.parallelize("s", "i")
    program = compile_program(str(s.module))
    program.set_num_threads(2)
    order = np.random.default_rng(2).permutation(1000)
    x, y, _ = run(program, order.tolist(), 0)
    np.testing.assert_array_equal(y[order], x)
    with pytest.raises(EspalierError, match="that are different"):
        run(program, [0] * 1000, 0)
    for other in [BOUND, SORTED]:
        s = Schedule(_espalier.Module.parse(make_program(other)), "scatter")
        with pytest.raises(ScheduleError, match="output dependence"):
            s.parallelize("s", "i")


def test_random_data() -> None:
    """A call is refused exactly if what is stated does not hold."""
    programs = [
        (compile_program(make_program(facts)), check)
        for facts, check in [
            (BOUND, lambda _: True),
            (DIFFERENT, lambda v: len(set(v)) == len(v)),
            (SORTED, lambda v: (np.diff(v) >= 0).all()),
        ]
    ]
    random = np.random.default_rng(3)
    refused = 0
    for _ in range(300):
        n = int(random.integers(0, 6))
        values = random.integers(-1, n + 1, n) if random.random() < 0.3 else random.permutation(n)
        if random.random() < 0.4:
            values = np.sort(values)
        for program, check in programs:
            holds = ((values >= 0) & (values < n)).all() and check(values)
            if holds:
                x, y, _ = run(program, values.tolist(), 0)
                expected = np.zeros(n, np.float32)
                for value, element in zip(values, x, strict=True):
                    expected[value] = element
                np.testing.assert_array_equal(y, expected)
                continue
            refused += 1
            with pytest.raises(EspalierError, match="expects values of 'order'"):
                run(program, values.tolist(), 0)
    assert 100 < refused < 800


def test_nobody_else_checks() -> None:
    """A mark of a call that is not the checker's own is worth nothing."""
    text = make_program(BOUND)
    text = re.sub(r"(poly\.call @scatter\([^)]*\))", r"\1 {poly.checked = array<i64: 0>}", text)
    with pytest.raises(EspalierError, match="from 0 to less than n"):
        run(compile_program(text), [5], 0)


def test_nothing_is_stated_of_what_a_kernel_writes() -> None:
    """So two kernels of which one relies on what the other makes stay two."""
    for facts, given in [(BOUND, ""), ("", INSIDE)]:
        s = Schedule(_espalier.Module.parse(make_program(facts, given)), "make")
        before = str(s.module)
        with pytest.raises(ScheduleError, match="that no computation writes"):
            s.merge("m", "scatter::s")
        assert str(s.module) == before
