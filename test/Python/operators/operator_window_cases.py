"""Cases for products, other windows than those of convolutions, recurrences and fused chains."""

from collections.abc import Iterator, Sequence

import numpy as np

from espalier.ir import Value
from operator_map_cases import F16, F64, STATIC, op
from operator_support import Build, Case, Graph, Random


def matmuls() -> Iterator[Case]:
    """Matrix products."""
    r = Random("matmuls")
    for left, right in [
        ((1, 1), (1, 1)),
        ((5, 7), (7, 35)),
        ((1, 64), (64, 33)),
        ((17, 3), (3, 1)),
        ((33, 16), (16, 32)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 5)),
        ((37, 130), (130, 67)),
        ((2, 3, 5, 7), (3, 7, 17)),
        ((4, 1, 9), (9, 64)),
        ((1, 5, 7), (4, 7, 5)),
        ((2, 3, 4, 5), (2, 3, 5, 4)),
        ((7, 1), (1, 7)),
    ]:
        yield op("matmul", r.floats(*left), r.floats(*right))
    yield op("matmul", r.integers(-5, 5, 5, 19), r.integers(-5, 5, 19, 17))
    yield op("matmul", r.floats(5, 19, dtype=F64), r.floats(19, 17, dtype=F64))
    yield op("matmul", r.floats(5, 19, dtype=F16), r.floats(19, 17, dtype=F16))
    for activation in ("relu", "sigmoid", "tanh"):
        yield op(
            "matmul",
            r.floats(5, 19),
            r.floats(19, 33),
            label=activation,
            activation=f"#graph.activation<{activation}>",
        )


def pools() -> Iterator[Case]:
    """Pools and resampling."""
    r = Random("pools")
    one, two, three = [1, 1], [2, 2], [3, 3]
    for name in ("max_pool", "avg_pool"):
        for label, kernel, strides, low, high, dilations in [
            ("plain", two, two, [0, 0], [0, 0], one),
            ("padded", three, two, one, one, one),
            ("uneven", [3, 2], one, [0, 1], [2, 0], one),
            ("dilated", three, one, one, one, two),
            ("wide", [1, 5], [1, 3], [0, 2], [0, 2], one),
        ]:
            for ceil in (False, True):
                for channels in (3, 33):
                    arguments = {
                        "kernel": kernel,
                        "strides": strides,
                        "pads_low": low,
                        "pads_high": high,
                        "dilations": dilations,
                        "ceil_mode": ceil,
                    }
                    yield op(
                        name, r.floats(2, channels, 7, 10), label=f"{label}{int(ceil)}", **arguments
                    )
                    if name == "avg_pool" and channels == 3:
                        yield op(
                            name,
                            r.floats(2, 3, 7, 10),
                            label=f"{label}{int(ceil)}c",
                            count_include_pad=True,
                            **arguments,
                        )
        flat = {"strides": [2], "pads_low": [1], "pads_high": [1], "dilations": [1]}
        yield op(name, r.floats(2, 3, 17), kernel=[3], **flat)
        cube = {
            "strides": [1, 2, 1],
            "pads_low": [0] * 3,
            "pads_high": [0] * 3,
            "dilations": [1] * 3,
        }
        yield op(name, r.floats(1, 2, 3, 5, 7), kernel=[2, 3, 2], **cube)
    yield op(
        "max_pool",
        r.integers(-9, 9, 1, 2, 9),
        label="integers",
        kernel=[2],
        strides=[2],
        pads_low=[1],
        pads_high=[0],
        dilations=[1],
    )
    yield op("reduce_mean", r.floats(2, 33, 7, 7), label="global", axes=[2, 3], keepdims=True)
    for mode in ("nearest", "linear", "cubic"):
        for coordinate in (
            "half_pixel",
            "half_pixel_symmetric",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
        ):
            for sizes in ([1, 2, 10, 7], [1, 2, 3, 17], [1, 2, 1, 1]):
                label = f"{mode}-{coordinate}-" + "_".join(map(str, sizes))
                case = op(
                    "resize",
                    r.floats(1, 2, 5, 7),
                    label=label,
                    static_sizes=sizes,
                    mode=f"#graph.resize_mode<{mode}>",
                    coordinate_mode=f"#graph.coordinate_mode<{coordinate}>",
                )
                case.forms = ("static", "dynamic")
                yield case
    for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        yield op(
            "resize",
            r.floats(5, 7),
            label=nearest,
            static_sizes=[10, 11],
            mode="#graph.resize_mode<nearest>",
            nearest_mode=f"#graph.nearest_mode<{nearest}>",
        )
    yield op(
        "resize",
        r.floats(2, 33),
        label="exclude",
        static_sizes=[3, 50],
        mode="#graph.resize_mode<cubic>",
        exclude_outside=True,
    )


