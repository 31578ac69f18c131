"""Sums that are cut into parts because what they read does not fit a cache."""

import numpy as np
import pytest

import espalier
from espalier.models import Net


@pytest.mark.parametrize("rows", [23, 50, 300])
@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_a_sum(rows, threads):
    # 256 KiB of second-level cache hold neither the rows nor all of a panel.
    net = Net("long")
    x = net.input("x", [rows, 3001])
    y = net.node("Relu", net.linear(x, 3001, 70))
    model = net.finish((y, "y", [rows, 70]))
    function = espalier.compile(model, options=espalier.Options(cpu="x86-64-v3", cache=None))
    function.set_num_threads(threads)
    values = np.random.default_rng(rows).standard_normal((rows, 3001), np.float32)
    expected = espalier.interpret(model, {"x": values})["y"]
    np.testing.assert_allclose(function(values), expected, atol=1e-3, rtol=1e-4)
