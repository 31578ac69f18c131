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
import sys
from collections.abc import Iterable, Iterator, Mapping
from statistics import geometric_mean
from typing import Any

ROOT = pathlib.Path(__file__).parent
KEPT = ROOT / "results.jsonl"
PAGE = ROOT.parents[1] / "docs" / "Performance.md"
FIELDS = ("case", "threads", "error", "median_ms", "baselines_ms", "compile_s", "baseline_builds")
FIELDS += ("class", "commit", "machine", "date")
HEAD = """# Performance

Our time beside that of others, in the same run and in turns, with default schedules and
nothing tuned unless a table says so, also where we lose. *Speedup* is the fastest other's
time over ours. Times to compile are by the clock, and left out where other work disturbed that.
`test/Benchmark/page.py` writes this page from what `bench.py` has printed; the
[guide to benchmarks](Guides/benchmarks.md) says how to run it.
"""

LARGEST_ERROR = 2e-2
"""Of half precision; `bench.py` says which lines have passed."""

Line = Mapping[str, Any]


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
    peers = sorted({name for line in lines for name in line["baselines_ms"]})
    yield (
        "| | threads | ours, ms | "
        + " | ".join(f"{p}, ms" for p in peers)
        + " | speedup | compiled in, s |"
    )
    yield "|---|" + "---:|" * (len(peers) + 4)
    for line in lines:
        times = (milliseconds(line["baselines_ms"].get(peer)) for peer in peers)
        cells = [line["case"].partition("/")[2], line["threads"], milliseconds(line["median_ms"])]
        cells += [
            *times,
            f"{speedup(line):.2f}",
            f"{line['compile_s']:.1f}" if "compile_s" in line else "",
        ]
        yield "| " + " | ".join(map(str, cells)) + " |"


def classes(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the rows of a table of classes of operators."""
    found: dict[str, list[float]] = {}
    for line in lines:
        if line["threads"] == 1:
            found.setdefault(line["class"], []).append(speedup(line))
    yield "| class | rows | speedup, geometric mean | least | below 1 |"
    yield "|---|---:|---:|---:|---:|"
    everything = [value for values in found.values() for value in values]
    for kind, values in [*sorted(found.items()), ("all", everything)]:
        below = sum(value < 1 for value in values)
        mean, least = geometric_mean(values), min(values)
        yield f"| {kind} | {len(values)} | {mean:.2f} | {least:.2f} | {below} |"


def write(lines: Iterable[Line]) -> str:
    """Return the page."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in sorted(lines, key=lambda line: line["case"]):
        key = line["machine"], line["case"].partition("/")[0]
        groups.setdefault(key, []).append(line)
    text = [HEAD]
    titles = {"models": "Exports of torchvision, timm and transformers", "operators": "Operators"}
    titles["tuned"] = "Tuned before"
    for (machine, folder), members in sorted(groups.items()):
        text += [f"## {titles.get(folder, folder)}: {machine}", ""]
        dates = sorted({line["date"] for line in members})
        builds = {b for line in members for b in line.get("baseline_builds", {}).values()}
        text += [f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}.", ""]
        text += ["Others: " + ", ".join(sorted(builds)) + ".", ""]
        if folder == "operators":
            text += [*classes(members), ""]
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
