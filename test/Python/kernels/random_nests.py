"""Random kernels of several nests under random commands, compared with Python itself.

Statements stand at any depth, below branches, in triangles, in loops with steps, around
local arrays and scalars; subscripts are quotients, rests and sums of loop variables,
under conditions that keep them inside. Any command may be tried on any of them. Results
are compared bit by bit, since each update keeps its order, or is of whole numbers; the
arrays lie beside memory that ends the process.

Run this file for many cases: `python random_nests.py --cases 1000 --seed 1`.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from isolated_cases import run_in_children
from random_kernels import (
    MAX_SECONDS,
    load,
    run_from_command_line,
    run_in_python,
    same,
)

from espalier.compiler import Options
from espalier.errors import CompileError, EspalierError
from espalier.schedules import Schedule, ScheduleError
from espalier.testing.guarded import SIDES, guarded

HEAD = """from espalier.kernels import f64, i8, i32, i64, kernel, label, local, sizes
n, m, t = sizes("n m t")
"""
DTYPES = {"i8": np.int8, "i32": np.int32, "i64": np.int64, "f64": np.float64}
SHAPES = {"A": ("n", "m"), "B": ("m", "n"), "C": ("n",), "D": ("m",)}
LOOPS = ["i", "j", "k"]
BOUNDS = ("{e}", "{e}", "{e}", "{e}", "1, {e} - 1", "{e} - 1, -1, -1", "0, {e}, 2", "{e} + 1")
BOUNDS += ("{e} - 1, 0, -2", "2, {e}, 3")
INNER_BOUNDS = ("{o} + 1", "{o}, {e}", "{o} + 1, {e}", "{e} - {o}", "{o} // 2", "{o}, -1, -1")
INNER_BOUNDS += ("max(0, {o} - 2), min({e}, {o} + 3)", "{o} % 3, {e}, 2")
SUBSCRIPTS = ("{a}",) * 5 + ("{a} + 1", "{a} - 1", "{a} - 2", "{a} + {b}", "{a} - {b}")
SUBSCRIPTS += ("{e} - 1 - {a}", "2 * {a}", "{a} // 2", "{a} % 3", "({a} + {b}) // 2")
SUBSCRIPTS += ("2 * {a} - {b}", "({a} - 3) % 5")
CONDITIONS = ("{a} < {b}", "{a} + 1 <= {b}", "{a} % 2 == 0", "{a} != {b}", "{a} >= 2")
CONDITIONS += ("{a} - {b} > -2", "2 * {a} == {b}")
JOINED = ("{x}",) * 5 + ("{x} or {y}", "{x} or {y}", "{x} and {y}", "{x} and {y}")
JOINED += ("not ({x} or {y})",)


class Writer:
    """Writes the body of a kernel."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.dtype = self.pick("i64", "i64", "i32", "f64", "i8")
        self.shapes: dict[str, tuple[str, ...]] = dict(SHAPES)
        self.read_only = set(source.sample(sorted(SHAPES), source.choice((0, 1, 1, 2))))
        self.covers: dict[str, str] = {}
        """The extent that a loop goes over from its first number to its last."""
        self.labels = 0
        self.lines = list(self.body())

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def happens(self, share: float) -> bool:
        return self.random.random() < share

    def text(self, decorator: str) -> str:
        arguments = ", ".join(
            f"{name}: {self.dtype}[{', '.join(shape)}]" for name, shape in SHAPES.items()
        )
        return "\n".join([decorator, f"def k({arguments}) -> None:", *self.lines, ""])

    def body(self) -> Iterator[str]:
        if self.happens(0.4):
            yield f"    T = local({self.dtype}[n])"
            yield from ("    for q in range(n):", "        label('init')", "        T[q] = C[q]")
            self.shapes["T"] = ("n",)
        if has_scalar := self.happens(0.25):
            yield f"    x: {self.dtype} = {self.constant(0)}"
            self.shapes["x"] = ()
        indent = "    "
        if self.happens(0.25):
            yield "    for p in range(t):"
            indent *= 2
        for _ in range(self.random.choice((1, 2, 2))):
            yield from self.block([], indent, LOOPS)
        if has_scalar:
            yield from (f"{indent}if n > 0:", f"{indent}    C[0] = x")

    def block(self, outer: list[str], indent: str, free: list[str]) -> Iterator[str]:
        """Write some loops, branches and statements."""
        for _ in range(self.random.choice((1, 1, 1, 2))):
            if free and (not outer or self.happens(0.6)):
                loop, extent = free[0], self.pick("n", "m")
                is_inner = bool(outer) and self.happens(0.35)
                bounds = self.pick(*(INNER_BOUNDS if is_inner else BOUNDS))
                self.covers.pop(loop, None)
                if bounds in ("{e}", "{e} - 1, -1, -1"):
                    self.covers[loop] = extent
                written = bounds.format(e=extent, o=self.pick(*outer) if outer else "")
                yield f"{indent}for {loop} in range({written}):"
                yield from self.block([*outer, loop], indent + "    ", free[1:])
                self.covers.pop(loop, None)
            elif outer and self.happens(0.4):
                yield f"{indent}if {self.condition(outer)}:"
                yield from self.statement(outer, indent + "    ")
                if self.happens(0.4):
                    yield f"{indent}else:"
                    yield from self.statement(outer, indent + "    ")
            else:
                yield from self.statement(outer, indent)

    def condition(self, loops: list[str]) -> str:
        def compare() -> str:
            return self.pick(*CONDITIONS).format(a=self.pick(*loops), b=self.pick(*loops, "n", "m"))

        return self.pick(*JOINED).format(x=compare(), y=compare())

    def statement(self, loops: list[str], indent: str) -> Iterator[str]:
        """Write one statement, below what keeps its subscripts inside."""
        inside: dict[str, None] = {}
        target = self.element(loops, inside, [a for a in self.shapes if a not in self.read_only])
        value = self.value(loops, inside)
        forms = ["{x} += {v}"] * 6 + ["{x} = max({x}, {v})", "{x} = min({x}, {v})", "{x} -= {v}"]
        forms += ["{x} = {v}"] * 6 + ([] if self.dtype == "f64" else ["{x} *= {v}"])
        if inside:
            yield f"{indent}if {' and '.join(inside)}:"
            indent += "    "
        yield f"{indent}label('L{self.labels}')"
        yield indent + self.pick(*forms).format(x=target, v=value)
        self.labels += 1

    def constant(self, value: int) -> str:
        """Write a number that is of the kernel's type in Python, too."""
        return f"{self.dtype}({value})"

    def subscript(self, loops: list[str], extent: str) -> str:
        if not loops:
            return self.pick("0", "0", f"{extent} - 1")
        forms = (*SUBSCRIPTS, "{e} - 1")
        return self.pick(*forms).format(a=self.pick(*loops), b=self.pick(*loops), e=extent)

    def element(self, loops: list[str], inside: dict[str, None], names: list[str]) -> str:
        name = self.pick(*names)
        subscripts = []
        for extent in self.shapes[name]:
            subscript = self.subscript(loops, extent)
            if self.covers.get(subscript) != extent:
                inside |= dict.fromkeys((f"{subscript} >= 0", f"{subscript} < {extent}"))
            subscripts.append(subscript)
        return f"{name}[{', '.join(subscripts)}]" if subscripts else name

    def value(self, loops: list[str], inside: dict[str, None], depth: int = 0) -> str:
        if depth > 2 or self.happens(0.45):
            return self.element(loops, inside, list(self.shapes))
        if self.happens(0.2):
            return self.constant(self.random.randint(-3, 5))
        if loops and self.happens(0.12):
            return f"{self.dtype}({self.subscript(loops, 'n')})"
        first, second = (self.value(loops, inside, depth + 1) for _ in range(2))
        forms = ["({x} + {y})", "({x} - {y})"] * 2 + ["max({x}, {y})", "min({x}, {y})"]
        if self.dtype != "f64":
            forms += ["({x} * {y})", "({x} // {y})", "({x} % {y})"]
        if self.happens(0.1):
            other = self.element(loops, inside, list(self.shapes))
            return f"({first} if {other} < {second} else {second})"
        return self.pick(*forms).format(x=first, y=second)


