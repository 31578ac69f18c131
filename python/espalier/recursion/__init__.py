"""Recursive models over trees, sequences and acyclic graphs."""

from espalier.recursion.model import Recursive, recursive
from espalier.recursion.scheduling import Scheduling
from espalier.recursion.structures import Structures
from espalier.recursion.tensors import (
    RecursiveError,
    Tensor,
    concat,
    exp,
    relu,
    sigmoid,
    split,
    tanh,
)
from espalier.recursion.trace import Node

__all__ = [
    "Node",
    "Recursive",
    "RecursiveError",
    "Scheduling",
    "Structures",
    "Tensor",
    "concat",
    "exp",
    "recursive",
    "relu",
    "sigmoid",
    "split",
    "tanh",
]
