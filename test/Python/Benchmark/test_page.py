"""The page of what was measured."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "Benchmark"))

import page


def test_the_page_is_what_was_measured():
    """A page that somebody edits, or lines without their page, would mislead."""
    lines = list(page.read_lines(page.KEPT))
    assert page.write(lines) == page.PAGE.read_text(encoding="utf-8")


def test_groups_have_titles_means_and_shares_of_the_bound():
    """Batches have means of their own, and so have numbers of threads."""

    def line(case: str, ours: float, threads: int = 1, **rest: float) -> dict:
        times = {"median_ms": ours, "baselines_ms": {"one": 4.0, "two": 8.0}}
        builds = {"machine": "M", "date": "2026-11-27", "baseline_builds": {"one": "one 1.0"}}
        return {"case": case, "threads": threads, **times, **builds, **rest}

    rows = page.write(
        [
            line("cortex/gru_256", 1.0, of_bound=0.5),
            line("cortex/lstm_256", 4.0, of_bound=0.125),
            line("cortex/gru_256_b10", 8.0, of_bound=1.0),
            line("cortex/gru_256_b10", 2.0, threads=2, of_bound=0.75),
            line("recurrent/lstm_256", 1.0),
            line("sparse/spmv_4096", 2.0, compile_s=1.25),
            line("sparse/linear_768", 1.0),
            line("taso/other", 1.0),
        ]
    ).splitlines()
    assert [row for row in rows if row.startswith("##")] == [
        "## Recursive models: M",
        "## Recurrent layers: M",
        "## Sparse products and layers: M",
        "## taso: M",
    ]
    means = "| class | threads | rows | speedup, mean | least | below 1 |"
    first = rows.index(means + " of bound, mean |")
    assert rows[first + 2 : first + 7] == [
        "| batch 1 | 1 | 2 | 2.00 | 1.00 | 0 | 0.25 |",
        "| batch 10 | 1 | 1 | 0.50 | 0.50 | 1 | 1.00 |",
        "| all | 1 | 3 | 1.26 | 0.50 | 1 | 0.40 |",
        "| batch 10 | 2 | 1 | 2.00 | 2.00 | 0 | 0.75 |",
        "| all | 2 | 1 | 2.00 | 2.00 | 0 | 0.75 |",
    ]
    head = "| | threads | ours, ms | one, ms | two, ms | speedup |"
    assert f"{head} of bound |" in rows
    assert "| gru_256_b10 | 2 | 2.00 | 4.00 | 8.00 | 2.00 | 0.75 |" in rows
    last = rows.index(means, rows.index("## Sparse products and layers: M"))
    assert rows[last + 2 : last + 5] == [
        "| linear | 1 | 1 | 4.00 | 4.00 | 0 |",
        "| spmv | 1 | 1 | 2.00 | 2.00 | 0 |",
        "| all | 1 | 2 | 2.83 | 2.00 | 0 |",
    ]
    assert f"{head} compiled in, s |" in rows
    assert "| spmv_4096 | 1 | 2.00 | 4.00 | 8.00 | 2.00 | 1.2 |" in rows
