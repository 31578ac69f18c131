"""The walk over an ONNX graph."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from onnx import GraphProto, NodeProto, SparseTensorProto, TensorProto, ValueInfoProto
from onnx.defs import OpSchema

from espalier import ir
from espalier.dtypes import is_half
from espalier.errors import CompileError, ModelError, UnsupportedNode, UnsupportedOperators
from espalier.importers.onnx import registry, tensors
from espalier.importers.onnx.emitter import Emitter
from espalier.importers.onnx.expansion import computing_parameters, expand, has_definition
from espalier.importers.onnx.folding import LIMIT
from espalier.importers.onnx.loading import Source
from espalier.importers.onnx.loops import repeat
from espalier.importers.onnx.nodes import find_schema, make_node, node_name
from espalier.importers.onnx.order import captured_names, sort_nodes
from espalier.importers.onnx.registry import Node, NotFoldable, Poison, Unsupported
from espalier.importers.onnx.symbolic import Dim, Expr
from espalier.importers.onnx.values import Given, Known, Tensor, Value, known
from espalier.names import to_identifier

MAX_INPUT_BYTES = 2**48


def is_extent(value: object) -> bool:
    """Say whether a value is an integer that may be an extent."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0


POISON = Poison()
Scope = dict[str, "Value | Poison | None"]


