"""Tensor data of an ONNX model as NumPy arrays."""

import math

import numpy as np
import onnx
from onnx import numpy_helper

from espalier.dtypes import NAMES
from espalier.errors import ModelError
from espalier.importers.onnx.registry import Node, Unsupported

MAX_BYTES = 2**40
MAX_SPARSE_BYTES = 2**32
"""Of a tensor without its zeros: what is written in a few bytes may be much."""


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


def sparse_array(values: np.ndarray, indices: np.ndarray, dims: list[int], what: str) -> np.ndarray:
    """Return all elements of a tensor of which those that are not zero are stored.

    Arguments:
        values: what is stored, one dimension.
        indices: where, in ascending order: numbers in the flattened tensor, or rows of
            numbers, one of each dimension.
        what: how messages call the tensor.
    """
    if any(extent < 0 for extent in dims):
        raise ModelError(f"{what}: expects extents of at least 0, but got {dims}")
    size = math.prod(dims)
    # An extent of 0 does not hide others that are too large.
    if math.prod(max(e, 1) for e in dims) * values.dtype.itemsize > MAX_SPARSE_BYTES:
        raise ModelError(
            f"{what}: expects at most {MAX_SPARSE_BYTES} bytes with all zeros, but got "
            f"{values.dtype}{dims}"
        )
    if values.ndim != 1:
        raise ModelError(f"{what}: expects values in one dimension, but got {list(values.shape)}")
    if indices.dtype != np.int64 or indices.shape not in ((len(values),), (len(values), len(dims))):
        raise ModelError(
            f"{what}: expects indices of int64[{len(values)}] or "
            f"int64[{len(values)}, {len(dims)}], but got {indices.dtype}{list(indices.shape)}"
        )
    # A row is as good as a number, whose only dimension is the flattened one.
    extents = [size] if indices.ndim == 1 else dims
    rows = indices.reshape(len(values), len(extents))
    places = np.zeros(len(values), np.int64)
    for dim, extent in enumerate(extents):
        stray = (rows[:, dim] < 0) | (rows[:, dim] >= extent)
        if stray.any():
            row = int(stray.argmax())
            raise ModelError(
                f"{what}: expects index #{row} within {extents}, but got {rows[row].tolist()}"
            )
        places = places * extent + rows[:, dim]
    falls = np.flatnonzero(np.diff(places) <= 0)
    if len(falls):
        row = int(falls[0]) + 1
        raise ModelError(
            f"{what}: expects index #{row} after {rows[row - 1].tolist()}, "
            f"but got {rows[row].tolist()}"
        )
    result = np.zeros(size, values.dtype)
    result[places] = values
    return result.reshape(dims)
