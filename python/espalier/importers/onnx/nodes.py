"""From `NodeProto` to `Node`: attributes and operands checked by the schema."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto
from onnx.defs import OpSchema

from espalier.errors import ModelError
from espalier.importers.onnx.loading import Source
from espalier.importers.onnx.registry import Node, Unsupported
from espalier.importers.onnx.values import Value

OLDEST_OPSET = 13
"""Of older opsets, the operators whose form did not change until this one are taken."""

_OLD_FORMS = {"Constant": 1, "Scan": 8, "Squeeze": 1, "Unsqueeze": 1}
"""The operators whose older forms are read, too, and since when."""

_Option = OpSchema.FormalParameterOption


def node_name(proto: NodeProto) -> str:
    """Return a name for messages: the node's own, or its first output's."""
    return proto.name or next(filter(None, proto.output), proto.op_type)


def find_schema(proto: NodeProto, version: int) -> OpSchema:
    """Return the operator's schema at an opset version.

    Raises `Unsupported` if ONNX does not define it.
    """
    if proto.domain not in ("", "ai.onnx"):
        raise Unsupported(f"belongs to the domain '{proto.domain}'")
    try:
        schema = onnx.defs.get_schema(proto.op_type, version, "")
    except onnx.defs.SchemaError as error:
        raise Unsupported(f"is not an operator of ONNX opset {version}") from error
    if schema.deprecated:
        raise Unsupported(f"is deprecated in ONNX opset {version}")
    if schema.since_version >= _OLD_FORMS.get(proto.op_type, OLDEST_OPSET):
        return schema
    if version < OLDEST_OPSET and _signature(schema) != _signature_at(proto.op_type, OLDEST_OPSET):
        raise Unsupported(f"has its meaning of ONNX opset {version}, older than {OLDEST_OPSET}")
    return schema


def _signature(schema: OpSchema) -> tuple:
    """Return what tells two versions of an operator apart, types left out."""
    attributes = [
        (a.name, a.required, a.default_value.SerializeToString())
        for a in schema.attributes.values()
    ]
    operands = [(f.name, f.option) for f in [*schema.inputs, *schema.outputs]]
    return sorted(attributes), operands


def _signature_at(name: str, version: int) -> tuple | None:
    try:
        return _signature(onnx.defs.get_schema(name, version, ""))
    except onnx.defs.SchemaError:
        return None


def make_node(
    proto: NodeProto,
    schema: OpSchema,
    inputs: Sequence[Value | None],
    used: list[bool],
    source: Source,
    any_types: bool = False,
) -> Node:
    """Check a node against its schema and fill in defaults.

    Arguments:
        any_types: allow operands of types that the schema does not list, as the
            functions have that ONNX defines operators by.
    """
    version = schema.since_version
    node = Node(node_name(proto), proto.op_type, version, list(inputs), {}, used)
    _check_inputs(node, schema, any_types)
    if not schema.min_output <= len(proto.output) <= schema.max_output:
        raise node.error(
            f"expects at most {schema.max_output} outputs, but got {len(proto.output)}"
        )
    for attribute in proto.attribute:
        declared = schema.attributes.get(attribute.name)
        if declared is None:
            known = sorted(schema.attributes)
            raise node.error(f"expects attributes out of {known}, but got '{attribute.name}'")
        if attribute.name in node.attributes:
            raise node.error(f"expects attribute '{attribute.name}' once, but got it twice")
        wanted, got = str(declared.type).rpartition(".")[2], _kind(attribute)
        if wanted != got:
            raise node.error(
                f"expects attribute '{attribute.name}' of type {wanted}, but got {got}"
            )
        node.attributes[attribute.name] = _attribute(attribute, node, source)
    for name, declared in schema.attributes.items():
        if name in node.attributes:
            continue
        if declared.required:
            raise node.error(f"expects attribute '{name}', but it is missing")
        if declared.default_value.type != AttributeProto.UNDEFINED:
            node.attributes[name] = _attribute(declared.default_value, node, source)
    return node


def _kind(attribute: AttributeProto) -> str:
    return AttributeProto.AttributeType.Name(attribute.type)


def _attribute(attribute: AttributeProto, node: Node, source: Source) -> Any:  # noqa: ANN401
    what = f"node '{node.name}' ({node.op_type}): attribute '{attribute.name}'"
    if attribute.ref_attr_name:
        raise ModelError(f"{what} expects a value, but refers to a function's attribute")
    match attribute.type:
        case AttributeProto.TENSOR:
            return source.array(attribute.t, what)
        case AttributeProto.SPARSE_TENSOR:
            return source.sparse_array(attribute.sparse_tensor, what)
        case AttributeProto.STRING:
            return attribute.s.decode(errors="replace")
        case AttributeProto.STRINGS:
            return [s.decode(errors="replace") for s in attribute.strings]
        case AttributeProto.FLOAT | AttributeProto.FLOATS:
            value = onnx.helper.get_attribute_value(attribute)
            for number in [value] if isinstance(value, float) else value:
                if math.isnan(number):
                    raise ModelError(f"{what} expects a number, but got NaN")
            return value if isinstance(value, float) else list(value)
        case AttributeProto.INT | AttributeProto.GRAPH:
            return onnx.helper.get_attribute_value(attribute)
        case AttributeProto.INTS:
            return list(attribute.ints)
    kind = _kind(attribute).lower()
    raise Unsupported(f"has attribute '{attribute.name}' of type {kind}")


def _check_inputs(node: Node, schema: OpSchema, any_types: bool) -> None:
    count = len(node.inputs)
    if not schema.min_input <= count <= schema.max_input:
        expected = f"{schema.min_input} to {schema.max_input}"
        raise node.error(f"expects {expected} inputs, but got {count}")
    allowed = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    bound: dict[str, tuple[int, np.dtype]] = {}
    for index, value in enumerate(node.inputs):
        formal = schema.inputs[min(index, len(schema.inputs) - 1)]
        if value is None:
            if formal.option != _Option.Optional:
                raise node.error(f"expects input #{index} ('{formal.name}'), but it is missing")
            continue
        name = type_name(value.dtype)
        if not any_types and name not in allowed.get(formal.type_str, {formal.type_str}):
            raise node.error(
                f"expects input #{index} ('{formal.name}') of a type that {node.op_type} "
                f"allows, but got {name}"
            )
        if not formal.is_homogeneous:
            continue
        first, dtype = bound.setdefault(formal.type_str, (index, value.dtype))
        if dtype != value.dtype:
            raise node.error(
                f"expects inputs #{first} and #{index} of one type, "
                f"but got {type_name(dtype)} and {name}"
            )
    # Of what is variadic, there may be none.
    named = [formal for formal in schema.inputs if formal.option != _Option.Variadic]
    node.inputs += [None] * (len(named) - count)


def type_name(dtype: np.dtype) -> str:
    """Return a type in the spelling of ONNX schemas, such as "tensor(float)"."""
    code = onnx.helper.np_dtype_to_tensor_dtype(dtype)
    return f"tensor({onnx.TensorProto.DataType.Name(code).lower()})"
