"""What the benchmarks compare with, as far as it is installed.

A peer takes an ONNX model of a network or, some of them, of a single operator.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import numpy_helper

from espalier.testing.onnxruntime import OnnxRuntime, load_onnxruntime

if TYPE_CHECKING:
    import torch

Arrays = dict[str, np.ndarray]


@dataclass
class Peer:
    """Another implementation of a model."""

    name: str
    build: str
    """What it is and how it was built."""
    call: Callable[[], object]
    """Runs it once, on the inputs that it was made with."""
    outputs: Callable[[], Arrays] | None = None
    """Returns what the last call computed; null where that takes a conversion."""


def single_node(model: onnx.ModelProto, op: str) -> onnx.NodeProto | None:
    """Return the node of a model that has only one, but for a Relu and names after it."""
    first, *rest = (node.op_type for node in model.graph.node)
    return model.graph.node[0] if first == op and {*rest} <= {"Relu", "Identity"} else None


def has_relu(model: onnx.ModelProto) -> bool:
    """Return whether the single operator ends in a Relu."""
    return any(node.op_type == "Relu" for node in model.graph.node)


def operands(model: onnx.ModelProto, inputs: Arrays) -> list[np.ndarray]:
    """Return the operands of the first node, whether inputs or constants."""
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    return [(constants | inputs)[name] for name in model.graph.node[0].input]


def onnxruntime_peer(model: onnx.ModelProto, inputs: Arrays, threads: int) -> Peer:
    """Return onnxruntime."""
    session = OnnxRuntime(model, threads)
    last: Arrays = {}

    def call() -> None:
        last.update(session.run(inputs))

    build = f"onnxruntime {load_onnxruntime().__version__}"
    return Peer("onnxruntime", build, call, lambda: last)


def openvino_peer(model: onnx.ModelProto, inputs: Arrays, threads: int) -> Peer | None:
    """Return OpenVINO, in f32."""
    try:
        import openvino
    except ImportError:
        return None
    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    read = core.read_model(model.SerializeToString())
    request = core.compile_model(read, "CPU", settings).create_infer_request()
    names = [output.name for output in model.graph.output]

    def outputs() -> Arrays:
        tensors = [request.get_output_tensor(i) for i in range(len(names))]
        return {name: t.data for name, t in zip(names, tensors, strict=True)}

    # Inputs stay where they are, as they do for the other peers.
    for name, array in inputs.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
    return Peer("openvino", f"OpenVINO {openvino.__version__}", request.infer, outputs)


def torch_node(node: onnx.NodeProto, operands: list[torch.Tensor]) -> torch.Tensor | None:
    """Return one operator in PyTorch, or None for one that the cases do not need."""
    import torch

    functions = torch.nn.functional
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Identity":
        return operands[0]
    if node.op_type == "Relu":
        return functions.relu(operands[0])
    if node.op_type == "MatMul":
        return torch.matmul(*operands)
    if node.op_type == "Transpose":
        return operands[0].permute(attributes["perm"])
    if node.op_type == "Softmax":
        return torch.softmax(operands[0], attributes["axis"])
    if node.op_type == "ReduceL2":
        axes = attributes["axes"]
        return torch.linalg.vector_norm(operands[0], dim=axes, keepdim=bool(attributes["keepdims"]))
    if node.op_type == "BatchNormalization":
        x, scale, bias, mean, variance = operands
        return functions.batch_norm(x, mean, variance, scale, bias)
    if node.op_type == "ConvTranspose":
        pads = attributes["pads"]
        rank = len(pads) // 2
        convolve = (
            functions.conv_transpose1d,
            functions.conv_transpose2d,
            functions.conv_transpose3d,
        )[rank - 1]
        return convolve(*operands, stride=attributes["strides"], padding=pads[:rank])
    if node.op_type == "Conv":
        pads = attributes["pads"]
        rank = len(pads) // 2
        convolve = (functions.conv1d, functions.conv2d, functions.conv3d)[rank - 1]
        return convolve(
            *operands,
            stride=attributes["strides"],
            padding=pads[:rank],
            dilation=attributes["dilations"],
            groups=attributes["group"],
        )
    if node.op_type == "MaxPool" and len(attributes["kernel_shape"]) == 2:
        return functions.max_pool2d(operands[0], attributes["kernel_shape"], attributes["strides"])
    if node.op_type == "Resize" and attributes.get("mode") == b"linear":
        size = [int(extent) for extent in operands[3]][2:]
        return functions.interpolate(operands[0], size, mode="bilinear")
    return None


def torch_peer(model: onnx.ModelProto, inputs: Arrays, threads: int) -> Peer | None:
    """Return torch.compile, with frozen weights, of a model of a few operators."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    constants = {t.name: numpy_helper.to_array(t).copy() for t in model.graph.initializer}
    known = {
        name: torch.from_numpy(c) if c.dtype == np.float32 else c for name, c in constants.items()
    }
    name = model.graph.output[0].name

    class Network(torch.nn.Module):
        """The model, node by node."""

        def forward(self, *arrays: torch.Tensor) -> torch.Tensor | None:
            values = {"": None, **known, **dict(zip(inputs, arrays, strict=True))}
            for node in model.graph.node:
                value = torch_node(node, [values[operand] for operand in node.input])
                values[node.output[0]] = value
                if value is None:
                    return None
            return values[name]

    given = [torch.from_numpy(array) for array in inputs.values()]
    last: Arrays = {}
    with torch.no_grad():
        if Network().eval()(*given) is None:
            return None
        # Else a second model would be compiled for all shapes, having the same function.
        torch.compiler.reset()
        compiled = torch.compile(Network().eval(), dynamic=False, options={"freezing": True})
        compiled(*given)

    def call() -> None:
        with torch.no_grad():
            last[name] = compiled(*given).numpy()

    return Peer("torch", f"torch.compile {torch.__version__}", call, lambda: last)


