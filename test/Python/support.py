"""Small ONNX models, and their comparison with onnxruntime."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from espalier.compiler import Options, compile
from espalier.importers.onnx import import_model
from espalier.testing.compare import mismatch
from espalier.testing.guarded import SIDES, guarded_all
from espalier.testing.onnxruntime import OnnxRuntime
from numpy_builder import NumpyBuilder

Shape = Sequence[int | str]


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[type, Shape]],
    outputs: Sequence[str],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = 20,
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """Return a model; the types of its outputs are inferred."""
    graph = helper.make_graph(
        nodes,
        "test",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
            )
            for name, (dtype, shape) in inputs.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)
    return onnx.shape_inference.infer_shapes(model)


def one_op(
    op: str,
    inputs: Mapping[str, tuple[type, Shape]],
    constants: Mapping[str, np.ndarray] | None = None,
    operands: Sequence[str] | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = 20,
    **attributes: object,
) -> onnx.ModelProto:
    """Return a model of one node; its operands are the inputs, then the constants."""
    names = [*inputs, *(constants or {})] if operands is None else operands
    node = helper.make_node(op, names, outputs, name="node", **attributes)
    return make_model([node], inputs, [o for o in outputs if o], constants, opset)


def feeds_for(
    model: onnx.ModelProto, bindings: Sequence[Mapping[str, int]]
) -> list[dict[str, np.ndarray]]:
    """Return random inputs for each binding of the symbolic dimensions."""
    session = OnnxRuntime(model)
    return [session.random_inputs(binding, seed) for seed, binding in enumerate(bindings)]


def import_in_numpy(
    model: onnx.ModelProto, feeds: Sequence[Mapping[str, np.ndarray]]
) -> NumpyBuilder:
    """Import a model into the builder that evaluates at once."""
    builder = NumpyBuilder([dict(feed) for feed in feeds])
    import_model(model, builder)
    return builder


def check_in_numpy(
    model: onnx.ModelProto,
    bindings: Sequence[Mapping[str, int]] = ({},),
    rtol: float = 1e-4,
    atol: float = 1e-5,
) -> NumpyBuilder:
    """Compare the imported operations with onnxruntime."""
    feeds = feeds_for(model, bindings)
    builder = import_in_numpy(model, feeds)
    session = OnnxRuntime(model)
    for feed, actual in zip(feeds, builder.outputs, strict=True):
        for name, expected in session.run(feed).items():
            assert mismatch(actual[name], expected, rtol, atol) is None, name
    return builder


def check_images_beside_guard_pages(model: onnx.ModelProto, image: Sequence[int]) -> None:
    """Compare a program for any number of images `x`, which lie beside guard pages."""
    function = compile(model, options=Options(cache=None, arena=False))
    for images, threads, side in ((1, 1, SIDES[0]), (5, 2, SIDES[1]), (0, 2, SIDES[0])):
        random = np.random.default_rng(images)
        values = {"x": random.standard_normal((images, *image)).astype(np.float32)}
        function.set_num_threads(threads)
        (actual,) = function.run(guarded_all(values, side)).values()
        (expected,) = OnnxRuntime(model).run(values).values()
        assert mismatch(actual, expected, 1e-4, 1e-4) is None
