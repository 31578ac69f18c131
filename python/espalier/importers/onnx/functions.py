"""Model-local functions: checked, then replaced by their bodies."""

from collections.abc import Iterable

import onnx
import onnx.inliner
from onnx import FunctionProto, ModelProto, NodeProto

from espalier.errors import ModelError
from espalier.importers.onnx.loading import subgraphs

MAX_NODES = 1_000_000

Key = tuple[str, str, str]


def _key(node: NodeProto) -> Key:
    return node.domain, node.op_type, node.overload


def inline_functions(model: ModelProto) -> ModelProto:
    """Replace calls of model-local functions by the functions' bodies.

    Refuses functions that call themselves, and models that would grow beyond
    `MAX_NODES` nodes.
    """
    if not model.functions:
        return model
    sizes = _Sizes(model.functions)
    total = sizes.of_nodes(model.graph.node)
    if total > MAX_NODES:
        raise ModelError(f"expects at most {MAX_NODES} nodes, but functions expand to {total}")
    try:
        return onnx.inliner.inline_local_functions(model)
    except Exception as error:
        raise ModelError(f"expects functions that can be inlined, but {error}") from error


class _Sizes:
    """The numbers of nodes that functions expand to."""

    def __init__(self, functions: Iterable[FunctionProto]) -> None:
        self._functions = {(f.domain, f.name, f.overload): f for f in functions}
        self._sizes: dict[Key, int | None] = {}

    def of_nodes(self, nodes: Iterable[NodeProto]) -> int:
        total = 0
        for node in nodes:
            key = _key(node)
            total += self._of_function(key) if key in self._functions else 1
            total += sum(self.of_nodes(graph.node) for graph in subgraphs(node))
        return total

    def _of_function(self, key: Key) -> int:
        if key not in self._sizes:
            self._sizes[key] = None
            self._sizes[key] = self.of_nodes(self._functions[key].node)
        size = self._sizes[key]
        if size is None:
            raise ModelError(f"expects functions without recursion, but '{key[1]}' calls itself")
        return size
