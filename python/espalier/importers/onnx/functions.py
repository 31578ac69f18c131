"""Model-local functions: checked, then replaced by their bodies."""

from collections.abc import Iterable, Iterator

import onnx
import onnx.inliner
from onnx import FunctionProto, ModelProto, NodeProto

from espalier.errors import ModelError, UnsupportedNode, UnsupportedOperators
from espalier.importers.onnx.loading import opset_of, subgraphs
from espalier.importers.onnx.nodes import node_name

MAX_NODES = 1_000_000

Key = tuple[str, str, str]
_ONNX = ("", "ai.onnx")


def _key(node: NodeProto) -> Key:
    return node.domain, node.op_type, node.overload


def _by_key(functions: Iterable[FunctionProto]) -> dict[Key, FunctionProto]:
    return {(f.domain, f.name, f.overload): f for f in functions}


def _all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from _all_nodes(graph.node)


def inline_functions(model: ModelProto) -> ModelProto:
    """Replace calls of model-local functions by the functions' bodies.

    Refuses functions that call themselves, those in whose versions of domains an
    operator is another than in the model's, and models that would grow beyond
    `MAX_NODES` nodes.
    """
    if not model.functions:
        return model
    sizes = _Sizes(model.functions)
    total = sizes.of_nodes(model.graph.node)
    if total > MAX_NODES:
        raise ModelError(f"expects at most {MAX_NODES} nodes, but functions expand to {total}")
    try:
        inlined = onnx.inliner.inline_local_functions(_with_its_opset(model))
    except Exception as error:
        raise ModelError(f"expects functions that can be inlined, but {error}") from error
    functions = _by_key(model.functions)
    calls = [node for node in _all_nodes(inlined.graph.node) if _key(node) in functions]
    refused = [
        UnsupportedNode(node.op_type, node_name(node), reason)
        for node in calls
        if (reason := _difference(functions[_key(node)], model))
    ]
    if refused:
        raise UnsupportedOperators(refused)
    return inlined


def _with_its_opset(model: ModelProto) -> ModelProto:
    """Return a model whose functions have its opset where that is the same to them.

    Only such functions are inlined.
    """
    opset = opset_of(model.opset_import)
    others = [
        (index, place)
        for index, function in enumerate(model.functions)
        for place, entry in enumerate(function.opset_import)
        if entry.domain in _ONNX
        and entry.version != opset
        and _changed_operator(function, entry.version, opset) is None
    ]
    if not others:
        return model
    result = ModelProto()
    result.CopyFrom(model)
    for index, place in others:
        result.functions[index].opset_import[place].version = opset
    return result


def _changed_operator(function: FunctionProto, old: int, new: int) -> str | None:
    """Return an operator of a function that two opsets define differently, if any."""
    for node in _all_nodes(function.node):
        if node.domain in _ONNX and _since(node.op_type, old) != _since(node.op_type, new):
            return node.op_type
    return None


def _since(operator: str, opset: int) -> int | None:
    """Return the opset that an operator's definition is of, None without one."""
    try:
        return onnx.defs.get_schema(operator, opset, "").since_version
    except onnx.defs.SchemaError:
        return None


def _difference(function: FunctionProto, model: ModelProto) -> str | None:
    """Say which version of a domain a function has and the model does not."""
    versions = {entry.domain: entry.version for entry in model.opset_import}
    opset = opset_of(model.opset_import)
    for entry in function.opset_import:
        if entry.domain in _ONNX:
            if operator := _changed_operator(function, entry.version, opset):
                return (
                    f"is a function of ONNX opset {entry.version}, "
                    f"whose {operator} is not that of the model's opset {opset}"
                )
        elif versions.get(entry.domain) not in (None, entry.version):
            return (
                f"is a function with version {entry.version} of the domain '{entry.domain}', "
                f"of which the model has {versions[entry.domain]}"
            )
    return None


class _Sizes:
    """The numbers of nodes that functions expand to."""

    def __init__(self, functions: Iterable[FunctionProto]) -> None:
        self._functions = _by_key(functions)
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
