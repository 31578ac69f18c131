"""The picture: points, dependences and tiles as SVG."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Mapping, Sequence
from html import escape

from espalier.report.plane import Mark, Plane, Trace

CELL = 40
RADIUS = 13
MARGIN = 56
LETTER = 8
"""What a letter of a title takes at most."""
HUE_STEP = 0.382
"""Between the colours of tiles, of the whole circle; neighbours differ."""
LIGHTNESS, SATURATION = 0.82, 0.6

STYLE = """
.point { stroke: #555; } .order, .tick { font: 10px sans-serif; text-anchor: middle; }
.tick { fill: #777; }
.axis, .title { font: 12px sans-serif; } .title { font-weight: bold; }
.dependence { stroke: #888; stroke-width: 1; fill: none; marker-end: url(#arrow); }
.anti { stroke-dasharray: 5 3; } .output { stroke-dasharray: 1 3; }
.reduction { stroke: #cbb; }
.violation { stroke: #d00; stroke-width: 3; marker-end: url(#red-arrow); fill: none; }
"""
MARKER = (
    '<marker id="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="{}" markerHeight="{}" '
    'orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0 L8 4 L0 8 z" fill="{}"/></marker>'
)


def draw(trace: Trace, planes: Sequence[Plane]) -> str:
    """Return an SVG element with one panel per computation."""
    panels, left = [], 0.0
    for plane in planes:
        panels.append(_Panel(plane, left))
        left += panels[-1].width
    where = {mark.number: panel.center(mark.at) for panel in panels for mark in panel.plane.marks}
    parts = [MARKER.format("arrow", 7, 7, "#888"), MARKER.format("red-arrow", 14, 14, "#d00")]
    for dependence in trace["dependences"]:
        if dependence["source"] in where and dependence["sink"] in where:
            kind = dependence["kind"] + (" reduction" if dependence["reduction"] else "")
            ends = where[dependence["source"]], where[dependence["sink"]]
            parts.append(_arrow(f"dependence {kind}", *ends))
    parts += [part for panel in panels for part in panel.draw()]
    if violation := trace["violation"]:
        parts.append(_violation(violation, {panel.plane.computation: panel for panel in panels}))
    height = max((panel.height for panel in panels), default=0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left:g}" height="{height:g}">'
        f"<style>{STYLE}</style>{''.join(parts)}</svg>"
    )


class _Panel:
    """One plane, at its place."""

    def __init__(self, plane: Plane, left: float) -> None:
        self.plane = plane
        self.left = left
        places = [plane.position(mark.at) for mark in plane.marks] or [(0, 0)]
        self.rows = sorted({row for row, _ in places})
        self.columns = sorted({column for _, column in places})
        spans = (self.columns[-1] - self.columns[0], self.rows[-1] - self.rows[0])
        # The next panel begins behind the title.
        self.width = max(2 * MARGIN + CELL * spans[0], 2 * RADIUS + LETTER * len(self.title()))
        self.height = 2 * MARGIN + CELL * spans[1]

    def center(self, at: Sequence[int]) -> tuple[float, float]:
        """Return the middle of a point."""
        row, column = self.plane.position(at)
        x = self.left + MARGIN + CELL * (column - self.columns[0])
        return x, MARGIN + CELL * (row - self.rows[0])

    def title(self) -> str:
        """Return which points the panel shows."""
        plane = self.plane
        fixed = ", ".join(f"{plane.dims[axis]} = {value}" for axis, value in plane.fixed.items())
        return f"{plane.computation}({', '.join(plane.dims)})" + (f", {fixed}" if fixed else "")

    def draw(self) -> list[str]:
        """Return the points with their order and tile, and the axes."""
        plane = self.plane
        names = [plane.dims[axis] for axis in plane.axes]
        parts = [_text("title", self.left + RADIUS, 16, self.title(), "start")]
        if names:
            for column in self.columns:
                x = self.left + MARGIN + CELL * (column - self.columns[0])
                parts.append(_text("tick", x, MARGIN - 18, str(column)))
            parts.append(_text("axis", self.left + MARGIN - 30, MARGIN - 18, names[-1], "start"))
        if len(names) > 1:
            for row in self.rows:
                y = MARGIN + CELL * (row - self.rows[0])
                parts.append(_text("tick", self.left + MARGIN - 26, y + 4, str(row)))
            y = self.height - MARGIN + CELL / 2 + 4
            parts.append(_text("axis", self.left + MARGIN - 30, y + 4, names[0], "start"))
        return parts + [part for mark in plane.marks for part in self._point(mark)]

    def _point(self, mark: Mark) -> list[str]:
        x, y = self.center(mark.at)
        at = ", ".join(map(str, mark.at))
        return [
            f'<circle class="point" data-tile="{mark.tile}" cx="{x:g}" cy="{y:g}" r="{RADIUS}" '
            f'fill="{_color(mark.tile)}"><title>{escape(mark.computation)}({at}), tile '
            f"{mark.tile}</title></circle>",
            _text("order", x, y + 4, str(mark.order)),
        ]


def _color(tile: int) -> str:
    """Return the light colour of a tile."""
    red, green, blue = colorsys.hls_to_rgb(tile * HUE_STEP % 1, LIGHTNESS, SATURATION)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _violation(violation: Mapping[str, object], panels: Mapping[str, _Panel]) -> str:
    """Return the red arrow of a dependence that a refused command would break.

    It is a ring where both ends are in one place.
    """
    ends = []
    for end in ("source", "sink"):
        panel = panels[str(violation[end])]
        ends.append(panel.center(violation[f"{end}_point"]))  # type: ignore[arg-type]
    if ends[0] == ends[1]:  # They differ in other dimensions than those of the plane.
        x, y = ends[0]
        return f'<circle class="violation" cx="{x:g}" cy="{y:g}" r="{RADIUS + 3}"/>'
    return _arrow("violation", *ends)


def _arrow(kind: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return an arrow between the rims of two points, slightly bent."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    x1, y1 = start[0] + ux * RADIUS, start[1] + uy * RADIUS
    x2, y2 = end[0] - ux * RADIUS, end[1] - uy * RADIUS
    bend = 0.15 * max(length - CELL, 0.0)
    cx, cy = (x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f} Q{cx:.1f} {cy:.1f} {x2:.1f} {y2:.1f}"/>'


def _text(kind: str, x: float, y: float, text: str, anchor: str = "") -> str:
    extra = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{extra}>{escape(text)}</text>'