def sgemm_peer(
    name: str,
    build: str,
    sgemm: Callable[[np.ndarray, np.ndarray, np.ndarray], object],
    model: onnx.ModelProto,
    inputs: Arrays,
) -> Peer | None:
    """Return a peer that computes a product into memory that it keeps."""
    if single_node(model, "MatMul") is None:
        return None
    left, right = operands(model, inputs)
    result = np.empty((left.shape[0], right.shape[1]), np.float32)
    return Peer(
        name,
        build,
        lambda: sgemm(left, right, result),
        lambda: {model.graph.output[0].name: result},
    )


def find_openblas() -> list[ctypes.CDLL]:
    """Return the OpenBLAS libraries in this process, that of numpy first.

    There may be others, behind solver libraries.
    """
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    paths = {line.split()[-1] for line in maps.splitlines() if "openblas" in line}
    return [ctypes.CDLL(path) for path in sorted(paths, key=lambda p: ("numpy" not in p, p))]


def openblas_peer(model: onnx.ModelProto, inputs: Arrays, threads: int) -> Peer | None:
    """Return the BLAS of numpy."""
    build = ""
    for library in find_openblas():
        for prefix, suffix in (("scipy_openblas", "64_"), ("openblas", "")):
            if get := getattr(library, f"{prefix}_get_config{suffix}", None):
                get.restype = ctypes.c_char_p
                build = build or get().decode()
                getattr(library, f"{prefix}_set_num_threads{suffix}")(threads)
    build = build or "another BLAS"

    def multiply(left: np.ndarray, right: np.ndarray, result: np.ndarray) -> None:
        np.matmul(left, right, out=result)

    return sgemm_peer("openblas", build, multiply, model, inputs)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """Return the address of an array's elements."""
    return ctypes.c_void_p(array.ctypes.data)


def load_mkl(threads: int) -> tuple[ctypes.CDLL, str] | None:
    """Return Intel's MKL, from PyPI, and the name of its file, if it is installed."""
    found = sorted(pathlib.Path(sysconfig.get_path("data"), "lib").glob("libmkl_rt.so*"))
    if not found:
        return None
    os.environ["KMP_DUPLICATE_LIB_OK"] = "TRUE"  # Its OpenMP is there beside ours.
    library = ctypes.CDLL(str(found[0]))
    library.MKL_Set_Num_Threads(threads)
    return library, found[0].name


