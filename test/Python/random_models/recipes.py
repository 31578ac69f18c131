"""The table of recipes: one for each operator that the importer claims."""

from collections.abc import Callable

from onnx import defs

from espalier.importers.onnx import operators
from random_models.builder import Builder

Recipe = Callable[[Builder, str], object]

RECIPES: dict[str, Recipe] = {}

LEFT_OUT = {
    "If": "has graphs for attributes; a condition that is known is a choice of the importer",
    "Scan": "has a graph for an attribute; test_recurrent_layers.py has cells",
    "Loop": "has a graph for an attribute; test_recurrent_layers.py has loops",
    "Constant": "is what builders make of some constants",
    "Scatter": "is deprecated from opset 11 on",
    "AffineGrid": "is a chain of small products; GridSample, which reads it, is not claimed",
    "Bernoulli": "is random",
    "CausalConvWithState": "is not in onnxruntime",
    "DynamicQuantizeLinear": "rounds a quotient of inexact numbers",
    "LinearAttention": "needs Scan",
    "RotaryEmbedding": "has twelve tests in ONNX's suite, and tables that must fit each other",
    "SequenceMap": "is about sequences",
    "BlackmanWindow": "needs a size that is known, and is computed at import",
    "HammingWindow": "needs a size that is known, and is computed at import",
    "HannWindow": "needs a size that is known, and is computed at import",
    "SwiGLU": "is newer than every opset of `OPSETS`",
}
"""Operators without a recipe, and why."""


def recipe(*names: str) -> Callable[[Recipe], Recipe]:
    """Register the function that adds a node of one of the operators."""

    def register(function: Recipe) -> Recipe:
        RECIPES.update(dict.fromkeys(names, function))
        return function

    return register


def claimed() -> set[str]:
    """Return the operators that the importer imports or replaces by ONNX's function."""
    functions = {
        s.name
        for s in defs.get_all_schemas()
        if s.domain == "" and (s.has_function or s.has_context_dependent_function)
    }
    return set(operators()) | functions
