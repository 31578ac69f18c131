"""The products as MLIR's sparsifier compiles them, from `linalg.generic` on sparse tensors.

`Inputs` has a function for each, in which names stand for the types of its arguments and of
the sparse tensor: sizes are constants there, ours are known when the program runs.
"""

from __future__ import annotations

import ctypes
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable

import numpy as np
from plain_c import COMPILERS, describe

Arrays = dict[str, np.ndarray]

_OPT, _TRANSLATE = ("mlir-opt-22", "mlir-translate-22")
_TYPES = {"float32": "f32", "int32": "i32"}
_DENSE = ("x", "z", "y")
"""The arrays whose sizes do not depend on how many entries there are."""

_LEVELS = "ijk"


def _describe(array: np.ndarray) -> ctypes.Structure:
    """Return what MLIR's functions take for a buffer: its address, sizes and strides."""
    numbers = ctypes.c_int64 * array.ndim
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p)]
    fields += [("offset", ctypes.c_int64), ("sizes", numbers), ("strides", numbers)]
    kind = type("Buffer", (ctypes.Structure,), {"_fields_": fields})
    strides = [stride // array.itemsize for stride in array.strides]
    return kind(array.ctypes.data, array.ctypes.data, 0, numbers(*array.shape), numbers(*strides))


def _write_types(arrays: Arrays, shape: tuple[int, ...]) -> str:
    """Return the names of the types of arrays, and of the sparse tensor that they are parts of."""
    lines = []
    for name, array in arrays.items():
        extents = array.shape if name in _DENSE else ("?",)
        lines.append(f"!{name} = tensor<{'x'.join(map(str, extents))}x{_TYPES[str(array.dtype)]}>")
    dimensions = _LEVELS[: len(shape)]
    levels = [f"{d} : {'compressed' if d > 'i' else 'dense'}" for d in dimensions]
    lines += [
        f"!sparse = tensor<{'x'.join(map(str, shape))}xf32, #sparse_tensor.encoding<{{",
        f"    map = ({', '.join(dimensions)}) -> ({', '.join(levels)}),",
        "    posWidth = 32, crdWidth = 32 }>>",
    ]
    return "\n".join(lines) + "\n"


def compile_sparsified(
    name: str, arrays: Arrays, shape: tuple[int, ...], lanes: int
) -> tuple[str, Callable[[], object]] | None:
    """Return a product's build and a call of it on arrays, if MLIR's tools are installed.

    Arguments:
        arrays: by the names of arguments, in their order.
        shape: the sizes of the sparse tensor.
        lanes: of each vector; 0 leaves vectors to LLVM.
    """
    compiler = [*COMPILERS["clang"], "-ffp-contract=fast"]
    if any(shutil.which(tool) is None for tool in (_OPT, _TRANSLATE, compiler[0])):
        return None
    source = pathlib.Path(__file__).parent / "Inputs" / f"{name}.mlir"
    text = _write_types(arrays, shape) + source.read_text(encoding="utf-8")
    loops = f"--sparsification-and-bufferization=vl={lanes} enable-simd-index32=true"
    lower = "--sparsifier=enable-runtime-library=false reassociate-fp-reductions=true "
    lower += "enable-index-optimizations=true"
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "product.so")
        for command in (
            [_OPT, loops, lower],
            [_TRANSLATE, "--mlir-to-llvmir"],
            [*compiler, "-shared", "-fPIC", "-x", "ir", "-", "-o", str(library)],
        ):
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
            text = done.stdout
        function = ctypes.CDLL(str(library))["_mlir_ciface_product"]
    function.restype = None
    buffers = [_describe(array) for array in arrays.values()]
    pointers = [ctypes.byref(buffer) for buffer in (_describe(arrays["y"]), *buffers)]
    build = f"sparsifier of MLIR 22, {lanes or 'no'} lanes, {describe(compiler)}"
    return build, lambda _=arrays: function(*pointers)
