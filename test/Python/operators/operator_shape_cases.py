"""Cases for operators that move elements."""

from collections.abc import Iterator

import numpy as np

from espalier.ir import Value
from operator_map_cases import I32, STATIC, op
from operator_support import Case, Graph, Random

DYNAMIC = -(2**63)


def slice_of(x: np.ndarray, offsets: list[int], sizes: list[int], steps: list[int]) -> Case:
    """Return the case of a slice at known offsets."""
    case = op(
        "slice",
        x,
        label="_".join(map(str, [*offsets, *steps])),
        static_offsets=offsets,
        static_sizes=sizes,
        steps=steps,
        operandSegmentSizes="array<i32: 1, 0, 0>",
    )
    case.forms = ("static", "dynamic")
    return case


def shapes() -> Iterator[Case]:
    """Transposes, reshapes, expansions, slices, concatenations, pads, tiles."""
    r = Random("shapes")
    for shape, permutation in [
        ((3, 5), [1, 0]),
        ((33, 17), [1, 0]),
        ((2, 5, 37), [2, 0, 1]),
        ((2, 3, 5, 7), [0, 2, 3, 1]),
        ((0, 3), [1, 0]),
        ((4, 1, 3), [1, 2, 0]),
    ]:
        yield op("transpose", r.floats(*shape), permutation=permutation)
    yield op("transpose", r.integers(0, 9, 5, 7, dtype=np.int8), permutation=[1, 0])
    yield op("transpose", r.booleans(5, 7), permutation=[1, 0])
    for shape, to in [
        ((6, 4), [3, 8]),
        ((2, 3, 5), [30]),
        ((1,), []),
        ((0, 3), [5, 0]),
        ((7,), [1, 7, 1]),
    ]:
        case = op("reshape", r.floats(*shape), static_sizes=to)
        case.forms = ("static", "dynamic")
        yield case
    for shape, to in [((3,), [2, 3]), ((1, 3), [5, 3]), ((), [4]), ((2, 1, 5), [2, 37, 5])]:
        yield op("expand", r.floats(*shape), static_sizes=to)
    x = r.floats(5, 37)
    yield slice_of(x, [1, 2], [3, 33], [1, 1])
    yield slice_of(x, [4, 36], [5, 12], [-1, -3])
    yield slice_of(x, [0, 1], [3, 18], [2, 2])
    yield slice_of(x, [0, 0], [0, 37], [1, 1])
    yield slice_of(x, [4, 0], [1, 1], [1, 1])

    def sliced(g: Graph, x: Value) -> Value:
        m = g.module
        half = m.index_op("floordiv", m.dim(x, 0), m.index(2))
        return m.op(
            "graph.slice",
            [x, half, half],
            {
                "static_offsets": [DYNAMIC, 0],
                "static_sizes": [DYNAMIC, 3],
                "steps": [1, 2],
                "operandSegmentSizes": "array<i32: 1, 1, 1>",
            },
        )[0]

    def flattened(g: Graph, x: Value) -> Value:
        m = g.module
        size = m.index_op("mul", m.dim(x, 0), m.dim(x, 1))
        return g("relu", m.op("graph.reshape", [x, size], {"static_sizes": [DYNAMIC]})[0])

    yield Case("slice-half", sliced, [r.floats(37, 7)])
    yield Case("reshape-flat", flattened, [r.floats(37, 7)])
    for shapes, axis in [
        ([(3, 5), (3, 7)], 1),
        ([(3, 5), (1, 5), (2, 5)], 0),
        ([(2, 17, 3)] * 3, 1),
        ([(3, 5)], 0),
        ([(3, 0), (3, 5)], 1),
        ([(2, 3, 16), (2, 3, 33)], 2),
    ]:
        yield op("concat", *(r.floats(*s) for s in shapes), label=str(axis), axis=axis)
    yield op("concat", r.integers(0, 9, 3), r.integers(0, 9, 5), axis=0)

    def joined(g: Graph, x: Value, y: Value) -> Value:
        return g("relu", g("concat", g("exp", x), g("neg", y), g("mul", x, x), axis=1))

    yield Case("concat-of-maps", joined, [r.floats(3, 17), r.floats(3, 5)])
    value = np.array(1.5, np.float32)
    for low, high in [([1, 2], [0, 3]), ([-1, 0], [2, -2]), ([0, 0], [0, 0]), ([2, 17], [2, 1])]:
        label = "_".join(map(str, low + high))
        yield op("pad", r.floats(5, 19), value, label=label, low=low, high=high)
    for mode in ("reflect", "edge", "wrap"):
        for low, high in [([1, 2], [0, 3]), ([4, 0], [4, 9]), ([-1, 3], [1, -2])]:
            label = f"{mode}-" + "_".join(map(str, low + high))
            attribute = f"#graph.pad_mode<{mode}>"
            yield op("pad", r.floats(5, 19), value, label=label, low=low, high=high, mode=attribute)
    yield op("pad", r.floats(0, 3), value, label="empty", low=[1, 1], high=[0, 1])
    for repeats in ([2, 1], [3, 2], [0, 1], [1, 1]):
        yield op("tile", r.floats(5, 17), label="_".join(map(str, repeats)), repeats=repeats)


