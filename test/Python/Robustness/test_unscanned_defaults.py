"""Default schedules whose loops take too long to find: kernels keep their program order."""

import numpy as np
import pytest

from espalier.compiler import Options, compile, interpret
from support import one_op


@pytest.mark.parametrize("features", ["-avx2,-avx512f", ""])
def test_dilated_transposed_volume(features: str):
    random = np.random.default_rng(0)
    x = random.integers(-4, 5, (1, 2, 2, 2, 17)).astype(np.float32)
    w = random.integers(-4, 5, (2, 16, 3, 4, 4)).astype(np.float32)
    attributes = {"strides": [3, 4, 4], "dilations": [2, 2, 2]}
    model = one_op("ConvTranspose", {"x": (np.float32, x.shape)}, {"w": w}, **attributes)
    run = compile(model, options=Options(cache=None, features=features)).run
    np.testing.assert_array_equal(run({"x": x})["y"], interpret(model, {"x": x})["y"])
