"""The values of single nodes."""

import functools
import warnings
from collections.abc import Sequence

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

IR_VERSION = 10
SINGLE = np.dtype(np.float32)
FLOATS = (SINGLE, np.dtype(np.float64), np.dtype(np.float16))
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
CASTS = ("Cast", "CastLike")
MAKES_TYPES = (*CASTS, "EyeLike")
"""What says of which type its result is."""
LARGEST_INTEGER = 2**53
"""Up to which double precision has all integers."""
onnxruntime.set_default_logger_severity(4)


class Impossible(Exception):
    """Raised where a node has no value that implementations agree on."""


def is_float(dtype: np.dtype) -> bool:
    """Say whether a type is one of the floating-point types."""
    return dtype in FLOATS or dtype == BFLOAT16


def epsilon(dtype: np.dtype) -> float:
    """Return the distance from 1 to the next number."""
    return float(ml_dtypes.finfo(dtype).eps)


def type_code(dtype: np.dtype) -> int:
    """Return ONNX's number of an element type."""
    return helper.np_dtype_to_tensor_dtype(dtype)


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[tuple[str, np.dtype]],
    opset: int,
    constants: Sequence[onnx.TensorProto] = (),
) -> onnx.ModelProto:
    """Return a model whose results are of declared types and open shapes."""
    infos = [helper.make_tensor_value_info(name, type_code(t), None) for name, t in outputs]
    graph = helper.make_graph(list(nodes), "random", list(inputs), infos, list(constants))
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)


def open_session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """Load a model into onnxruntime, which is not to change it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def has_bfloat16(arrays: Sequence[np.ndarray | None]) -> bool:
    """Say whether one of the arrays is of a type that onnxruntime takes no arrays of."""
    return any(a is not None and a.dtype == BFLOAT16 for a in arrays)


def to_nearest(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the nearest integers of a type to floats without their fractions, 0 for NaN."""
    limits = np.iinfo(dtype)

    def nearest(value: float) -> int:
        if not np.isfinite(value):
            return 0 if np.isnan(value) else limits.max if value > 0 else limits.min
        return min(max(int(value), limits.min), limits.max)

    wide = x.astype(np.float64).reshape(-1).tolist()
    return np.array([nearest(value) for value in wide], dtype).reshape(x.shape)


def has_integers(x: np.ndarray, dtype: np.dtype) -> bool:
    """Say whether all implementations cast an array to a type alike.

    What becomes of floats that do not fit an integer, ONNX leaves open.
    """
    if not is_float(x.dtype) or dtype.kind not in "iu" or not x.size:
        return True
    limits, wide = np.iinfo(dtype), x.astype(np.float64)
    return bool(limits.min <= wide.min() and wide.max() <= min(limits.max, 2**52))


