"""Cases for convolutions and their transposes."""

from collections.abc import Iterator

from operator_map_cases import op
from operator_support import Case, Random


def convolution(
    r: Random,
    x: tuple[int, ...],
    w: tuple[int, ...],
    *,
    strides: int | list[int] = 1,
    pads: int | list[int] = 0,
    high: int | list[int] | None = None,
    dilations: int | list[int] = 1,
    groups: int = 1,
    name: str = "conv",
    **more: object,
) -> Case:
    """Return the case of one convolution; a number is meant for each dimension."""
    n = len(x) - 2
    per_dim = [
        a if isinstance(a, list) else [a] * n
        for a in (strides, pads, pads if high is None else high, dilations)
    ]
    keys = ("strides", "pads_low", "pads_high", "dilations")
    label = "_".join("".join(map(str, a)) for a in per_dim) + f"_{groups}"
    return op(
        name,
        r.floats(*x),
        r.floats(*w),
        label=label,
        groups=groups,
        **dict(zip(keys, per_dim, strict=True)),
        **more,
    )


def convolutions() -> Iterator[Case]:
    """Convolutions and their transposes."""
    r = Random("convolutions")
    yield convolution(r, (1, 3, 9, 9), (5, 3, 3, 3), pads=1)
    yield convolution(r, (2, 4, 7, 7), (33, 4, 3, 3), strides=2, pads=1)
    yield convolution(r, (1, 4, 5, 5), (4, 1, 3, 3), pads=1, groups=4)
    yield convolution(r, (1, 33, 5, 7), (33, 1, 3, 3), pads=1, strides=2, groups=33)
    yield convolution(r, (1, 4, 5, 5), (8, 1, 3, 3), pads=1, groups=4)
    yield convolution(r, (1, 8, 5, 6), (8, 4, 3, 3), pads=2, dilations=2, groups=2)
    yield convolution(r, (1, 64, 5, 6), (64, 32, 3, 3), pads=1, groups=2)
    yield convolution(r, (1, 6, 5, 7), (32, 3, 3, 3), pads=1, groups=2)
    yield convolution(r, (1, 6, 5, 7), (80, 3, 3, 3), strides=2, groups=2)
    # Groups that end within a vector: 10 features, 20 of 3 channels, 2 of a single one.
    yield convolution(r, (2, 12, 5, 7), (40, 3, 1, 1), groups=4)
    yield convolution(r, (1, 9, 6, 5), (60, 3, 3, 3), pads=1, strides=2, groups=3)
    yield convolution(r, (1, 5, 6, 20), (10, 1, 1, 1), groups=5)
    yield convolution(r, (1, 6, 14, 14), (64, 6, 1, 1))
    yield convolution(r, (1, 6, 7, 7), (16, 6, 1, 1), strides=2)
    yield convolution(r, (2, 4, 20), (6, 4, 3))
    yield convolution(r, (1, 1, 37), (1, 1, 5), pads=2)
    yield convolution(
        r, (1, 4, 5, 6, 7), (6, 4, 3, 2, 1), strides=[1, 2, 1], pads=[1, 0, 0], high=[1, 1, 0]
    )
    yield convolution(
        r, (1, 3, 8, 9), (17, 3, 3, 2), pads=[0, 2], high=[2, 1], strides=[2, 3], dilations=[1, 2]
    )
    yield convolution(r, (1, 3, 5, 5), (2, 3, 5, 5))
    yield convolution(r, (0, 3, 5, 5), (2, 3, 3, 3), pads=1)
    yield convolution(r, (1, 2, 3, 3), (2, 2, 1, 1), pads=-1)
    yield convolution(r, (3, 3, 1, 1), (5, 3, 3, 3), pads=1, activation="#graph.activation<relu>")
    transposed = {"name": "conv_transpose"}
    yield convolution(r, (1, 3, 5, 5), (3, 4, 3, 3), output_padding=[0, 0], **transposed)
    yield convolution(
        r, (1, 3, 5, 5), (3, 4, 3, 3), strides=2, pads=1, output_padding=[1, 1], **transposed
    )
    yield convolution(
        r, (2, 4, 5), (4, 3, 4), strides=3, output_padding=[0], groups=2, **transposed
    )
    yield convolution(
        r,
        (1, 2, 4, 5),
        (2, 17, 2, 3),
        strides=[2, 1],
        pads=[0, 1],
        high=[1, 0],
        dilations=[1, 2],
        output_padding=[0, 0],
        **transposed,
    )
    # Phases of single channels, beside a border: even and odd, unequal, of one term each.
    for kernel, stride, pad, extra in ((4, 2, 1, 0), (3, 2, 1, 1), (5, 3, 2, 2), (2, 2, 0, 0)):
        yield convolution(
            r,
            (2, 5, 9, 12),
            (5, 1, kernel, kernel),
            strides=stride,
            pads=pad,
            output_padding=[extra, 0],
            groups=5,
            **transposed,
        )
    # Borders that are a multiple of the stride.
    yield convolution(
        r, (1, 3, 9, 7), (3, 5, 5, 5), strides=2, pads=2, output_padding=[1, 0], **transposed
    )
    yield convolution(r, (1, 3, 9), (3, 5, 7), strides=3, pads=3, output_padding=[0], **transposed)


def winograds() -> Iterator[Case]:
    """Convolutions with channels and tiles enough for Winograd's algorithm."""
    r = Random("winograds")
    # Tiles that fit, those that overlap, images that share the weights.
    for extents in ((8, 8), (9, 8), (8, 13), (7, 7), (11, 9), (2, 31), (3, 22)):
        yield convolution(r, (2, 33, *extents), (49, 33, 3, 3), pads=1)
    yield convolution(r, (5, 32, 3, 5), (48, 32, 3, 3), pads=1)
    # Rows of tiles, and, where a cache has less than 2 MiB, blocks of them.
    yield convolution(r, (1, 32, 4, 40), (48, 32, 3, 3), pads=1)
    yield convolution(r, (1, 40, 2, 512), (48, 40, 3, 3), pads=1)
    yield convolution(r, (4, 32, 4, 4), (48, 32, 3, 3))
    # Remainders of equal and of other length, and where some would need no tile.
    for extents, dilations in (
        ((12, 8), [3, 2]),
        ((15, 10), [3, 1]),
        ((7, 17), [2, 3]),
        ((16, 13), [5, 1]),
        ((9, 12), [2, 4]),
    ):
        x, w = (1, 32, *extents), (48, 32, 3, 3)
        yield convolution(r, x, w, pads=dilations, dilations=dilations)
    # Windows along a third dimension, which stay in the sum.
    for extents, kernel, pads, dilations in (
        ([4, 8, 7], [3, 3, 3], [1, 1, 1], [1, 1, 1]),
        ([5, 6, 6], [2, 3, 3], [0, 0, 1], [2, 1, 1]),
        ([3, 9, 8], [1, 3, 3], [0, 1, 0], [1, 1, 1]),
        ([6, 4, 12], [4, 3, 3], [2, 2, 1], [1, 2, 1]),
    ):
        x, w = (2, 32, *extents), (49, 32, *kernel)
        yield convolution(r, x, w, pads=pads, dilations=dilations)
