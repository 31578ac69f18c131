"""The ONNX operators, registered when this package is imported."""

from espalier.importers.onnx import folding
from espalier.importers.onnx.ops import (
    control,
    convolution,
    einsum,
    elementwise,
    indexing,
    matrix,
    normalization,
    pooling,
    recurrent,
    reduction,
    resize,
    shapes,
)

__all__ = [
    "control",
    "convolution",
    "einsum",
    "elementwise",
    "folding",
    "indexing",
    "matrix",
    "normalization",
    "pooling",
    "recurrent",
    "reduction",
    "resize",
    "shapes",
]
