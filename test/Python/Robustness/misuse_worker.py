"""Calls public functions with what they do not expect: `misuse_worker.py FIRST LAST SEED COUNT`.

Each set of arguments is the usual one with one or two replaced. There are COUNT for each
function; each is printed before it is tried, and again if it ends in an error that is ours.
"""

from __future__ import annotations

import inspect
import math
import os
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from relu_model import MODEL, X

import espalier
from espalier import kernels, models, report
from espalier.kernels import f32, i32, kernel, sizes
from espalier.sandbox import limit_memory

MEMORY_BYTES = 8 << 30
SECONDS = 60
MADE_BY_US = ("Function", "Function.__init__", "kernels.KernelProgram", "KernelProgram.__init__")
"""Constructors that take what only this package makes."""
ERRORS = (TypeError, ValueError, OverflowError, espalier.EspalierError)
"""A caller's mistakes. Whatever else is raised is ours."""
(N,) = sizes("n")
NO_CACHE = espalier.Options(cache=None, kernel_times=None, measure_seconds=0.0)


@kernel
def _scaled(a: f32[N], rows: i32[N].with_values(bounded_by=N), r: f32[N]) -> None:
    for i in range(N):
        r[i] = a[i] + 1.0


class Odd:
    """Has attributes that others look for, and breaks when they are used."""

    def __dlpack__(self, **_: object) -> object:
        raise RuntimeError("odd")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __fspath__(self) -> str:
        raise TypeError("odd")


def _arrays() -> list[Any]:
    base = np.linspace(-1, 1, 64, dtype=np.float32)
    frozen = X.copy()
    frozen.flags.writeable = False
    return [
        X.astype(np.float64),
        X.astype(np.int64),
        X.astype(np.complex64),
        X.astype(np.bool_),
        X.astype(">f4"),
        X.astype(object),
        X.astype(str),
        X.astype("f4,f4"),
        X.T,
        X[:, ::2],
        X[::-1],
        frozen,
        base.reshape(8, 8)[:2],
        np.broadcast_to(np.float32(1), (2, 8)),
        np.lib.stride_tricks.as_strided(base, (2, 8), (0, 4)),
        np.zeros((0, 8), np.float32),
        np.zeros((2, 0), np.float32),
        np.zeros(0, np.float32),
        np.float32(1),
        np.array(1.0),
        np.full((2, 8), np.nan, np.float32),
        np.frombuffer(b"\0" * 65, np.uint8)[1:].view(np.float32),
        np.ma.masked_array(X, X > 0),
        np.asmatrix(X),
        np.zeros((1,) * 32, np.float32),
        X.astype("datetime64[s]"),
        np.zeros((2, 8), "V3"),
        memoryview(X),
        X.tobytes(),
        X.tolist(),
    ]


VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    2,
    2**31,
    2**32,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    10**30,
    0.0,
    -0.5,
    math.nan,
    math.inf,
    -math.inf,
    1e300,
    1j,
    "",
    "x",
    "y",
    "x\0y",
    "\udcff",
    "ü" * 100,
    "a" * 5000,
    "(" * 3000,
    "{}%s",
    b"",
    b"x",
    b"\xff" * 40,
    bytearray(b"x"),
    [],
    [1],
    [[1]],
    [None],
    [-1, 2**63],
    ["x"],
    ["x", "x"],
    (),
    (1, 2),
    {},
    {"x": 1},
    {"x": None},
    {1: 2},
    {"n": -1},
    {"n": 2**63},
    {"x": [2**62, 2**62]},
    {"x": [-1, 8]},
    {"y": "x"},
    {"x": X},
    {"x": X.T},
    {"y": X},
    set(),
    object(),
    object,
    len,
    lambda: 1,
    Odd(),
    Ellipsis,
    NotImplemented,
    iter([1]),
    range(3),
    Path("none"),
    Path("none.onnx"),
    Path("none.mlir"),
    Path("/"),
    Path("/dev/null"),
    slice(1),
    1 << 70,
    espalier,
    NO_CACHE,
    espalier.Options(cpu="none"),
    espalier.Options(cpu="x\0"),
    espalier.Options(features="+nothing"),
    espalier.Options(cache=Path("a\0b")),
    espalier.Options(cache=Path("/proc/none")),
    espalier.Options(cache=None, cache_limit=-1),
    espalier.Options(cache=None, optimize="nothing"),
    espalier.Options(
        cache=None, optimize="egraph", kernel_times=Path("/"), measure_seconds=math.nan
    ),
    espalier.Options(cache=None, optimize="egraph", kernel_times=None, run_threads=-1),
    espalier.Options(cache=None, threads=2),
    espalier.Options(cache=None, winograd=None),
    espalier.Options(cache=None, sparse="some"),
    espalier.Options(cache=None, sparse=None),
    espalier.Options(cache=None, sparse="auto", optimize="egraph"),
    *_arrays(),
]


def _module() -> espalier.Module:
    module, _ = espalier.load_module(MODEL)
    return module


def _lowered() -> Any:
    return espalier.lower(MODEL)


