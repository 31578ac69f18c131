"""Recursive functions as compiled models."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from espalier import _espalier
from espalier.compiler import Options, compile_module, given_options, optimize_module
from espalier.errors import EspalierError, expect
from espalier.function import Function
from espalier.names import to_identifier
from espalier.recursion.arguments import (
    KINDS,
    Ready,
    check_kind,
    check_numbers,
    check_rows,
    make_signature,
    permuted,
    to_array,
)
from espalier.recursion.mlir import program_text
from espalier.recursion.reference import evaluate
from espalier.recursion.scheduling import BATCHINGS, REFACTOR, Scheduling, unroll_levels
from espalier.recursion.structures import Structures
from espalier.recursion.tensors import RecursiveError, Tensor
from espalier.recursion.trace import Child, Trace, Tracer, weight_names
from espalier.report.recursive import make_recursive_page

PLACES = ("roots", "nodes")
SHOWN_LEVELS = 20

Arrays = np.ndarray | tuple[np.ndarray, ...]


class Recursive:
    """A recursive function of a node, compiled for the shapes it is called with.

    Several threads may call it.

    Attributes:
        structure: "tree", "sequence" or "dag".
        arity: how many children interior nodes have, 0 for any number.
        weights: the names of the function's parameters after the node.
        scheduling: when nodes are computed.
    """

    def __init__(
        self,
        function: FunctionType,
        structure: str = "tree",
        arity: int = 0,
        options: Options | None = None,
        scheduling: Scheduling | None = None,
    ) -> None:
        """Wrap a function."""
        check_kind(structure, arity)
        if not isinstance(function, FunctionType):
            raise RecursiveError(f"expects a function, but got {type(function).__name__}")
        functools.update_wrapper(self, function)
        self.function = function
        self.structure = structure
        self.arity = 1 if structure == "sequence" else arity
        self.options = given_options(options)
        self.scheduling = scheduling or Scheduling()
        expect("a scheduling", self.scheduling, Scheduling)
        self.weights = weight_names(function)
        self._traces: dict[object, Trace] = {}
        self._bound: dict[str, np.ndarray] = {}
        self._functions: dict[object, Function] = {}
        self._ready: dict[object, Ready] = {}
        self._compiling = threading.Lock()
        self._local = _Local()

    def bind(self, /, **weights: np.ndarray) -> Recursive:
        """Return the model with some of its weights, or all, as constants.

        Calls of it take the others. What depends on constants alone, such as the order of
        weights that products like best, is computed by the compiler, where a call would
        do so each time; changing the arrays afterwards changes nothing.

        Example:
            >>> model = tree_lstm.bind(u=u, b=b, uf=uf, bf=bf)
            >>> h, c = model(trees, emb=emb)
        """
        free = [name for name in self.weights if name not in self._bound]
        for name in weights:
            if name not in free:
                raise EspalierError(f"argument '{name}': expects a weight out of {free}")
        result = self._copy()
        bound = {name: to_array(name, value).copy() for name, value in weights.items()}
        result._bound = self._bound | bound
        return result

    def configure(
        self, *, options: Options | None = None, scheduling: Scheduling | None = None
    ) -> Recursive:
        """Return the model compiled in another way, with the weights that are bound."""
        result = self._copy()
        result.options = given_options(options, self.options)
        result.scheduling = scheduling or self.scheduling
        expect("a scheduling", result.scheduling, Scheduling)
        return result

    def _copy(self) -> Recursive:
        """Return the same function, with the same traces and recursion, to be compiled."""
        result = copy.copy(self)
        result._functions, result._ready = {}, {}
        return result

    def __call__(
        self,
        structures: Structures | Child,
        /,
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
        if tracer := self._local.tracer:
            if not isinstance(structures, Child) or args or arrays:
                tracer.cell.fail(f"expects '{self.__name__}' to be called with a child alone")
            return tracer.call(structures)
        if args:
            raise EspalierError(f"expects weights and features by name, but got {len(args)} more")
        values, order = self._run(structures, at, arrays)
        if at == "nodes":
            values = tuple(permuted(value, order) for value in values)
        return values if len(values) > 1 else values[0]

    def _run(
        self, structures: Structures | Child, at: str, arrays: Mapping[str, np.ndarray]
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Return the results, and which of the caller's nodes each row of all nodes is."""
        ready, given = None, {}
        if not arrays and isinstance(structures, Structures):
            # Nothing but the structures differs from an earlier call like this one.
            ready = self._ready.get((at, structures.words is None))
        if ready is None:
            trace, given = self._prepare(structures, at, arrays)
            ready = Ready(trace, self._function(trace, at), tuple(self._bound))
            if not arrays:
                self._ready[at, structures.words is None] = ready
        assert isinstance(structures, Structures)
        if done := self._run_plain(ready, structures, given):
            return done
        # There are features to permute, or something is wrong and is told.
        given = given or self._prepare(structures, at, arrays)[1]
        inputs, order = self._linearize(ready.trace, structures, given)
        return tuple(ready.function.run(inputs).values()), order

    def _run_plain(
        self, ready: Ready, structures: Structures, given: Mapping[str, np.ndarray]
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray] | None:
        """Run without a look at each array here; return None where one is needed."""
        words = structures.words
        if not ready.is_plain or (words is not None and len(words) != structures.num_nodes):
            return None
        return ready.program.run_structures(
            self._local.linearizer,
            self._numbering(ready.trace, structures),
            ready.places,
            {argument: given[name] for name, argument in ready.weights},
        )

    def inputs(self, structures: Structures, /, **arrays: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments of the program that a call with these runs, by name."""
        trace, given = self._prepare(structures, "nodes", arrays)
        return self._linearize(trace, structures, given)[0]

    def _linearize(
        self, trace: Trace, structures: Structures, given: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return the program's arguments, and which of the caller's nodes each is."""
        signature = trace.signature
        arity, children, levels, roots, order, words = self._local.linearizer.run(
            *self._numbering(trace, structures)
        )
        names = trace.inputs
        inputs = {"arity": arity, "children": children, "levels": levels, "roots": roots}
        for name in signature.features:
            if name == "word" and structures.words is not None:  # The linearizer has checked these.
                inputs[names[name]] = words
                continue
            values = given[name][order]
            check_rows(trace, name, values, order, len(arity) - len(children))
            inputs[names[name]] = values
        weights = (name for name in signature.weights if name not in self._bound)
        return inputs | {names[name]: given[name] for name in weights}, order

    def _numbering(self, trace: Trace, structures: Structures) -> tuple[Any, ...]:
        """Return what the linearizer is given."""
        has_words = structures.words is not None
        return (
            structures.arrays(),
            KINDS.index(self.structure),
            self.arity,
            *(rows.get("word", 0) if has_words else 0 for rows in trace.vocabularies),
            BATCHINGS.index(self.scheduling.batching(trace, self.options)),
        )

    def reference(
        self, structures: Structures, /, *, at: str = "roots", **arrays: np.ndarray
    ) -> Arrays:
        """Run node by node in NumPy; the arguments and results are those of a call."""
        trace, given = self._prepare(structures, at, arrays)
        self._linearize(trace, structures, given)  # Checks the structures.
        values = evaluate(trace, structures, given, at)
        return values if len(values) > 1 else values[0]

    def mlir(self, structures: Structures, /, *, at: str = "roots", **arrays: np.ndarray) -> str:
        """Return the program of a call with these arguments, as MLIR text.

        It needs no Python: `espalier compile` takes it. It is the model as it is written:
        weights that are bound are arguments here, terms stay where they are
        (`Scheduling(refactor=True)`), and gates have products of their own.
        """
        trace, _ = self._prepare(structures, at, arrays)
        return program_text(trace, at, self.scheduling.decide(trace, self.options))

    def explain(self, structures: Structures, /, **arrays: np.ndarray) -> str:
        """Say in which levels a call computes the nodes, and when each operator, and why."""
        text, widths, explanation = self._explain(structures, arrays)
        shown = ", ".join(map(str, widths[:SHOWN_LEVELS])) + (
            f", .. {widths[-1]}" if len(widths) > SHOWN_LEVELS else ""
        )
        levels = f" in {len(widths)} levels of {shown} nodes" if widths else ""
        return f"{text}{levels}\n{explanation}"

    def draw(self, structures: Structures, /, **arrays: np.ndarray) -> str:
        """Return an HTML page that says what `explain` does, with a bar for each level."""
        text, widths, explanation = self._explain(structures, arrays)
        return make_recursive_page(f"{self.__name__}: {text}", explanation, widths)

    def _explain(
        self, structures: Structures, arrays: Mapping[str, np.ndarray]
    ) -> tuple[str, list[int], str]:
        """Return what there is of nodes, the widths of levels, and what operators become."""
        trace, given = self._prepare(structures, "nodes", arrays)
        inputs, _ = self._linearize(trace, structures, given)
        widths = np.diff(inputs["levels"]).tolist()
        leaves = len(inputs["arity"]) - len(inputs["children"])
        text = f"{len(structures.starts) - 1} structures: {leaves} leaves, {sum(widths)} others"
        return text, widths, _espalier.explain_batching(self._module(trace, "nodes"))

    def compile(
        self, structures: Structures, /, *, at: str = "roots", **arrays: np.ndarray
    ) -> Function:
        """Return the function that a call with these arguments runs.

        It takes arrays as `inputs` returns them, and can be saved as a library, for
        structures of other sizes too.
        """
        return self._function(self._prepare(structures, at, arrays)[0], at)

    def _prepare(
        self, structures: object, at: str, arrays: Mapping[str, np.ndarray]
    ) -> tuple[Trace, dict[str, np.ndarray]]:
        if isinstance(structures, Child):
            raise EspalierError(
                f"expects '{self.__name__}' to be called by itself or with structures, but "
                "another model calls it (a function is wrapped once; see `configure`)"
            )
        if not isinstance(structures, Structures):
            raise EspalierError(f"expects espalier.Structures, but got {type(structures).__name__}")
        if at not in PLACES:
            raise EspalierError(f"expects results at one of {PLACES}, but got {at!r}")
        if twice := self._bound.keys() & arrays.keys():
            raise EspalierError(f"argument '{min(twice)}': expects no array, since one is bound")
        given = {name: to_array(name, value) for name, value in arrays.items()} | self._bound
        if structures.words is not None:
            if "word" in given or "word" in self.weights:
                raise EspalierError(
                    "argument 'word': expects no such array, since the structures have words"
                )
            given["word"] = structures.words
        for name in self.weights:
            if name not in given:
                raise EspalierError(f"argument '{name}': expects an array, but it is missing")
        features = {name: given[name] for name in sorted(given) if name not in self.weights}
        for name, array in features.items():
            if array.ndim == 0 or len(array) != structures.num_nodes:
                raise EspalierError(
                    f"feature '{name}': expects a row for each of {structures.num_nodes} nodes, "
                    f"but got shape {array.shape}"
                )
        weights = {name: given[name] for name in self.weights}
        trace = self._trace(weights, features)
        for name, array in weights.items():
            rows = [r[name] for r in trace.vocabularies if name in r]
            if rows:
                check_numbers(f"argument '{name}'", array, min(rows))
        return trace, given

    def _trace(
        self, weights: Mapping[str, np.ndarray], features: Mapping[str, np.ndarray]
    ) -> Trace:
        key = (
            *((array.shape, array.dtype.char) for array in weights.values()),
            *((name, array.shape[1:], array.dtype.char) for name, array in features.items()),
        )
        if key not in self._traces:
            signature = make_signature(self.structure, self.arity, weights, features)
            self._local.tracer = Tracer(self.function, signature)
            try:
                self._traces[key] = self._local.tracer.run()
            finally:
                self._local.tracer = None
        return self._traces[key]

    def _function(self, trace: Trace, at: str) -> Function:
        key = trace, at
        with self._compiling:
            if key not in self._functions:
                module = self._module(trace, at)
                self._functions[key] = compile_module(module, options=self.options)
            return self._functions[key]

    def _module(self, trace: Trace, at: str) -> _espalier.Module:
        """Return the program, scheduled."""
        scheduling = self.scheduling.decide(trace, self.options)
        text = program_text(trace, at, scheduling, has_lines=True)
        module = _espalier.Module.parse(text)
        module.name = to_identifier(trace.name)
        for name, value in self._bound.items():
            module.bind_input(trace.inputs[name], value.reshape(-1).view(np.uint8))
        if self.scheduling.refactor:
            _espalier.transform(module, REFACTOR)
        if self.scheduling.share:
            options = replace(self.options, optimize="egraph", measure_seconds=0.0)
            optimize_module(module, options)
        if self.scheduling.unroll > 1:
            unroll_levels(module, self.scheduling.unroll, self.options)
        return module

    def __repr__(self) -> str:
        return f"<espalier.Recursive {self.__name__}>"


class _Local(threading.local):
    """What each thread has for itself."""

    def __init__(self) -> None:
        self.tracer: Tracer | None = None
        self.linearizer = _espalier.Linearizer()


def recursive(
    structure: str = "tree",
    *,
    arity: int = 0,
    options: Options | None = None,
    scheduling: Scheduling | None = None,
) -> Callable[[FunctionType], Recursive]:
    """Make a model of a function of a node.

    The function is called once for a leaf and once for an interior node, with tensors
    that record what is done to them; conditions may depend on `node.is_leaf` alone.

    Arguments:
        structure: "tree", "sequence" or "dag".
        arity: how many children interior nodes have, 0 for any number.
        scheduling: when nodes are computed; results are the same.

    Example:
        >>> @espalier.recursive("tree", arity=2)
        ... def tree_rnn(node, emb, w):
        ...     if node.is_leaf:
        ...         return emb[node.word]
        ...     left, right = node.children
        ...     return tanh(concat(tree_rnn(left), tree_rnn(right)) @ w)
        >>> h = tree_rnn(Structures.from_nested([((1, 2), 3)]), emb=emb, w=w)
    """
    check_kind(structure, arity)

    def wrap(function: FunctionType) -> Recursive:
        return Recursive(function, structure, arity, options, scheduling)

    return wrap
