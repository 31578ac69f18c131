"""Pictures of kernels: points, order, tiles, dependences, violations."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from espalier.__main__ import main
from espalier.errors import CompileError, EspalierError
from espalier.kernels import f64, kernel, label, sizes
from espalier.report import make_page, make_recursive_page, write_report
from espalier.schedules import Schedule, ScheduleError

m, n, k, t = sizes("m n k t")


@kernel
def seidel(a: f64[n]) -> None:
    for s in range(t):  # noqa: B007
        for i in range(1, n - 1):
            label("step")
            a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3


@kernel
def product(a: f64[m, k], b: f64[k, n], c: f64[m, n]) -> None:
    for i in range(m):
        for j in range(n):
            label("init")
            c[i, j] = 0
            for p in range(k):
                label("acc")
                c[i, j] += a[i, p] * b[p, j]


def svg_of(page: str) -> ET.Element:
    text = re.search(r"<svg.*</svg>", page, re.DOTALL)
    assert text
    return ET.fromstring(re.sub(r' xmlns="[^"]*"', "", text[0]))


def points_of(svg: ET.Element) -> dict[tuple[float, float], tuple[int, int]]:
    """Return the order and the tile of each point, by its place."""
    circles = svg.findall("circle")
    orders = [e for e in svg.findall("text") if e.get("class") == "order"]
    assert len(circles) == len(orders)
    return {
        (float(c.get("cx", 0)), float(c.get("cy", 0))): (
            int(o.text or 0),
            int(c.get("data-tile", 0)),
        )
        for c, o in zip(circles, orders, strict=True)
    }


def arrows(svg: ET.Element, kind: str) -> int:
    return sum(path.get("class") == kind for path in svg.findall("path"))


def test_program_order():
    page = make_page(Schedule(seidel), {"n": 5, "t": 2})
    svg = svg_of(page)
    assert [order for order, _ in points_of(svg).values()] == list(range(1, 7))
    assert {tile for _, tile in points_of(svg).values()} == {0}
    # Along i and s, and from (0, i + 1) to (1, i): a[i - 1], a[i] and a[i + 1].
    assert arrows(svg, "dependence flow") == 4 + 3 + 2
    # What is overwritten was read by the left neighbour and the point itself.
    assert arrows(svg, "dependence anti") > 0
    assert arrows(svg, "violation") == 0
    assert "<p>n = 5, t = 2</p>" in page
    assert "for s = 0 to t" in page
    assert "program order" in page


def test_tiles_have_colours_and_order():
    s = Schedule(seidel)
    s.skew("step", "i", [1], ["s"])
    s.tile("step", ["s", "i"], [[2, 3]])
    svg = svg_of(make_page(s, {"n": 10, "t": 4}))
    points = points_of(svg)
    assert sorted(order for order, _ in points.values()) == list(range(1, 33))
    places = {order: place for place, (order, _) in points.items()}
    tiles = dict(points.values())
    # The first tile has s + i in 0..2 of two steps: (0, 1), (0, 2), (1, 1).
    assert [order for order, tile in sorted(tiles.items()) if tile == 0] == [1, 2, 3]
    assert places[2][0] > places[1][0]
    assert places[3][1] > places[1][1]
    colours = {c.get("fill") for c in svg.findall("circle")}
    assert len(colours) == len(set(tiles.values()))


def test_violation_of_a_refused_command_is_red():
    s = Schedule(seidel)
    with pytest.raises(ScheduleError) as error:
        s.tile("step", ["s", "i"], [[2, 3]])
    assert s.violation
    assert s.violation["source"] == s.violation["sink"] == "step"
    assert s.violation["kind"] == "flow"
    page = make_page(s, refused=str(error.value))
    assert arrows(svg_of(page), "violation") == 1
    assert '<p class="refused">&#x27;transform.poly.tile&#x27; op expects to keep the flow' in page
    # Another refusal, for another reason, leaves none.
    with pytest.raises(ScheduleError):
        s.split("step", "x", [2])
    assert s.violation is None
    assert arrows(svg_of(make_page(s)), "violation") == 0


def test_slices_of_several_computations():
    s = Schedule(product)
    page = make_page(s, {"m": 2, "n": 3, "k": 4})
    assert "acc(i, j, p), p = 1" in page
    svg = svg_of(page)
    assert len(svg.findall("circle")) == 2 * 6
    # From init to acc; p is fixed, so the reduction's own are not in the picture.
    assert arrows(svg, "dependence flow reduction") == 0
    other = svg_of(make_page(s, {"m": 2, "n": 3, "k": 4}, axes={"acc": ["j", "p"]}))
    assert len(other.findall("circle")) == 6 + 12
    assert arrows(other, "dependence flow reduction") == 9


def test_violation_across_the_plane():
    """An end may be outside of the plane; a ring says that both are in one place."""
    s = Schedule(product)
    with pytest.raises(ScheduleError):
        s.parallelize("acc", "p")
    page = make_page(s, axes={"acc": ["i", "j"]})
    assert [ring.get("class") for ring in svg_of(page).findall("circle")].count("violation") == 1
    assert arrows(svg_of(make_page(s)), "violation") == 1


@kernel
def deep(a: f64[n], b: f64[n]) -> None:
    for i in range(n):
        for j in range(n):
            for p in range(n):
                for q in range(n):
                    for r in range(n):
                        for s in range(n):
                            a[i] += b[j] * b[p] * b[q] * b[r] * b[s]


def test_default_sizes_suit_the_number_of_points():
    assert "<p>n = 5</p>" in make_page(Schedule(deep))
    with pytest.raises(CompileError, match="expects sizes with at most 20000 points"):
        make_page(Schedule(deep), {"n": 6})


def test_titles_do_not_overlap():
    """Not even where panels are narrower than their titles."""
    svg = svg_of(make_page(Schedule(product), {"m": 1, "n": 1, "k": 1}))
    titles = [text for text in svg.findall("text") if text.get("class") == "title"]
    (first, second) = sorted(titles, key=lambda title: float(title.get("x")))
    assert float(first.get("x")) + 7 * len(first.text) < float(second.get("x"))
    assert float(second.get("x")) + 7 * len(second.text) < float(svg.get("width"))


def test_trace():
    trace = Schedule(product).trace([1, 2, 2])
    assert trace["computations"] == {"acc": ["i", "j", "p"], "init": ["i", "j"]}
    assert [point["at"] for point in trace["points"]][:3] == [[0, 0], [0, 0, 0], [0, 0, 1]]
    assert trace["points"][0]["iterations"] == {"i": 0, "j": 0}
    flows = [d for d in trace["dependences"] if d["kind"] == "flow"]
    assert {(d["source"], d["sink"], d["reduction"]) for d in flows[:2]} == {
        (0, 1, False),
        (1, 2, True),
    }


def test_page_stands_alone(tmp_path):
    write_report(Schedule(seidel), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert not re.search(r"(src|href)=|url\((?!#)|@import", text)


def test_bad_input():
    s = Schedule(seidel)
    with pytest.raises(EspalierError, match=r"expects sizes out of .*, but got 'x'"):
        make_page(s, {"x": 1})
    with pytest.raises(EspalierError, match=r"expects dimensions of 'step' out of .*, but got 'j'"):
        make_page(s, axes={"step": ["j"]})
    with pytest.raises(CompileError, match="expects sizes with at most 20000 points"):
        make_page(s, {"n": 1000, "t": 1000})
    with pytest.raises(CompileError, match="expects 2 sizes that are not negative, but got 1"):
        s.trace([1])


def test_command(tmp_path, capsys):
    (tmp_path / "k.mlir").write_text(seidel.mlir)
    s = Schedule(seidel)
    s.split("step", "i", [2])
    s.save(tmp_path / "s.mlir")
    (tmp_path / "bad.mlir").write_text(
        str(s).replace("split", "parallelize").replace(" factors [2]", "")
    )
    out = tmp_path / "k.html"
    command = ["report", str(tmp_path / "k.mlir"), "-o", str(out)]
    assert main([*command, "--script", str(tmp_path / "s.mlir"), "--size", "n=7"]) == 0
    assert "for i.0 = " in out.read_text()
    assert "n = 7" in out.read_text()
    assert main([*command, "--script", str(tmp_path / "bad.mlir"), "--axes", "step=s,i"]) == 0
    assert arrows(svg_of(out.read_text()), "violation") == 1
    assert capsys.readouterr().out.splitlines() == [f"{out}: drawn", f"{out}: refused"]
    assert main([*command, "--size", "n"]) == 1
    assert main([*command, "--size", "n=x"]) == 1
    assert "option --size: expects NAME=VALUE, but got 'n'" in capsys.readouterr().err


def test_command_of_a_recursive_model(tmp_path, capsys):
    model = Path(__file__).parents[2] / "CAPI/Inputs/tree_lstm.mlir"
    out = tmp_path / "model.html"
    assert main(["report", str(model), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: drawn\n"
    page = out.read_text()
    assert "@cell&#x27; computes leaves first" in page
    assert '<tr class="recursion"><td>graph.matmul</td>' in page
    assert not re.search(r"(src|href)=|url\(|@import", page)
    with pytest.raises(EspalierError, match="expects a recursive model, but got none"):
        make_recursive_page("none", "")
