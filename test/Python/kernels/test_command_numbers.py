"""Every number of every command, at the edges of 32 and 64 bits: refused, or right."""

import inspect
import time

import numpy as np
import pytest

from espalier.compiler import Options
from espalier.kernels import f32, kernel, label, sizes
from espalier.schedules import Schedule, ScheduleError
from espalier.schedules.schedule import Commands

EXTREMES = [-(2**63), -(2**32), -1, 0, 1, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63 - 1, 2**64]
m, n, p = sizes("m n p")


@kernel
def product(a: f32[n, m], b: f32[m, p], c: f32[n, p], d: f32[n, p]) -> None:
    for i in range(n):
        for j in range(p):
            for k in range(m):
                label("acc")
                c[i, j] += a[i, k] * b[k, j]
    for i in range(n):
        for j in range(p):
            label("copy")
            d[i, j] = c[i, j]


CALLS = {
    "cache_read": ["acc", 1, "i"],
    "cache_write": ["acc", 0, "i"],
    "contract": ["acc_in", "i", 0],
    "privatize": ["acc_in", "i", 0],
    "fission": ["acc", "i", 1],
    "fold": ["acc_in1", 0, 1],
    "fold_storage": ["acc_in1", 0, 1],
    "fuse": ["acc", "copy", 1],
    "layout": ["acc_in1", "affine_map<(a, b) -> (b, a)>", [1, 1], [2, 2]],
    "pack": ["acc", 1, [0, 4], [0, 1, 2], "i"],
    "peel": ["acc", "i", 1],
    "peel last": ["acc", "i", None, 1],
    "peel at": ["acc", "i", None, None, 2],
    "place": ["acc_in1", "heap", 0],
    "plan": ["acc", 2, ["copy"], 0, 0, ["j", "i"], 1, None, ["i", "j"], [4, 32], "j", 16],
    "prefetch": ["acc", 0, "k", 2, 64],
    "register_block": ["acc", ["i", "j"], [2, 4], 4],
    "retile": ["acc", "i.0", 2],
    "shift": ["acc", "i", 1],
    "skew": ["acc", "j", [1], ["i"]],
    "specialize": ["acc", "i", [1, 2]],
    "split": ["acc", "k", [4]],
    "tile": ["acc", ["i", "j"], [[4, 4]]],
    "unfold": ["acc_in1", 0],
    "unroll": ["acc", "k", 2],
    "unroll_and_jam": ["acc", "i", 2],
    "vectorize": ["acc", "j", 4],
    "wavefront": ["acc", ["i", "j"], [1, 1]],
}
"""For each command that has numbers, a call; for some there are several."""
OF_PROGRAMS = {"buffer_layout", "externalize", "localize"}
"""Commands for kernels that a program calls: test_merge.py and test_schedule.py have them."""
MAPS = {"layout", "map", "maps"}
"""Parameters that may be a number, which is then a map."""


def numbers(arguments, place=()):
    """Yield the places of numbers in nested lists."""
    for position, argument in enumerate(arguments):
        if isinstance(argument, list):
            yield from numbers(argument, (*place, position))
        elif isinstance(argument, int):
            yield (*place, position)


def replaced(arguments, place, value):
    """Return nested lists with another number at a place."""
    first, *rest = place
    result = list(arguments)
    result[first] = replaced(result[first], rest, value) if rest else value
    return result


def prepared(name):
    """Return a schedule with what the command needs."""
    schedule = Schedule(product)
    if CALLS[name][0] == "acc_in1":
        schedule.cache_read("acc", 1, "i")
    if CALLS[name][0] == "acc_in":
        schedule.cache_write("acc", 0, "i")
    if name == "fission":
        schedule.fuse("acc", "copy", 1)
    if name == "retile":
        schedule.split("acc", "i", [4])
    return schedule


def run(schedule):
    """Return the results of the kernel."""
    random = np.random.default_rng(1)
    a, b = (random.integers(-3, 4, shape).astype(np.float32) for shape in [(5, 7), (7, 6)])
    c, d = np.zeros((5, 6), np.float32), np.zeros((5, 6), np.float32)
    schedule.compile(Options(cache=None))(a, b, c, d)
    np.testing.assert_array_equal(c, a @ b)
    np.testing.assert_array_equal(d, a @ b)


def test_all_commands_with_numbers_are_here():
    methods = inspect.getmembers(Commands, inspect.isfunction)
    having = {
        name
        for name, method in methods
        if name != "command"
        and any(
            "int" in str(p.annotation) and p.name not in MAPS
            for p in inspect.signature(method).parameters.values()
        )
    }
    assert having == {name.split()[0] for name in CALLS} | OF_PROGRAMS


@pytest.mark.parametrize("name", sorted(CALLS))
def test_numbers_are_refused_or_right(name):
    method = name.split()[0]
    getattr(prepared(name), method)(*CALLS[name])
    accepted = []
    for place in numbers(CALLS[name]):
        for value in EXTREMES:
            schedule = prepared(name)
            call = replaced(CALLS[name], place, value)
            begin = time.process_time()
            try:
                getattr(schedule, method)(*call)
                accepted.append((value, schedule))
            except ScheduleError:
                pass
            assert time.process_time() - begin < 20, call
    for value, schedule in accepted:
        if abs(value) > 1:
            run(schedule)
