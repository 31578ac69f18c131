"""onnxruntime as the other implementation."""

import functools
import importlib
import math
import os
import sys
from collections.abc import Mapping
from types import ModuleType

import numpy as np
import onnx

from espalier.errors import EspalierError

TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int8)": np.int8,
    "tensor(int16)": np.int16,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}


@functools.cache
def load_onnxruntime() -> ModuleType:
    """Import onnxruntime, which takes a second; without its telemetry.

    Otherwise it writes a database to the user's cache, and sends what is in it.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return importlib.import_module("onnxruntime")
    except ImportError as error:
        raise EspalierError(f"expects onnxruntime to compare with, but {error}") from error


class OnnxRuntime:
    """A model in onnxruntime, on the CPU."""

    def __init__(
        self, model: onnx.ModelProto | bytes | str | os.PathLike[str], threads: int = 1
    ) -> None:
        onnxruntime = load_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        if isinstance(model, onnx.ModelProto):
            model = model.SerializeToString()
        source = model if isinstance(model, bytes) else os.fspath(model)
        try:
            self._session = onnxruntime.InferenceSession(
                source, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise EspalierError(f"onnxruntime cannot load the model: {error}") from error

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Run on inputs by name; return the outputs by name."""
        names = [output.name for output in self._session.get_outputs()]
        try:
            results = self._session.run(names, dict(inputs))
        except MemoryError:
            raise
        except Exception as error:
            raise EspalierError(f"onnxruntime cannot run the model: {error}") from error
        return dict(zip(names, results, strict=True))

    def random_inputs(
        self, dims: Mapping[str, int] | None = None, seed: int = 0
    ) -> dict[str, np.ndarray]:
        """Return normal numbers, integers below 64, and masks and types below 2.

        Arguments:
            dims: extents of symbolic dimensions; the others are 1.
        """
        rng = np.random.default_rng(seed)
        result = {}
        for value in self._session.get_inputs():
            if value.type not in TYPES:
                raise EspalierError(f"input '{value.name}': no random values of {value.type}")
            dtype = np.dtype(TYPES[value.type])
            shape = [(dims or {}).get(d, 1) if not isinstance(d, int) else d for d in value.shape]
            if math.prod(shape) > sys.maxsize // 8:
                raise EspalierError(
                    f"input '{value.name}': expects at most {sys.maxsize // 8} elements, "
                    f"but got shape {shape}"
                )
            if dtype.kind == "f":
                result[value.name] = rng.standard_normal(shape).astype(dtype)
            else:
                narrow = dtype == np.bool_ or any(w in value.name for w in ("mask", "type"))
                result[value.name] = rng.integers(0, 2 if narrow else 64, shape).astype(dtype)
        return result
