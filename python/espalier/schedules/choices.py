"""What a schedule script leaves open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from espalier import _espalier
from espalier.errors import CompileError
from espalier.schedules.errors import ScheduleError, replace_place


@dataclass(frozen=True)
class Choice:
    """A `transform.tune.knob` or `transform.tune.alternatives` of a script.

    Arguments:
        options: what may be selected; for alternatives, the numbers of the regions.
            MLIR text for a knob whose options are not a list.
        selected: one of them, or None.
    """

    options: list[Any] | str
    selected: Any = None


def choices(script: str) -> dict[str, Choice]:
    """Return the choices of a transform script, by name.

    Example:
        >>> choices(sketch)
        {'rows': Choice(options=[4, 8], selected=None)}
    """
    try:
        described = _espalier.describe_choices(_empty_module(), script)
    except CompileError as error:
        raise ScheduleError(replace_place(str(error), "script:")) from None
    return {
        choice["name"]: Choice(choice["options"], choice["selected"])
        for choice in json.loads(described)
    }


def select(script: str, values: Mapping[str, Any]) -> str:
    """Return a transform script with choices selected; others stay as they are.

    Arguments:
        values: one of the options of each choice that is selected, by its name.

    Example:
        >>> schedule.replay(select(sketch, {"rows": 8}))
    """
    try:
        return _espalier.select(_empty_module(), script, json.dumps(dict(values)))
    except TypeError:
        raise ScheduleError(
            f"expects numbers, strings or booleans to be selected, but got {dict(values)!r}"
        ) from None
    except CompileError as error:
        raise ScheduleError(replace_place(str(error), "script:")) from None


def _empty_module() -> _espalier.Module:
    """Return a module to parse scripts in."""
    return _espalier.Module.parse("module {}")
