"""What a kernel cannot have, and arguments that do not fit."""

import math
import re

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.errors import ArgumentError, CompileError, EspalierError
from espalier.kernels import KernelError, f32, f64, i32, kernel, label, local, sizes
from espalier.kernels.program import KernelProgram

m, n = sizes("m n")


def untyped(a):
    a[0] = 0


def default(a: f64[n], x: f64 = 1.0) -> None:
    a[0] = x


def empty(a: f64[n]) -> None:
    pass


def call(a: f64[n]) -> None:
    print(a)


def while_loop(a: f64[n]) -> None:
    while True:
        a[0] = 0


def list_loop(a: f64[n]) -> None:
    for i in [1, 2]:
        a[i] = 0


def zero_step(a: f64[n]) -> None:
    for i in range(0, n, 0):
        a[i] = 0


def two_bounds(a: f64[n]) -> None:
    for i in range(max(m, 1), n, 2):
        a[i] = 0


def product_of_loops(a: f64[n]) -> None:
    for i in range(n):
        a[i * n] = 0


def bound_from_data(a: i32[n]) -> None:
    for i in range(a[0]):
        a[i] = 0


def bound_of_a_bound(a: f64[n], b: i32[n].with_values(bounded_by=n)) -> None:
    for i in range(b[b[0]]):
        a[i] = 0


