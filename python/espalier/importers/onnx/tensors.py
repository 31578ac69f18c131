"""Tensor data of an ONNX model as NumPy arrays."""

import math

import numpy as np
import onnx
from onnx import numpy_helper

from espalier.dtypes import NAMES
from espalier.errors import ModelError
from espalier.importers.onnx.registry import Node, Unsupported

MAX_BYTES = 2**40


def numpy_type(code: int, what: str) -> np.dtype:
    """Return the NumPy type of an ONNX element type code.

    Raises `Unsupported` for types that ONNX has and the compiler does not.

    Arguments:
        what: what has this type, for messages.
    """
    names = {number: name for name, number in onnx.TensorProto.DataType.items()}
    if code not in names or code == onnx.TensorProto.UNDEFINED:
        raise ModelError(f"{what}: expects an element type of ONNX, but got number {code}")
    if code == onnx.TensorProto.STRING:
        raise Unsupported("needs a numeric element type, but got string")
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(code))
    if dtype not in NAMES:
        raise Unsupported(f"needs an element type out of {_supported()}, but got {dtype}")
    return dtype


def _supported() -> str:
    return ", ".join(str(dtype) for dtype in NAMES)


def element_type(node: Node, code: int) -> np.dtype:
    """Return the type that an attribute of a node names."""
    return numpy_type(code, f"node '{node.name}' ({node.op_type})")


def tensor_array(tensor: onnx.TensorProto, what: str) -> np.ndarray:
    """Return the elements of a tensor whose data lies in the model.

    Arguments:
        what: how messages call the tensor.
    """
    dtype = numpy_type(tensor.data_type, what)
    if any(extent < 0 for extent in tensor.dims):
        raise ModelError(f"{what}: expects extents of at least 0, but got {list(tensor.dims)}")
    if math.prod(tensor.dims) * dtype.itemsize > MAX_BYTES:
        raise ModelError(f"{what}: expects at most {MAX_BYTES} bytes, but got {list(tensor.dims)}")
    try:
        array = numpy_helper.to_array(tensor)
    except Exception as error:
        raise ModelError(f"{what}: expects data for {list(tensor.dims)}, but {error}") from error
    if array.dtype != dtype or list(array.shape) != list(tensor.dims):
        raise ModelError(f"{what}: expects data for {list(tensor.dims)}, but got {array.shape}")
    return array
