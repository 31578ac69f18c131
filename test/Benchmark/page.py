#!/usr/bin/env python3
"""Writes docs/Performance.md from result lines of bench.py.

Usage: page.py [RESULTS ...]

RESULTS are files of lines that bench.py has printed: they replace those of the same cases
in `results.jsonl`, from which the page is written. A test compares the page with the lines.
"""

import argparse
import json
import math
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import geometric_mean
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).parent
KEPT = ROOT / "results.jsonl"
PAGE = ROOT.parents[1] / "docs" / "Performance.md"
FIELDS = ("case", "threads", "error", "median_ms", "baselines_ms", "compile_s", "baseline_builds")
FIELDS += ("f32_ms", "class", "any_width_ms", "of_bound", "commit", "machine", "date")
HEAD = """# Performance

Our time beside that of others, in the same run and in turns, with default schedules and
nothing tuned unless a table says so, also where we lose. *Speedup* is the fastest other's
time over ours, and *of bound* the least time that there could be, over ours: products at
the peak, weights read once in each level or step from the cache that holds them. Means are
geometric. Times to compile are by the clock, and left out where other work disturbed that.
`test/Benchmark/page.py` writes this page from what `bench.py` has printed; the
[guide to benchmarks](Guides/benchmarks.md) says how to run it.
"""

LARGEST_ERROR = 2e-2
"""Of half precision; `bench.py` says which lines have passed."""

Line = Mapping[str, Any]


def batch(line: Line) -> str:
    """Return how many structures or sequences a call has, which a case's name ends with."""
    found = re.search(r"_b(\d+)$", line["case"])
    return f"batch {found[1] if found else 1}"


class Group(NamedTuple):
    """Cases of one folder.

    Attributes:
        kind: which of its classes a case is in, if there are means of classes.
        lists_all: whether there is a row for each case; else, for those below 1.
    """

    title: str
    kind: Callable[[Line], str] | None = None
    lists_all: bool = True


GROUPS = {
    "models": Group("Exports of torchvision, timm and transformers"),
    "Networks": Group("Networks of `espalier.models`"),
    "operators": Group("Operators", lambda line: line["class"], lists_all=False),
    "cortex": Group("Recursive models", batch),
    "recurrent": Group("Recurrent layers", batch),
    "tuned": Group("Tuned before"),
    "sparse": Group("Sparse products and layers", lambda line: name(line).partition("_")[0]),
}


def name(line: Line) -> str:
    """Return a case's name in its folder."""
    return line["case"].partition("/")[2]


def read_lines(path: pathlib.Path) -> Iterator[Line]:
    """Yield the result lines of a file that compare times with another's.

    Those with other results than the other's are errors.
    """
    for text in path.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if line.get("baselines_ms") and "median_ms" in line:
            if not line["error"] <= LARGEST_ERROR:
                sys.exit(f"{path}: {line['case']}: expects equal results, but got {line['error']}")
            yield {field: line[field] for field in FIELDS if field in line}


def speedup(line: Line) -> float:
    """Return how many times faster we are than the fastest of the others."""
    return min(line["baselines_ms"].values()) / line["median_ms"]


def milliseconds(value: float | None) -> str:
    """Return a time with three digits."""
    if not value:
        return ""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def table(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the rows of a table of cases."""
    lines = list(lines)
    peers = sorted({peer for line in lines for peer in line["baselines_ms"]})
    has_single = any("f32_ms" in line for line in lines)
    columns = ["", "threads", "ours, ms", *["ours in f32, ms"] * has_single]
    columns += [*(f"{peer}, ms" for peer in peers), "speedup"]
    last = "of_bound" if any("of_bound" in line for line in lines) else "compile_s"
    columns += [{"of_bound": "of bound", "compile_s": "compiled in, s"}[last]]
    yield "| " + " | ".join(columns).lstrip() + " |"
    yield "|---|" + "---:|" * (len(columns) - 1)
    for line in lines:
        times = (milliseconds(line["baselines_ms"].get(peer)) for peer in peers)
        single = [milliseconds(line.get("f32_ms"))] * has_single
        cells = [name(line), line["threads"], milliseconds(line["median_ms"]), *single, *times]
        cells += [f"{speedup(line):.2f}"]
        cells += [f"{line[last]:.{1 if last == 'compile_s' else 2}f}" if last in line else ""]
        yield "| " + " | ".join(map(str, cells)) + " |"


def classes(lines: Iterable[Line], kind: Callable[[Line], str]) -> Iterator[str]:
    """Yield the rows of a table of classes, and of all, for each number of threads."""
    found: dict[tuple[int, bool, str], list[Line]] = {}
    for line in lines:
        for is_all, title in ((False, kind(line)), (True, "all")):
            found.setdefault((line["threads"], is_all, title), []).append(line)
    has_bound = any(line.get("of_bound") for members in found.values() for line in members)
    columns = ["class", "threads", "rows", "speedup, mean", "least", "below 1"]
    columns += ["of bound, mean"] * has_bound
    yield "| " + " | ".join(columns) + " |"
    yield "|---|" + "---:|" * (len(columns) - 1)
    for (threads, _, title), members in sorted(found.items()):
        values = [speedup(line) for line in members]
        below = sum(value < 1 for value in values)
        cells = [title, threads, len(values), f"{geometric_mean(values):.2f}"]
        cells += [f"{min(values):.2f}", below]
        bounds = [line["of_bound"] for line in members if line.get("of_bound")]
        if has_bound:
            cells.append(f"{geometric_mean(bounds):.2f}" if bounds else "")
        yield "| " + " | ".join(map(str, cells)) + " |"


def write(lines: Iterable[Line]) -> str:
    """Return the page."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in sorted(lines, key=lambda line: line["case"]):
        key = line["machine"], line["case"].partition("/")[0]
        groups.setdefault(key, []).append(line)
    text = [HEAD]
    for (machine, folder), members in sorted(groups.items()):
        group = GROUPS.get(folder, Group(folder))
        text += [f"## {group.title}: {machine}", ""]
        dates = sorted({line["date"] for line in members})
        builds = {b for line in members for b in line.get("baseline_builds", {}).values()}
        text += [f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}.", ""]
        text += ["Others: " + ", ".join(sorted(builds)) + ".", ""]
        if group.kind:
            text += [*classes(members, group.kind), ""]
        if not group.lists_all:
            members = [line for line in members if speedup(line) < 1]
            text += ["Rows below 1:", ""] if members else []
        text += [*table(members), ""] if members else []
    return "\n".join(text)


def main() -> int:
    """Merge the lines, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    lines: dict[tuple[str, str, int], Line] = {}
    for path in [*([KEPT] if KEPT.exists() else []), *args.results]:
        lines |= {(li["machine"], li["case"], li["threads"]): li for li in read_lines(path)}
    kept = [line for _, line in sorted(lines.items())]
    text = write(kept)
    KEPT.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