class Importer:
    """Imports one model into a builder.

    Arguments:
        dims: numbers for symbolic dimensions, by name.
        shapes: shapes of inputs, by name; they fix symbolic dimensions.
        values: values of inputs, by name, used only where an operator needs a
            known operand. `bound` has those that were.
    """

    def __init__(
        self,
        source: Source,
        builder: ir.Builder,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
        values: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self._source = source
        self._builder = builder
        self._emitter = Emitter(builder)
        self._dims = dict(dims or {})
        self._shapes = dict(shapes or {})
        self._given = {name: Given(array) for name, array in (values or {}).items()}
        self._unsupported: list[UnsupportedNode] = []

    @property
    def bound(self) -> dict[str, np.ndarray]:
        """The inputs whose given values the program relies on."""
        return {name: given.array for name, given in self._given.items() if given.used}

    def run(self) -> None:
        """Import the model's graph as the builder's function.

        Raises `UnsupportedOperators` with every node that is not supported.
        """
        graph = self._source.model.graph
        scope: Scope = {}
        self._add_initializers(graph, scope)
        inputs = [value for value in graph.input if value.name not in scope]
        self._check_dims(inputs)
        for value in inputs:
            self._bind_shape(value)
        for value in inputs:
            self._declare(scope, value.name, self._add_input(value), "graph input")
        self._import_graph(graph, scope, self._source.opset)
        outputs = [self._output(value, scope) for value in graph.output]
        if self._unsupported:
            raise UnsupportedOperators(self._unsupported)
        if not outputs:
            raise ModelError("expects a graph with an output, but it has none")
        self._builder.name = to_identifier(graph.name)
        self._builder.finish(
            [tensor.value for tensor in outputs if tensor is not None],
            [value.name for value in graph.output],
        )

    # Inputs and outputs.

    def _declare(self, scope: Scope, name: str, value: "Value | Poison | None", what: str) -> None:
        if name in scope:
            raise ModelError(f"{what}: expects a new name, but '{name}' is defined already")
        scope[name] = value

    def _add_initializers(self, graph: GraphProto, scope: Scope) -> None:
        for tensor in graph.initializer:
            what = f"initializer '{tensor.name}'"
            self._declare(scope, tensor.name, self._initializer(tensor.name, tensor, what), what)
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            what = f"initializer '{name}'"
            self._declare(scope, name, self._initializer(name, sparse, what), what)

    def _initializer(
        self, name: str, tensor: TensorProto | SparseTensorProto, what: str
    ) -> "Value | Poison":
        try:
            if isinstance(tensor, SparseTensorProto):
                return known(self._source.sparse_array(tensor, what))
            return known(self._source.array(tensor, what))
        except Unsupported as reason:
            self._refuse("initializer", name, str(reason))
            return POISON

    def _extents(self, value: ValueInfoProto) -> list[int | str]:
        """Return numbers, and names for the dimensions that have none."""
        what = f"graph input '{value.name}'"
        if not value.type.tensor_type.HasField("shape"):
            raise ModelError(f"{what}: expects a shape, but it has none")
        result: list[int | str] = []
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value"):
                if dim.dim_value < 0:
                    raise ModelError(
                        f"{what}: expects extents of at least 0, but got {dim.dim_value}"
                    )
                result.append(dim.dim_value)
            else:
                result.append(dim.dim_param or f"{value.name}.{axis}")
        return result

    def _check_dims(self, inputs: Sequence[ValueInfoProto]) -> None:
        """Check that the given dimensions are some of the model's, with extents."""
        symbols = {
            extent: None
            for value in inputs
            if value.type.tensor_type.HasField("shape")
            for extent in self._extents(value)
            if isinstance(extent, str)
        }
        for name, extent in self._dims.items():
            if name not in symbols:
                raise ModelError(
                    f"dimension '{name}': expects a symbolic dimension out of "
                    f"{list(symbols)}, but the inputs have no such one"
                )
            if not is_extent(extent):
                raise ModelError(
                    f"dimension '{name}': expects a number of at least 0, but got {extent!r}"
                )

    def _bind_shape(self, value: ValueInfoProto) -> None:
        """Take numbers for symbolic dimensions from a given shape."""
        shape = self._shapes.get(value.name)
        if shape is None or not value.type.HasField("tensor_type"):
            return
        what = f"graph input '{value.name}'"
        extents = self._extents(value)
        if len(extents) != len(shape):
            raise ModelError(
                f"{what}: expects a shape of rank {len(extents)}, but got {list(shape)}"
            )
        for declared, given in zip(extents, shape, strict=True):
            if not is_extent(given):
                raise ModelError(
                    f"{what}: expects numbers of at least 0 as a shape, but got {list(shape)}"
                )
            if isinstance(declared, str):
                declared = self._dims.setdefault(declared, int(given))
            if declared != given:
                raise ModelError(f"{what}: expects the shape {extents}, but got {list(shape)}")

    def _add_input(self, value: ValueInfoProto) -> "Value | Poison":
        what = f"graph input '{value.name}'"
        if value.type.WhichOneof("value") != "tensor_type":
            kind = str(value.type.WhichOneof("value"))
            self._refuse("input", value.name, f"is a {kind.removesuffix('_type')}, not a tensor")
            return POISON
        try:
            dtype = tensors.numpy_type(value.type.tensor_type.elem_type, what)
        except Unsupported as reason:
            self._refuse("input", value.name, str(reason))
            return POISON
        dims: list[Dim] = []
        symbols: list[str] = []
        for extent in self._extents(value):
            dim = self._dims.get(extent) if isinstance(extent, str) else extent
            dims.append(Expr.size(str(extent)) if dim is None else dim)
            symbols.append(str(extent) if dim is None else "")
        size = math.prod(dim for dim in dims if isinstance(dim, int)) * dtype.itemsize
        if size > MAX_INPUT_BYTES:
            raise ModelError(f"{what}: expects at most {MAX_INPUT_BYTES} bytes, but got {size}")
        tensor = self._emitter.input(value.name, dims, symbols, dtype)
        tensor.given = self._given.get(value.name)
        return tensor

    def _output(self, info: ValueInfoProto, scope: Scope) -> Tensor | None:
        what = f"graph output '{info.name}'"
        if info.name not in scope:
            raise ModelError(f"{what}: expects a value of the graph, but nothing defines it")
        value = scope[info.name]
        if isinstance(value, Poison):
            return None
        if value is None:
            raise ModelError(f"{what}: expects a value, but its node gives none")
        code = info.type.tensor_type.elem_type
        try:
            declared = tensors.numpy_type(code, what) if code else value.dtype
            if declared != value.dtype:
                raise ModelError(f"{what}: expects element type {declared}, but got {value.dtype}")
            return self._emitter.tensor(value)
        except Unsupported as reason:
            self._refuse("output", info.name, str(reason))
            return None

    # Nodes.

    def _refuse(self, operator: str, name: str, reason: str) -> None:
        self._unsupported.append(UnsupportedNode(operator, name, reason))

    def _import_graph(self, graph: GraphProto, scope: Scope, opset: int) -> None:
        """Import the nodes of a graph; `scope` has its inputs and initializers."""
        read = {name for node in graph.node for name in captured_names(node)}
        read |= {value.name for value in graph.output}
        for proto in sort_nodes(graph.node, scope):
            self._import_proto(proto, scope, read, opset)

    def _import_proto(
        self, proto: NodeProto, scope: Scope, read: set[str], opset: int, any_types: bool = False
    ) -> None:
        name = node_name(proto)
        # The body of a function may read inputs that the node does not have.
        if missing := [i for i in proto.input if i and i not in scope]:
            raise ModelError(
                f"node '{name}' ({proto.op_type}): expects inputs that are defined, "
                f"but got '{missing[0]}'"
            )
        inputs = [scope[i] if i else None for i in proto.input]
        results: Sequence[Value | Poison | None] = [POISON] * len(proto.output)
        try:
            schema = find_schema(proto, opset)
            function = registry.find(proto.op_type, opset)
            defined = has_definition(schema)
            poisoned = any(isinstance(value, Poison) for value in inputs)
            folds = registry.find_fold(proto.op_type) and not poisoned
            if not (function or folds or defined):
                raise Unsupported("has no counterpart in the graph dialect")
            if not poisoned:
                used = [bool(o) and o in read for o in proto.output]
                node = make_node(proto, schema, inputs, used, self._source, any_types)  # type: ignore[arg-type]
                results = self._import_node(node, proto, schema, scope, opset)
        except Unsupported as reason:
            self._refuse(proto.op_type, name, str(reason))
        if len(results) < sum(map(bool, proto.output)):
            raise ModelError(
                f"node '{name}' ({proto.op_type}): expects at most {len(results)} outputs"
            )
        for output, result in zip(proto.output, results, strict=False):
            if output:
                self._declare(scope, output, result, f"node '{name}' ({proto.op_type})")

    def _import_node(
        self, node: Node, proto: NodeProto, schema: OpSchema, scope: Scope, opset: int
    ) -> "Sequence[Value | Poison | None]":
        self._emitter.location = node.name
        try:
            folded = self._fold(node)
            if folded is not None:
                return folded
            function = registry.find(node.op_type, opset)
            if node.op_type == "If":
                return self._import_if(node, scope, opset)
            if node.op_type in ("Scan", "Loop"):
                return repeat(
                    self._emitter,
                    node,
                    lambda given: self._import_body(node, node["body"], given, scope, opset),
                    self._unsupported,
                )
            if function is None:
                return self._expand(node, proto, schema, opset)
            result = function(self._emitter, node)
            results = result if isinstance(result, list) else [result]
            self._follow_given(node, results)
            return results
        except (CompileError, ModelError) as error:
            prefixed = str(error).startswith(("node '", "graph ", "initializer "))
            raise ModelError(str(error)) if prefixed else node.error(str(error)) from error

    def _fold(self, node: Node) -> list[Known] | None:
        """Compute a node on known inputs, if there is a fold for it."""
        if not all(value is None or isinstance(value, Known) for value in node.inputs):
            return None
        return self._compute(node, [v.array if isinstance(v, Known) else None for v in node.inputs])

    def _compute(self, node: Node, arrays: list[np.ndarray | None]) -> list[Known] | None:
        function = registry.find_fold(node.op_type)
        if function is None or any(a is not None and a.size > LIMIT for a in arrays):
            return None
        while len(arrays) > 1 and arrays[-1] is None:
            arrays.pop()
        try:
            with np.errstate(all="ignore"):
                result = function(node, *arrays)
        except NotFoldable:
            return None
        dtype = next((value.dtype for value in node.inputs if value is not None), None)
        if node.op_type == "Cast":
            dtype = tensors.element_type(node, node["to"])
        elif node.op_type == "Where":
            dtype = node.input(1).dtype
        results = result if isinstance(result, list) else [result]
        return [known(array, dtype if array.dtype == object else None) for array in results]

    def _follow_given(self, node: Node, results: "Sequence[Value | None]") -> None:
        """Compute beside the program what its results are for the given inputs."""
        sources = [v.given for v in node.inputs if isinstance(v, Tensor) and v.given]
        if not sources:
            return
        arrays: list[np.ndarray | None] = []
        for value in node.inputs:
            if isinstance(value, Tensor):
                if value.given is None:
                    return
                arrays.append(value.given.array)
            else:
                arrays.append(None if value is None else value.array)
        computed = self._compute(node, arrays) or []
        for result, shadow in zip(results, computed, strict=False):
            if isinstance(result, Tensor) and result.given is None:
                result.given = Given(shadow.array, sources)

    def _import_if(self, node: Node, scope: Scope, opset: int) -> "list[Value | Poison | None]":
        condition = node.numbers(0, "a condition")
        assert condition is not None, "required by the schema"
        if condition.size != 1:
            raise node.error(f"expects a condition of one element, but got {condition.size}")
        branch = node["then_branch" if condition.reshape(-1)[0] else "else_branch"]
        return self._import_body(node, branch, [], scope, opset)

    def _import_body(
        self,
        node: Node,
        graph: GraphProto,
        arguments: Sequence[Value],
        scope: Scope,
        opset: int,
    ) -> "list[Value | Poison | None]":
        """Import a graph of the node that may read the values in scope."""
        inner = dict(scope)
        inner.update(zip((value.name for value in graph.input), arguments, strict=True))
        self._add_initializers(graph, inner)
        self._import_graph(graph, inner, opset)
        for value in graph.output:
            if value.name not in inner:
                raise node.error(f"expects a body that defines '{value.name}'")
        return [inner[value.name] for value in graph.output]

    def _expand(
        self, node: Node, proto: NodeProto, schema: OpSchema, opset: int
    ) -> "list[Value | Poison | None]":
        """Import the body that ONNX defines an operator by; it rounds once."""
        computes = computing_parameters(schema, node.inputs)
        halves: dict[str, np.dtype] = {}
        for index, value in enumerate(node.inputs):
            kind = schema.inputs[min(index, len(schema.inputs) - 1)].type_str
            if value is not None and kind in computes and is_half(value.dtype):
                halves[kind] = value.dtype
                node.inputs[index] = self._emitter.widen(value)
        function = expand(proto, schema, node.inputs, opset)
        if function is None:
            raise Unsupported("has no counterpart in the graph dialect for these inputs")
        formals = list(function.input)
        inputs = [*node.inputs, *[None] * len(formals)]
        scope: Scope = dict(zip(formals, inputs, strict=False))
        read = {name for inner in function.node for name in captured_names(inner)}
        version = max((i.version for i in function.opset_import if i.domain == ""), default=opset)
        before = len(self._unsupported)
        for inner in function.node:
            self._import_proto(inner, scope, read | set(function.output), version, any_types=True)
        if len(self._unsupported) > before:
            inner_most = self._unsupported[before]
            del self._unsupported[before:]
            raise Unsupported(f"needs {inner_most.operator}, which {inner_most.reason}")
        results = [scope.get(name) for name in function.output]
        for index, result in enumerate(results):
            dtype = halves.get(schema.outputs[min(index, len(schema.outputs) - 1)].type_str)
            if dtype is not None and isinstance(result, Tensor | Known):
                results[index] = self._emitter.cast(result, dtype)
        return results
