"""The 185 single operators that others have published times for.

The table of Ansor (OSDI 2020, section 7.1; kept in TVM's meta_schedule tests), at batch
1 and 16, and the dense layers and batched products of BERT for sequences of several
lengths that DietCode (MLSys 2022, section 5) uses. Nobody chose them for what we do
well. Weights are constants and all else are inputs, in the layout of ONNX.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import prod
from statistics import geometric_mean
from typing import Any

import numpy as np
import onnx
import onnx.reference
from onnx import NodeProto, helper, numpy_helper

Shape = tuple[int, ...]
BATCHES = (1, 16)

# Extents of the image, input channels, output channels, kernel, stride, border; then
# the number of groups, or the dilation.
C1D = [
    ((256,), 64, 128, 3, 2, 1),
    ((128,), 128, 256, 1, 2, 0),
    ((64,), 256, 256, 5, 1, 2),
    ((32,), 512, 512, 3, 1, 1),
]
C2D = [
    ((224, 224), 3, 64, 7, 2, 3),
    ((56, 56), 64, 64, 1, 1, 0),
    ((14, 14), 256, 256, 3, 1, 1),
    ((7, 7), 512, 512, 3, 1, 1),
]
C3D = [((16, *image), *rest) for image, *rest in C2D]
GRP = [
    ((56, 56), 64, 128, 3, 2, 1, 4),
    ((56, 56), 64, 64, 1, 1, 0, 4),
    ((14, 14), 256, 256, 3, 1, 1, 4),
    ((7, 7), 512, 512, 3, 1, 1, 4),
]
DIL = [(*shape, 2) for shape in C2D]
CBR = [
    ((224, 224), 3, 64, 7, 2, 3),
    ((56, 56), 64, 128, 3, 2, 1),
    ((28, 28), 128, 256, 1, 2, 0),
    ((7, 7), 512, 512, 3, 1, 1),
]
T2D = [
    ((4, 4), 512, 256, 4, 2, 1),
    ((8, 8), 256, 128, 4, 2, 1),
    ((16, 16), 128, 64, 4, 2, 1),
    ((32, 32), 64, 3, 4, 2, 1),
]
CAP = [
    ((16, 16), 32, 32, 3, 2, 1),
    ((8, 8), 32, 32, 3, 1, 1),
    ((16, 16), 8, 16, 3, 2, 1),
    ((8, 8), 16, 16, 3, 1, 1),
]
# Extents, channels, kernel, stride, border.
DEP = [
    ((112, 112), 32, 3, 1, 1),
    ((112, 112), 64, 3, 2, 1),
    ((14, 14), 512, 3, 2, 1),
    ((7, 7), 1024, 3, 1, 1),
]
GMM = [(128, 128, 128), (512, 32, 512), (512, 512, 512), (1024, 1024, 1024)]  # n, m, k.
NRM = [(256, 256), (512, 512), (1024, 1024), (4096, 1024)]
TBS = [(128, 12, 64), (128, 16, 64), (64, 12, 128), (128, 12, 128)]  # Sequence, heads, features.
DENSE = [(768, 768), (768, 2304), (768, 3072), (3072, 768)]  # k, n.
LENGTHS = [1, 5, 24, 43, 62, 81, 100, 119, 128]
HEADS, FEATURES = 12, 64
LEAST, LEAST_OF_CLASS = 0.7, 0.85
"""How many times faster than the best peer a row, and a class on average, is to be."""
CAPSULE = 4
"""The side of the matrices that a capsule convolution multiplies."""


@dataclass(frozen=True)
class Row:
    """One operator, or a few that others measure as one."""

    kind: str
    """The class of operators that it is one of."""
    label: str
    flops: int
    """Multiplications and additions."""
    model: Callable[[], onnx.ModelProto]

    @property
    def name(self) -> str:
        """Return what others call the row."""
        return self.kind + self.label


def make_model(
    nodes: Sequence[NodeProto], inputs: Mapping[str, Shape], weights: Mapping[str, Shape]
) -> onnx.ModelProto:
    """Return nodes that compute `y`; weights are positive where a variance has to be."""
    random = np.random.default_rng(0)
    infos = [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()]
    arrays = {
        name: (0.1 * random.standard_normal(shape)).astype(np.float32)
        for name, shape in weights.items()
    }
    constants = [
        numpy_helper.from_array(abs(array) + 0.5 if name == "variance" else array, name)
        for name, array in arrays.items()
    ]
    y = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph(nodes, "g", infos, [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return onnx.shape_inference.infer_shapes(model)


def _convolution(
    batch: int,
    image: Shape,
    channels: tuple[int, int],
    window: tuple[int, int, int],
    groups: int = 1,
    dilation: int = 1,
    transposed: bool = False,
    normalized: bool = False,
) -> onnx.ModelProto:
    """Return a convolution; `window` has its extent, stride and border."""
    (kernel, stride, border), dims = window, len(image)
    inputs, outputs = channels
    first, second = channels if transposed else (outputs, inputs)
    weights: dict[str, Shape] = {"w": (first, second // groups, *[kernel] * dims)}
    nodes = [
        helper.make_node(
            "ConvTranspose" if transposed else "Conv",
            ["x", "w"],
            ["c" if normalized else "y"],
            kernel_shape=[kernel] * dims,
            strides=[stride] * dims,
            pads=[border] * 2 * dims,
            group=groups,
            dilations=[dilation] * dims,
        )
    ]
    if normalized:
        names = ["scale", "bias", "mean", "variance"]
        weights |= dict.fromkeys(names, (outputs,))
        nodes.append(helper.make_node("BatchNormalization", ["c", *names], ["n"]))
        nodes.append(helper.make_node("Relu", ["n"], ["y"]))
    return make_model(nodes, {"x": (batch, inputs, *image)}, weights)


def convolve(
    kind: str,
    label: str,
    batch: int,
    shape: Sequence[Any],
    groups: int = 1,
    dilation: int = 1,
    transposed: bool = False,
    normalized: bool = False,
) -> Row:
    """Return a row that is a convolution; `shape` is one of the lists above."""
    image, inputs, outputs, kernel, stride, border = shape
    reach = dilation * (kernel - 1) + 1
    points = prod(e if transposed else (e + 2 * border - reach) // stride + 1 for e in image)
    products = batch * points * inputs // groups * outputs * kernel ** len(image)
    form = partial(_convolution, batch, image, (inputs, outputs), (kernel, stride, border))
    model = partial(form, groups, dilation, transposed, normalized)
    return Row(kind, label, 2 * products, model)


def _product(left: Shape, right: Shape, constant: bool) -> onnx.ModelProto:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    inputs = {"x": left} if constant else {"x": left, "w": right}
    return make_model([node], inputs, {"w": right} if constant else {})


def _product_transposed(shape: Shape) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["x", "t"], ["y"]),
    ]
    return make_model(nodes, {"x": shape, "k": shape}, {})


def _norm(shape: Shape) -> onnx.ModelProto:
    node = helper.make_node("ReduceL2", ["x"], ["y"], axes=[1, 2], keepdims=0)
    return make_model([node], {"x": shape}, {})


def _scores(shape: Shape) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Transpose", ["q"], ["a"], perm=[0, 2, 1, 3]),
        helper.make_node("Transpose", ["k"], ["b"], perm=[0, 2, 3, 1]),
        helper.make_node("MatMul", ["a", "b"], ["s"]),
        helper.make_node("Softmax", ["s"], ["y"], axis=-1),
    ]
    return make_model(nodes, {"q": shape, "k": shape}, {})


def _ansor(batch: int) -> Iterator[Row]:
    """Yield Ansor's rows; one of 1.7 TFLOP is too long for a benchmark."""
    for kind, shapes in {"C1D": C1D, "C2D": C2D, "C3D": C3D}.items():
        for number, shape in enumerate(shapes):
            if (kind, number, batch) != ("C3D", 0, 16):
                yield convolve(kind, f"{number}-b{batch}", batch, shape)
    for number, (*shape, groups) in enumerate(GRP):
        yield convolve("GRP", f"{number}-b{batch}", batch, shape, groups=groups)
    for number, (*shape, dilation) in enumerate(DIL):
        yield convolve("DIL", f"{number}-b{batch}", batch, shape, dilation=dilation)
    for number, (image, both, *window) in enumerate(DEP):
        shape = image, both, both, *window
        yield convolve("DEP", f"{number}-b{batch}", batch, shape, groups=both)
    for number, shape in enumerate(T2D):
        yield convolve("T2D", f"{number}-b{batch}", batch, shape, transposed=True)
    for number, shape in enumerate(CBR):
        yield convolve("CBR", f"{number}-b{batch}", batch, shape, normalized=True)
    # The rows of the small matrices are in the batch, their sums in the channels.
    for number, (image, inputs, outputs, *window) in enumerate(CAP):
        shape = image, CAPSULE * inputs, CAPSULE * outputs, *window
        yield convolve("CAP", f"{number}-b{batch}", CAPSULE * batch, shape)
    for number, (n, m, k) in enumerate(GMM):
        form = partial(_product, (batch, n, k), (batch, k, m), constant=False)
        yield Row("GMM", f"{number}-b{batch}", 2 * batch * n * m * k, form)
    for number, (m, n) in enumerate(NRM):
        yield Row("NRM", f"{number}-b{batch}", 2 * batch * m * n, partial(_norm, (batch, m, n)))
    for number, (length, heads, features) in enumerate(TBS):
        flops = 2 * batch * heads * length**2 * features
        form = partial(_scores, (batch, length, heads, features))
        yield Row("TBS", f"{number}-b{batch}", flops, form)


