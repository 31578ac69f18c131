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


def expect(what: str, value: object, kind: type | UnionType) -> None:
    """Refuse what is of another type.

    Arguments:
        what: is expected, such as "a mapping".
        kind: a type, or several joined by `|`.
    """
    if not isinstance(value, kind):
        raise EspalierError(f"expects {what}, but got {type(value).__name__}")


@contextlib.contextmanager
def naming(source: object) -> Iterator[None]:
    """Put the name of the file that something comes from before the errors about it.

    Arguments:
        source: a path; errors about anything else stay as they are.
    """
    try:
        yield
    except EspalierError as error:
        if isinstance(source, str | os.PathLike) and "\n" not in (name := os.fspath(source)):
            message = str(error)
            error.args = (message if name in message else f"{name}: {message}",)
        raise
