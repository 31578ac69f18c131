"""Kernels of a model made one, and their buffers local."""

import contextlib
import itertools
import json
import re

import numpy as np
import pytest

import espalier
from espalier import _espalier
from espalier.compiler import Options
from espalier.models import Net
from espalier.schedules import Schedule, ScheduleError

NO_CACHE = Options(cache=None)


def chain():
    """Return a model of several kernels, with an unknown number of rows."""
    net = Net("chain")
    x = net.input("x", ["n", 20])
    y = net.node("Softmax", net.linear(x, 20, 24), axis=1)
    z = net.node("Relu", net.linear(y, 24, 18))
    return net.finish((net.node("Softmax", z, axis=1), "y", ["n", 18]))


def kernels_of(module):
    """Return the kernels' computations, in the order in which they are called."""
    kernels = json.loads(_espalier.describe_kernels(module))
    calls = re.findall(r"poly.call @(\w+)", str(module))
    return {name: list(kernels[name]["computations"]) for name in calls}


def merged(model):
    """Return a schedule in which the first kernel has all others."""
    module = espalier.lower(model)
    first, *others = kernels_of(module).items()
    assert others
    s = Schedule(module, first[0])
    for name, computations in others:
        s.merge(first[1][0], f"{name}::{computations[0]}")
    assert list(kernels_of(s.module)) == [first[0]]
    return s


def localize_all(s):
    """Make all buffers local that the program allocates; return how many."""
    number = 0
    for name in s.computations:
        with contextlib.suppress(ScheduleError):
            s.localize(name)
            number += 1
    return number


def check(model, script, tmp_path):
    """Compare a scheduled model with the model."""
    (tmp_path / "script.mlir").write_text(script)
    function = espalier.compile(model, schedule=tmp_path / "script.mlir", options=NO_CACHE)
    plain = espalier.compile(model, options=NO_CACHE)
    random = np.random.default_rng(1)
    for rows in (0, 1, 7, 33):
        x = random.random((rows, 20), np.float32)
        np.testing.assert_allclose(function(x), plain(x), rtol=1e-5, atol=1e-6)


def test_all_kernels_are_one(tmp_path):
    model = chain()
    check(model, str(merged(model)), tmp_path)


def test_buffers_become_local(tmp_path):
    model = chain()
    s = merged(model)
    assert localize_all(s) > 0
    check(model, str(s), tmp_path)


def test_commands_go_on(tmp_path):
    """Rows of one kernel's result are computed where the next needs them."""
    model = chain()
    s = merged(model)
    localize_all(s)
    fused = 0
    names = list(s.computations)
    for first, second in itertools.pairwise(names):
        with contextlib.suppress(ScheduleError):
            s.fuse(first, second, 1)
            fused += 1
    assert fused > 0
    check(model, str(s), tmp_path)


def test_one_kernel_is_two_again(tmp_path):
    """The parts are cut elsewhere than they were put together."""
    model = chain()
    s = merged(model)
    localize_all(s)
    names = list(s.computations)
    cut = 0
    for name in names:
        t = merged(model)
        localize_all(t)
        for other in names:
            with contextlib.suppress(ScheduleError):
                t.externalize(other)
        with contextlib.suppress(ScheduleError):
            t.detach(name, "second")
            cut += 1
            assert list(kernels_of(t.module)) == [t.kernel, "second"]
            both = [*t.computations, *kernels_of(t.module)["second"]]
            assert sorted(both) == sorted(names)
            if cut == 2:
                check(model, str(t), tmp_path)
    assert cut > 1


def test_merge_is_refused_and_nothing_happens():
    s = merged(chain())
    before = str(s)
    with pytest.raises(ScheduleError, match="expects computations of two kernels"):
        s.merge(*list(s.computations)[:2])
    with pytest.raises(ScheduleError, match="expects a kernel, one of"):
        s.merge(next(iter(s.computations)), "missing::s0")
    assert str(s) == before


@pytest.mark.parametrize("number", [-(2**63), -1, 1, 2**31, 2**32, 2**63 - 1, 2**64])
def test_writes_that_are_not_there(number):
    module = espalier.lower(chain())
    name, computations = next(iter(kernels_of(module).items()))
    s = Schedule(module, name)
    with pytest.raises(ScheduleError, match=r"write|integer|number"):
        s.localize(computations[0], number)
    assert str(s) == ""
