"""One page about recursive models: in which levels nodes are computed, and each operator when."""

from collections.abc import Sequence
from html import escape

from espalier.errors import EspalierError

BAR, GAP, WIDTH, MARGIN = 14, 4, 400, 60
KINDS = {
    "is hoisted": "hoisted",
    "is computed once": "hoisted",
    "is computed in the recursion": "recursion",
    "could be": "missed",
    "stays": "missed",
}
"""How an explanation begins, and the class of its row."""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; margin: 2em; }} td, th {{ padding: 0.2em 1em;
text-align: left; }} .hoisted {{ background: #dfd; }} .missed {{ background: #fd8; }}
.bar {{ fill: #68a; }} .label {{ font: 12px sans-serif; }}
</style></head><body>
<h1>{title}</h1>
{levels}
{models}
</body></html>
"""
LEGEND = (
    "Operators in the order of the cell. Green is computed before the recursion, all nodes at "
    "once; yellow says what could be, or why it cannot."
)


def make_recursive_page(title: str, explanation: str, widths: Sequence[int] = ()) -> str:
    """Return an HTML page without references to other files.

    Arguments:
        explanation: what `espalier compile --explain-batching` prints of the models.
        widths: the number of nodes of each level of some structures.
    """
    models: list[tuple[str, list[str]]] = []
    for line in explanation.splitlines():
        if not line.startswith(" "):
            models.append((line, []))
        elif models:
            models[-1][1].append(line.strip())
    if not models:
        raise EspalierError("expects a recursive model, but got none")
    return PAGE.format(
        title=escape(title),
        levels=_draw_levels(widths) if widths else "",
        models="\n".join(_table(head, rows) for head, rows in models),
    )


def _table(head: str, rows: Sequence[str]) -> str:
    """Return what is said of one model."""
    cells = []
    for row in rows:
        operator, _, text = row.partition(": ")
        kind = next((kind for begin, kind in KINDS.items() if text.startswith(begin)), "other")
        cells.append(f'<tr class="{kind}"><td>{escape(operator)}</td><td>{escape(text)}</td></tr>')
    table = f"<table><tr><th>Operator</th><th>When</th></tr>{''.join(cells)}</table>"
    return f"<h2>{escape(head)}</h2><p>{LEGEND}</p>{table}"


def _draw_levels(widths: Sequence[int]) -> str:
    """Return a bar for each level."""
    bars = []
    for level, width in enumerate(widths):
        y = level * (BAR + GAP)
        length = max(1, WIDTH * width // max(1, *widths))
        bars.append(
            f'<text class="label" x="0" y="{y + BAR - 2}">{level}</text>'
            f'<rect class="bar" x="{MARGIN}" y="{y}" width="{length}" height="{BAR}"/>'
            f'<text class="label" x="{MARGIN + length + GAP}" y="{y + BAR - 2}">{width}</text>'
        )
    height = len(widths) * (BAR + GAP)
    return (
        f"<h2>{sum(widths)} nodes in {len(widths)} levels</h2>"
        f'<svg width="{WIDTH + 2 * MARGIN}" height="{height}">{"".join(bars)}</svg>'
    )