def _dietcode() -> Iterator[Row]:
    for k, n in DENSE:
        for length in LENGTHS:
            for batch in BATCHES:
                m = batch * length
                form = partial(_product, (m, k), (k, n), constant=True)
                yield Row("DENSE", f"{k}x{n}-T{length}-b{batch}", 2 * m * k * n, form)
    for length in LENGTHS:
        heads = 16 * HEADS
        flops, vectors = 2 * heads * length**2 * FEATURES, (heads, length, FEATURES)
        yield Row("BMMNT", f"-T{length}-b16", flops, partial(_product_transposed, vectors))
        form = partial(_product, (heads, length, length), vectors, constant=False)
        yield Row("BMMNN", f"-T{length}-b16", flops, form)


ROWS = {
    row.name: row for row in [*(row for batch in BATCHES for row in _ansor(batch)), *_dietcode()]
}


def operator_cases(rows: Iterable[Row], toy: bool) -> list[dict[str, Any]]:
    """Return rows as cases of the benchmark; at toy size, the least of each class."""
    rows, least = list(rows), dict[str, Row]()
    for row in rows:
        least[row.kind] = min(row, least.get(row.kind, row), key=lambda row: row.flops)
    return [
        {
            "name": f"operators/{row.name}",
            "model": "operator",
            "class": row.kind,
            "sizes": {"row": row},
            "toy": {"row": row},
            "baselines": ["onnxruntime", "openvino", "torch"],
            "channels_last": False,
            "metric": "median_ms",
            "threads": 1,
            "ratio": round(1 / LEAST, 3),
        }
        for row in (least.values() if toy else rows)
    ]


