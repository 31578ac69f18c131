"""Seeded changes of what text and models say about weights that are mostly zero."""

import random
import re

import mutate_text
import numpy as np
import onnx
from onnx import numpy_helper

ENCODING = re.compile(r"#sparse_tensor\.encoding<\{ map = \(([^()]*)\) -> \([^{}]*\}>")
VALUE = re.compile(r"dense<[^<>]*>(?= : tensor)")
LEVELS = (
    *("dense", "compressed", "singleton") * 3,
    "compressed(nonunique)",
    "compressed(nonunique, nonordered)",
    "singleton(nonunique)",
    "singleton(soa)",
    "loose_compressed",
    "batch",
    "structured[2, 4]",
    "structured[4, 2]",
)
WIDTHS = (0, 8, 16, 32, 64, 7, 128, -1)
LISTS = ("each", "union", "subsets", "rows", "")
ROWS = ("1", "2", "3", "4", "0", "-1", "40", "4294967297", "x", "")
EXTRAS = (
    "explicitVal = 1.0 : f32",
    "explicitVal = 1 : i32",
    "implicitVal = 0.0 : f32",
    "implicitVal = 1.0 : f32",
    "implicitVal = unit",
)
NUMBERS = ("0.0", "-0.0", "1.0", "-2.0", "0x7FC00000", "0x7F800000", "1")
EDGES = (-(2**63), -(2**31), -1, 2**31, 2**62, 2**63 - 1)


def _levels(dims: list[str], rng: random.Random) -> list[str]:
    """Return where the levels of an encoding are taken from."""
    match rng.choice(
        ("permuted",) * 6 + ("blocked", "blocked", "fewer", "twice", "sum", "constant")
    ):
        case "permuted":
            return rng.sample(dims, len(dims))
        case "blocked":
            size = rng.choice((1, 2, 3, 0, -1, 2**31))
            outer = [f"{dim} floordiv {size}" for dim in dims]
            return rng.sample(outer + [f"{dim} mod {size}" for dim in dims], 2 * len(dims))
        case "fewer":
            return dims[1:]
        case "twice":
            return [*dims, rng.choice(dims)]
        case "sum":
            return [" + ".join(dims), *dims[1:]]
    return ["0", *dims[1:]]


def _formats(count: int, rng: random.Random) -> list[str]:
    """Return what the levels are, often in an order that may be."""
    if rng.random() < 0.3:
        return rng.choices(LEVELS, k=count)
    rows = rng.randint(0, count)
    left = count - rows
    first = [
        "compressed(nonunique)" if left > 1 else rng.choice(("compressed", "loose_compressed"))
    ]
    rest = rng.choice(("singleton", "singleton(nonunique)", "dense", "compressed"))
    return (["dense"] * rows + first + [rest] * left)[:count]


def encoding(dims: list[str], rng: random.Random) -> str:
    """Return an encoding of a tensor with these dimensions, often one that is none."""
    slices = rng.random() < 0.1
    named = [f"{dim} : #sparse_tensor<slice(?, 2, 1)>" if slices else dim for dim in dims]
    places = _levels(dims, rng)
    formats = _formats(len(places), rng)
    levels = [f"{place} : {kind}" for place, kind in zip(places, formats, strict=True)]
    fields = [f"map = ({', '.join(named)}) -> ({', '.join(levels)})"]
    for name in ("posWidth", "crdWidth"):
        if rng.random() < 0.1:
            fields.append(f"{name} = {rng.choice(WIDTHS)}")
    if rng.random() < 0.1:
        fields.append(rng.choice(EXTRAS))
    return f"#sparse_tensor.encoding<{{ {', '.join(fields)} }}>"


def _other_value(match: re.Match[str], rng: random.Random) -> str:
    """Return another value of a constant; of another shape, where that is asked for."""
    if rng.random() < 0.3:
        return rng.choice((f"dense<{rng.choice(NUMBERS)}>", "dense<>", "sparse<[[0, 1]], [2.0]>"))
    return re.sub(r"-?\d[\w.]*", lambda _: rng.choice(NUMBERS), match[0])