def bound_divided(a: f64[n], b: i32[n].with_values(bounded_by=n)) -> None:
    for i in range(b[0] // 2):
        a[i] = 0


def step_between_data(a: f64[n], b: i32[n].with_values(bounded_by=n)) -> None:
    for i in range(b[0], n, 2):
        a[i] = 0


def float_subscript(a: f64[n], b: f64[n]) -> None:
    a[b[0]] = 0


def rank(a: f64[n, n]) -> None:
    a[0] = 0


def condition_on_data(a: f64[n]) -> None:
    if a[0] > 0:
        a[0] = 0


def truth_of_a_number(a: f64[n]) -> None:
    if n:
        a[0] = 0


def mixed_types(a: f64[n], b: f32[n]) -> None:
    a[0] = b[0]


def mixed_operands(a: f64[n], b: f32[n]) -> None:
    a[0] = a[0] * b[0]


def loop_variable_as_value(a: f64[n]) -> None:
    for i in range(n):
        a[i] = i


def fraction(a: i32[n]) -> None:
    a[0] = 0.5


def integer_quotient(a: i32[n]) -> None:
    a[0] = a[1] / a[2]


def untyped_literal(a: f64[n]) -> None:
    a[0] = math.sqrt(2)


def unknown_function(a: f64[n]) -> None:
    a[0] = math.gcd(a[1], a[2])


def unknown_name(a: f64[n]) -> None:
    a[0] = b  # noqa: F821


def new_scalar(a: f64[n]) -> None:
    s = 0.0
    a[0] = s


def twice(a: f64[n]) -> None:
    for i in range(n):
        for i in range(n):
            a[i] = 0


def local_extent(a: f64[n]) -> None:
    x = local(f64[n + 1])
    x[0] = a[0]


def bad_label(a: f64[n]) -> None:
    label("a b")
    a[0] = 0


def label_twice(a: f64[n]) -> None:
    label("a")
    a[0] = 0
    label("a")
    a[0] = 0


def label_at_end(a: f64[n]) -> None:
    a[0] = 0
    label("a")


def assertion_of_data(a: f64[n]) -> None:
    assert n > 1 or m > 1
    a[0] = 0


def bit_update(a: i32[n]) -> None:
    a[0] |= 1


REFUSED = {
    untyped: "expects a type such as f64[n] for argument 'a', but got None",
    default: "expects plain arguments without defaults",
    empty: "expects an assignment to an array",
    call: "expects a loop, an 'if' or an assignment, but got 'print(a)'",
    while_loop: "expects a loop, an 'if' or an assignment, but got 'while True:'",
    list_loop: "expects a loop over a range, but got '[1, 2]'",
    zero_step: "expects a constant step that is not 0",
    two_bounds: "expects one first value for step 2",
    product_of_loops: "expects an affine expression, whose products and quotients have a "
    "constant, but got 'i * n'",
    bound_from_data: "expects 'a' to have values that are bounded, as in "
    "'i32[n].with_values(bounded_by=m)', to bound a loop",
    bound_of_a_bound: "expects the bound of a loop to be a sum of elements at affine places, "
    "but got 'b[b[0]]'",
    bound_divided: "expects the bound of a loop to be a sum of elements at affine places, "
    "but got 'b[0] // 2'",
    step_between_data: "expects step 1 between bounds that are read, but got 2",
    float_subscript: "expects an integer as index, but got 'b[0]'",
    rank: "expects 2 subscripts of 'a', but got 1",
    condition_on_data: "expects an affine expression of loop variables and sizes, but got "
    "'a[0]'; use 'x if c else y' to choose between values",
    truth_of_a_number: "expects a condition on loop variables and sizes, but got 'n'",
    mixed_types: "expects a value of type f64, but got f32; convert it, as in 'f64(x)'",
    mixed_operands: "expects operands of one type, but got f32 and f64; convert, as in 'f64(x)'",
    loop_variable_as_value: "expects a value of type f64, but got index",
    fraction: "expects i32, but got 0.5",
    integer_quotient: "expects floating-point numbers for 'div', but got i32; use '//'",
    untyped_literal: "expects a number with a type, such as f64(2)",
    unknown_function: "expects a function out of those of 'math', but got 'math.gcd'",
    unknown_name: "expects a name that is known, but got 'b'",
    new_scalar: "expects a type for a new scalar, as in 's: f64 = ...'",
    twice: "expects a name that is not taken, but got 'i' again",
    local_extent: "expects sizes or numbers as extents of a local array, but got n + 1",
    bad_label: "expects a name as label, as in label('update')",
    label_twice: "expects one label of its own, but got 'a'",
    label_at_end: "expects a statement after label 'a'",
    assertion_of_data: "expects an assertion of sizes without 'or', but got 'n > 1 or m > 1'",
    bit_update: "expects one of += -= *= /=, but got 'a[0] |= 1'",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refused(function):
    with pytest.raises(KernelError, match=re.escape(REFUSED[function])) as error:
        kernel(function)
    file, line, _ = str(error.value).split(":", 2)
    first = function.__code__.co_firstlineno
    assert file == __file__
    assert first <= int(line) <= first + 4


def test_function_without_text():
    names = {}
    exec("def f(a): a[0] = 0", names)
    with pytest.raises(KernelError, match="expects a function whose text is in a file"):
        kernel(names["f"])


def test_outside_of_kernels():
    with pytest.raises(EspalierError, match="expects names of sizes, but got '1'"):
        sizes("a 1")
    with pytest.raises(EspalierError, match="expects label 'x' inside a kernel"):
        label("x")
    with pytest.raises(EspalierError, match="expects a local array inside a kernel"):
        local(f64[n])
    with pytest.raises(TypeError, match="expects size 'n' inside a kernel"):
        range(n)
    with pytest.raises(EspalierError, match="expects integers with such values, but got f64"):
        f64[n].with_values(monotonic=True)
    with pytest.raises(EspalierError, match="expects a number, or a size plus a number"):
        i32[n].with_values(bounded_by=2 * n)
    with pytest.raises(EspalierError, match="expects a bound of values that are different"):
        i32[n].with_values(injective=True)
    with pytest.raises(EspalierError, match="expects monotonic values in 1 dimension, but got 2"):
        i32[n, m].with_values(monotonic=True)


def test_name_of_the_program():
    @kernel
    def main(a: f64[n]) -> None:
        for i in range(n):
            a[i] = 0

    with pytest.raises(CompileError, match="expects another name than that of the program's"):
        main.compile(Options(cache=None))


def test_access_outside_of_an_array():
    @kernel
    def outside(a: f64[n], b: f64[n]) -> None:
        for i in range(n):
            a[i] = b[i + 1]

    with pytest.raises(CompileError) as error:
        outside.compile(Options(cache=None))
    line = outside.__wrapped__.__code__.co_firstlineno + 3
    assert str(error.value).startswith(f"{__file__}:{line}: ")
    assert "expects to read 'b' inside its extent 1 in dimension 0" in str(error.value)


def test_assertion_of_sizes():
    @kernel
    def first(a: f64[n, m]) -> None:
        assert n >= 2
        assert m == 2 * n
        a[1, 3] = 1.0

    program = first.compile(Options(cache=None))
    program(np.zeros((2, 4)))
    with pytest.raises(CompileError, match="expects sizes with n - 2 >= 0"):
        program(np.zeros((1, 2)))
    with pytest.raises(CompileError, match=r"expects sizes with m - 2 \* n == 0"):
        program(np.zeros((3, 5)))


@kernel
def shift(a: f64[m, n], b: f64[n + 1], by: f64, count: i32) -> None:
    for i in range(m):
        for j in range(n):
            a[i, j] = b[j + 1] + by * f64(count)


@pytest.fixture(scope="module")
def compiled() -> KernelProgram:
    return shift.compile(Options(cache=None))


def given(**changes: object) -> dict[str, object]:
    arguments = {"a": np.zeros((2, 3)), "b": np.ones(4), "by": 0.5, "count": 2}
    return {k: v for k, v in {**arguments, **changes}.items() if v is not None}


read_only = np.zeros((2, 3))
read_only.flags.writeable = False
shared = np.zeros(9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": np.zeros((2, 3), np.float32)}, "argument 'a': expects element type float64"),
        ({"a": np.zeros(6)}, "argument 'a': expects rank 2, but got shape [6]"),
        ({"a": np.zeros((3, 2)).T}, "argument 'a': expects a C-contiguous array"),
        ({"a": read_only}, "argument 'a': expects a writeable array"),
        ({"a": [[1.0]]}, "argument 'a': expects an array, but got list"),
        ({"a": None}, "argument 'a': expects a value, but it is missing"),
        ({"b": np.ones(5)}, "argument 'b' expects an extent that fits the others in dimension 0"),
        ({"n": 4}, "argument 'a': expects extent 4 for 'n', as in argument 'n', but got"),
        ({"n": -1}, "size 'n': expects a number from 0 to 2^63 - 1, but got -1"),
        ({"n": 2**63}, f"size 'n': expects a number from 0 to 2^63 - 1, but got {2**63}"),
        ({"n": np.uint64(2**63)}, "size 'n': expects a number from 0 to 2^63 - 1, but got "),
        ({"n": 2**63 - 1}, f"argument 'a': expects extent {2**63 - 1} for 'n'"),
        ({"n": 3.0}, "size 'n': expects a number from 0 to 2^63 - 1, but got 3.0"),
        ({"x": 1}, "expects arguments out of ['b', 'by', 'count', 'm', 'n', 'a'], but got 'x'"),
        ({"count": 0.5}, "argument 'count': expects a number of type int32, but got 0.5"),
        ({"count": 2**40}, "argument 'count': expects a number of type int32"),
        ({"by": "1"}, "argument 'by': expects an array, but got str"),
        (
            {"a": shared[:6].reshape(2, 3), "b": shared[5:]},
            "argument 'a': expects memory of its own, but it overlaps 'b'",
        ),
    ],
)
def test_arguments(compiled, changes, message):
    with pytest.raises(ArgumentError if "fits" not in message else CompileError) as error:
        compiled(**given(**changes))
    assert message in str(error.value)


def test_positions(compiled):
    with pytest.raises(ArgumentError, match="expects 4 arguments, but got 5"):
        compiled(*given().values(), 1)
    with pytest.raises(ArgumentError, match="argument 'a': expects one value, but got two"):
        compiled(given()["a"], **given())
    with pytest.raises(ArgumentError, match="expects 1 to 1024 threads, but got 0"):
        compiled.set_num_threads(0)
    a = np.zeros((2, 3))
    compiled(**given(a=a, n=3))
    assert a.tolist() == [[2.0] * 3] * 2
