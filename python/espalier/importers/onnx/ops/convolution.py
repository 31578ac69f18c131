"""Convolutions, and the window geometry that pooling shares."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from espalier.importers.onnx.emitter import Emitter, show
from espalier.importers.onnx.registry import Node, Unsupported, op
from espalier.importers.onnx.symbolic import Dim, Expr, apply
from espalier.importers.onnx.values import Tensor, Value


@dataclass
class Window:
    """How a window moves over the spatial dimensions."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    low: list[int]
    high: list[int]

    def attributes(self) -> dict[str, list[int]]:
        """Return the attributes that convolutions and pools share."""
        return {
            "strides": self.strides,
            "pads_low": self.low,
            "pads_high": self.high,
            "dilations": self.dilations,
        }

    def spans(self) -> list[int]:
        """Return the extent of the window, gaps included."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]

    def outputs(self, dims: Sequence[Dim], ceil: bool = False) -> list[Dim | None]:
        """Return the extents that the window takes `dims` to.

        An extent that rounding up leaves open is None.
        """
        result: list[Dim | None] = []
        for axis, span in enumerate(self.spans()):
            stride, low = self.strides[axis], self.low[axis]
            room = dims[axis] + low + self.high[axis] - span
            count = apply("floordiv", room + (stride - 1 if ceil else 0), stride) + 1
            end = dims[axis] + low
            if not ceil:
                result.append(count)
            elif isinstance(count, int) and isinstance(end, int):
                # A window that starts in the padding at the end does not count.
                result.append(count - ((count - 1) * stride >= end))
            else:
                result.append(None)
        return result


def spatial(node: Node, x: Value) -> tuple[Dim, ...]:
    """Return the extents after batch and channel, 1 to 3 of them."""
    if x.rank < 3:
        raise node.error(f"expects input #0 of rank 3 or more, but got {show(x.dims)}")
    if x.rank > 5:
        raise Unsupported(f"has {x.rank - 2} spatial dimensions, more than 3")
    return x.dims[2:]


def integers(node: Node, name: str, count: int, default: int, least: int) -> list[int]:
    """Return an attribute with one number per spatial dimension."""
    values = node[name]
    if values is None:
        return [default] * count
    if len(values) != count or any(value < least for value in values):
        raise node.error(
            f"expects attribute '{name}' with {count} numbers of at least {least}, but got {values}"
        )
    return values


def window(node: Node, x: Value, kernel: Sequence[Dim] | None) -> Window:
    """Read the geometry of a convolution or a pool from its attributes.

    Arguments:
        kernel: the extents of the weights, where there are any.
    """
    dims = spatial(node, x)
    count = len(dims)
    if node["kernel_shape"] is None:
        if kernel is None or any(isinstance(k, Expr) for k in kernel):
            raise Unsupported("needs a kernel whose extents are known")
        extents = [k for k in kernel if isinstance(k, int)]
    else:
        extents = integers(node, "kernel_shape", count, 1, 1)
    if kernel is not None and any(
        isinstance(k, int) and k != e for k, e in zip(kernel, extents, strict=False)
    ):
        raise node.error(
            f"expects kernel_shape as in the weights {show(kernel)}, but got {extents}"
        )
    strides = integers(node, "strides", count, 1, 1)
    dilations = integers(node, "dilations", count, 1, 1)
    result = Window(extents, strides, dilations, [0] * count, [0] * count)
    mode = node["auto_pad"]
    if mode == "NOTSET":
        pads = integers(node, "pads", 2 * count, 0, 0)
        result.low, result.high = pads[:count], pads[count:]
    elif mode in ("SAME_UPPER", "SAME_LOWER"):
        totals = [_same(*args) for args in zip(dims, result.spans(), strides, strict=True)]
        small, large = [t // 2 for t in totals], [t - t // 2 for t in totals]
        result.low, result.high = (small, large) if mode == "SAME_UPPER" else (large, small)
    elif mode != "VALID":
        raise node.error(f"expects a known auto_pad, but got '{mode}'")
    return result


def _same(dim: Dim, span: int, stride: int) -> int:
    """Return the padding that makes ceil(dim / stride) outputs."""
    if stride == 1:
        return span - 1
    if isinstance(dim, Expr):
        raise Unsupported("has auto_pad with strides on a size that is not known")
    return max((-(-dim // stride) - 1) * stride + span - dim, 0)


def add_bias(e: Emitter, node: Node, x: Tensor, bias: Value | None) -> Tensor:
    """Add one number per channel (dimension 1)."""
    if bias is None:
        return x
    if bias.rank != 1:
        raise node.error(f"expects a bias of rank 1, but got {show(bias.dims)}")
    return e.op("add", x, e.reshape(bias, [*bias.dims, *[1] * (x.rank - 2)]))


@op("Conv", rounds_once=True)
def _conv(e: Emitter, node: Node) -> Tensor:
    x, w = node.input(0), node.input(1)
    if w.rank != x.rank:
        raise node.error(f"expects weights of rank {x.rank}, but got {show(w.dims)}")
    shape = window(node, x, w.dims[2:])
    outputs = shape.outputs(spatial(node, x))
    result = e.op(
        "conv",
        x,
        w,
        dims=[x.dims[0], w.dims[0], *outputs],
        groups=node["group"],
        **shape.attributes(),
    )
    return add_bias(e, node, result, node.inputs[2])


@op("ConvTranspose", rounds_once=True)
def _conv_transpose(e: Emitter, node: Node) -> Tensor:
    x, w = node.input(0), node.input(1)
    dims = spatial(node, x)
    count = len(dims)
    if w.rank != x.rank:
        raise node.error(f"expects weights of rank {x.rank}, but got {show(w.dims)}")
    automatic = node["auto_pad"] in ("SAME_UPPER", "SAME_LOWER")
    node.attributes["auto_pad"], mode = "NOTSET", node["auto_pad"]
    shape = window(node, x, w.dims[2:])
    extra = integers(node, "output_padding", count, 0, 0)
    full: list[Dim] = [
        (d - 1) * stride + span + add
        for d, stride, span, add in zip(dims, shape.strides, shape.spans(), extra, strict=True)
    ]
    target = node["output_shape"]
    if target is not None or automatic:
        wanted: list[Dim] = target or [d * s for d, s in zip(dims, shape.strides, strict=True)]
        differences = [f - t for f, t in zip(full, wanted[-count:], strict=True)]
        totals = [d for d in differences if isinstance(d, int)]
        if len(totals) < count:
            raise Unsupported("has a padding that depends on a size that is not known")
        small = [total // 2 for total in totals]
        large = [total - total // 2 for total in totals]
        # The odd element goes to the end for SAME_UPPER, else to the front.
        shape.low, shape.high = (small, large) if mode == "SAME_UPPER" else (large, small)
        for axis, total in enumerate(totals):
            if total < 0:
                shape.low[axis], shape.high[axis], extra[axis] = 0, 0, extra[axis] - total
                full[axis] = full[axis] - total
    if not any((*shape.low, *shape.high, *extra)) and _are_tiles(node, x, w, shape):
        result = _conv_of_tiles(e, node, x, w)
    else:
        outputs = [f - lo - hi for f, lo, hi in zip(full, shape.low, shape.high, strict=True)]
        result = e.op(
            "conv_transpose",
            x,
            w,
            dims=[x.dims[0], w.dims[1] * node["group"], *outputs],
            groups=node["group"],
            output_padding=extra,
            **shape.attributes(),
        )
    return add_bias(e, node, result, node.inputs[2])


def _are_tiles(node: Node, x: Value, w: Value, shape: Window) -> bool:
    """Return whether windows lie side by side, for channels whose number is known and right."""
    channels, groups = w.dims[0], node["group"]
    return (
        shape.kernel == shape.strides == shape.spans()
        and all(isinstance(d, int) and d > 0 for d in w.dims)
        and x.dims[1] == channels
        and groups > 0
        and channels % groups == 0
    )


def _conv_of_tiles(e: Emitter, node: Node, x: Tensor, w: Tensor) -> Tensor:
    """Return a transposed convolution that takes each pixel to a tile of its own.

    It is a convolution by a kernel of 1 that has the pixels of a tile as features, which
    are laid out as an image then: one product with many columns, where a transposed
    convolution has one for each pixel of a tile.
    """
    groups, count = node["group"], x.rank - 2
    (channels, features, *kernel), pixels = w.dims, math.prod(w.dims[2:])
    split = e.reshape(w, [groups, channels // groups, features * pixels])
    columns = [groups * features * pixels, channels // groups, *[1] * count]
    filters = e.reshape(e.transpose(split, [0, 2, 1]), columns)
    still = Window([1] * count, [1] * count, [1] * count, [0] * count, [0] * count)
    dims, spatial_dims = [x.dims[0], columns[0], *x.dims[2:]], x.dims[2:]
    tiles = e.op("conv", x, filters, dims=dims, groups=groups, **still.attributes())
    parts = e.reshape(tiles, [x.dims[0], groups * features, *kernel, *spatial_dims])
    # Batch and feature, and after each dimension of the image the tile's.
    order = [0, 1, *(2 + axis + side for axis in range(count) for side in (count, 0))]
    image = [d * k for d, k in zip(spatial_dims, kernel, strict=True)]
    return e.reshape(e.transpose(parts, order), [x.dims[0], groups * features, *image])