class Scheduler:
    """Draws commands."""

    def __init__(self, source: random.Random, schedule: Schedule) -> None:
        self.random, self.schedule = source, schedule

    def loops(self) -> list[str]:
        lines = (line.split() for line in self.schedule.loops().splitlines())
        found = [words[words.index("=") - 1] for words in lines if "=" in words[:4]]
        return list(dict.fromkeys(found)) or ["i"]

    def draw(self) -> tuple[str, list[object], dict[str, object]]:
        """Return a command's name and arguments."""
        pick, number = self.random.choice, self.random.randint
        computations = self.schedule.computations
        name, other = pick(sorted(computations)), pick(sorted(computations))
        loops = self.loops()
        own = [loop for loop in loops if loop.split(".")[0] in computations[name]] or loops
        loop = pick(own if number(0, 9) else loops)
        two = self.random.sample(own, min(2, len(own)))
        numbers = [number(2, 4) for _ in two]
        forms = ("(a, b) -> (b, a)", "(a) -> (a mod 4, a floordiv 4)", "(a, b) -> (a + b, b)")
        form = f"affine_map<{pick(forms)}>"
        at = [loop] if number(0, 2) else []
        return pick(
            [
                ("vectorize", [name, loop, pick((2, 3, 4, 8))], {"peel_tail": bool(number(0, 1))}),
                ("split", [name, loop, [number(2, 5)]], {}),
                ("tile", [name, two, [numbers]], {}),
                ("register_block", [name, two, numbers, 4], {}),
                ("interchange", [name, self.random.sample(own, len(own))], {}),
                ("interchange", [name, two], {}),
                ("reverse", [name, loop], {}),
                ("unroll", [name, loop, number(2, 4)], {}),
                ("unroll_and_jam", [name, loop, number(2, 3)], {}),
                ("parallelize", [name, loop], {}),
                ("serialize", [name, loop], {}),
                ("rfactor", [name, loop], {}),
                ("privatize", [name, loop], {}),
                ("cache_read", [name, number(0, 3), *at], {}),
                ("cache_write", [name, number(0, 1), *at], {}),
                ("shift", [name, loop, number(-3, 3)], {}),
                ("skew", [name, loop, [number(-2, 2)], [pick(own)]], {}),
                ("wavefront", [name, two], {}),
                ("remap", [name, two, form], {}),
                ("fuse", [name, other, number(1, 2)], {}),
                ("fuse", [name, other, number(1, 2)], {}),
                ("fission", [name, loop], {}),
                ("fission", [name, loop, number(1, 2)], {}),
                ("merge", [name, other], {}),
                ("move", [name, other], {}),
                ("inline", [name], {}),
                ("compute_at", [name, other, pick(loops)], {}),
                ("compute_at", [name, other, pick(loops)], {}),
                ("peel", [name, loop], {pick(("first", "last")): number(1, 2)}),
                ("specialize", [name, loop, [number(2, 6)]], {}),
                ("separate_full_tiles", [name, [loop]], {}),
                ("rebase", [name, loop], {}),
                ("retile", [name, loop], {}),
                ("contract", [name, loop], {}),
                ("fold", [name, 0, number(1, 4)], {}),
                ("unfold", [name], {}),
                ("localize", [name], {}),
                ("decompose", [name, loop], {}),
                ("layout", [name, form], {}),
                ("pack", [name, number(0, 3), [number(0, 3) for _ in two]], {}),
                (
                    "prefetch",
                    [name, number(0, 2), loop],
                    {"distance": number(1, 3), "is_write": bool(number(0, 1))},
                ),
            ]
        )


