"""One page about what searches tried: curves, predictions, what won, failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from espalier.tuning import JudgedKernel

Kernel = Mapping[str, Any]

WIDTH, HEIGHT, MARGIN = 420, 260, 46
STYLE = """
.best { fill: none; stroke: #06c; stroke-width: 2; } .trial { fill: #888; }
.axis { stroke: #555; } .label { font: 11px sans-serif; fill: #555; }
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; margin: 2em; }} td, th {{ padding: 0.2em 1em;
text-align: left; vertical-align: top; }} pre {{ background: #f4f4f4; padding: 1em;
overflow-x: auto; }} .plots {{ display: flex; gap: 2em; flex-wrap: wrap; }}</style></head><body>
<h1>{title}</h1>
<p>{summary}</p>
{kernels}
</body></html>
"""


def make_tuning_page(
    title: str, kernels: Sequence[Kernel], judged: Sequence[JudgedKernel] = ()
) -> str:
    """Return an HTML page without references to other files.

    Arguments:
        kernels: what `espalier.records.describe_records` returned.
        judged: what the model of costs says of them; without it, plots have the estimate.
    """
    by_task = {kernel.task: kernel for kernel in judged}
    trials = sum(len(kernel["trials"]) for kernel in kernels)
    won = sum("winner" in kernel for kernel in kernels)
    return PAGE.format(
        title=escape(title),
        summary=f"{len(kernels)} kernels, {trials} trials; {won} kernels are faster than by "
        "default.",
        kernels="".join(_section(kernel, by_task.get(kernel["task"])) for kernel in kernels),
    )


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.4g} us"


def _section(kernel: Kernel, judged: JudgedKernel | None) -> str:
    """Return what there is to say of one kernel."""
    measured = [trial["seconds"] for trial in kernel["trials"] if trial["status"] == "measured"]
    plots = _curve(kernel["trials"]) + _predictions(kernel["trials"], judged)
    return (
        f"<h2>Kernel {escape(kernel['task'][:12])}</h2><p>{escape(kernel['target'])}</p>"
        f"{_winner(kernel)}"
        + (f'<div class="plots">{plots}</div>' if measured else "")
        + _failures(kernel["trials"])
    )


def _winner(kernel: Kernel) -> str:
    winner = kernel.get("winner")
    if not winner:
        return "<p>The default schedule is as fast as what was tried.</p>"
    gain = winner["original_s"] / winner["seconds"]
    return (
        f"<p>{_microseconds(winner['original_s'])} by default, "
        f"{_microseconds(winner['seconds'])} with what won, {gain:.2f} times as fast; the rule is "
        f"{escape(winner['rule'])}.</p>"
        f"<details><summary>Script</summary><pre>{escape(winner['script'])}</pre></details>"
    )


def _failures(trials: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of what was not measured, by status, with a first reason."""
    failed = [trial for trial in trials if trial["status"] != "measured"]
    if not failed:
        return "<p>Nothing failed.</p>"
    counts = Counter(trial["status"] for trial in failed)
    reasons = {trial["status"]: trial["error"] for trial in reversed(failed)}
    rows = "".join(
        f"<tr><td>{escape(status)}</td><td>{count}</td>"
        f"<td><pre>{escape(reasons[status])}</pre></td></tr>"
        for status, count in counts.most_common()
    )
    return f"<table><tr><th>Status</th><th>Trials</th><th>First reason</th></tr>{rows}</table>"


def _frame(body: str, across: str, up: str) -> str:
    """Return a plot with its axes."""
    bottom, right = HEIGHT - MARGIN, WIDTH - 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}">'
        f"<style>{STYLE}</style>"
        f'<path class="axis" fill="none" d="M{MARGIN} 10 V{bottom} H{right}"/>{body}'
        f'<text class="label" x="{MARGIN}" y="{HEIGHT - 12}">{escape(across)}</text>'
        f'<text class="label" x="{MARGIN + 4}" y="20">{escape(up)}</text></svg>'
    )


def _place(x: float, y: float) -> tuple[float, float]:
    """Return where a point of the unit square is in a plot."""
    return MARGIN + x * (WIDTH - MARGIN - 20), HEIGHT - MARGIN - y * (HEIGHT - MARGIN - 30)


def _dots(points: Sequence[tuple[float, float]]) -> str:
    return "".join(
        f'<circle class="trial" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'
        for x, y in (_place(*point) for point in points)
    )


def _curve(trials: Sequence[Mapping[str, Any]]) -> str:
    """Return the plot of the fastest so far, and of each trial."""
    times = [(n, t["seconds"]) for n, t in enumerate(trials) if t["status"] == "measured"]
    least = min((time for _, time in times), default=0.0)
    if not times or least <= 0:
        return ""
    best, points, path = float("inf"), [], ""
    for number, time in times:
        x = number / max(len(trials) - 1, 1)
        points.append((x, least / time))
        best = min(best, time)
        at = _place(x, least / best)
        path += f"{'L' if path else 'M'}{at[0]:.1f} {at[1]:.1f} "
    return _frame(
        f'{_dots(points)}<path class="best" d="{path}"/>',
        f"trial, 1 to {len(trials)}",
        f"speed, at most {_microseconds(least)}",
    )


def _predictions(trials: Sequence[Mapping[str, Any]], judged: JudgedKernel | None) -> str:
    """Return the plot of what was predicted against what was measured."""
    if judged and judged.measured:
        predicted, measured = list(judged.predicted), list(judged.measured)
        name = f"predicted without having seen the kernel (rank correlation {judged.model:.2f})"
    else:
        timed = [trial for trial in trials if trial["status"] == "measured"]
        predicted = [-trial["estimate"] for trial in timed]
        least = min((trial["seconds"] for trial in timed), default=0.0)
        measured = [least / trial["seconds"] for trial in timed if trial["seconds"] > 0]
        name = "estimated"
    if not measured or len(measured) != len(predicted):
        return ""
    low, high = min(predicted), max(predicted)
    scale = high - low or 1.0
    points = [((p - low) / scale, m) for p, m in zip(predicted, measured, strict=True)]
    return _frame(_dots(points), name, "measured speed")
