"""Recursive functions as compiled models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import FunctionType

import numpy as np

from espalier import _espalier
from espalier.compiler import Options, compile
from espalier.errors import EspalierError
from espalier.function import Function
from espalier.recursion.mlir import program_text
from espalier.recursion.reference import evaluate
from espalier.recursion.structures import Structures
from espalier.recursion.tensors import RecursiveError, Tensor
from espalier.recursion.trace import Child, Signature, Trace, Tracer, weight_names

KINDS = ("tree", "sequence", "dag")
PLACES = ("roots", "nodes")
DTYPES = {"float32": "f32", "int32": "i32"}

Arrays = np.ndarray | tuple[np.ndarray, ...]


class Recursive:
    """A recursive function of a node, compiled for the shapes it is called with.

    Attributes:
        structure: "tree", "sequence" or "dag".
        arity: how many children interior nodes have, 0 for any number.
    """

    def __init__(
        self,
        function: FunctionType,
        structure: str = "tree",
        arity: int = 0,
        options: Options | None = None,
    ) -> None:
        """Wrap a function."""
        if structure not in KINDS:
            raise EspalierError(f"expects one of {', '.join(KINDS)}, but got {structure!r}")
        if arity < 0 or (structure == "sequence" and arity > 1):
            raise EspalierError(f"expects an arity of a {structure}, but got {arity}")
        functools.update_wrapper(self, function)
        self.function = function
        self.structure = structure
        self.arity = 1 if structure == "sequence" else arity
        self.options = options
        self._tracer: Tracer | None = None
        self._traces: dict[object, Trace] = {}
        self._functions: dict[object, Function] = {}
        self._linearizer = _espalier.Linearizer()

    def __call__(
        self,
        structures: Structures | Child,
        *args: Tensor,
        at: str = "roots",
        **arrays: np.ndarray,
    ) -> Arrays | Tensor | tuple[Tensor, ...]:
        """Run on all structures at once.

        Arguments:
            at: "roots" or "nodes": whose results are returned; all nodes are in the
                order of the caller's.
            arrays: weights, by the names of the function's parameters, and features,
                of which each node has a row, in the order of the caller's nodes.

        Returns an array of each result, whose dimension 0 is the root or node.
        """
        if self._tracer:
            if not isinstance(structures, Child) or args or arrays:
                self._tracer.cell.fail(f"expects '{self.__name__}' to be called with a child alone")
            return self._tracer.call(structures)
        trace, given = self._prepare(structures, at, arrays)
        assert isinstance(structures, Structures)
        inputs, order = self._linearize(trace, structures, given)
        values = tuple(self._compile(trace, at).run(inputs).values())
        if at == "nodes":
            values = tuple(_permuted(value, order) for value in values)
        return values if len(values) > 1 else values[0]

    def inputs(self, structures: Structures, **arrays: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments of the program that a call with these runs, by name."""
        trace, given = self._prepare(structures, "nodes", arrays)
        return self._linearize(trace, structures, given)[0]

    def _linearize(
        self, trace: Trace, structures: Structures, given: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return the program's arguments, and which of the caller's nodes each is."""
        signature = trace.signature
        arity, children, levels, roots, order, words = self._linearizer.run(
            KINDS.index(self.structure),
            self.arity,
            structures.starts,
            structures.children,
            structures.parents,
            structures.words,
            trace.vocabularies.get("word", np.iinfo(np.int32).max),
        )
        inputs = {"arity": arity, "children": children, "levels": levels, "roots": roots}
        for name in signature.features:
            permuted = words if name == "word" else None
            inputs[name] = given[name][order] if permuted is None else permuted
        return inputs | {name: given[name] for name in signature.weights}, order

    def reference(
        self, structures: Structures, *, at: str = "roots", **arrays: np.ndarray
    ) -> Arrays:
        """Run node by node in NumPy; the arguments and results are those of a call."""
        trace, given = self._prepare(structures, at, arrays)
        self._linearize(trace, structures, given)  # Checks the structures.
        values = evaluate(trace, structures, given, at)
        return values if len(values) > 1 else values[0]

    def mlir(self, structures: Structures, *, at: str = "roots", **arrays: np.ndarray) -> str:
        """Return the program that a call with these arguments runs, as MLIR text."""
        return program_text(self._prepare(structures, at, arrays)[0], at)

    def _prepare(
        self, structures: object, at: str, arrays: Mapping[str, np.ndarray]
    ) -> tuple[Trace, dict[str, np.ndarray]]:
        if not isinstance(structures, Structures):
            raise EspalierError(f"expects espalier.Structures, but got {type(structures).__name__}")
        if at not in PLACES:
            raise EspalierError(f"expects results at one of {PLACES}, but got {at!r}")
        names = weight_names(self.function)
        given = {name: _array(name, value) for name, value in arrays.items()}
        if structures.words is not None:
            given["word"] = structures.words
        for name in names:
            if name not in given:
                raise EspalierError(f"argument '{name}': expects an array, but it is missing")
        features = {name: a for name, a in given.items() if name not in names}
        for name, array in features.items():
            if array.ndim == 0 or len(array) != structures.num_nodes:
                raise EspalierError(
                    f"feature '{name}': expects a row for each of {structures.num_nodes} nodes, "
                    f"but got shape {array.shape}"
                )
        signature = Signature(
            self.structure,
            self.arity,
            {name: given[name].shape for name in names},
            {name: array.shape[1:] for name, array in features.items()},
            {name: DTYPES[array.dtype.name] for name, array in given.items()},
        )
        trace = self._trace(signature)
        for name, rows in trace.vocabularies.items():
            # The linearizer checks the words of structures.
            if name != "word" or structures.words is None:
                what = f"argument '{name}'" if name in names else f"feature '{name}', node"
                _check_numbers(what, given[name], rows)
        return trace, given

    def _trace(self, signature: Signature) -> Trace:
        key = repr(signature)
        if key not in self._traces:
            self._tracer = Tracer(self.function, signature)
            try:
                self._traces[key] = self._tracer.run()
            finally:
                self._tracer = None
        return self._traces[key]

    def _compile(self, trace: Trace, at: str) -> Function:
        key = repr(trace.signature), at
        if key not in self._functions:
            self._functions[key] = compile(
                program_text(trace, at), name=trace.name, options=self.options
            )
        return self._functions[key]

    def __repr__(self) -> str:
        return f"<espalier.Recursive {self.__name__}>"


def _array(name: str, value: object) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.name not in DTYPES:
        raise EspalierError(f"argument '{name}': expects float32 or int32, but got {array.dtype}")
    return np.asarray(array, order="C")


def _check_numbers(what: str, numbers: np.ndarray, rows: int) -> None:
    """Refuse numbers that are of no row."""
    wrong = np.argwhere((numbers < 0) | (numbers >= rows))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise EspalierError(
            f"{what} {', '.join(map(str, place))}: expects the number of one of {rows} rows, "
            f"but got {numbers[place]}"
        )


def _permuted(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    result = np.empty_like(values)
    result[order] = values
    return result


def recursive(
    structure: str = "tree", *, arity: int = 0, options: Options | None = None
) -> Callable[[FunctionType], Recursive]:
    """Make a model of a function of a node.

    The function is called once for a leaf and once for an interior node, with tensors
    that record what is done to them; conditions may depend on `node.is_leaf` alone.

    Arguments:
        structure: "tree", "sequence" or "dag".
        arity: how many children interior nodes have, 0 for any number.

    Example:
        >>> @espalier.recursive("tree", arity=2)
        ... def tree_rnn(node, emb, w):
        ...     if node.is_leaf:
        ...         return emb[node.word]
        ...     left, right = node.children
        ...     return tanh(concat(tree_rnn(left), tree_rnn(right)) @ w)
        >>> h = tree_rnn(Structures.from_nested([((1, 2), 3)]), emb=emb, w=w)
    """

    def wrap(function: FunctionType) -> Recursive:
        if not isinstance(function, FunctionType):
            raise RecursiveError(f"expects a function, but got {type(function).__name__}")
        return Recursive(function, structure, arity, options)

    return wrap
