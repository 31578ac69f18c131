"""Operators that ONNX itself defines by a function of other operators."""

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto

from espalier.importers.onnx.values import Value

FLOATS = {"tensor(float16)", "tensor(bfloat16)", "tensor(float)", "tensor(double)"}
"""Names of types in ONNX's schemas."""


def has_definition(schema: Any) -> bool:  # noqa: ANN401
    """Say whether ONNX defines the operator by others, at least for some inputs."""
    return schema.has_function or schema.has_context_dependent_function


def expand(
    proto: NodeProto,
    schema: Any,  # noqa: ANN401
    inputs: Sequence[Value | None],
    opset: int,
) -> FunctionProto | None:
    """Return the function that defines a node, with its attributes filled in.

    Returns None if ONNX gives no definition for these input types.
    """
    function = FunctionProto()
    if not has_definition(schema):
        return None
    if schema.has_function:
        text = schema.get_function_with_opset_version(
            _nearest(schema.function_opset_versions, opset)
        )
    else:
        types = [_type(value).SerializeToString() for value in inputs]
        text = schema.get_context_dependent_function_with_opset_version(
            _nearest(schema.context_dependent_function_opset_versions, opset),
            proto.SerializeToString(),
            types,
        )
    if not text:
        return None
    function.ParseFromString(text)
    attributes = {
        a.name: a.default_value for a in schema.attributes.values() if a.default_value.type
    }
    attributes |= {a.name: a for a in proto.attribute}
    for node in function.node:
        _bind(node, attributes)
    return function


def computing_parameters(schema: Any, inputs: Sequence[Value | None]) -> set[str]:  # noqa: ANN401
    """Return the type parameters that stand for floating-point types alone.

    Operators that move elements take other types, too. There are none if a result's
    type is that of an input that is missing: the body says then what it is.
    """
    pairs = list(zip((formal.type_str for formal in schema.inputs), inputs, strict=False))
    missing = {kind for kind, value in pairs if value is None}
    missing -= {kind for kind, value in pairs if value is not None}
    if not missing.isdisjoint(output.type_str for output in schema.outputs):
        return set()
    return {
        constraint.type_param_str
        for constraint in schema.type_constraints
        if FLOATS.issuperset(constraint.allowed_type_strs)
    }


def _nearest(versions: Sequence[int], opset: int) -> int:
    """Return the last version up to an opset or, as ONNX defines some operators only in
    words at first, the first one after it.
    """
    return max((v for v in versions if v <= opset), default=min(versions))


def _bind(node: NodeProto, attributes: Mapping[str, AttributeProto]) -> None:
    """Replace references to the function's attributes by their values."""
    bound = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in attributes:
                continue
            value = AttributeProto()
            value.CopyFrom(attributes[attribute.ref_attr_name])
            value.name = attribute.name
            bound.append(value)
        else:
            for graph in [attribute.g, *attribute.graphs]:
                for inner in graph.node:
                    _bind(inner, attributes)
            bound.append(attribute)
    del node.attribute[:]
    node.attribute.extend(bound)


def _type(value: Value | None) -> onnx.TypeProto:
    if value is None:
        return onnx.TypeProto()
    code = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    shape = [dim if isinstance(dim, int) else None for dim in value.dims]
    return onnx.helper.make_tensor_type_proto(code, shape)
