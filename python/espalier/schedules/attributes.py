"""Attributes of scheduling commands, as MLIR text."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from espalier.schedules.errors import ScheduleError


def text(value: str) -> str:
    """Return a string attribute."""
    if not isinstance(value, str):
        raise ScheduleError(f"expects a string, but got {value!r}")
    return '"' + "".join(_escape(byte) for byte in value.encode(errors="replace")) + '"'


def number(value: int) -> int:
    """Return an integer that fits an attribute."""
    try:
        result = operator.index(value)
    except TypeError as error:
        raise ScheduleError(f"expects an integer, but got {value!r}") from error
    if not -(2**63) <= result < 2**63:
        raise ScheduleError(f"expects an integer of 64 bits, but got {value!r}")
    return result


def integer(value: int) -> str:
    """Return an integer attribute."""
    return f"{number(value)} : i64"


def boolean(value: bool) -> str:
    """Return a boolean attribute."""
    return "true" if value else "false"


def real(value: float) -> str:
    """Return a floating-point attribute."""
    return f"{float(value):.17e} : f64"


def integers(values: Sequence[int]) -> str:
    """Return a dense array of integers."""
    numbers = ", ".join(str(number(value)) for value in _sequence(values))
    return f"array<i64: {numbers}>" if numbers else "array<i64>"


def array(element: Callable[..., str]) -> Callable[..., str]:
    """Return what makes an array attribute."""
    return lambda values: f"[{', '.join(element(value) for value in _sequence(values))}]"


def enumerator(cases: Mapping[str, int]) -> Callable[[str], str]:
    """Return what makes an attribute of an enumeration."""

    def make(value: str) -> str:
        if not isinstance(value, str) or value not in cases:
            raise ScheduleError(f"expects one of {', '.join(cases)}, but got {value!r}")
        return f"{cases[value]} : i32"

    return make


def memory_space(cases: Sequence[str]) -> Callable[[str], str]:
    """Return what makes a memory space: one of a CPU by its name, others as MLIR text."""

    def make(value: str) -> str:
        if isinstance(value, str) and value.startswith("#"):
            return value
        if value not in cases:
            raise ScheduleError(f"expects one of {', '.join(cases)}, but got {value!r}")
        return f"#poly.placement<{value}>"

    return make


def symbol(value: str) -> str:
    """Return a reference to a symbol."""
    return "@" + text(value)


def affine_map(value: str | int) -> str:
    """Return a map: a number stands for itself, whatever the parameters."""
    if not isinstance(value, str):
        return f"affine_map<() -> ({number(value)})>"
    if not value.lstrip().startswith("affine_map<"):
        raise ScheduleError(
            f"expects a map such as 'affine_map<(i) -> (i + 1)>', but got {value!r}"
        )
    return value


def raw(value: str) -> str:
    """Return what is MLIR text already."""
    return value


def flag(value: bool) -> str | None:
    """Return a unit attribute, or none."""
    return "unit" if value else None


def optional(make: Callable[..., str], value: object) -> str | None:
    """Return an attribute if there is a value."""
    return None if value is None else make(value)


def _escape(byte: int) -> str:
    """Return a byte as it is written in a string of MLIR."""
    is_plain = 32 <= byte < 127 and byte not in b'"\\'
    return chr(byte) if is_plain else f"\\{byte:02X}"


def _sequence(values: Sequence[object]) -> Sequence[object]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ScheduleError(f"expects a list, but got {values!r}")
    return values
