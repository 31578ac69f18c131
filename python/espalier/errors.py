"""What can go wrong, as exceptions with a message for the user."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType


class EspalierError(Exception):
    """An error that a user can cause; its message says what to change."""


class ModelError(EspalierError):
    """A model that is malformed or contradicts the ONNX specification."""


class ArgumentError(EspalierError, ValueError):
    """An argument of a compiled function that does not fit."""


class CompileError(EspalierError):
    """A module that the compiler refused."""


@dataclass(frozen=True)
class UnsupportedNode:
    """One node that cannot be imported."""

    operator: str
    node: str
    reason: str

    def __str__(self) -> str:
        return f"node '{self.node}': {self.operator} {self.reason}"


class UnsupportedOperators(EspalierError):
    """Every node of a model that cannot be imported."""

    def __init__(self, nodes: list[UnsupportedNode]) -> None:
        self.nodes = nodes
        lines = "\n".join(f"  {node}" for node in nodes)
        plural = "s are" if len(nodes) > 1 else " is"
        super().__init__(f"{len(nodes)} node{plural} not supported:\n{lines}")


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text for C, where a null character ends it."""
    expect("a path", path, str | os.PathLike)
    text = os.fspath(path)
    if "\0" in text:
        raise EspalierError(f"expects a path without null characters, but got {text!r}")
    return text


def expect(what: str, value: object, kind: type | UnionType) -> None:
    """Refuse what is of another type.

    Arguments:
        what: is expected, such as "a mapping".
        kind: a type, or several joined by `|`.
    """
    if not isinstance(value, kind):
        raise EspalierError(f"expects {what}, but got {type(value).__name__}")


def reason_of(error: Exception) -> str:
    """Return why a file cannot be used, without the numbers and names of `OSError`."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


@contextlib.contextmanager
def naming(source: object, kind: type[EspalierError] = EspalierError) -> Iterator[None]:
    """Put the name of the file that something comes from before the errors about it.

    Arguments:
        source: a path; errors about anything else stay as they are.
        kind: of the errors that are about it.
    """
    try:
        yield
    except kind as error:
        if isinstance(source, str | os.PathLike) and "\n" not in (name := os.fspath(source)):
            message = str(error)
            error.args = (message if name in message else f"{name}: {message}",)
        raise