def summarize(results: Sequence[Mapping[str, Any]], toy: bool) -> dict[str, Any]:
    """Return geometric means of how many times faster rows are than the best peer.

    They pass if that of all rows is at least 1, and that of no class too small.
    """
    speedups: dict[str, list[float]] = {}
    for result in results:
        if result["ratio"] != float("inf"):
            speedups.setdefault(result["class"], []).append(1 / result["ratio"])
    means = {kind: geometric_mean(values) for kind, values in sorted(speedups.items())}
    overall = geometric_mean(list(chain(*speedups.values()))) if speedups else 0.0
    return {
        "case": "operators/mean",
        "threads": 1,
        "error": max(result["error"] for result in results),
        "rows": len(results),
        "speedup": round(overall, 3),
        "speedups": {kind: round(mean, 3) for kind, mean in means.items()},
        "passed": toy or (overall >= 1 and min(means.values()) >= LEAST_OF_CLASS),
    }


def compute_in_double(
    model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return what a model is to compute, from ONNX's reference in double precision."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for info in chain(wide.graph.input, wide.graph.output, wide.graph.value_info):
        if info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            info.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    for constant in wide.graph.initializer:
        if constant.data_type == onnx.TensorProto.FLOAT:
            values = numpy_helper.to_array(constant).astype(np.float64)
            constant.CopyFrom(numpy_helper.from_array(values, constant.name))
    arrays = {
        name: array.astype(np.float64) if array.dtype == np.float32 else array
        for name, array in inputs.items()
    }
    results = onnx.reference.ReferenceEvaluator(wide).run(None, arrays)
    return {info.name: array for info, array in zip(model.graph.output, results, strict=True)}