class Type:
    """What a kernel's text calls a type, for Python to run it."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __call__(self, value: object) -> object:
        return np.asarray(value).astype(self.kind)[()]

    def __getitem__(self, extent: int) -> np.ndarray:
        return np.zeros(extent, self.kind)


def schedule_randomly(
    source: random.Random, schedule: Schedule, counts: Counter[str]
) -> tuple[str, str | None]:
    """Try commands; return those that were accepted, and what is wrong with one."""
    applied = ""
    scheduler = Scheduler(source, schedule)
    for _ in range(source.choice((0, 2, 4, 6, 10, 14))):
        name, arguments, named = scheduler.draw()
        text = f"# {name} {arguments} {named}\n"
        begin = time.process_time()
        try:
            getattr(schedule, name)(*arguments, **named)
            counts["accepted"] += 1
            applied += text
        except ScheduleError as error:
            counts["refused"] += 1
            if "does not verify" in str(error):
                return applied + text, str(error)
        if (seconds := time.process_time() - begin) > MAX_SECONDS:
            return applied + text, f"{seconds:.1f} s for a command"
    return applied, None


def run_case(name: str) -> tuple[str, Counter[str]]:
    """Run one case; return a description of what is wrong with it, and counts."""
    source, counts = random.Random(int(name)), Counter[str]()
    writer = Writer(source)
    text = HEAD + writer.text("@kernel")
    with tempfile.TemporaryDirectory() as folder:
        try:
            kernel = load(Path(folder), int(name), text).k
            schedule = Schedule(kernel)
            applied, fault = schedule_randomly(source, schedule, counts)
            text += applied
            if fault:
                return f"{fault}\n{text}", counts
            program = schedule.compile(Options(cache=None))
        except CompileError as error:
            # Not inside for sure, or more than isl may take.
            known = ("inside its extent", "too many operations")
            counts["rejected"] += 1
            fault = "" if any(part in str(error) for part in known) else f"{error}\n{text}"
            return fault, counts
        fault = compare(source, writer, program, counts)
        return (f"{fault}\n{text}" if fault else ""), counts


def compare(
    source: random.Random, writer: Writer, program: Callable[..., object], counts: Counter[str]
) -> str | None:
    """Run a program on a few sizes; return what differs."""
    kind = DTYPES[writer.dtype]
    types: dict[str, object] = {name: Type(kind) for name, kind in DTYPES.items()}
    for side in (*SIDES, SIDES[0]):
        sizes = {size: source.choice((0, 1, 2, 3, 4, 5, 7, 9)) for size in "nm"}
        sizes["t"] = source.choice((0, 1, 2, 3))
        arrays = {
            name: np.array(
                [source.randint(-4, 6) for _ in range(np.prod([sizes[s] for s in shape]))], kind
            ).reshape([sizes[s] for s in shape])
            for name, shape in SHAPES.items()
        }
        expected = {name: array.copy() for name, array in arrays.items()}
        fault = run_in_python(writer.text(""), expected, {**types, **sizes})
        if fault:
            return f"a subscript is outside in Python: {fault}"
        copies = {name: guarded(array, side) for name, array in arrays.items()}
        used = {name: size for name, size in sizes.items() if name in program.sizes}
        try:
            program(*copies.values(), **used)
        except EspalierError as error:
            return f"{error} for {sizes}"
        counts["run"] += 1
        for name, array in copies.items():
            if not same(array, expected[name], ignores_sign=True):
                return f"{name} is {array}, not {expected[name]}, for {arrays} {sizes}"
    return None


def run_cases(cases: int, seed: int, jobs: int = 1) -> tuple[list[str], Counter[str]]:
    """Run many cases; return what is wrong, and counts."""
    names = [str(seed * 1_000_003 + number) for number in range(cases)]
    return run_in_children(
        run_case,
        lambda name: Writer(random.Random(int(name))).text("@kernel"),
        names,
        jobs,
        timeout=300,
    )


if __name__ == "__main__":
    # Workers import this file by its name.
    from random_nests import run_cases as run

    sys.exit(run_from_command_line(run, __doc__))
