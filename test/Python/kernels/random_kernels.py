"""Random kernels on data that is special, compared with Python itself.

The text of a kernel is compiled, and run as it is on NumPy's numbers. What may be
added up in any order is small whole numbers, zeros of both signs, infinities and
NaNs, whose sums and products do not depend on the order: results are compared bit by
bit, but for NaNs. Integers include those that have no quotient, and index arrays
those that are outside.

Run this file for many cases: `python random_kernels.py --cases 3000 --seed 1`.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np

from espalier.compiler import Options
from espalier.errors import CompileError, EspalierError
from espalier.schedules import Schedule, ScheduleError

SIZES = ("n", "m")
MAX_SECONDS = 20.0
"""Of CPU time, for one command."""
EXTREMES = (-(2**63), -(2**32), -1, 0, 1, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63 - 1)
HEAD = """from espalier.kernels import f32, f64, i8, i32, i64, kernel, label, sizes
n, m = sizes("n m")
"""


@dataclass
class Case:
    """The text of a kernel, what is at hand to schedule it, and its arguments."""

    body: list[str]
    arguments: dict[str, tuple[str, str]]
    facts: dict[str, str] = field(default_factory=dict)
    is_tame: bool = False
    """Values grow: they have to be ones, to stay exact."""
    ignores_sign: bool = False
    """Of zero, which the largest of two zeros may have either way."""

    def text(self, plain: bool) -> str:
        """Return the function: a kernel, or for Python to run."""
        head = "def k(" + ", ".join(
            name if plain else f"{name}: {dtype}[{shape}]{self.facts.get(name, '')}"
            for name, (dtype, shape) in self.arguments.items()
        )
        lines = [line for line in self.body if not (plain and line.strip().startswith("label("))]
        returned = ")" if plain else ") -> None"
        return "\n".join([*([] if plain else ["@kernel"]), f"{head}{returned}:", *lines, ""])


class Maker:
    """Makes cases."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def case(self) -> Case:
        kinds = (self.reduction, self.division, self.indirect, self.rows, self.modular)
        return self.random.choice(kinds)()

    def reduction(self) -> Case:
        """An update of an element, which other reads may meet."""
        dtype = self.pick("f32", "f64", "i32", "i64", "f32")
        target = self.pick("s[0]", "s[i]", "s[j]", "s[i % 2]", "s[(2 * i) // 2]", "s[i // 2]")
        other = self.pick("a[i, j]", "a[i, j] * b[j]", "-a[i, j]", "b[j]", "a[i, j] + b[i]")
        if self.random.random() < 0.3:
            alias = self.pick(
                "s[0]", "s[i]", "s[j]", "s[i % 1]", "s[(3 * i + 2) // 3]", "s[i // 2]"
            )
            other = f"{other} * {alias}"
        update = self.pick("+=", "-=", "*=", "max", "min")
        if update in ("max", "min"):
            line = f"{target} = {update}({target}, {other})"
        else:
            line = f"{target} {update} {other}"
        arguments = {"a": (dtype, "n, m"), "b": (dtype, "n + m"), "s": (dtype, "n + m + 1")}
        case = self.nest(line, arguments)
        case.is_tame = (
            line.count("s[") > (2 if "(" in line.split("=")[1][:6] else 1) or "*=" in line
        )
        case.ignores_sign = "max" in line or "min" in line
        return case

    def division(self) -> Case:
        dtype = self.pick("i8", "i32", "i64")
        line = f"c[i, j] = a[i, j] {self.pick('//', '%')} {self.pick('b[j]', 'b[i]', 'a[i, j]')}"
        arguments = {"a": (dtype, "n, m"), "b": (dtype, "n + m"), "c": (dtype, "n, m")}
        return self.nest(line, arguments)

    def indirect(self) -> Case:
        offset = self.pick("", " + 1", " - 1", " * 2", " % 5")
        read, write = f"x[q[i]{offset}]", f"y[q[j]{offset}]"
        line = self.pick(
            f"c[i, j] = {read} + a[i, j]",
            f"y[q[i]{offset}] = a[i, j]",
            f"{write} += a[i, j]",
            f"c[i, j] += {read} * x[q[j]]",
        )
        arguments = {
            "q": ("i32", "n + m"),
            "a": ("f64", "n, m"),
            "x": ("f64", self.pick("n", "m + 3", "17")),
            "y": ("f64", self.pick("n", "m + 3", "17")),
            "c": ("f64", "n, m"),
        }
        return self.nest(line, arguments)

    def rows(self) -> Case:
        place = self.pick("v - p[i]", "v", "p[i + 1] - 1 - v", "v - p[i] + 1", "i", "v - p[0]")
        body = [
            "    for i in range(n):",
            "        for v in range(p[i], p[i + 1]):",
            "            label('s')",
            f"            y[{place}] {self.pick('=', '+=')} x[v]",
        ]
        arguments = {"p": ("i32", "n + 1"), "x": ("f64", "m"), "y": ("f64", "m")}
        facts = {
            "p": self.pick(
                ".with_values(bounded_by=m + 1, monotonic=True)", ".with_values(bounded_by=m + 1)"
            )
        }
        return Case(body, arguments, facts)

    def modular(self) -> Case:
        extent = self.random.choice((17, 1009, 99991, 2**20, 2**30))

        def subscript() -> str:
            numbers = [
                self.random.choice((1, 2, 7919, 104729, self.random.randrange(2**30))) for _ in "ij"
            ]
            text = f"{numbers[0]} * i + {numbers[1]} * j"
            for _ in range(self.random.randrange(3)):
                divisor = self.random.choice((3, 97, 1009, 99991, self.random.randrange(1, 2**30)))
                text = f"({text}) {self.pick('%', '//')} {divisor}"
            return f"({text}) % {min(extent, 99991)}"

        line = f"x[{subscript()}] = x[{subscript()}] + 1.0"
        return self.nest(line, {"x": ("f32", str(min(extent, 99991)))})

    def nest(self, line: str, arguments: dict[str, tuple[str, str]]) -> Case:
        body = [
            "    for i in range(n):",
            "        for j in range(m):",
            "            label('s')",
            f"            {line}",
        ]
        return Case(body, arguments)

    def data(self, dtype: str, shape: tuple[int, ...], name: str, is_tame: bool) -> np.ndarray:
        """Return special numbers of a type."""
        count = int(np.prod(shape))
        if name == "p":
            last = self.sizes["m"]
            return np.array(sorted(self.random.randint(0, last) for _ in range(count)), np.int32)
        if name == "q":
            return np.array([self.random.randint(0, 3) for _ in range(count)], np.int32)
        kind = np.dtype({"f": "float", "i": "int"}[dtype[0]] + dtype[1:])
        if kind.kind == "f":
            pools = [[-0.0], [-0.0, 0.0], [1, -1, -0.0], [1, np.inf], [1, np.nan, -np.inf, np.inf]]
            pools += [] if is_tame else [[3, -5, 7], [2, -4, 0.0]]
        else:
            info = np.iinfo(kind)
            pools = [[0, -1, 1, info.min, info.max], [info.min, -1], [0, 3, -7, 2], [1, 2, 3, 5]]
        pool = self.random.choice(pools)
        if count > 1000:
            return np.resize(np.array(pool, kind), shape)
        return np.array([self.random.choice(pool) for _ in range(count)], kind).reshape(shape)

    def inputs(self, case: Case) -> dict[str, np.ndarray]:
        self.sizes = {size: self.random.choice((0, 1, 2, 3, 5, 9, 13)) for size in SIZES}
        return {
            name: self.data(dtype, _shape(shape, self.sizes), name, case.is_tame)
            for name, (dtype, shape) in case.arguments.items()
        }

    def command(self, schedule: Schedule, case: Case) -> tuple[str, list[object]]:
        """Return a command, with a number that is extreme now and then."""
        name = self.random.choice(sorted(schedule.computations))
        loops = self.loops(schedule)
        loop = self.random.choice(loops)

        def number(low: int, high: int) -> int:
            return (
                self.random.choice(EXTREMES)
                if self.random.random() < 0.04
                else self.random.randint(low, high)
            )

        return self.random.choice(
            (
                ("vectorize", [name, loop, self.random.choice((2, 4, 8, number(1, 16)))]),
                ("split", [name, loop, [number(1, 5)]]),
                ("tile", [name, loops[:2], [[number(1, 4) for _ in loops[:2]]]]),
                ("interchange", [name, loops[:2][::-1]]),
                ("reverse", [name, loop]),
                ("unroll", [name, loop, number(1, 4)]),
                ("unroll_and_jam", [name, loop, number(1, 4)]),
                ("parallelize", [name, loop]),
                ("rfactor", [name, loop]),
                ("cache_read", [name, number(0, 2), loop]),
                ("cache_write", [name, number(0, 1), loop]),
                ("shift", [name, loop, number(-3, 3)]),
            )
        )

    def loops(self, schedule: Schedule) -> list[str]:
        lines = (line.split() for line in schedule.loops().splitlines())
        found = [words[words.index("=") - 1] for words in lines if "=" in words[:4]]
        return list(dict.fromkeys(found)) or ["i"]


