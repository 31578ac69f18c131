"""What can go wrong, as exceptions with a message for the user."""

from dataclasses import dataclass


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
