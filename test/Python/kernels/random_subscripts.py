"""Random subscripts of kernels that are written as text, compared with Python itself.

A subscript is made of loop variables, sizes and values that are read, with products
and quotients of any of them; extents are stated, or not. A kernel may be refused, at
compile time or for its arguments; if it runs, it has to agree with the text as Python
reads it, and must not touch what is outside of its arrays, which lie beside memory
that ends the process.

Run this file for many cases: `python random_subscripts.py --cases 3000 --seed 1`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
from isolated_cases import run_in_children
from random_kernels import run_from_command_line

from espalier import _espalier
from espalier.compiler import Options
from espalier.errors import CompileError, EspalierError
from espalier.kernels.program import compile_kernel
from espalier.testing.guarded import SIDES, guarded

SIZES = ("n", "m")
DTYPES = {"i8": "int8", "i32": "int32", "i64": "int64", "u8": "uint8", "bool": "bool"}
STORED = {"u8": "i8", "bool": "i8"}
EXTENTS = ("n", "m", "n + m", "n * m", "n * m + 3", "n * 2 + 1", "17", "n * n", "m floordiv 2 + 1")
DOMAINS = (
    ("i >= 0, n - 1 - i >= 0, j >= 0, m - 1 - j >= 0", "0 <= i < n and 0 <= j < m"),
    ("i >= 0, n - 1 - i >= 0, j >= 0, i - j >= 0", "0 <= i < n and 0 <= j <= i"),
    ("i >= 0, n - 1 - i >= 0, j - 2 >= 0, m - 2 - j >= 0", "0 <= i < n and 2 <= j < m - 1"),
    (
        "i - 1 >= 0, n - 1 - i >= 0, j >= 0, m - 1 - j >= 0, j mod 2 == 0",
        "1 <= i < n and 0 <= j < m and j % 2 == 0",
    ),
)


class Case:
    """A kernel that copies `x` at one subscript to `y` at another, with its arguments."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        self.dtype = pick([*DTYPES, "i32", "i32"])
        self.bound = pick(("", "n", "m", "n + 1", "2", "7", "n", "m"))
        self.domain, self.runs = pick(DOMAINS)
        self.place = pick(("i", "j", "i + j", "0"))
        self.stated = {name: pick((*EXTENTS, "")) for name in "xy"}
        self.stated["q"] = pick(("n", "m", "n + m", ""))
        if pick((False, False, True)):
            self.stated = dict.fromkeys("qxy", "")
        self.read, self.written = self.subscript(), self.subscript()

    def factor(self) -> str:
        return self.random.choice(("i", "j", "v", "v", "v", "n", "m", "2", "3", "i", "j"))

    def subscript(self) -> str:
        """Return a sum of products, or a quotient or rest of one."""
        pick = self.random.choice
        terms = []
        for _ in range(pick((1, 1, 2, 2, 3))):
            factors = [self.factor()]
            if pick((True, False)):
                factors.append(pick(("n", "m", "2", "3", "v")))
            terms.append(" * ".join(factors))
        text = f" {pick('+++-')} ".join(terms)
        if pick((False, False, True)):
            text = f"({text}) {pick(('floordiv', 'mod'))} {pick(('n', 'm', '2', '5', '17', 'v'))}"
        return text if pick((True, True, False)) else f"{text} + {pick(('1', 'n', '-1', 'j'))}"

    def argument(self, name: str, kind: str, attributes: str) -> str:
        extent = self.stated[name]
        shape = f", poly.shape = affine_map<()[n, m] -> ({extent})>" if extent else ""
        rank = extent if extent.isdigit() else "?"
        return f'%{name}: memref<{rank}x{kind}> {{espalier.name = "{name}"{shape}{attributes}}}'

    def type(self, name: str, kind: str) -> str:
        extent = self.stated[name]
        return f"memref<{extent if extent.isdigit() else '?'}x{kind}>"

    def text(self) -> str:
        kind = STORED.get(self.dtype, self.dtype)
        facts = f", poly.bounded_by = affine_map<()[n, m] -> ({self.bound})>" if self.bound else ""
        if kind != self.dtype:
            facts += f', espalier.dtype = "{self.dtype}"'
        arguments = [
            self.argument("q", kind, facts),
            self.argument("x", "f32", ""),
            self.argument("y", "f32", ""),
            *(f'%{size}: index {{espalier.name = "{size}"}}' for size in SIZES),
        ]
        return f"""poly.kernel @k({", ".join(arguments)}) {{
  poly.compute @s dims ["i", "j"] domain [affine_set<(i, j)[n, m] : ({self.domain})>]
      reads(%q[affine_map<(i, j)[n, m] -> ({self.place})>],
            %x[affine_map<(i, j)[n, m, v] -> ({self.read})>]
            : {self.type("q", kind)}, {self.type("x", "f32")})
      writes(%y[affine_map<(i, j)[n, m, v, w] -> ({self.written})>] : {self.type("y", "f32")}) {{
  ^bb0(%v: {kind}, %a: f32):
    poly.yield %a : f32
  }}
}}"""

    def extent(self, name: str) -> int:
        stated = self.stated[name]
        return evaluate(stated, self.sizes) if stated else self.random.randrange(60)

    def inputs(self) -> dict[str, np.ndarray]:
        self.sizes = {size: self.random.choice((0, 1, 2, 3, 5, 9)) for size in SIZES}
        most = max(1, evaluate(self.bound, self.sizes) if self.bound else 3)
        low = self.random.choice((0, 0, 0, -1))
        values = [self.random.randint(low, most - 1) for _ in range(self.extent("q"))]
        if self.dtype in ("u8", "bool"):
            values = [abs(value) if self.dtype == "u8" else value % 2 for value in values]
        return {
            "q": np.array(values, DTYPES[self.dtype]),
            "x": np.arange(self.extent("x"), dtype=np.float32),
            "y": np.full(self.extent("y"), -1, np.float32),
        }

    def points(self) -> Iterator[dict[str, int]]:
        for i in range(-1, 12):
            for j in range(-1, 12):
                scope = {**self.sizes, "i": i, "j": j}
                if evaluate(self.runs, scope):
                    yield scope

    def reference(self, q: np.ndarray, x: np.ndarray, y: np.ndarray) -> str | None:
        """Run in Python, in place; return what is wrong with an index, if anything."""
        for scope in self.points():
            at = evaluate(self.place, scope)
            if not 0 <= at < len(q):
                return f"q[{at}] of {len(q)} at {scope}"
            scope["v"] = int(q[at])
            try:
                source, target = evaluate(self.read, scope), evaluate(self.written, scope)
            except ZeroDivisionError:
                return f"division by zero at {scope}"
            if not 0 <= source < len(x) or not 0 <= target < len(y):
                return f"x[{source}] of {len(x)}, y[{target}] of {len(y)} at {scope}"
            y[target] = x[source]
        return None