def mkl_peer(model: onnx.ModelProto, inputs: Arrays, threads: int) -> Peer | None:
    """Return the BLAS of MKL."""
    loaded = load_mkl(threads)
    if loaded is None:
        return None
    library, build = loaded
    row_major, plain = 101, 111

    def multiply(left: np.ndarray, right: np.ndarray, result: np.ndarray) -> None:
        (m, k), n = left.shape, right.shape[1]
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        a, b, c = pointer(left), pointer(right), pointer(result)
        library.cblas_sgemm(row_major, plain, plain, m, n, k, one, a, k, b, n, zero, c, n)

    return sgemm_peer("mkl", build, multiply, model, inputs)


@functools.cache
def load_onednn() -> ctypes.CDLL | None:
    """Return the oneDNN that is installed, with `onednn.cpp` beside it."""
    source = pathlib.Path(__file__).parent / "peers" / "onednn.cpp"
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "onednn.so")
        command = [compiler, "-O2", "-fopenmp", "-shared", "-fPIC", str(source), "-ldnnl"]
        command += ["-o", str(library)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        return ctypes.CDLL(str(library))


def onednn_peer(model: onnx.ModelProto, inputs: Arrays, threads: int) -> Peer | None:
    """Return oneDNN: its sgemm, or its convolution in the layout it likes best."""
    library = load_onednn()
    if library is None:
        return None
    dnnl = ctypes.CDLL(ctypes.util.find_library("dnnl") or "libdnnl.so")
    library.peer_set_threads(threads)
    build = f"oneDNN, {ctypes.util.find_library('dnnl')}"
    if node := single_node(model, "Conv"):
        return onednn_conv(library, build, node, model, inputs)
    size = ctypes.c_int64
    plain = ctypes.c_char(b"N")

    def multiply(left: np.ndarray, right: np.ndarray, result: np.ndarray) -> None:
        m, k, n = size(left.shape[0]), size(left.shape[1]), size(right.shape[1])
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        a, b, c = pointer(left), pointer(right), pointer(result)
        dnnl.dnnl_sgemm(plain, plain, m, n, k, one, a, k, b, n, zero, c, n)

    return sgemm_peer("onednn", build, multiply, model, inputs)


def onednn_conv(
    library: ctypes.CDLL,
    build: str,
    node: onnx.NodeProto,
    model: onnx.ModelProto,
    inputs: Arrays,
) -> Peer | None:
    """Return oneDNN's convolution; results stay in its own layout."""
    image, weights = operands(model, inputs)
    spatial = image.ndim - 2
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    strides = attributes.get("strides", [1] * spatial)
    dilations = attributes.get("dilations", [1] * spatial)
    pads = attributes.get("pads", [0] * 2 * spatial)
    sizes = [image.shape[0], image.shape[1], weights.shape[0], attributes.get("group", 1)]
    for d in range(spatial):
        low, high = pads[d], pads[d + spatial]
        window = (weights.shape[d + 2] - 1) * dilations[d] + 1
        extent = (image.shape[d + 2] + low + high - window) // strides[d] + 1
        sizes += [image.shape[d + 2], weights.shape[d + 2], extent]
        sizes += [strides[d], dilations[d], low, high]
    library.peer_conv_create.restype = ctypes.c_void_p
    handle = library.peer_conv_create(
        spatial,
        (ctypes.c_int64 * len(sizes))(*sizes),
        pointer(np.ascontiguousarray(image)),
        pointer(np.ascontiguousarray(weights)),
        has_relu(model),
    )
    if not handle:
        return None
    return Peer("onednn", build, lambda: library.peer_conv_run(ctypes.c_void_p(handle)))


PEERS: dict[str, Callable[[onnx.ModelProto, Arrays, int], Peer | None]] = {
    "onnxruntime": onnxruntime_peer,
    "openvino": openvino_peer,
    "torch": torch_peer,
    "openblas": openblas_peer,
    "mkl": mkl_peer,
    "onednn": onednn_peer,
}


def open_peers(
    names: list[str], model: onnx.ModelProto, inputs: Arrays, threads: int
) -> list[Peer]:
    """Return those of the peers that are installed and can compute the model."""
    found = (PEERS[name](model, inputs, threads) for name in names)
    return [peer for peer in found if peer is not None]
