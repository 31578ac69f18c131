"""Opening ONNX models, external data included, without trusting them."""

import functools
import math
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message
from onnx import AttributeProto, GraphProto, ModelProto, SparseTensorProto, TensorProto

from espalier.errors import EspalierError, ModelError, reason_of
from espalier.importers.onnx.tensors import MAX_BYTES, numpy_type, sparse_array, tensor_array


@dataclass
class Source:
    """A parsed model and the folder that its external data may lie in."""

    model: ModelProto
    folder: Path | None

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators that the model uses."""
        return opset_of(self.model.opset_import)

    def array(self, tensor: TensorProto, what: str) -> np.ndarray:
        """Return the elements of a tensor, wherever they lie."""
        if tensor.data_location == TensorProto.EXTERNAL:
            return _external_array(tensor, self.folder, what)
        return tensor_array(tensor, what)

    def sparse_array(self, tensor: SparseTensorProto, what: str) -> np.ndarray:
        """Return all elements of a tensor that is stored without its zeros."""
        values = self.array(tensor.values, f"{what}: values")
        indices = self.array(tensor.indices, f"{what}: indices")
        return sparse_array(values, indices, list(tensor.dims), what)


def load(model: ModelProto | bytes | str | os.PathLike[str]) -> Source:
    """Parse a model; external data is opened later, tensor by tensor.

    Arguments:
        model: a path, the bytes of a model, or a parsed model. Only a model
            with a path may have external data.
    """
    folder = None
    if not isinstance(model, ModelProto):
        if not isinstance(model, bytes):
            path = Path(model)
            folder = path.parent
            try:
                model = path.read_bytes()
            except (OSError, ValueError) as error:
                raise EspalierError(f"cannot read '{path}': {reason_of(error)}") from error
        try:
            model = onnx.load_model_from_string(model)
        except (DecodeError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"expects an ONNX model, but got malformed protobuf: {error}"
            ) from error
    if not model.opset_import or not model.HasField("graph"):
        raise ModelError("expects an ONNX model, but it has no graph or no opset")
    newest = onnx.defs.onnx_opset_version()
    opset = opset_of(model.opset_import)
    # 0: the model uses no operator of ONNX's own.
    if not 0 <= opset <= newest:
        raise ModelError(f"expects an opset from 1 to {newest}, but got {opset}")
    return Source(model, folder)


UNREAD = {"doc_string", "metadata_props", "producer_name", "producer_version", "value_info"}
"""Fields with text that nothing here reads."""


def check_text(message: Message) -> None:
    """Raise `ModelError` if text below a message is none that names can be.

    Text that is not UTF-8 is handed out as bytes; C ends text at a null character.
    """
    for name, is_message in _text_fields(message.DESCRIPTOR):
        value = getattr(message, name)
        if is_message and isinstance(value, Message):
            parts = [value] if message.HasField(name) else []
        else:
            parts = [value] if isinstance(value, str | bytes) else value
        for part in parts:
            if isinstance(part, bytes):
                raise ModelError(f"expects names in UTF-8, but got {part!r}")
            if isinstance(part, str) and "\0" in part:
                raise ModelError(f"expects names without null characters, but got {part!r}")
            if is_message:
                check_text(part)


@functools.cache
def _text_fields(descriptor: Descriptor) -> list[tuple[str, bool]]:
    """Return the fields that are text or messages, and which are the latter."""
    return [
        (field.name, field.type == field.TYPE_MESSAGE)
        for field in descriptor.fields
        if field.type in (field.TYPE_STRING, field.TYPE_MESSAGE) and field.name not in UNREAD
    ]


def opset_of(imports: "list[onnx.OperatorSetIdProto]") -> int:
    """Return the version of ONNX's own operators in a list of imports."""
    versions = [entry.version for entry in imports if entry.domain in ("", "ai.onnx")]
    return versions[0] if versions else 0


def subgraphs(node: onnx.NodeProto) -> Iterator[GraphProto]:
    """Return the graphs among a node's attributes."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def _external_array(tensor: TensorProto, folder: Path | None, what: str) -> np.ndarray:
    if folder is None:
        raise ModelError(f"{what}: expects data in the model, but it lies in another file")
    dtype = numpy_type(tensor.data_type, what)
    if any(extent < 0 for extent in tensor.dims):
        raise ModelError(f"{what}: expects extents of at least 0, but got {list(tensor.dims)}")
    needed = math.prod(tensor.dims) * dtype.itemsize
    if needed > MAX_BYTES:
        raise ModelError(f"{what}: expects at most {MAX_BYTES} bytes, but got {needed}")
    fields = {entry.key: entry.value for entry in tensor.external_data}
    offset, length = (_number(fields, key, what) for key in ("offset", "length"))
    offset = offset or 0
    if length is not None and length != needed:
        raise ModelError(f"{what}: expects {needed} bytes of external data, but got {length}")
    with _open_below(folder, fields.get("location", ""), what) as file:
        size = os.fstat(file.fileno()).st_size
        if offset + needed > size:
            raise ModelError(
                f"{what}: expects external data up to byte {offset + needed}, "
                f"but the file has {size}"
            )
        if needed == 0:
            return np.zeros(tuple(tensor.dims), dtype)
        return np.memmap(file, dtype, "r", offset, tuple(tensor.dims))


def _number(fields: dict[str, str], key: str, what: str) -> int | None:
    text = fields.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ModelError(f"{what}: expects a number as external {key}, but got '{text}'")
    return int(text)


def _open_below(folder: Path, location: str, what: str):  # noqa: ANN202
    """Open a regular file below a folder, following no link on the way."""
    parts = location.replace("\\", "/").split("/")
    if not location or "\0" in location or location.startswith("/") or {"", ".."} & set(parts):
        raise ModelError(
            f"{what}: expects external data below the model's folder, but got '{location}'"
        )
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        opened = os.open(parts[-1], flags, dir_fd=here)
    except OSError as error:
        raise ModelError(
            f"{what}: expects external data in '{location}' without links, but {error.strerror}"
        ) from error
    finally:
        os.close(here)
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        os.close(opened)
        raise ModelError(f"{what}: expects a regular file without links, but got '{location}'")
    return os.fdopen(opened, "rb")