def generated() -> Iterator[Case]:
    """Operators without tensor operands, in a sum with their shape."""
    r = Random("generated")

    def filled(g: Graph, x: Value, v: Value) -> Value:
        m = g.module
        return m.op("graph.fill", [v, m.dim(x, 0)], {"static_sizes": [DYNAMIC, 3]})[0]

    yield Case("fill", filled, [r.floats(19, 2), np.array(2.5, np.float32)])
    for axis in (0, 1):
        for dtype in ("i64", "f32", "i32"):

            def counted(g: Graph, x: Value, axis: int = axis, dtype: str = dtype) -> Value:
                m = g.module
                return m.op(
                    "graph.iota",
                    [m.dim(x, 0)],
                    {"static_sizes": [DYNAMIC, 17], "axis": axis, "element_type": dtype},
                )[0]

            yield Case(f"iota-{axis}-{dtype}", counted, [r.floats(5, 2)])

    for name, sizes in [
        ("one", [3, 5]),
        ("imm", [7, 7]),
        ("iconv", [6, 3, 3, 5]),
        ("pool", [6, 1, 3, 3]),
    ]:

        def known(g: Graph, x: Value, name: str = name, sizes: list[int] = sizes) -> Value:
            tensor = g(f"const_{name}", static_sizes=sizes, element_type="f32")
            return g("add", tensor, x)

        yield Case(f"const-{name}", known, [r.floats()])

    def enlarged(g: Graph, x: Value, w: Value) -> Value:
        return g(
            "conv",
            x,
            g("enlarge", w, kernel=[3, 5]),
            strides=[1, 1],
            pads_low=[1, 2],
            pads_high=[1, 2],
            dilations=[1, 1],
        )

    yield op("enlarge", r.floats(3, 2, 1, 3), kernel=[3, 5])
    yield Case("enlarge-conv", enlarged, [r.floats(1, 2, 5, 7), r.floats(3, 2, 1, 3)], sums=True)


def indexing() -> Iterator[Case]:
    """Gathers and scatters, with indices below zero and beyond the end."""
    r = Random("indexing")
    x = r.floats(7, 5, 18)
    for axis in (0, 1, 2):
        for shape in [(3,), (), (2, 17), (0,)]:
            yield op("gather", x, r.integers(-9, 9, *shape), label=str(axis), axis=axis)
        yield op(
            "gather_elements",
            x,
            r.integers(-20, 20, 7, 5, 3)[:, :, : [18, 18, 3][axis]],
            label=str(axis),
            axis=axis,
        )
    yield op("gather", x, np.array([100, -100, -1, 6, -7, 2**40], np.int64), label="far", axis=0)
    yield op("gather", r.integers(0, 9, 5, 3), r.integers(-5, 5, 7, dtype=I32), axis=1)
    yield op("gather", r.floats(1, 3), np.array([0, -1, 5], np.int64), axis=0)
    for depth, batch in [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1)]:
        indices = r.integers(-6, 6, *((7, 4, depth) if batch else (3, 5, depth)))
        case = op("gather_nd", x, indices, label=f"{depth}{batch}", batch_dims=batch)
        case.forms = STATIC
        yield case
    for reduction in ("none", "add", "mul", "max", "min"):
        attribute = f"#graph.scatter_reduction<{reduction}>"
        for axis in (0, 1):
            yield op(
                "scatter_elements",
                r.floats(5, 19),
                r.integers(-5, 5, 3, 17),
                r.floats(3, 17),
                label=f"{reduction}{axis}",
                axis=axis,
                reduction=attribute,
            )
        # So many elements that updates go to the one that they name.
        for axis in (0, 1, 2):
            yield op(
                "scatter_elements",
                r.floats(33, 32, 35),
                r.integers(-40, 40, 16, 17, 18),
                r.floats(16, 17, 18),
                label=f"{reduction}{axis}many",
                axis=axis,
                reduction=attribute,
            )
        for depth, tail in [(1, (9, 4)), (2, (4,)), (3, ())]:
            case = op(
                "scatter_nd",
                r.floats(37, 9, 4),
                r.integers(-40, 40, 23, depth),
                r.floats(23, *tail),
                label=f"{reduction}{depth}",
                reduction=attribute,
            )
            case.forms = STATIC
            yield case
    yield op(
        "scatter_elements",
        r.integers(0, 9, 7),
        r.integers(-3, 3, 4),
        r.integers(0, 9, 4),
        label="integers",
        axis=0,
    )
    yield op("scatter_elements", r.floats(7), np.zeros(0, np.int64), r.floats(0), axis=0)
