"""One page about a network before and after optimization, with the proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from espalier.errors import EspalierError, expect

Node = Mapping[str, Any]

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 150, 34, 20, 26, 12
LEGEND = (
    "Operators from top to bottom; what depends on constants alone is computed ahead of time "
    "and not shown. Filled are operators that the other graph does not have. Point at one to "
    "see its type and attributes."
)
STYLE = """
.box { fill: #fff; stroke: #555; } .changed { fill: #fd8; } .input { fill: #def; }
.label { font: 12px sans-serif; text-anchor: middle; }
.shape { font: 10px sans-serif; text-anchor: middle; fill: #666; }
.edge { stroke: #888; fill: none; }
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; margin: 2em; }} td, th {{ padding: 0.2em 1em;
text-align: left; }} pre {{ background: #f4f4f4; padding: 1em; overflow-x: auto; }}
.graphs {{ display: flex; gap: 2em; }} .graphs div {{ overflow: auto; max-height: 80vh; }}
</style></head><body>
<h1>{title}</h1>
<p>{summary}</p>
<h2>Substitutions</h2>
{substitutions}
<h2>The network</h2>
<p>{legend}</p>
<div class="graphs"><div><h3>Before</h3>{before}</div><div><h3>After</h3>{after}</div></div>
</body></html>
"""


def make_network_page(title: str, report: Mapping[str, Any]) -> str:
    """Return an HTML page without references to other files.

    Arguments:
        report: what `espalier.compiler.optimize_module` returned.
    """
    expect("a report by name", report, Mapping)
    if missing := {"graph_before", "graph_after"} - set(report):
        raise EspalierError(f"expects '{min(missing)}' in a report, but it is missing")
    before, after = report["graph_before"], report["graph_after"]
    return PAGE.format(
        title=escape(title),
        summary=escape(_summary(report)),
        substitutions=_substitutions(report),
        legend=LEGEND,
        before=_draw(before, after),
        after=_draw(after, before),
    )


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def _summary(report: Mapping[str, Any]) -> str:
    text = (
        f"Search: {report['optimize']}, {report['rules']} rules, {report['search_s']:.2f} s. "
        f"Predicted, as the sum over operators: {_milliseconds(report['predicted_before_s'])} "
        f"before, {_milliseconds(report['predicted_after_s'])} after."
    )
    if "kernels_before_s" in report:
        text += (
            f" As the sum over kernels: {_milliseconds(report['kernels_before_s'])} before, "
            f"{_milliseconds(report['kernels_after_s'])} after."
        )
    return f"{text} The {report['result']} network is used: {report['reason']}."


def _substitutions(report: Mapping[str, Any]) -> str:
    """Return a table of what was made, then each rule with its proof."""
    made = report["substitutions"]
    if not made:
        return f"<p>None: {escape(report['reason'])}.</p>"
    proved = {proof["rule"] for proof in report["proofs"]}

    def link(rule: str) -> str:
        name = escape(rule)
        return f'<a href="#{name}">{name}</a>' if rule in proved else name

    rows = "".join(
        f"<tr><td>{link(m['rule'])}</td>"
        f"<td>{m['count']}</td><td>{_milliseconds(m['predicted_gain_s'])}</td></tr>"
        for m in made
    )
    rows += "".join(
        f"<tr><td>{name}</td><td></td><td>{_milliseconds(gain)}</td></tr>"
        for name, gain in _other_gains(report)
    )
    head = "<tr><th>Rule</th><th>Times</th><th>Predicted gain</th></tr>"
    checks = "".join(f"<li>{escape(condition)}</li>" for condition in report["checks"])
    if checks:
        checks = f"<p>For inputs of sizes for which</p><ul>{checks}</ul>"
    return f"<table>{head}{rows}</table>{checks}" + "".join(map(_proof, report["proofs"]))


def _other_gains(report: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return what the gains of rules by themselves leave of the whole, and the whole."""
    whole = report["predicted_before_s"] - report["predicted_after_s"]
    alone = sum(made["predicted_gain_s"] for made in report["substitutions"])
    gains = [
        ("what rules gain or lose together, by operators shared or computed ahead", whole - alone),
        ("all, as the sum over operators", whole),
    ]
    if "kernels_before_s" in report:
        kernels = report["kernels_before_s"] - report["kernels_after_s"]
        gains.append(("all, as the sum over the kernels that operators become", kernels))
    return gains


def _proof(proof: Mapping[str, str]) -> str:
    name = escape(proof["rule"])
    return (
        f'<h3 id="{name}">{name}</h3><pre>{escape(proof["text"])}</pre>'
        f"<p>Verdict: {escape(proof['verdict'])}</p>"
        f"<details><summary>Proof</summary><pre>{escape(proof['proof'])}</pre></details>"
    )


def _kind(node: Node, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return what makes an operator one that the other graph has, too."""
    operands = [nodes[number]["type"] for number in node["operands"]]
    return node["op"], node["type"], node["attributes"], *operands


def _changed(nodes: Sequence[Node], others: Sequence[Node]) -> set[int]:
    """Return the operators beyond those that `others` has."""
    left = Counter(_kind(node, others) for node in others)
    changed = set()
    for number, node in enumerate(nodes):
        kind = _kind(node, nodes)
        if left[kind]:
            left[kind] -= 1
        else:
            changed.add(number)
    return changed


def _place(nodes: Sequence[Node]) -> dict[int, tuple[float, float]]:
    """Return the centre of each operator that is shown: in layers, below its operands."""
    shown = [number for number, node in enumerate(nodes) if not node["is_constant"]]
    depth: dict[int, int] = {}
    layers: list[list[int]] = []
    for number in shown:
        operands = [depth[o] for o in nodes[number]["operands"] if o in depth]
        depth[number] = 1 + max(operands, default=-1)
        if depth[number] == len(layers):
            layers.append([])
        layers[depth[number]].append(number)
    widest = max(map(len, layers), default=1)
    places: dict[int, tuple[float, float]] = {}
    for level, layer in enumerate(layers):

        def wish(number: int) -> float:
            above = [places[o][0] for o in nodes[number]["operands"] if o in places]
            return sum(above) / len(above) if above else 0.0

        left = MARGIN + (widest - len(layer)) * (WIDTH + GAP_X) / 2 + WIDTH / 2
        for index, number in enumerate(sorted(layer, key=wish)):
            y = MARGIN + HEIGHT / 2 + level * (HEIGHT + GAP_Y)
            places[number] = (left + index * (WIDTH + GAP_X), y)
    return places


def _draw(nodes: Sequence[Node], others: Sequence[Node]) -> str:
    """Return a graph as an SVG element, with what `others` lacks filled."""
    places, changed = _place(nodes), _changed(nodes, others)
    parts = []
    for number, (x, y) in places.items():
        for operand in dict.fromkeys(nodes[number]["operands"]):
            if operand in places:
                x0, y0 = places[operand]
                parts.append(
                    f'<path class="edge" d="M{x0:g} {y0 + HEIGHT / 2:g} '
                    f'C{x0:g} {y0 + HEIGHT:g} {x:g} {y - HEIGHT:g} {x:g} {y - HEIGHT / 2:g}"/>'
                )
    for number, (x, y) in places.items():
        parts += _box(nodes[number], x, y, number in changed)
    width = max((x for x, _ in places.values()), default=0) + WIDTH / 2 + MARGIN
    height = max((y for _, y in places.values()), default=0) + HEIGHT / 2 + MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}">'
        f"<style>{STYLE}</style>{''.join(parts)}</svg>"
    )


def _fitting(kind: str, x: float, y: float, text: str, advance: int) -> str:
    """Return a text that is narrowed where it is wider than a box.

    Arguments:
        advance: what a letter takes at most.
    """
    room = WIDTH - 8
    fit = (
        f' textLength="{room}" lengthAdjust="spacingAndGlyphs"'
        if len(text) * advance > room
        else ""
    )
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{fit}>{escape(text)}</text>'


def _box(node: Node, x: float, y: float, changed: bool) -> list[str]:
    kind = "changed" if changed else "input" if node["op"] == "input" else ""
    shape = node["type"].removeprefix("tensor<").removesuffix(">")
    return [
        f'<rect class="box {kind}" x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}" '
        f'width="{WIDTH}" height="{HEIGHT}" rx="4">'
        f"<title>{escape(node['type'])} {escape(node['attributes'])}</title></rect>",
        _fitting("label", x, y - 2, node["op"], 7),
        _fitting("shape", x, y + 11, shape, 6),
    ]
