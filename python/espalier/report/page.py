"""One page about a scheduled kernel, without references to other files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from espalier.errors import CompileError, EspalierError, expect
from espalier.files import write_text
from espalier.report.plane import planes
from espalier.report.svg import draw
from espalier.schedules import Schedule

DEFAULT_SIZE = 6
LEGEND = (
    "The number in a point is its place in the order of execution, its colour is its tile. "
    "Arrows lead from what runs first in the text to what has to run after it: flow (solid), "
    "anti (dashed) and output (dotted) dependences, those of reductions pale. A dependence for "
    "which a command was refused is red."
)
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; margin: 2em; }} .refused {{ color: #d00; }}
pre {{ background: #f4f4f4; padding: 1em; overflow-x: auto; }} div {{ overflow-x: auto; }}</style>
</head><body>
<h1>{title}</h1>
<p>{sizes}</p>
{refused}<div>{picture}</div>
<p>{legend}</p>
<h2>Loops</h2>
<pre>{loops}</pre>
<h2>Schedule</h2>
<pre>{script}</pre>
</body></html>
"""


def make_page(
    schedule: Schedule,
    sizes: Mapping[str, int] | None = None,
    axes: Mapping[str, Sequence[str]] | None = None,
    refused: str = "",
) -> str:
    """Return an HTML page about a kernel as it is scheduled now.

    Arguments:
        sizes: of the kernel's parameters, by name; 6 for others, or fewer if that
            is too many points, and at least what a violated dependence needs.
        axes: the one or two dimensions to show, by computation.
        refused: the message of a command that was refused.
    """
    expect("a schedule", schedule, Schedule)
    expect("sizes by name", sizes or {}, Mapping)
    trace = _trace(schedule, sizes or {})
    named = zip(schedule.parameters, trace["sizes"], strict=True)
    message = f'<p class="refused">{escape(refused)}</p>\n' if refused else ""
    return PAGE.format(
        title=escape(schedule.kernel),
        sizes=escape(", ".join(f"{name} = {value}" for name, value in named)),
        refused=message,
        picture=draw(trace, planes(trace, axes)),
        legend=LEGEND,
        loops=escape(schedule.loops()),
        script=escape(str(schedule) or "program order"),
    )


def write_report(
    schedule: Schedule,
    path: str | os.PathLike[str],
    sizes: Mapping[str, int] | None = None,
    axes: Mapping[str, Sequence[str]] | None = None,
    refused: str = "",
) -> None:
    """Write the page of `make_page` to a file."""
    write_text(path, make_page(schedule, sizes, axes, refused))


def _trace(schedule: Schedule, given: Mapping[str, int]) -> dict[str, Any]:
    """Trace with the largest default size with which that works."""
    for default in range(DEFAULT_SIZE, 1, -1):
        try:
            return schedule.trace(_sizes(schedule, given, default))
        except CompileError:
            continue
    return schedule.trace(_sizes(schedule, given, 1))


def _sizes(schedule: Schedule, given: Mapping[str, int], default: int) -> list[int]:
    """Return a value for each parameter."""
    if unknown := set(given) - set(schedule.parameters):
        raise EspalierError(f"expects sizes out of {schedule.parameters}, but got '{min(unknown)}'")
    least = [default] * len(schedule.parameters)
    if schedule.violation:
        least = [max(a, b) for a, b in zip(least, schedule.violation["parameters"], strict=True)]
    return [given.get(name, n) for name, n in zip(schedule.parameters, least, strict=True)]