def change_encoding(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a copy of a module with other encodings, and perhaps other constants."""
    text = original.decode()
    if rng.random() < 0.5:
        text = VALUE.sub(lambda match: _other_value(match, rng), text)
    # Types agree mostly, since they are refused else.
    once = rng.random() < 0.15
    chosen: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        if once and rng.random() < 0.5:
            return rng.choice(("i32", match[0]))
        dims = [dim.strip() for dim in match[1].split(",")]
        if match[0] not in chosen:
            chosen[match[0]] = encoding(dims, rng)
        return chosen[match[0]]

    if rng.random() < 0.5:
        form = f'{{poly.entries = "{rng.choice(LISTS)}:{rng.choice(ROWS)}"}}'
        text = text.replace("graph.constant ", f"graph.constant {form} ", 1)
        # What is stored otherwise has to have a format that may be.
        if rng.random() < 0.6:
            return text.encode()
    changed = ENCODING.sub(replace, text).encode()
    return mutate_text.change(changed, other, rng) if rng.random() < 0.3 else changed


def _indices(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return indices of which some are wrong."""
    indices = array.copy()
    if not indices.size:
        return indices
    row, flat = rng.randrange(len(indices)), rng.randrange(indices.size)
    match rng.choice(("edge", "near", "swap", "repeat", "drop", "flat", "type")):
        case "edge":
            indices.flat[flat] = np.int64(rng.choice(EDGES)).astype(indices.dtype)
        case "near":
            step = np.int64(rng.choice((-3, -1, 1, 2, 7)))
            indices.flat[flat] = (indices.flat[flat] + step).astype(indices.dtype)
        case "swap":
            other = rng.randrange(len(indices))
            indices[[row, other]] = indices[[other, row]]
        case "repeat":
            indices[row] = indices[rng.randrange(len(indices))]
        case "drop":
            indices = np.delete(indices, row, rng.randrange(indices.ndim) if row == 0 else 0)
        case "flat":
            indices = indices.reshape(-1)
        case "type":
            indices = indices.astype(rng.choice((np.int32, np.float32, np.uint8)))
    return indices


def change_stored(original: bytes, _other: bytes, rng: random.Random) -> bytes:
    """Return a copy of a model with other entries in its sparse tensors."""
    model = onnx.ModelProto.FromString(original)
    sparse = [*model.graph.sparse_initializer]
    sparse += [
        a.sparse_tensor for n in model.graph.node for a in n.attribute if a.sparse_tensor.dims
    ]
    tensor = rng.choice(sparse)
    for _ in range(rng.choice((1, 1, 2))):
        match rng.choice(("indices",) * 4 + ("dims", "dims", "values")):
            case "indices":
                indices = numpy_helper.to_array(tensor.indices)
                tensor.indices.CopyFrom(numpy_helper.from_array(_indices(indices, rng), "indices"))
            case "dims":
                axis = rng.randrange(len(tensor.dims))
                tensor.dims[axis] = rng.choice((*EDGES, 0, 1, 3, 9, 2**20))
                if rng.random() < 0.2:
                    tensor.dims.append(rng.choice((1, 2, 2**40)))
            case "values":
                values = numpy_helper.to_array(tensor.values).copy()
                values = rng.choice(
                    (values[1:], np.append(values, values[:1]), values[None], 0 * values)
                )
                tensor.values.CopyFrom(numpy_helper.from_array(values, tensor.values.name))
    return model.SerializeToString()


STATEMENTS = re.compile(r"dense<[^<>]*>|affine_map<\(\) -> \([^()]*\)>|holds affine_set<[^>]*>")
DROPPED = ("poly.monotonic, ", ", poly.bounded_by = affine_map<() -> (6)>")
MORE = ("poly.injective, ", "poly.monotonic, ")


def change_stated(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a copy of a module whose constants are not as it states, or that states less."""
    text = original.decode()
    for _ in range(rng.choice((1, 1, 2, 4))):
        match rng.choice(("numbers",) * 6 + ("drop", "more", "resource", "tokens")):
            case "numbers":
                place = rng.choice(list(STATEMENTS.finditer(text)))
                numbers = list(re.finditer(r"-?\d+", place[0]))
                if not numbers:
                    continue
                number = rng.choice(numbers)
                near = [int(number[0]) + step for step in (-2, -1, 1, 2)]
                value = rng.choice((*near * 3, *EDGES))
                start = place.start()
                text = text[: start + number.start()] + str(value) + text[start + number.end() :]
            case "drop":
                text = text.replace(rng.choice(DROPPED), "", 1)
            case "more":
                text = text.replace("{poly.bounded_by", "{" + rng.choice(MORE) + "poly.bounded_by")
            case "resource":
                data = rng.choice(
                    ("0x04000000", "0x0400000000000000", "0x08000000" + "00000000" * 3)
                )
                text = text.replace("dense<[0, 2, 2, 5]>", "dense_resource<starts>")
                text += f'{{-# dialect_resources: {{ builtin: {{ starts: "{data}" }} }} #-}}\n'
            case "tokens":
                text = mutate_text.change(text.encode(), other, rng).decode(errors="replace")
    return text.encode()