def recurrences() -> Iterator[Case]:
    """LSTM and GRU."""
    r = Random("recurrences")
    for direction in ("forward", "reverse"):
        way = f"#graph.direction<{direction}>"
        for t, b, i, h in [(5, 2, 3, 4), (1, 1, 1, 1), (7, 3, 20, 17), (0, 2, 3, 4), (3, 1, 5, 33)]:

            def operands(
                gates: int, t: int = t, b: int = b, i: int = i, h: int = h
            ) -> list[np.ndarray]:
                return [
                    r.floats(t, b, i),
                    r.floats(gates * h, i),
                    r.floats(gates * h, h),
                    r.floats(2 * gates * h),
                    r.floats(b, h),
                ]

            case = op("lstm", *operands(4), r.floats(b, h), label=direction, direction=way)
            case.forms = STATIC if t != 5 else ("static", "constant", "dynamic")
            yield case
            for linear in (False, True):
                case = op(
                    "gru",
                    *operands(3),
                    label=f"{direction}{int(linear)}",
                    direction=way,
                    linear_before_reset=linear,
                )
                case.forms = STATIC
                yield case


def scans() -> Iterator[Case]:
    """Cells that are repeated: states, what is collected, and what stands outside."""
    r = Random("scans")

    def cell(g: Graph, h: Value, x: Value, w: Value, u: Value) -> list[Value]:
        def body(values: Sequence[Value]) -> list[Value]:
            state, row = values
            inner = g("add", g("matmul", row, w), g("matmul", state, u))
            new = g("tanh", inner)
            return [new, g("exp", new)]

        return g.module.scan([h], [x], body)

    def sums(g: Graph, s: Value, x: Value) -> list[Value]:
        return g.module.scan([s], [x], lambda values: [g("add", *values)] * 2)

    def swapped(g: Graph, a: Value, b: Value, x: Value) -> list[Value]:
        return g.module.scan([a, b], [x], lambda v: [v[1], g("sub", v[0], v[2]), v[0], v[2]])

    def stateless(g: Graph, x: Value, y: Value) -> list[Value]:
        return g.module.scan([], [x, y], lambda values: [g("mul", *values)])

    for t, b, i, h in [(5, 2, 3, 4), (1, 1, 1, 1), (7, 3, 20, 17), (0, 2, 3, 4)]:
        arrays = [r.floats(b, h), r.floats(t, b, i), r.floats(i, h), r.floats(h, h)]
        yield Case(f"scan-cell-{t}-{h}", cell, arrays, sums=True)
    for t in (0, 1, 9):
        x = r.floats(t, 5)
        yield Case(f"scan-sums-{t}", sums, [r.floats(5), x])
        yield Case(f"scan-swapped-{t}", swapped, [r.floats(5), r.floats(5), x])
        yield Case(f"scan-stateless-{t}", stateless, [x, r.floats(t, 5)])


