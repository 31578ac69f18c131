"""Expressions over run-time sizes."""

import pytest

from espalier.importers.onnx.symbolic import (
    Expr,
    apply,
    compare,
    differs,
    divide_exactly,
    lower_bound,
)

N, S = Expr.size("n"), Expr.size("s")


def test_equal_polynomials_are_equal():
    assert (N + S) * (N - S) == N * N - S * S
    assert N - N == 0
    assert hash(N + 1) == hash(1 + N)


@pytest.mark.parametrize(
    ("left", "right", "quotient"),
    [
        (N * S * 768, N * S * 12, 64),
        (2 * N * S + 6 * S, 2 * S, N + 3),
        (N * N - S * S, N + S, N - S),
        (N + 1, 2, None),
        (N, S, None),
        (N, 0, None),
        (0, N, 0),
    ],
)
def test_exact_division(left, right, quotient):
    assert divide_exactly(left, right) == quotient


@pytest.mark.parametrize(
    ("function", "left", "right", "result"),
    [
        ("div", -7, 2, -3),
        ("floordiv", -7, 2, -4),
        ("mod", -7, 2, 1),
        ("mod", 4 * N, 2, 0),
        ("max", N, 0, N),
        ("min", N + 1, 0, 0),
        ("max", N, N + 2, N + 2),
    ],
)
def test_functions_simplify(function, left, right, result):
    assert apply(function, left, right) == result


def test_functions_that_stay():
    assert str(apply("floordiv", N + 1, 2)) == "floordiv(n + 1, 2)"
    assert apply("max", N, S) == apply("max", N, S)


def test_division_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        apply("div", 1, 0)


def test_bounds():
    assert lower_bound(2 * N + 3) == 3
    assert lower_bound(N - 1) == -1
    assert lower_bound(1 - N) is None
    assert lower_bound(apply("max", N - S, 0)) == 0
    assert compare(N, S) is None
    assert compare(N + 1, N) == 1
    assert differs(N + 1, N)
    assert differs(N, -1)
    assert not differs(N, 1)
