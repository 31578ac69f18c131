"""The text of a traced model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from espalier.recursion.tensors import Block, Operation, Tensor
from espalier.recursion.trace import Signature, Trace

STRUCTURE = ("arity", "children", "levels", "roots")
"""The arguments of a program that say what the structures are."""


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


class CellWriter:
    """Writes the operations of a cell."""

    def __init__(self, node: str) -> None:
        self.node = node
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
            self.names[op.results[0].number] = f"%{attributes['source']}"
            return
        results = ", ".join(map(self.name, op.results))
        types = ", ".join(map(type_of, op.results))
        head = f"{indent}{results} = "
        if op.name == "feature":
            whole = type_text(("?", *op.results[0].shape), op.results[0].dtype)
            source = f"%{attributes['source']} at %n"
            yield f"{head}rec.feature {source} : {whole}, {self.node} -> {types}"
        elif op.name == "call":
            yield f"{head}rec.call %n child {attributes['child']} : {self.node} -> {types}"
        elif op.name == "children":
            assert op.body is not None
            kinds = ", ".join([str(attributes["kind"])] * len(op.results))
            arguments = ", ".join(f"{self.name(t)}: {type_of(t)}" for t in op.body.arguments)
            yield f"{head}rec.children %n reduce [{kinds}] {{"
            yield f"{indent}^bb0({arguments}):"
            yield from self.block(op.body, indent + "  ")
            yield f"{indent}}} : {self.node} -> {types}"
        elif op.name == "constant":
            bits = np.float32(attributes["value"]).view(np.uint32)
            yield f"{head}arith.constant dense<0x{bits:08X}> : {types}"
        else:
            names = ", ".join(map(self.name, operands))
            signature = f"({', '.join(map(type_of, operands))}) -> {types}"
            yield f"{head}graph.{op.name} {names}{self.clause(op)} : {signature}"

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


def model_text(trace: Trace) -> str:
    """Return the model."""
    node = node_type(trace.signature)
    types = argument_types(trace.signature)
    arguments = ", ".join(f"%{name}: {text}" for name, text in types.items())
    results = ", ".join(map(type_of, trace.leaf.results))
    lines = [f"rec.model private @{trace.name}(%n: {node}, {arguments}) -> ({results}) {{"]
    for kind, block in (("leaf", trace.leaf), ("interior", trace.interior)):
        lines += [f"  rec.case {kind} {{", *CellWriter(node).block(block, "    "), "  }"]
    return "\n".join([*lines, "}"])


def program_text(trace: Trace, places: str) -> str:
    """Return a module with the model, and `main`, which applies it to structures."""
    signature = trace.signature
    columns = str(signature.arity or "?")
    structure = dict.fromkeys(STRUCTURE, "tensor<?xi32>")
    structure["children"] = f"tensor<?x{columns}xi32>"
    types = structure | argument_types(signature)
    dims = {"arity": ["nodes"], "roots": ["roots"]} | {
        name: ["nodes"] + [""] * len(shape) for name, shape in signature.features.items()
    }
    arguments = ", ".join(
        f"%{name}: {text} {attributes_of(name, dims.get(name))}" for name, text in types.items()
    )
    outputs = [type_text(("?", *shape), "f32") for shape in trace.results]
    results = ", ".join(f'{text} {{espalier.name = "result{i}"}}' for i, text in enumerate(outputs))
    names = [name for name in types if name not in structure]
    values = ", ".join(f"%r{i}" for i in range(len(outputs)))
    given = f"({', '.join(types[name] for name in names)}) -> ({', '.join(outputs)})"
    return f"""{model_text(trace)}
func.func @main({arguments}) -> ({results}) {{
  {values} = rec.apply @{trace.name} at {places} of [{", ".join(f"%{s}" for s in structure)}]
      ({", ".join(f"%{name}" for name in names)})
      : [{", ".join(structure.values())}] {given}
  return {values} : {", ".join(outputs)}
}}
"""


def attributes_of(name: str, dims: Sequence[str] | None) -> str:
    """Return the attributes of an argument."""
    known: Mapping[str, str] = {"espalier.name": f'"{name}"'}
    if dims:
        entries = ", ".join(f'"{dim}"' for dim in dims)
        known = {**known, "espalier.dims": f"[{entries}]"}
    return "{" + ", ".join(f"{key} = {value}" for key, value in known.items()) + "}"
