"""Which weights are stored without their zeros."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier import _espalier
from espalier.errors import EspalierError, expect, reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from espalier.compiler import Options

SPARSITIES = ("off", "stored", "all", "auto")
CHOICES = ("dense", "sparse")
REPORT_SUFFIX = ".json"


def check_sparse(sparse: object, layers: object) -> None:
    """Refuse what is neither a way to choose, or a report, nor choices for layers."""
    if not _is_report(sparse) and sparse not in SPARSITIES:
        raise EspalierError(
            f"expects sparse to be one of {', '.join(SPARSITIES)}, or the path of a report that "
            f"ends in {REPORT_SUFFIX}, but got {sparse!r}"
        )
    expect("choices by the names of nodes as sparse_layers", layers, dict)
    assert isinstance(layers, dict), "the line above says so"
    for node, choice in layers.items():
        if not isinstance(node, str) or not isinstance(choice, str):
            raise EspalierError(
                f"option sparse_layers: expects {', '.join(CHOICES)} or a format for the name of "
                f"a node, but got {choice!r} for {node!r}"
            )


def _is_report(sparse: object) -> bool:
    if isinstance(sparse, str):
        return sparse not in SPARSITIES and sparse.endswith(REPORT_SUFFIX)
    return isinstance(sparse, os.PathLike)


def read_report(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the choices in a file: `Function.sparsity` as JSON, or what `compile --json` prints.

    What an entry has to have: `espalier_choose_sparse`.
    """
    place = f"cannot read '{os.fspath(path)}'"
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise EspalierError(
            f"{place}: expects JSON, but line {error.lineno} has another thing at column "
            f"{error.colno}: {error.msg}"
        ) from error
    except RecursionError:
        raise EspalierError(f"{place}: expects choices, but got deeper JSON") from None
    # Bytes that are no UTF-8 are a ValueError, as null characters in a name are.
    except (OSError, ValueError) as error:
        raise EspalierError(f"{place}: {reason_of(error)}") from error
    layers = report.get("sparsity") if isinstance(report, dict) else report
    if not isinstance(layers, list):
        raise EspalierError(
            f"{place}: expects a list of choices, or an object that has one as sparsity, but got "
            f"{type(report).__name__} with {type(layers).__name__}"
        )
    for number, layer in enumerate(layers):
        if not isinstance(layer, dict):
            raise EspalierError(
                f"{place}: choice #{number}: expects an object, but got {type(layer).__name__}"
            )
    return layers


def _override(layers: Sequence[dict[str, Any]], chosen: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return choices, of which some are replaced."""
    result = [layer for layer in layers if layer.get("node") not in chosen]
    for node, choice in chosen.items():
        if choice in CHOICES:
            result.append({"node": node, "choice": choice})
        else:
            result.append({"node": node, "choice": "sparse", "format": choice})
    return result


def choose_sparse(module: _espalier.Module, options: Options) -> list[dict[str, Any]]:
    """Choose which weights are sparse, where the options ask for it; return a report.

    What the report has: `Function.sparsity`.
    """
    sparse, chosen = options.sparse, options.sparse_layers
    check_sparse(sparse, chosen)
    if sparse in ("off", "stored") and not chosen:
        return []
    if options.optimize != "none":
        if sparse == "all" and not chosen:  # The optimized graph is looked at.
            return []
        raise EspalierError(
            'expects optimize="none" where weights are chosen to be sparse, because '
            f'substitutions make other operators, but got "{options.optimize}"'
        )
    layers: list[dict[str, Any]] = []
    others = {"stored": "off"}.get(str(sparse), str(sparse))
    if _is_report(sparse):
        layers, others = read_report(sparse), "none"
    choices = json.dumps(_override(layers, chosen))
    return json.loads(_espalier.choose_sparse(module, options.native(), others, choices))
