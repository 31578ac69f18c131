"""Importer of ONNX models, opsets 13 to the newest that `onnx` knows.

Nothing is skipped: a model either becomes one function of the graph dialect
or is refused, with every unsupported node listed.

Example:
    >>> module = espalier.Module()
    >>> import_model("model.onnx", module, dims={"batch": 1})
"""

import os
from collections.abc import Mapping, Sequence

import numpy as np
from onnx import ModelProto

from espalier import ir
from espalier.errors import ModelError
from espalier.importers.onnx import ops  # noqa: F401  (registers the operators)
from espalier.importers.onnx.functions import inline_functions
from espalier.importers.onnx.graph import Importer
from espalier.importers.onnx.loading import check_text, load
from espalier.importers.onnx.registry import operators

__all__ = ["import_model", "operators"]


def import_model(
    model: ModelProto | bytes | str | os.PathLike[str],
    builder: ir.Builder,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    values: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Import a model as the function of a module under construction.

    Raises `ModelError` for a malformed model and `UnsupportedOperators` with
    all nodes that are not supported.

    Arguments:
        model: a path, the bytes of a model, or a parsed model.
        dims: numbers for symbolic dimensions, by name.
        shapes: shapes of inputs, by name; they fix symbolic dimensions.
        values: values of inputs, by name, used only where an operator needs a
            known operand, such as the shape of a `Reshape`.

    Returns those of `values` that were used: the program holds for them only.
    """
    source = load(model)
    try:
        check_text(source.model)
        source.model = inline_functions(source.model)
        importer = Importer(source, builder, dims, shapes, values)
        importer.run()
    except RecursionError as error:
        raise ModelError("expects a model with less nesting") from error
    return importer.bound
