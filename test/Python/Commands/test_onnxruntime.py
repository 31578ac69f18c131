"""onnxruntime, which is compared with, may be missing, or fail: an error that says so."""

import sys

import numpy as np
import pytest

from espalier.errors import EspalierError
from espalier.testing.onnxruntime import OnnxRuntime, load_onnxruntime
from support import one_op

MODEL = one_op("Relu", {"x": (np.float32, [2, 3])})


def test_missing(monkeypatch):
    load_onnxruntime.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EspalierError, match="expects onnxruntime to compare with, but import of"):
        OnnxRuntime(MODEL)


def test_what_it_cannot_load():
    with pytest.raises(EspalierError, match="onnxruntime cannot load the model: "):
        OnnxRuntime(b"no model")


def test_what_it_cannot_run():
    with pytest.raises(EspalierError, match="onnxruntime cannot run the model: "):
        OnnxRuntime(MODEL).run({"x": np.zeros((5, 5), np.float32)})