def chains() -> Iterator[Case]:
    """Operators that become one kernel."""
    r = Random("chains")
    window = {"strides": [1, 1], "pads_low": [1, 1], "pads_high": [1, 1], "dilations": [1, 1]}

    def block(g: Graph, x: Value, w: Value, s: Value, b: Value, m: Value, v: Value) -> Value:
        y = g("batch_norm", g("conv", x, w, **window), s, b, m, v, epsilon=1e-5)
        return g("relu", g("add", y, x))

    def network(g: Graph, x: Value, w: Value, s: Value, b: Value, m: Value, v: Value) -> Value:
        y = block(g, block(g, x, w, s, b, m, v), w, s, b, m, v)
        pool = {**window, "strides": [2, 2]}
        y = g("max_pool", y, kernel=[3, 3], **pool)
        return g("softmax", g("reduce_mean", y, axes=[2, 3]), axis=1)

    # The last one has enough tiles and channels for Winograd's algorithm.
    for channels, extents in ((4, (7, 9)), (33, (7, 9)), (33, (12, 14))):
        c = channels
        scales = [r.floats(c), r.floats(c), r.floats(c), r.positive(c)]
        arrays = [r.floats(2, c, *extents), r.floats(c, c, 3, 3), *scales]
        size = f"{c}-{extents[0]}"
        yield Case(f"conv-norm-residual-relu-{size}", block, arrays, sums=True)
        yield Case(f"network-{size}", network, arrays, sums=True)

    def pooled(kind: str, kernel: list[int], strides: list[int]) -> Build:
        def build(g: Graph, x: Value, w: Value, b: Value) -> Value:
            y = g("relu", g("add", g("conv", x, w, **window), b))
            around = {"pads_low": [0, 0], "pads_high": [0, 0], "dilations": [1, 1]}
            return g("tanh", g(kind, y, kernel=kernel, strides=strides, **around))

        return build

    # Windows that do not overlap, fit or not, and those that do.
    for kind in ("max_pool", "avg_pool"):
        for kernel, strides in (
            ([2, 2], [2, 2]),
            ([2, 1], [3, 1]),
            ([1, 3], [1, 3]),
            ([3, 2], [2, 2]),
        ):
            yield Case(
                f"conv-relu-{kind}-" + "_".join(map(str, kernel + strides)),
                pooled(kind, kernel, strides),
                [r.floats(2, 3, 9, 11), r.floats(17, 3, 3, 3), r.floats(17, 1, 1)],
                sums=True,
            )
        # Enough channels for Winograd's algorithm between rows.
        yield Case(
            f"conv-relu-{kind}-channels",
            pooled(kind, [2, 2], [2, 2]),
            [r.floats(2, 17, 6, 30), r.floats(18, 17, 3, 3), r.floats(18, 1, 1)],
            sums=True,
        )

    def dense(g: Graph, x: Value, w: Value, b: Value) -> Value:
        return g("gelu", g("add", g("matmul", x, w), b))

    def mlp(g: Graph, x: Value, w: Value, b: Value, s: Value) -> Value:
        y = g("add", x, g("matmul", dense(g, x, w, b), g("transpose", w, permutation=[1, 0])))
        return g("layer_norm", y, s, s, axis=1, epsilon=1e-5)

    def attention(g: Graph, q: Value, k: Value, v: Value, mask: Value) -> Value:
        scores = g("matmul", q, g("transpose", k, permutation=[0, 1, 3, 2]))
        weights = g("softmax", g("add", scores, mask), axis=3)
        return g("matmul", weights, v)

    def softmaxes(g: Graph, x: Value) -> Value:
        return g("softmax", g("mul", g("softmax", g("exp", x), axis=1), x), axis=0)

    def normalized(g: Graph, x: Value, s: Value, b: Value) -> list[Value]:
        y = g("layer_norm", g("add", x, g("sigmoid", x)), s, b, axis=2, epsilon=1e-5)
        return [g("silu", y), y]

    def shuffled(g: Graph, x: Value, w: Value) -> Value:
        y = g("transpose", g("matmul", x, w), permutation=[1, 0])
        return g("concat", g("relu", y), g("reshape", g("tanh", y), static_sizes=[35, 6]), axis=1)

    for rows in (1, 6, 37):
        yield Case(
            f"dense-gelu-{rows}",
            dense,
            [r.floats(rows, 19), r.floats(19, 35), r.floats(35)],
            sums=True,
        )
        yield Case(
            f"mlp-{rows}",
            mlp,
            [r.floats(rows, 19), r.floats(19, 64), r.floats(64), r.floats(19)],
            sums=True,
        )
        yield Case(f"softmaxes-{rows}", softmaxes, [r.floats(rows, 17)], sums=True)
        yield Case(
            f"layer-norm-{rows}",
            normalized,
            [r.floats(2, rows, 40), r.floats(40), r.floats(40)],
            sums=True,
        )
    qkv = [r.floats(2, 3, 9, 16), r.floats(2, 3, 13, 16), r.floats(2, 3, 13, 16)]
    yield Case("attention", attention, [*qkv, r.floats(2, 1, 1, 13)], sums=True)
    yield Case("shuffled", shuffled, [r.floats(6, 5), r.floats(5, 35)], sums=True, forms=STATIC)
