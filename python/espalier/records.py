"""The files in which searches keep what they tried."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from espalier import _espalier
from espalier.compiler import Model, Options, given_options, load_module
from espalier.errors import EspalierError, naming


def describe_records(records: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return what a file of records has: by kernel and machine, trials and what won.

    Example:
        >>> for kernel in espalier.records.describe_records("tuning.sqlite"):
        ...     print(kernel["task"], len(kernel["trials"]))
    """
    return json.loads(_espalier.describe_records(os.fspath(records)))


def merge_records(into: str | os.PathLike[str], other: str | os.PathLike[str]) -> int:
    """Add what the file `other` has and the file `into` has not; return how many trials.

    Of winners for the same kernel and machine, the faster one stays. Both files are as
    they were if one of them is no file of records.

    Example:
        >>> espalier.records.merge_records("tuning.sqlite", "of-another-machine.sqlite")
    """
    return _espalier.merge_records(os.fspath(into), os.fspath(other))


def prune_records(
    records: str | os.PathLike[str], *, other_builds: bool = False, keep: int = 0
) -> int:
    """Remove trials from a file of records; return how many went. Winners stay.

    A search tries what was removed again if it comes to it.

    Arguments:
        other_builds: whether the trials of other builds of Espalier go.
        keep: how many trials of each kernel and build stay, the fastest; 0 for all.

    Example:
        >>> espalier.records.prune_records("tuning.sqlite", keep=50)
    """
    if not 0 <= keep < 2**63:
        raise EspalierError(f"argument 'keep': expects 0 to 2^63 - 1, but got {keep}")
    return _espalier.prune_records(os.fspath(records), other_builds, keep)


@dataclass(frozen=True)
class ReplayedTrial:
    """A record that was tried again.

    Arguments:
        kernel: what the program calls it.
        rule: how the script came from the default schedule.
        build: that which recorded it; empty for this one.
        recorded_s: seconds of one call, as recorded.
        status: what became of it now, "measured" if nothing is wrong.
        seconds: of one call now.
        error: what is wrong.
        same_code: whether the machine code is bit for bit what it was.
    """

    kernel: str
    rule: str
    build: str
    recorded_s: float
    status: str
    seconds: float
    error: str
    same_code: bool


def replay_records(
    model: Model,
    records: str | os.PathLike[str],
    *,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    keep: int = 8,
    options: Options | None = None,
) -> list[ReplayedTrial]:
    """Try again what records have of a model's kernels, of whichever build.

    Each script is applied with all checks, compiled, run and compared; the file stays
    as it is.

    Arguments:
        model, dims, shapes, options: as for `espalier.compile`.
        keep: how many scripts of each kernel, the fastest first.

    Example:
        >>> for trial in espalier.records.replay_records("model.onnx", "tuning.sqlite"):
        ...     print(trial.kernel, trial.status, trial.recorded_s, trial.seconds)
    """
    if not 0 < keep < 2**32:
        raise EspalierError(f"argument 'keep': expects 1 to 2^32 - 1, but got {keep}")
    options = replace(given_options(options), records=records)
    module, _ = load_module(model, dims, shapes)
    with naming(model):
        found = json.loads(_espalier.replay_records(module, options.native(), keep))
    return [ReplayedTrial(**trial) for trial in found]
