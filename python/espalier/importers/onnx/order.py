"""The order of nodes: definitions before uses, cycles and strays diagnosed."""

from collections.abc import Container, Iterator, Sequence

from onnx import NodeProto

from espalier.errors import ModelError
from espalier.importers.onnx.loading import subgraphs
from espalier.importers.onnx.nodes import node_name


def captured_names(node: NodeProto) -> Iterator[str]:
    """Return the names of values that a node reads, in its subgraphs too."""
    yield from filter(None, node.input)
    for graph in subgraphs(node):
        own = {value.name for value in graph.input}
        own |= {tensor.name for tensor in graph.initializer}
        own |= {tensor.values.name for tensor in graph.sparse_initializer}
        own |= {name for inner in graph.node for name in inner.output}
        for inner in graph.node:
            yield from (name for name in captured_names(inner) if name not in own)
        yield from (value.name for value in graph.output if value.name not in own)


def sort_nodes(nodes: Sequence[NodeProto], defined: Container[str]) -> list[NodeProto]:
    """Return nodes so that each follows those it reads from.

    Nodes that are in order already stay so.

    Arguments:
        defined: the names that the nodes may read from outside.
    """
    producer = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    result: list[NodeProto] = []
    state = [0] * len(nodes)  # 1 while its inputs are visited, 2 when placed
    for root in range(len(nodes)):
        stack = [root]
        while stack:
            index = stack[-1]
            node = nodes[index]
            if state[index] == 0:
                state[index] = 1
                pending = [
                    _producer(node, name, producer, defined) for name in captured_names(node)
                ]
                for other in pending:
                    if other is not None and state[other] == 1:
                        raise _cycle([nodes[i] for i in stack if state[i] == 1], nodes[other])
                stack += [i for i in reversed(pending) if i is not None and state[i] == 0]
            else:
                stack.pop()
                if state[index] == 1:
                    state[index] = 2
                    result.append(node)
    return result


def _producer(
    node: NodeProto, name: str, producer: dict[str, int], defined: Container[str]
) -> int | None:
    if name in producer:
        return producer[name]
    if name not in defined:
        raise ModelError(
            f"node '{node_name(node)}' ({node.op_type}): expects inputs that are defined, "
            f"but got '{name}'"
        )
    return None


def _cycle(path: list[NodeProto], start: NodeProto) -> ModelError:
    names = [node_name(node) for node in path]
    names = names[names.index(node_name(start)) :]
    return ModelError(f"node '{names[0]}': expects a graph without cycles, but got {names}")