def _methods(name: str, make: Callable[[], Any], arguments: dict[str, tuple]) -> dict[str, Any]:
    """Return calls of the public methods of what `make` makes."""
    kind = type(make())
    found = {}
    for method, value in inspect.getmembers(kind):
        if method.startswith("_") and method not in ("__call__", "__init__", "__str__"):
            continue
        if not callable(value):
            continue
        usual = arguments.get(method, ())

        def call(*args: Any, method: str = method, **kwargs: Any) -> Any:
            return getattr(make(), method)(*args, **kwargs)

        found[f"{name}.{method}"] = (call, usual, value)
    return found


def calls() -> dict[str, tuple[Callable[..., Any], tuple, Any]]:
    """Return the calls by name, each with its usual arguments and what has its signature."""
    folder = Path(tempfile.mkdtemp())
    function = espalier.compile(MODEL, options=NO_CACHE)
    program = _scaled.compile(NO_CACHE)
    scaled = [np.ones(4, np.float32), np.zeros(4, np.int32), np.zeros(4, np.float32)]
    usual: dict[str, tuple] = {
        "compile": (MODEL,),
        "interpret": (MODEL, {"x": X}),
        "load_module": (MODEL,),
        "lower": (MODEL,),
        "Function": (function.program,),
        "Kernel": (_scaled.__wrapped__,),
        "kernel": (_scaled.__wrapped__,),
        "Schedule": (_scaled,),
        "UnsupportedOperators": ([],),
    }
    result: dict[str, tuple] = {}
    for name in espalier.__all__:
        value = getattr(espalier, name)
        if name == "optimize_module":
            result[name] = (lambda *a, **k: espalier.optimize_module(_module(), *a, **k), (), value)
        elif not (isinstance(value, type) and issubclass(value, Exception)):
            result[name] = (value, usual.get(name, ()), value)
    for owner, package in (("kernels", kernels), ("report", report)):
        for name in package.__all__:
            value = getattr(package, name)
            if callable(value) and not hasattr(espalier, name):
                result[f"{owner}.{name}"] = (value, (), value)
    result["models.build"] = (models.build, ("none",), models.build)
    result |= _methods(
        "Function",
        lambda: function,
        {
            "__call__": (X,),
            "run": ({"x": X},),
            "bind": ({"x": X},),
            "save": (folder / "f.o",),
            "set_num_threads": (1,),
            "__init__": (function.program,),
        },
    )
    result |= _methods("KernelProgram", lambda: program, {"__call__": tuple(scaled)})
    result |= _methods(
        "Schedule",
        lambda: espalier.Schedule(_scaled),
        {
            "save": (folder / "s.mlir",),
            "load": (folder / "s.mlir",),
            "trace": ([3],),
            "replay": ("",),
            "command": ("poly.split", [("S0", None)], {}, 1),
        },
    )
    result |= _methods(
        "Module",
        _module,
        {
            "input": ("z", [2], "f32", [""]),
            "constant": (X,),
            "op": ("graph.relu", []),
            "finish": ([], []),
        },
    )
    result |= _methods(
        "Module()",
        espalier.Module,
        {
            "input": ("z", [2], "f32", [""]),
            "constant": (X,),
            "op": ("graph.relu", []),
            "finish": ([], []),
            "constant_bytes": ("f32", [2], np.zeros(8, np.uint8)),
        },
    )
    return {name: call for name, call in result.items() if name not in MADE_BY_US}


def _names(described: Any) -> list[str]:
    """Return the names of the parameters that may be given by name."""
    try:
        parameters = inspect.signature(described).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in parameters if p.kind in kinds and p.name != "self"]


def misused(usual: tuple, described: Any, rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """Return the usual arguments, of which some are replaced, left out or added."""
    args, kwargs = list(usual), {}
    names = _names(described)
    for _ in range(rng.choice((1, 1, 2))):
        choice = rng.random()
        if args and choice < 0.5:
            args[rng.randrange(len(args))] = rng.choice(VALUES)
        elif names and choice < 0.9:
            name = rng.choice(names)
            if name in names[len(args) :]:
                kwargs[name] = rng.choice(VALUES)
        elif choice < 0.95:
            args.append(rng.choice(VALUES))
        elif args:
            args.pop()
    return args, kwargs


def main() -> None:
    """Make the calls of `FIRST LAST SEED COUNT`; print what is raised that is no mistake."""
    first, last, seed, count = map(int, sys.argv[1:])
    limit_memory(MEMORY_BYTES)
    warnings.simplefilter("ignore")
    os.chdir(tempfile.mkdtemp())
    os.environ["XDG_CACHE_HOME"] = str(Path.cwd() / "cache")
    made = list(calls().items())
    for index in range(first, min(last, len(made) * count)):
        name, (call, usual, described) = made[index // count]
        args, kwargs = misused(usual, described, random.Random(f"{name} {seed} {index % count}"))
        print(f"CALL {index} {name}", flush=True)
        signal.alarm(SECONDS)
        try:
            with np.errstate(all="ignore"):
                call(*args, **kwargs)
        except ERRORS:
            pass
        except BaseException:
            where = traceback.format_exc()
            print(f"FAULT {name}: {args!r} {kwargs!r}"[:1000].replace("\n", " "), where, sep="\n")
    print("END")


if __name__ == "__main__":
    main()
