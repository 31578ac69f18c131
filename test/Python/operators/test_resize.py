"""ONNX's Resize by scales: extents and elements, against onnxruntime and ONNX's reference."""

import itertools

import numpy as np
import onnx
import onnx.reference
import pytest

from espalier.compiler import Options, compile, compile_for
from espalier.testing.compare import mismatch
from espalier.testing.onnxruntime import OnnxRuntime
from support import import_in_numpy, one_op

SCALES = (0.29, 0.3, 1 / 3, 0.35, 0.5, 0.6, 0.7, 0.75, 1.1, 1.25, 1.3, 1.5, 1.7, 2.0, 2.3, 3.0)
EXTENTS = (1, 2, 3, 7, 10, 16, 20)
HALF_PIXEL = ("half_pixel", "pytorch_half_pixel", "asymmetric", "half_pixel_symmetric")
SAMPLING = [
    *(("nearest", n) for n in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")),
    ("linear", "round_prefer_floor"),
    ("cubic", "round_prefer_floor"),
]


def resize(
    extent: int | str, scale: float, coordinates: str, mode: str, nearest: str
) -> onnx.ModelProto:
    return one_op(
        "Resize",
        {"x": (np.float32, [1, 1, 1, extent])},
        {"scales": np.array([1, 1, 1, scale], np.float32)},
        operands=["x", "", "scales"],
        coordinate_transformation_mode=coordinates,
        mode=mode,
        nearest_mode=nearest,
    )


def ramp(extent: int) -> np.ndarray:
    return np.random.default_rng(extent).standard_normal((1, 1, 1, extent)).astype(np.float32)


def may_round(extent: int, scale: float, coordinates: str, nearest: str) -> bool:
    """Whether a position lies so close to a bound that other arithmetic rounds it.

    onnxruntime adds the shift of half_pixel_symmetric in single precision, and
    takes what is almost half-way between two elements to be so.
    """
    if coordinates != "half_pixel_symmetric" and not nearest.startswith("round"):
        return False
    count = int(extent * np.float32(scale))
    p = np.arange(count)
    x = (p + (0.5 if coordinates != "asymmetric" else 0)) / np.float64(np.float32(scale))
    if coordinates == "half_pixel_symmetric":
        x += extent / 2 * (1 - count / (np.float32(scale) * extent))
    distance = np.abs(x * 2 - np.round(x * 2))
    return bool(np.any((distance != 0) & (distance < 1e-5)))


def compare(model: onnx.ModelProto, x: np.ndarray, expected: np.ndarray, compiled: bool) -> None:
    if compiled:
        function = compile_for(model, {"x": x}, options=Options(cache=None))
        actual = function.run({"x": x})["y"]
    else:
        actual = import_in_numpy(model, [{"x": x}]).outputs[0]["y"]
    assert mismatch(actual, expected, 1e-4, 1e-5) is None


@pytest.mark.parametrize(("mode", "nearest"), SAMPLING)
@pytest.mark.parametrize("coordinates", HALF_PIXEL)
def test_scales_as_onnxruntime_has_them(coordinates: str, mode: str, nearest: str) -> None:
    for extent, scale in itertools.product(EXTENTS, SCALES):
        count = int(np.float32(extent) * np.float32(scale))
        # onnxruntime copies where the extent stays, whatever the scale.
        if count in (0, extent):
            continue
        if mode == "nearest" and may_round(extent, scale, coordinates, nearest):
            continue
        model, x = resize(extent, scale, coordinates, mode, nearest), ramp(extent)
        expected = OnnxRuntime(model).run({"x": x})["y"]
        assert expected.shape[-1] == count
        compare(model, x, expected, compiled=(extent, scale) in [(10, 0.7), (7, 1.7), (7, 0.7)])


@pytest.mark.parametrize(("mode", "nearest"), SAMPLING)
def test_corners_as_the_reference_of_onnx_has_them(mode: str, nearest: str) -> None:
    for extent, scale in itertools.product(EXTENTS, SCALES):
        model, x = resize(extent, scale, "align_corners", mode, nearest), ramp(extent)
        expected = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})[0]
        # The reference computes the extent in double precision.
        count = int(np.float32(extent) * np.float32(scale))
        if count == 0 or expected.shape[-1] != count:
            continue
        position = np.arange(count) * (extent - 1) / max(extent * np.float32(scale) - 1, 1e-9)
        if mode == "nearest" and np.any(np.abs(position * 2 - np.round(position * 2)) < 1e-5):
            continue
        compare(model, x, expected, compiled=(extent, scale) == (7, 1.7))


@pytest.mark.parametrize("coordinates", [*HALF_PIXEL, "align_corners"])
@pytest.mark.parametrize("scale", [0.5, 1.5, 2.0, 2.25])
def test_scales_of_a_size_that_is_not_known(coordinates: str, scale: float) -> None:
    model = resize("n", scale, coordinates, "linear", "round_prefer_floor")
    function = compile(model, options=Options(cache=None))
    for extent in (2, 3, 7, 16):
        known = resize(extent, scale, coordinates, "linear", "round_prefer_floor")
        x = ramp(extent)
        expected = import_in_numpy(known, [{"x": x}]).outputs[0]["y"]
        assert mismatch(function.run({"x": x})["y"], expected, 1e-4, 1e-5) is None
