"""The arguments of a call of a recursive model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType

import numpy as np

from espalier.arrays import expect_no_mask
from espalier.errors import EspalierError
from espalier.function import Function
from espalier.program import NativeProgram
from espalier.recursion.trace import NODE_ATTRIBUTES, STRUCTURE, Signature, Trace

KINDS = ("tree", "sequence", "dag")
DTYPES = {np.dtype(np.float32).char: "f32", np.dtype(np.int32).char: "i32"}


class Ready:
    """What runs a trace, found out once.

    Attributes:
        is_plain: whether nodes have no features but words.
        places: of what the linearizer returns among the function's inputs, or -1.
        weights: those that are not bound, and what the function calls them.
    """

    def __init__(self, trace: Trace, function: Function, bound: Sequence[str]) -> None:
        names = [info.name for info in function.inputs]
        made = (*STRUCTURE, trace.inputs.get("word", ""))
        assert isinstance(function.program, NativeProgram)
        self.trace = trace
        self.function = function
        self.program = function.program
        self.is_plain = not trace.signature.features.keys() - {"word"}
        self.places = tuple(names.index(name) if name in names else -1 for name in made)
        self.weights = [(n, trace.inputs[n]) for n in trace.signature.weights if n not in bound]


def to_array(name: str, value: object) -> np.ndarray:
    """Return an argument as an array whose elements lie row by row."""
    expect_no_mask(f"argument '{name}'", value)
    array = np.asarray(value)
    if array.dtype.char not in DTYPES or not array.dtype.isnative:
        raise EspalierError(f"argument '{name}': expects float32 or int32, but got {array.dtype}")
    return np.asarray(array, order="C")


def make_signature(
    structure: str,
    arity: int,
    weights: Mapping[str, np.ndarray],
    features: Mapping[str, np.ndarray],
) -> Signature:
    """Return what a function is traced for."""
    for name in features:
        if name in NODE_ATTRIBUTES:
            raise EspalierError(
                f"feature '{name}': expects another name, since `node.{name}` is no feature"
            )
    return Signature(
        structure,
        arity,
        {name: array.shape for name, array in weights.items()},
        {name: array.shape[1:] for name, array in features.items()},
        {name: DTYPES[a.dtype.char] for name, a in (*features.items(), *weights.items())},
    )


def check_numbers(what: str, numbers: np.ndarray, rows: int) -> None:
    """Refuse numbers that are of no row."""
    if place := _find_wrong(numbers, rows):
        raise EspalierError(
            f"{what} {', '.join(map(str, place))}: expects the number of one of {rows} rows, "
            f"but got {numbers[place]}"
        )


def _find_wrong(numbers: np.ndarray, rows: int) -> tuple[int, ...]:
    """Return where the first number is that is of no row; () if none is."""
    wrong = np.argwhere((numbers < 0) | (numbers >= rows))
    return tuple(wrong[0].tolist()) if len(wrong) else ()


def check_rows(
    trace: Trace, name: str, values: np.ndarray, order: np.ndarray, num_leaves: int
) -> None:
    """Refuse a feature's numbers that are of no row, where nodes use them.

    Arguments:
        values: leaves first, in the order of the program.
        order: which of the caller's nodes each is.
    """
    cases = slice(0, num_leaves), slice(num_leaves, None)
    for rows, case in zip(trace.vocabularies, cases, strict=True):
        if name in rows and (place := _find_wrong(values[case], rows[name])):
            node, *rest = order[case][place[0]], *place[1:]
            raise EspalierError(
                f"feature '{name}', node {', '.join(map(str, [node, *rest]))}: expects the number "
                f"of one of {rows[name]} rows, but got {values[case][place]}"
            )


def permuted(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return rows in the order of the caller's nodes."""
    result = np.empty_like(values)
    result[order] = values
    return result


def check_kind(structure: object, arity: object) -> None:
    """Refuse what says nothing of nodes."""
    if isinstance(structure, FunctionType):
        raise EspalierError(
            'expects a kind of structures, as in `@recursive("tree")`, but got none'
        )
    if structure not in KINDS:
        raise EspalierError(f"expects one of {', '.join(KINDS)}, but got {structure!r}")
    if (
        not isinstance(arity, int)
        or not 0 <= arity < 2**31
        or (structure == "sequence" and arity > 1)
    ):
        raise EspalierError(f"expects an arity of a {structure}, but got {arity!r}")