def evaluate(text: str, scope: dict[str, int]) -> int:
    """Return the value of an affine expression."""
    return int(eval(text.replace("floordiv", "//").replace("mod", "%"), {}, scope))


def run_case(name: str) -> tuple[str, Counter[str]]:
    """Run one case; return a description of what is wrong with it, and counts."""
    case, counts = Case(int(name)), Counter[str]()
    text = case.text()
    try:
        program = compile_kernel(
            _espalier.Module.parse(text), [*"qxy"], Options(cache=None, threads=False)
        )
    except CompileError as error:
        counts["refused"] += 1
        return ("" if "expects" in str(error) else f"{error}\n{text}"), counts
    for side in (*SIDES, *SIDES):
        arrays = case.inputs()
        expected = {name: array.copy() for name, array in arrays.items()}
        fault = case.reference(**expected)
        copies = {name: guarded(array, side) for name, array in arrays.items()}
        try:
            program(**copies, **case.sizes)
        except EspalierError as error:
            if "expects" not in str(error):
                return f"{error}\n{text}", counts
            counts["checked" if fault else "checked strictly"] += 1
            continue
        counts["run"] += 1
        if fault:
            return f"reads or writes outside: {fault}\n{text}", counts
        if not np.array_equal(copies["y"], expected["y"]):
            return (
                f"y is {copies['y']}, not {expected['y']}, for {arrays} {case.sizes}\n{text}",
                counts,
            )
    return "", counts


def run_cases(cases: int, seed: int, jobs: int = 1) -> tuple[list[str], Counter[str]]:
    """Run many cases; return what is wrong, and counts."""
    names = [str(seed * 1_000_003 + number) for number in range(cases)]
    return run_in_children(run_case, lambda name: Case(int(name)).text(), names, jobs, timeout=120)


if __name__ == "__main__":
    # Workers import this file by its name.
    from random_subscripts import run_cases as run

    sys.exit(run_from_command_line(run, __doc__))
