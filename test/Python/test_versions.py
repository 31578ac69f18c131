"""Programs in two versions, of which a check of their inputs' sizes chooses one."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from espalier.__main__ import main
from espalier.compiler import (
    OPTIMIZATIONS,
    Options,
    compile_module,
    interpret_module,
    load_module,
    optimize_module,
)
from espalier.models import Net
from espalier.testing.compare import largest_error
from espalier.testing.onnxruntime import OnnxRuntime
from shared_library import run_library

# Windows of steps of 2 are as many on sizes 9 and 10; one window may just fit.
EQUAL = [((9, 10), (9, 10)), ((3, 4), (3, 4))]
DIFFERENT = [((9, 10), (10, 9)), ((3, 3), (4, 3))]


def sum_of_images() -> onnx.ModelProto:
    """Build a sum of two convolutions with steps, which are one for images of one size."""
    net = Net("images")
    images = [net.input(name, [1, 4, f"h{name}", f"w{name}"]) for name in "xy"]
    weights = [net.weight([64, 4, 3, 3], 0.1) for _ in images]
    sums = [net.node("Conv", *pair, strides=[2, 2]) for pair in zip(images, weights, strict=True)]
    return net.finish((net.node("Add", *sums), "z", [1, 64, "h", "w"]))


def make_feed(first: tuple[int, int], second: tuple[int, int]) -> dict[str, np.ndarray]:
    """Return two images of these sizes."""
    random = np.random.default_rng(0)
    return {
        name: random.standard_normal((1, 4, *size)).astype(np.float32)
        for name, size in (("x", first), ("y", second))
    }


def make_versions(model: onnx.ModelProto, search: str) -> tuple[Any, dict, dict]:
    """Return what is predicted to be faster, with costs that are the same each time."""
    module, bound = load_module(model)
    options = Options(optimize=search, cache=None, kernel_times=None, measure_seconds=0.0)
    return module, bound, optimize_module(module, options)


@pytest.mark.parametrize("search", [name for name in OPTIMIZATIONS if name != "none"])
def test_conditions_on_sizes_are_checked_when_run(search: str):
    model = sum_of_images()
    module, bound, report = make_versions(model, search)
    assert [made["rule"] for made in report["substitutions"]] == ["sum-of-strided-convolutions"]
    assert {"dim(#1, 2) == dim(#0, 2)", "dim(#1, 3) == dim(#0, 3)"} <= set(report["checks"])
    session = OnnxRuntime(model)
    feeds = [make_feed(*sizes) for sizes in EQUAL + DIFFERENT]
    interpreted = [interpret_module(module, feed) for feed in feeds]
    function = compile_module(module, bound, Options(cache=None))
    for feed, results in zip(feeds, interpreted, strict=True):
        expected = session.run(feed)
        assert largest_error(results, expected) < 1e-5
        assert largest_error(function.run(feed), expected) < 1e-5


def test_library_checks_conditions_when_run(tmp_path: Path):
    module, bound, report = make_versions(sum_of_images(), "egraph")
    assert report["checks"]
    function = compile_module(module, bound, Options(cache=None))
    function.save(tmp_path / "images.so")
    for sizes in EQUAL + DIFFERENT:
        feed = make_feed(*sizes)
        expected = function.run(feed)
        loaded = {name: np.zeros_like(array) for name, array in expected.items()}
        run_library(tmp_path / "images.so", "images", feed, loaded)
        assert largest_error(loaded, expected) == 0


def test_checked_conditions_are_reported(tmp_path: Path):
    path = tmp_path / "images.onnx"
    onnx.save(sum_of_images(), path)
    output = tmp_path / "page.html"
    assert main(["report", str(path), "--optimize", "egraph", "-o", str(output)]) == 0
    page = output.read_text()
    assert "<li>dim(#1, 2) == dim(#0, 2)</li>" in page
    # The graph that is shown is the one that was found.
    assert "graph.concat" in page
    assert "scf.if" not in page
