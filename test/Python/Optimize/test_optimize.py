"""Optimization by substitutions: the same results, and what is said about it."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import onnx
import pytest

import espalier
from espalier.__main__ import main
from espalier.compiler import (
    OPTIMIZATIONS,
    Options,
    compile_for,
    compile_module,
    load_module,
    optimize_module,
)
from espalier.errors import EspalierError
from espalier.models import Net, build
from espalier.report import make_network_page
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime

SEARCHES = [name for name in OPTIMIZATIONS if name != "none"]
# Networks in which something can be merged, at sizes that take little time.
NETWORKS = {
    "nasrnn": {"steps": 2, "hidden": 16},
    "resnet50": {"size": 32},
    "resnext50": {"size": 32},
    "nasnet_a": {"size": 48, "filters": 8, "repeats": 1},
    "bert_base": {"sequence": 8, "layers": 1, "hidden": 64, "heads": 4, "vocabulary": 100},
    "squeezenet": {"size": 48},
}


def options(search: str, **more: object) -> Options:
    """Return options under which costs are estimates, the same each time."""
    return Options(
        **{
            "optimize": search,
            "cache": None,
            "kernel_times": None,
            "measure_seconds": 0.0,
            **more,
        }
    )


def twins(size: int = 64) -> onnx.ModelProto:
    """Build two products with the same input, whose weights fill vectors side by side."""
    net = Net("twins")
    x = net.input("x", [8, size])
    left, right = (net.node("MatMul", x, net.weight([size, n], 0.1)) for n in (20, 12))
    return net.finish((left, "left", [8, 20]), (right, "right", [8, 12]))


def optimized(model: onnx.ModelProto, search: str) -> tuple[espalier.Function, dict]:
    """Compile the graph that is predicted to be faster, whether or not it is."""
    shapes = {
        i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input
    }
    module, bound = load_module(model, shapes=shapes)
    report = optimize_module(module, options(search))
    return compile_module(module, bound, options("none")), report


@pytest.mark.parametrize("search", SEARCHES)
def test_products_with_the_same_input_are_merged(search):
    model = twins()
    session = OnnxRuntime(model)
    feed = session.random_inputs()
    function, report = optimized(model, search)
    assert report["result"] == "optimized"
    assert [made["rule"] for made in report["substitutions"]] == ["merge-products"]
    assert report["predicted_after_s"] < report["predicted_before_s"]
    assert largest_error(function.run(feed), session.run(feed)) < 1e-5


@pytest.mark.parametrize(
    ("name", "search"),
    [(name, "egraph") for name in NETWORKS]
    + [("squeezenet", "ilp"), ("squeezenet", "backtracking"), ("nasrnn", "backtracking")],
)
def test_optimized_network_computes_the_same(name, search):
    model = build(name, **NETWORKS[name])
    feed = OnnxRuntime(model).random_inputs()
    expected = compile_for(model, feed, options=options("none")).run(feed)
    function, report = optimized(model, search)
    assert largest_error(function.run(feed), expected) < 1e-4
    # What operators gain by themselves is not enough.
    if report["result"] == "optimized":
        assert report["kernels_after_s"] < report["kernels_before_s"]


def test_graph_whose_kernels_take_as_long_is_not_proposed():
    """Operators by themselves gain by being merged; but the kernels decide."""
    refused = 0
    for name, sizes in NETWORKS.items():
        model = build(name, **sizes)
        shapes = {
            i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input
        }
        module, _ = load_module(model, shapes=shapes)
        before = str(module)
        report = optimize_module(module, options("egraph"))
        if "kernels_after_s" not in report:
            continue
        gains = report["kernels_after_s"] < report["kernels_before_s"]
        assert (report["result"] == "optimized") == gains, name
        assert (str(module) != before) == gains, name
        refused += not gains
    assert refused, "expects a network whose operators gain and whose kernels do not"


def test_faster_program_is_used_and_slower_one_is_not():
    """Whatever the times are: the report says what was chosen, and follows from them."""
    model = twins()
    feed = OnnxRuntime(model).random_inputs()
    report = compile_for(model, feed, options=options("egraph")).optimization
    assert report["error"] < 1e-5
    if report["measured_ratio"] > 1:
        assert report["result"] == "original"
    assert report["reason"] in ("faster when run", "no faster when run")


def test_symbolic_sizes_are_measured_at_a_guess():
    net = Net("twins")
    x = net.input("x", ["n", 64])
    values = [net.node("MatMul", x, net.weight([64, 24], 0.1)) for _ in range(2)]
    model = net.finish((net.node("Add", *values), "y", ["n", 24]))
    function = espalier.compile(model, options=options("egraph"))
    assert "measured_ratio" in function.optimization
    feed = {"x": np.ones([3, 64], np.float32)}
    assert largest_error(function.run(feed), OnnxRuntime(model).run(feed)) < 1e-5


def test_nothing_to_gain_leaves_the_program():
    net = Net("plain")
    y = net.node("Relu", net.input("x", [4, 4]))
    model = net.finish((y, "y", [4, 4]))
    function = espalier.compile(model, options=options("egraph"))
    assert function.optimization["result"] == "original"
    assert function.optimization["reason"] == "no substitution is predicted to gain"


def test_choice_is_cached(tmp_path):
    given = options("egraph", cache=tmp_path / "cache")
    first = espalier.compile(twins(), options=given)
    second = espalier.compile(twins(), options=given)
    assert (first.cached, second.cached) == (False, True)
    assert second.optimization == first.optimization
    plain = espalier.compile(twins(), options=options("none", cache=tmp_path / "cache"))
    assert plain.optimization == {}


def test_kernels_are_measured_once(tmp_path):
    given = options("egraph", kernel_times=tmp_path / "times.sqlite", measure_seconds=60.0)
    first = espalier.compile(twins(), options=given).optimization["kernels"]
    second = espalier.compile(twins(), options=given).optimization["kernels"]
    assert first["measured"] > 0
    assert second["measured"] == 0
    assert second["found"] > 0


def test_damaged_table_is_a_warning(tmp_path):
    table = tmp_path / "times.sqlite"
    table.write_bytes(b"x" * 4096)
    report = espalier.compile(twins(), options=options("egraph", kernel_times=table)).optimization
    assert len(report["warnings"]) == 1
    assert "file is not a database; goes on without it" in report["warnings"][0]
    assert table.read_bytes() == b"x" * 4096


def test_unknown_search_is_refused():
    with pytest.raises(EspalierError, match=r"out of none, egraph, ilp.* but got 'magic'"):
        espalier.compile(twins(), options=options("magic"))


def test_command_says_what_was_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    onnx.save(twins(), tmp_path / "twins.onnx")
    output = tmp_path / "twins.so"
    command = ["compile", str(tmp_path / "twins.onnx"), "-o", str(output)]
    extra = ["--optimize", "egraph", "--measure-seconds", "0"]
    assert main([*command, *extra]) == 0
    text = capsys.readouterr().out
    assert "egraph: searched" in text
    assert "merge-products: 1" in text
    assert "uses the" in text
    assert main([*command, *extra, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["optimization"]["optimize"] == "egraph"
    assert Path(made["output"]).exists()


def test_page_shows_both_graphs_and_the_proofs(tmp_path, capsys):
    onnx.save(twins(), tmp_path / "twins.onnx")
    page = tmp_path / "page.html"
    command = ["report", str(tmp_path / "twins.onnx"), "-o", str(page), "--optimize", "egraph"]
    assert main(command) == 0
    assert "1 substitutions" in capsys.readouterr().out
    text = page.read_text()
    svgs = [
        ET.fromstring(re.sub(r' xmlns="[^"]*"', "", svg))
        for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    ]
    labels = [[e.text for e in svg.findall("text") if e.get("class") == "label"] for svg in svgs]
    assert labels[0] == ["input", "graph.matmul", "graph.matmul"]
    assert labels[1] == ["input", "graph.matmul", "graph.slice", "graph.slice"]
    changed = [[e.get("class") for e in svg.findall("rect")].count("box changed") for svg in svgs]
    assert changed == [2, 3]
    assert "rule merge-products" in text
    assert "Verdict: proved" in text
    assert "espalier-proof 3" in text
    rows = re.findall(r"<tr><td>(.*?)</td><td>\d*</td><td>(\S+) ms</td></tr>", text)
    rules, rest, whole, _ = (float(gain) for _, gain in rows)
    assert rules + rest == pytest.approx(whole, rel=0.02)
    assert "The optimized network is used: predicted to be faster." in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_page_of_a_network_without_substitutions_says_why():
    net = Net("plain")
    y = net.node("Relu", net.input("x", [4, 4]))
    module, _ = load_module(net.finish((y, "y", [4, 4])))
    page = make_network_page("plain", optimize_module(module, options("egraph")))
    assert "None: no substitution is predicted to gain." in page
    assert page.count("graph.relu") == 2


def test_page_escapes_what_names_contain():
    module, _ = load_module(twins())
    page = make_network_page("<script>", optimize_module(module, options("egraph")))
    assert "<script>" not in page


def test_page_of_a_network_takes_no_options_of_kernels(tmp_path):
    command = ["report", "m.onnx", "-o", "p.html", "--optimize", "egraph", "--name", "k"]
    assert main(command) != 0