class Evaluator:
    """Evaluates nodes, by onnxruntime or, where it has no kernel, by ONNX's reference.

    Nodes of bfloat16 are computed in float32, and the results are rounded.
    """

    def __init__(self, opset: int) -> None:
        self.opset = opset

    def run(
        self, node: onnx.NodeProto, feed: dict[str, np.ndarray], dtypes: Sequence[np.dtype]
    ) -> list[np.ndarray]:
        """Return the values of a node's outputs, whose types are known."""
        _check_total(node, feed)
        if node.op_type in CASTS and not has_integers(feed[node.input[0]], dtypes[0]):
            return [to_nearest(feed[node.input[0]], dtypes[0])]
        if node.op_type not in MAKES_TYPES and BFLOAT16 in [a.dtype for a in feed.values()]:
            feed = {k: a.astype(FLOATS[0]) if a.dtype == BFLOAT16 else a for k, a in feed.items()}
            wide = [FLOATS[0] if t == BFLOAT16 else t for t in dtypes]
            results = self.run(node, feed, wide)
            types = [t for t, name in zip(dtypes, node.output, strict=True) if name]
            return [r.astype(t) for r, t in zip(results, types, strict=True)]
        infos = [
            helper.make_tensor_value_info(name, type_code(array.dtype), array.shape)
            for name, array in feed.items()
        ]
        outputs = [(name, dtype) for name, dtype in zip(node.output, dtypes, strict=True) if name]
        model = make_model([node], infos, outputs, self.opset)
        if not has_bfloat16(list(feed.values())) and BFLOAT16 not in dtypes:
            try:
                return [np.asarray(r) for r in open_session(model).run(None, feed)]
            except Exception as error:
                # onnxruntime refuses in words of its own: the reference decides.
                if "NOT_IMPLEMENTED" not in str(error) and "INVALID_GRAPH" not in str(error):
                    raise Impossible(str(error)) from error
        return self._reference(model, feed)

    def _reference(self, model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                results = ReferenceEvaluator(model, new_ops=[OneHot]).run(None, feed)
            except Exception as error:
                raise Impossible(str(error)) from error
        codes = [info.type.tensor_type.elem_type for info in model.graph.output]
        types = [helper.tensor_dtype_to_np_dtype(code) for code in codes]
        arrays = [np.asarray(result) for result in results]
        if [a.dtype for a in arrays] != types:
            raise Impossible("the reference returns another type")
        return arrays


def _check_total(node: onnx.NodeProto, feed: dict[str, np.ndarray]) -> None:
    """Refuse what implementations add up or multiply differently.

    onnxruntime computes some integers in double precision, and so does ONNX's reference where
    it multiplies a product by a factor. Numbers that overflow in some order do not in another,
    where a zero or the opposite comes first.
    """
    if node.op_type == "Gemm":
        left, right = (feed[name] for name in node.input[:2])
        sizes = [float(np.abs(a.astype(np.float64)).max(initial=0.0)) for a in (left, right)]
        if not is_float(left.dtype) and np.prod(sizes) * max(left.shape) > LARGEST_INTEGER:
            raise Impossible("a sum beyond the integers of double precision")
    if not node.op_type.startswith(("Reduce", "CumSum")):
        return
    operand = feed[node.input[0]]
    if operand.dtype.kind == "b":
        return
    has_floats = is_float(operand.dtype)
    largest = float(ml_dtypes.finfo(operand.dtype).max) if has_floats else LARGEST_INTEGER
    with np.errstate(over="ignore"):
        terms = np.abs(operand.astype(np.float64))
        if node.op_type in ("ReduceL2", "ReduceSumSquare"):
            terms = terms**2
        total = np.maximum(terms, 1).prod() if node.op_type == "ReduceProd" else terms.sum()
    # What is no number already is so in all orders.
    if largest < total and (not has_floats or np.isfinite(terms).all()):
        raise Impossible("a total beyond the numbers of the type")


class OneHot(OpRun):
    """OneHot without arithmetic: that of ONNX's reference, off + hot * (on - off), rounds."""

    op_domain = ""

    def _run(
        self, indices: np.ndarray, depth: np.ndarray, values: np.ndarray, axis: int
    ) -> tuple[np.ndarray]:
        extent = int(np.asarray(depth).reshape(-1)[0])
        indices = np.where(indices < 0, indices + extent, indices)
        hot = np.expand_dims(indices, -1) == np.arange(extent)
        hot = np.moveaxis(hot, -1, axis)
        return (np.where(hot, values[1], values[0]).astype(values.dtype),)


@functools.cache
def schema(op_type: str, opset: int) -> onnx.defs.OpSchema:
    """Return an operator's schema at an opset."""
    try:
        found = onnx.defs.get_schema(op_type, opset, "")
    except onnx.defs.SchemaError as error:
        raise Impossible(f"{op_type} is not in opset {opset}") from error
    if found.deprecated:
        raise Impossible(f"{op_type} is deprecated in opset {opset}")
    return found
