"""Resampling to another size."""

from fractions import Fraction

import numpy as np

from espalier.importers.onnx.emitter import Emitter, show
from espalier.importers.onnx.registry import Node, Unsupported, op
from espalier.importers.onnx.symbolic import Dim, Expr, apply
from espalier.importers.onnx.values import Tensor, Value

COORDINATE_MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
)
MAX_DENOMINATOR = 1024
"""Scales of unknown sizes must be fractions with at most this denominator."""


@op("Resize", since=11)
def _resize(e: Emitter, node: Node) -> Tensor:
    x = node.input(0)
    mode = node["coordinate_transformation_mode"]
    if mode not in COORDINATE_MODES:
        raise Unsupported(f"has coordinate_transformation_mode '{mode}'")
    if node["antialias"]:
        raise Unsupported("has antialias = 1")
    axes = list(range(x.rank))
    if node["axes"] is not None:
        axes = node.normalize_axes(node["axes"], x.rank)
    dims, scales = _target(node, x, axes)
    return e.resize(
        x,
        dims,
        scales=scales,
        mode=f"#graph.resize_mode<{node['mode']}>",
        coordinate_mode=f"#graph.coordinate_mode<{mode}>",
        nearest_mode=f"#graph.nearest_mode<{node['nearest_mode']}>",
        cubic_coefficient=float(node["cubic_coeff_a"]),
        exclude_outside=bool(node["exclude_outside"]),
    )


def _target(node: Node, x: Value, axes: list[int]) -> tuple[list[Dim], list[float]]:
    """Return the result's extents, and the scales where they do not follow."""
    scales, sizes = node.numbers(2, "scales"), node.array(3, "sizes")
    scales, sizes = (None if v is None or v.size == 0 else v for v in (scales, sizes))
    given = sizes if scales is None else scales
    if (scales is None) == (sizes is None) or given is None or len(given) != len(axes):
        raise node.error(f"expects scales or sizes for {len(axes)} axes, but got {given}")
    dims = list(x.dims)
    if scales is not None:
        factors = [1.0] * x.rank
        for axis, scale in zip(axes, scales, strict=True):
            if not (scale > 0 and np.isfinite(scale)):
                raise node.error(f"expects scales above 0, but got {scale}")
            factors[axis] = float(scale)
            dims[axis] = _scaled(dims[axis], float(scale))
        return dims, factors
    assert sizes is not None, "one of the two is there"
    for axis, size in zip(axes, sizes, strict=True):
        dims[axis] = size if isinstance(size, Expr) else int(size)
    if any(isinstance(d, int) and d < 0 for d in dims):
        raise node.error(f"expects sizes of at least 0, but got {show(dims)}")
    policy = node["keep_aspect_ratio_policy"] or "stretch"
    return (dims, []) if policy == "stretch" else _keep_aspect(node, x, axes, dims, policy)


def _keep_aspect(
    node: Node, x: Value, axes: list[int], dims: list[Dim], policy: str
) -> tuple[list[Dim], list[float]]:
    """Return the extents with one scale for all axes, rounded half up."""
    if any(isinstance(d, Expr) for axis in axes for d in (x.dims[axis], dims[axis])):
        raise Unsupported(f"has keep_aspect_ratio_policy '{policy}' on unknown sizes")
    if policy not in ("not_larger", "not_smaller"):
        raise node.error(f"expects a known keep_aspect_ratio_policy, but got '{policy}'")
    choose = min if policy == "not_larger" else max
    scale = choose(Fraction(int(dims[a]), int(x.dims[a])) for a in axes)  # type: ignore[arg-type]
    factors = [1.0] * x.rank
    for axis in axes:
        dims[axis] = int(scale * x.dims[axis] + Fraction(1, 2))  # type: ignore[operator]
        factors[axis] = float(scale)
    return dims, factors


def _scaled(extent: Dim, scale: float) -> Dim:
    """Return floor(extent * scale).

    ONNX does not say in what arithmetic. In that of the scale, as onnxruntime has
    it, ten elements times 0.7 are 7, and in a wider one 6: 0.7 is a little less.
    """
    if isinstance(extent, int):
        return int(np.floor(np.float32(extent) * np.float32(scale)))
    fraction = Fraction(scale)
    if fraction.denominator > MAX_DENOMINATOR:
        raise Unsupported(f"scales a size that is not known by {scale}")
    return apply("floordiv", extent * fraction.numerator, fraction.denominator)
