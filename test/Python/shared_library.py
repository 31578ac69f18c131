"""Programs in shared libraries, called through espalier-c/Runtime.h."""

import ctypes
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from espalier.dtypes import NAMES
from espalier.errors import EspalierError

DTYPES = list(NAMES)
"""Element types by their number in the header."""


class Tensor(ctypes.Structure):
    """The header's espalier_tensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
    )


def _tensors(arrays: Mapping[str, np.ndarray]) -> ctypes.Array:
    return (Tensor * len(arrays))(
        *(Tensor(a.ctypes.data, DTYPES.index(a.dtype), a.ndim, a.ctypes.shape_as(ctypes.c_int64))
          for a in arrays.values())
    )  # fmt: skip


def run_library(
    path: Path, name: str, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
) -> None:
    """Run the program called `name` of a library, and write its outputs.

    Raises EspalierError with the program's message.
    """
    library = ctypes.CDLL(str(path))
    library.espalier_last_error.restype = ctypes.c_char_p
    context = ctypes.c_void_p()

    def check(status: int) -> None:
        if status:
            raise EspalierError(library.espalier_last_error(context).decode())

    program = ctypes.c_char.in_dll(library, f"{name}_program")
    check(library.espalier_context_create(ctypes.byref(program), ctypes.byref(context)))
    try:
        ins, outs = _tensors(inputs), _tensors(outputs)
        check(library.espalier_run(context, ins, len(ins), outs, len(outs)))
    finally:
        library.espalier_context_destroy(context)
