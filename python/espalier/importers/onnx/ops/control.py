"""Operators that decide what is imported, rather than computing."""

import numpy as np

from espalier.importers.onnx.emitter import Emitter
from espalier.importers.onnx.registry import Node, Unsupported, op
from espalier.importers.onnx.values import Value, known

_KINDS = {
    "value": None,
    "sparse_value": None,
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


@op("Constant")
def _constant(e: Emitter, node: Node) -> Value:
    given = list(node.attributes)
    if len(given) != 1:
        raise node.error(f"expects one of the attributes {list(_KINDS)}, but got {given}")
    if given[0] not in _KINDS:
        raise Unsupported(f"has the attribute '{given[0]}'")
    return known(np.asarray(node[given[0]], dtype=_KINDS[given[0]]))


@op("If")
def _if(e: Emitter, node: Node) -> list[Value | None]:
    raise Unsupported("needs a condition that is known")


@op("Scan")
@op("Loop")
def _loop(e: Emitter, node: Node) -> list[Value | None]:
    raise AssertionError("the walk over the graph imports bodies")