def _shape(text: str, sizes: dict[str, int]) -> tuple[int, ...]:
    return tuple(eval(extent, {}, sizes) for extent in text.split(","))


def load(folder: Path, number: int, text: str) -> ModuleType:
    """Import a text as a file: a kernel is read from where it was written."""
    path = folder / f"case{number}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"random_kernel_{number}", path)
    assert spec is not None, "a file is there"
    assert spec.loader is not None, "a file has a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Guarded:
    """An array that has no negative indices."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def check(self, index: object) -> object:
        places = index if isinstance(index, tuple) else (index,)
        for place, extent in zip(places, self.array.shape, strict=True):
            if not 0 <= int(place) < extent:
                raise IndexError(f"{place} of {extent}")
        return index

    def __getitem__(self, index: object) -> object:
        return self.array[self.check(index)]

    def __setitem__(self, index: object, value: object) -> None:
        self.array[self.check(index)] = value


def run_in_python(
    text: str, arrays: dict[str, np.ndarray], scope: Mapping[str, object]
) -> str | None:
    """Run the text in Python, in place; return what is wrong with an index, if anything.

    `scope` has what the text refers to: sizes, and types for local arrays.
    """
    names: dict[str, object] = {
        "max": np.maximum,
        "min": np.minimum,
        "label": lambda _: None,
        "local": Guarded,
        **scope,
    }
    exec(text, names)
    with np.errstate(all="ignore"):
        try:
            names["k"](*(Guarded(array) for array in arrays.values()))
        except IndexError as error:
            return str(error)
    return None


def same(first: np.ndarray, second: np.ndarray, ignores_sign: bool) -> bool:
    """Compare bit by bit, but for NaNs."""
    if first.dtype.kind != "f":
        return bool((first == second).all())
    equal = first == second
    if not ignores_sign:
        equal &= np.signbit(first) == np.signbit(second)
    return bool((equal | (np.isnan(first) & np.isnan(second))).all())


def run_case(seed: int, number: int, folder: Path, counts: Counter[str]) -> str | None:
    """Run one case; return a description of what is wrong with it, if anything."""
    maker = Maker(seed * 1_000_003 + number)
    case = maker.case()
    text = HEAD + case.text(plain=False)
    try:
        schedule = Schedule(load(folder, number, text).k)
        for _ in range(maker.random.randint(0, 4)):
            name, arguments = maker.command(schedule, case)
            begin = time.process_time()
            try:
                getattr(schedule, name)(*arguments)
                counts["accepted"] += 1
            except ScheduleError:
                counts["refused"] += 1
            text += f"# {name} {arguments}\n"
            if (seconds := time.process_time() - begin) > MAX_SECONDS:
                return f"{seconds:.1f} s for a command\n{text}"
        begin = time.process_time()
        default = maker.random.random() < 0.4
        options = Options(cache=None)
        program = (
            load(folder, number, text).k.compile(options) if default else schedule.compile(options)
        )
    except CompileError as error:
        # Not inside for sure, or too large: never a fault of the code that is made.
        known = (
            "inside its extent",
            "that is affine",
            "too many operations",
            "beyond 64 bits",
            "once",
        )
        counts["rejected"] += 1
        return None if any(part in str(error) for part in known) else f"{error}\n{text}"
    for _ in range(3):
        arrays = maker.inputs(case)
        expected = {name: array.copy() for name, array in arrays.items()}
        fault = run_in_python(case.text(plain=True), expected, maker.sizes)
        try:
            program(*arrays.values(), **_unknown(case, maker.sizes))
        except EspalierError as error:
            if "expects values" not in str(error):
                return f"{error}\n{text}"
            counts["checked" if fault else "checked strictly"] += 1
            continue
        counts["run"] += 1
        if fault:
            return f"reads or writes outside: {fault}\n{text}\n{maker.sizes} {arrays}"
        for name in arrays:
            if not same(arrays[name], expected[name], case.ignores_sign):
                return f"{name} is {arrays[name]}, not {expected[name]}, with {maker.sizes}\n{text}"
    return None


def _unknown(case: Case, sizes: dict[str, int]) -> dict[str, int]:
    """Return the sizes that the kernel uses."""
    used = " ".join(
        [*case.body, *(shape for _, shape in case.arguments.values()), *case.facts.values()]
    )
    words = set("".join(c if c.isalnum() else " " for c in used).split())
    return {size: value for size, value in sizes.items() if size in words}


def run_cases(cases: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Run many cases; return what is wrong, and counts."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        found = [run_case(seed, number, Path(folder), counts) for number in range(cases)]
    return [fault for fault in found if fault], counts


def run_from_command_line(
    run: Callable[[int, int], tuple[list[str], Counter[str]]], about: str | None
) -> int:
    """Run as many cases as the command line says; print faults and counts."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults, counts = run(options.cases, options.seed)
    print(*faults[:20], sep="\n\n")
    print(f"{options.cases} cases, {len(faults)} faults:", dict(counts))
    return min(len(faults), 1)


if __name__ == "__main__":
    sys.exit(run_from_command_line(run_cases, __doc__))
