"""Compiled operators and models against onnxruntime and the interpreter."""

import numpy as np
import pytest

import espalier
from espalier.compiler import compile_for
from espalier.models import MODELS, build
from espalier.testing.compare import error_relative_to_scale, mismatch
from espalier.testing.onnxruntime import OnnxRuntime
from operator_cases import CASES, SIZES
from support import feeds_for, one_op
from test_models import SMALL

NO_CACHE = espalier.Options(cache=None)


@pytest.mark.parametrize("name", CASES)
def test_operator_with_symbolic_sizes(name):
    """One program serves every size, with one thread and with two."""
    model = CASES[name]
    function = espalier.compile(model, options=NO_CACHE)
    session = OnnxRuntime(model)
    for threads, feed in zip((1, 2), feeds_for(model, SIZES), strict=True):
        function.set_num_threads(threads)
        actual, interpreted = function.run(feed), espalier.interpret(model, feed)
        for output, expected in session.run(feed).items():
            assert mismatch(actual[output], expected, 1e-4, 1e-5) is None
            assert mismatch(actual[output], interpreted[output], 1e-4, 1e-5) is None


@pytest.mark.parametrize("name", CASES)
def test_operator_with_given_sizes(name):
    model = CASES[name]
    (feed,) = feeds_for(model, SIZES[1:])
    actual = compile_for(model, feed, options=NO_CACHE).run(feed)
    for output, expected in OnnxRuntime(model).run(feed).items():
        assert mismatch(actual[output], expected, 1e-4, 1e-5) is None


@pytest.mark.parametrize("name", MODELS)
def test_model(name):
    model = build(name, batch="n", **SMALL[name])
    session = OnnxRuntime(model)
    dynamic = espalier.compile(model, options=NO_CACHE)
    for n, s in ((1, 7), (2, 5)):
        feed = session.random_inputs({"n": n, "s": s}, seed=n)
        expected = session.run(feed)
        for function in (dynamic, compile_for(model, feed, options=NO_CACHE)):
            for output, array in function.run(feed).items():
                assert array.shape == expected[output].shape
                assert error_relative_to_scale(array, expected[output]) < 1e-4


@pytest.mark.parametrize("n", [0, 1, 13])
@pytest.mark.parametrize("k", [0, 1, 17])
def test_sizes_at_the_edge(n, k):
    """Nothing, one and a prime, in both dimensions of a product."""
    shapes = {"x": (np.float32, ["n", "k"]), "w": (np.float32, ["k", 5])}
    function = espalier.compile(one_op("MatMul", shapes), options=NO_CACHE)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((n, k), (k, 5)))
    np.testing.assert_allclose(function(x, w), x @ w, rtol=1e-5, atol=1e-6)
