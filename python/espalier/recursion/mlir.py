"""The text of a traced model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from espalier.names import to_identifier
from espalier.recursion.scheduling import Scheduling
from espalier.recursion.tensors import Block, Operation, Tensor
from espalier.recursion.trace import STRUCTURE, Signature, Trace, unique_name

STRUCTURE_DIMS = {
    "arity": ["num_nodes"],
    "children": ["num_interior", ""],
    "levels": ["num_bounds"],
    "roots": ["num_roots"],
}


def type_of(tensor: Tensor) -> str:
    """Return a tensor's type."""
    return type_text(tensor.shape, tensor.dtype)


def type_text(shape: Sequence[int | str], dtype: str) -> str:
    """Return the type with given extents."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


def node_type(signature: Signature) -> str:
    """Return the type of the nodes."""
    arity = f", arity = {signature.arity}" if signature.arity else ""
    return f"!rec.node<{signature.structure}{arity}>"


def argument_types(signature: Signature) -> dict[str, str]:
    """Return the types of features, then of weights, by name."""
    features = {
        name: type_text(("?", *shape), signature.dtypes[name])
        for name, shape in signature.features.items()
    }
    weights = {
        name: type_text(shape, signature.dtypes[name]) for name, shape in signature.weights.items()
    }
    return features | weights


def value_names(signature: Signature) -> dict[str, str]:
    """Return what features and weights are called in the text.

    A name of Python's need not be one of MLIR's; then it is a number.
    """
    return {
        name: f"%in.{name if name.isascii() else number}"
        for number, name in enumerate(argument_types(signature))
    }


def model_name(trace: Trace) -> str:
    """Return the symbol of the model."""
    return unique_name(to_identifier(trace.name), ["main"])


class CellWriter:
    """Writes the operations of a cell, with their lines in `file` unless that is empty."""

    def __init__(self, signature: Signature, file: str) -> None:
        self.file = json.dumps(file, ensure_ascii=False) if file else ""
        self.node = node_type(signature)
        self.arguments = value_names(signature)
        self.names: dict[int, str] = {}

    def name(self, tensor: Tensor) -> str:
        """Return the name of a tensor."""
        return self.names.get(tensor.number, f"%{tensor.number}")

    def block(self, block: Block, indent: str) -> Iterator[str]:
        """Yield a block's lines; the last one gives the results."""
        for op in block.operations:
            yield from self.operation(op, indent)
        names = ", ".join(map(self.name, block.results))
        yield f"{indent}rec.yield {names} : {', '.join(map(type_of, block.results))}"

    def operation(self, op: Operation, indent: str) -> Iterator[str]:
        """Yield the lines of one operation."""
        attributes, operands = op.attributes, op.operands
        if op.name == "argument":
            self.names[op.results[0].number] = self.arguments[str(attributes["source"])]
            return
        results = ", ".join(map(self.name, op.results))
        types = ", ".join(map(type_of, op.results))
        place = f" loc({self.file}:{op.line}:0)" if self.file else ""
        head = f"{indent}{results} = "
        if op.name == "feature":
            whole = type_text(("?", *op.results[0].shape), op.results[0].dtype)
            source = f"{self.arguments[str(attributes['source'])]} at %n"
            yield f"{head}rec.feature {source} : {whole}, {self.node} -> {types}{place}"
        elif op.name == "call":
            yield f"{head}rec.call %n child {attributes['child']} : {self.node} -> {types}{place}"
        elif op.name == "children":
            assert op.body is not None
            kinds = ", ".join([str(attributes["kind"])] * len(op.results))
            arguments = ", ".join(f"{self.name(t)}: {type_of(t)}" for t in op.body.arguments)
            yield f"{head}rec.children %n reduce [{kinds}] {{"
            yield f"{indent}^bb0({arguments}):"
            yield from self.block(op.body, indent + "  ")
            yield f"{indent}}} : {self.node} -> {types}{place}"
        elif op.name == "constant":
            bits = np.float32(attributes["value"]).view(np.uint32)
            yield f"{head}arith.constant dense<0x{bits:08X}> : {types}{place}"
        else:
            names = ", ".join(map(self.name, operands))
            signature = f"({', '.join(map(type_of, operands))}) -> {types}"
            yield f"{head}graph.{op.name} {names}{self.clause(op)} : {signature}{place}"

    def clause(self, op: Operation) -> str:
        """Return what stands between the operands and the types."""
        shape = list(op.results[0].shape)
        if op.name == "reshape":
            return f" to {shape}"
        if op.name == "slice":
            steps = ", ".join("1" for _ in shape)
            offsets = op.attributes["offsets"]
            assert isinstance(offsets, tuple)
            return f" {list(offsets)} {shape} {{steps = array<i64: {steps}>}}"
        if "axis" in op.attributes:
            return f" {{axis = {op.attributes['axis']} : i64}}"
        return ""


