"""What a picture shows of a trace: a plane of each computation's points."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from espalier.errors import EspalierError

Trace = Mapping[str, Any]
"""What `Schedule.trace` returns."""


@dataclass(frozen=True)
class Mark:
    """A point of the picture.

    Arguments:
        number: its place in the order of all points of the kernel.
        order: the same among the points of the picture, from 1.
        tile: the number of its tile, in the order in which tiles begin.
    """

    number: int
    computation: str
    at: tuple[int, ...]
    order: int
    tile: int


@dataclass(frozen=True)
class Plane:
    """The points of one computation that are shown.

    Arguments:
        axes: the dimensions down and across; fewer if there are fewer.
        fixed: the values of the others.
    """

    computation: str
    dims: tuple[str, ...]
    axes: tuple[int, ...]
    fixed: Mapping[int, int]
    marks: Sequence[Mark]

    def position(self, at: Sequence[int]) -> tuple[int, int]:
        """Return where a point is: down and across."""
        values = [at[axis] for axis in self.axes]
        return (values[0] if len(values) > 1 else 0, values[-1] if values else 0)


def planes(trace: Trace, chosen: Mapping[str, Sequence[str]] | None = None) -> list[Plane]:
    """Choose a plane for each computation: the first two dimensions if not told.

    A violated dependence is in its plane. Other dimensions have the value of its
    source, or one in the middle.

    Arguments:
        chosen: the names of the dimensions to show, by computation.
    """
    selected = {
        name: _select(trace, name, dims, (chosen or {}).get(name))
        for name, dims in trace["computations"].items()
    }
    shown = [
        (number, point)
        for number, point in enumerate(trace["points"])
        if all(
            point["at"][axis] == value for axis, value in selected[point["computation"]][1].items()
        )
    ]
    tiles = _tiles([point["iterations"] for _, point in shown], trace["loops"])
    marks = [
        Mark(number, point["computation"], tuple(point["at"]), order, tile)
        for order, ((number, point), tile) in enumerate(zip(shown, tiles, strict=True), 1)
    ]
    return [
        Plane(
            name,
            tuple(dims),
            *selected[name],
            [mark for mark in marks if mark.computation == name],
        )
        for name, dims in trace["computations"].items()
    ]


def _select(
    trace: Trace, name: str, dims: Sequence[str], chosen: Sequence[str] | None
) -> tuple[tuple[int, ...], dict[int, int]]:
    """Return the axes of a plane, and the values of the other dimensions."""
    points = [point["at"] for point in trace["points"] if point["computation"] == name]
    violation = trace["violation"] or {}
    ends = [violation[f"{end}_point"] for end in ("source", "sink") if violation.get(end) == name]
    if chosen:
        if unknown := set(chosen) - set(dims):
            raise EspalierError(
                f"expects dimensions of '{name}' out of {list(dims)}, but got '{min(unknown)}'"
            )
        axes = [dims.index(dim) for dim in chosen]
    else:
        differ = [
            axis for axis in range(len(dims)) if len(ends) == 2 and ends[0][axis] != ends[1][axis]
        ]
        axes = sorted((differ + [axis for axis in range(len(dims)) if axis not in differ])[:2])
    fixed = {}
    for axis in range(len(dims)):
        if axis not in axes:
            values = [ends[0][axis]] if ends else [point[axis] for point in points]
            fixed[axis] = statistics.median_low(values) if values else 0
    return tuple(axes), fixed


def _tiles(iterations: Sequence[Mapping[str, int]], loops: Sequence[str]) -> list[int]:
    """Number the tiles of points: what outer loops keep together.

    Of the loops, as many belong to tiles as leave more than one iteration of at
    least two loops inside.
    """
    for count in range(len(loops), 0, -1):
        keys = [tuple(point.get(loop) for loop in loops[:count]) for point in iterations]
        groups: dict[tuple[int | None, ...], list[Mapping[str, int]]] = {}
        for key, point in zip(keys, iterations, strict=True):
            groups.setdefault(key, []).append(point)
        if any(_extent(group, loops[count:]) > 1 for group in groups.values()):
            numbers = {key: number for number, key in enumerate(groups)}
            return [numbers[key] for key in keys]
    return [0] * len(iterations)


def _extent(points: Sequence[Mapping[str, int]], loops: Sequence[str]) -> int:
    """Return how many of the loops have several iterations in a group."""
    return sum(len({point.get(loop) for point in points}) > 1 for loop in loops)