def model_text(trace: Trace, scheduling: Scheduling, has_lines: bool) -> str:
    """Return the model."""
    signature = trace.signature
    types, names = argument_types(signature), value_names(signature)
    arguments = "".join(f", {names[name]}: {text}" for name, text in types.items())
    results = ", ".join(map(type_of, trace.leaf.results))
    head = f"@{model_name(trace)}(%n: {node_type(signature)}{arguments})"
    lines = [f"rec.model private {head} -> ({results}){scheduling.attributes()} {{"]
    for kind, block in (("leaf", trace.leaf), ("interior", trace.interior)):
        writer = CellWriter(signature, trace.file if has_lines else "")
        lines += [f"  rec.case {kind} {{", *writer.block(block, "    "), "  }"]
    return "\n".join([*lines, "}"])


def program_text(
    trace: Trace, places: str, scheduling: Scheduling, *, has_lines: bool = False
) -> str:
    """Return a module with the model, and `main`, which applies it to structures.

    With lines, operators are located in the function's file.
    """
    signature = trace.signature
    columns = str(signature.arity or "?")
    structure = dict.fromkeys(STRUCTURE, "tensor<?xi32>")
    structure["children"] = f"tensor<?x{columns}xi32>"
    types, names = argument_types(signature), value_names(signature)
    dims = {name: ["num_nodes"] + [""] * len(shape) for name, shape in signature.features.items()}
    arguments = [
        f"%{name}: {text} {attributes_of(name, STRUCTURE_DIMS.get(name))}"
        for name, text in structure.items()
    ] + [
        f"{names[name]}: {types[name]} {attributes_of(shown, dims.get(name))}"
        for name, shown in trace.inputs.items()
    ]
    outputs = [type_text(("?", *shape), "f32") for shape in trace.results]
    results = ", ".join(f'{text} {{espalier.name = "result{i}"}}' for i, text in enumerate(outputs))
    values = ", ".join(f"%r{i}" for i in range(len(outputs)))
    given = f"({', '.join(types.values())}) -> ({', '.join(outputs)})"
    head = f"@{model_name(trace)} at {places} of [{', '.join(f'%{s}' for s in structure)}]"
    return f"""{model_text(trace, scheduling, has_lines)}
func.func @main({", ".join(arguments)}) -> ({results}) {{
  {values} = rec.apply {head}
      ({", ".join(names.values())})
      : [{", ".join(structure.values())}] {given}
  return {values} : {", ".join(outputs)}
}}
"""


def attributes_of(name: str, dims: Sequence[str] | None) -> str:
    """Return the attributes of an argument."""
    known: Mapping[str, str] = {"espalier.name": json.dumps(name, ensure_ascii=False)}
    if dims:
        entries = ", ".join(f'"{dim}"' for dim in dims)
        known = {**known, "espalier.dims": f"[{entries}]"}
    return "{" + ", ".join(f"{key} = {value}" for key, value in known.items()) + "}"
