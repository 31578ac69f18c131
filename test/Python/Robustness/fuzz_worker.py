"""Reads mutants in a child process: `fuzz_worker.py READER FOLDER SEED FIRST COUNT`.

FOLDER/originals has valid files. The mutant at hand is in FOLDER/input, so that it is
there when the process ends. Prints a line for each that was answered: its number, and
what was said.
"""

import functools
import math
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import mutants
import numpy as np
from originals import CHOICES, GENERATE, KERNEL, SCHEDULED, STATED

import espalier
from espalier import _espalier
from espalier.commands.common import load_arrays
from espalier.compiler import compile_module, optimize_module
from espalier.importers.onnx import import_model
from espalier.kernels import KernelProgram, f32, i32, kernel, sizes
from espalier.module import Module
from espalier.sandbox import limit_memory
from espalier.testing.guarded import SIDES, guarded, guarded_all, guarded_empty

MEMORY_BYTES = 4 << 30
SECONDS = 20
"""Of processor time, for one mutant; that of the clock is ten times as long."""
SANITIZER_STATUS = 99
STAGES = ("poly", "scheduled", "loops", "program")


def read_onnx(path: Path) -> None:
    """Import a model."""
    import_model(path, Module())


def read_mlir(path: Path) -> None:
    """Parse and lower a module."""
    text = path.read_bytes().decode(errors="replace")
    module = _espalier.Module.parse(text)
    _espalier.lower(module, STAGES[len(text) % len(STAGES)])


def _scheduled(text: str) -> _espalier.Module:
    """Return the kernels that the first line of a script names."""
    module = _espalier.Module.parse(SCHEDULED[text[:100].split()[1]])
    _espalier.lower(module, "poly")
    return module


def read_script(path: Path) -> None:
    """Apply a transform script to kernels."""
    text = path.read_bytes().decode(errors="replace")
    module = _scheduled(text)
    if "tune." in text:
        _espalier.describe_choices(module, text)
        text = _espalier.select(module, text, CHOICES[0])
    _espalier.transform(module, text)
    _espalier.lower(module, "loops")


def read_choices(path: Path) -> None:
    """Select for the choices of a script."""
    script = (path.parent / "script/relu-choice").read_text()
    text = path.read_bytes().decode(errors="replace")
    _espalier.select(_scheduled(script), script, text)


def read_arrays(path: Path) -> None:
    """Read an archive of arrays."""
    load_arrays(path)


def read_cache(path: Path) -> None:
    """Compile with a cache whose only entry is the mutant."""
    entry = next(path.parent.glob("cache/*.espalier"))
    entry.write_bytes(path.read_bytes())
    module = _espalier.Module.parse(KERNEL)
    function = compile_module(module, options=espalier.Options(cache=entry.parent))
    assert float(np.sum(function(np.ones(8, np.float32)))) == 8.0
    assert function.optimization == {}, function.optimization


def read_times(path: Path) -> None:
    """Optimize with a table of times."""
    for beside in path.parent.glob("input-*"):
        beside.unlink()
    options = espalier.Options(
        cache=None, optimize="egraph", kernel_times=path, measure_seconds=0.01
    )
    report = optimize_module(_espalier.Module.parse(KERNEL), options)
    if report["warnings"]:
        raise espalier.EspalierError(report["warnings"][0])


def read_records(path: Path) -> None:
    """Compile with what was tuned; go on with the search."""
    for beside in path.parent.glob("input-*"):
        beside.unlink()
    options = espalier.Options(cache=None, records=path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function = compile_module(_espalier.Module.parse(KERNEL), options=options)
    assert float(np.sum(function(np.ones(8, np.float32)))) == 8.0
    if caught:
        raise espalier.EspalierError(str(caught[0].message))
    espalier.tune(KERNEL, trials=0, options=options)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run_command(*command: str) -> None:
    """Run a command of ours: it ends by itself, and says why if it fails."""
    # An error that a sanitizer finds would end it with 1.
    names = ("ASAN_OPTIONS", "UBSAN_OPTIONS")
    found = {name: f"{os.environ.get(name, '')}:exitcode={SANITIZER_STATUS}" for name in names}
    result = subprocess.run(
        command,
        env={**os.environ, **found},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10 * SECONDS,
        check=False,
        preexec_fn=_limit,
    )
    message = (result.stderr or result.stdout).decode(errors="replace")
    assert result.returncode in (0, 1, 2), (result.returncode, message)
    assert result.returncode == 0 or message, "expects a message"
    if result.returncode != 0:
        raise espalier.EspalierError(message)


def read_passes(path: Path) -> None:
    """Run passes, which the first line has, on MLIR."""
    header = path.read_bytes().partition(b"\n")[0].decode()
    run_command("espalier-opt", str(path), *shlex.split(header.removeprefix("//")))


def read_rules(path: Path) -> None:
    """Prove the rules of a text."""
    run_command("espalier-rules", "verify", str(path))


def read_patterns(path: Path) -> None:
    """Prove the rules that are PDL patterns."""
    patterns = path.with_suffix(".mlir")
    patterns.write_bytes(path.read_bytes())
    run_command("espalier-rules", "emit", str(patterns))


def read_proof(path: Path) -> None:
    """Check a proof."""
    run_command("espalier-proof-check", str(path))


def read_costs(path: Path) -> None:
    """Search with a table of costs."""
    module = path.with_suffix(".mlir")
    module.write_text(KERNEL)
    run_command("espalier-opt", str(module), f"--graph-optimize=costs={path}")


def read_input(path: Path) -> None:
    """Run with an input from the command line."""
    module = path.with_suffix(".mlir")
    module.write_text(KERNEL)
    text = path.read_bytes().decode(errors="replace").replace("\0", "?")
    run_command("espalier-run", str(module), f"--input={text}", "-O0")


def read_partition(path: Path) -> None:
    """Go on from a partition of the enumeration."""
    folder = path.parent / "resumed"
    folder.mkdir(exist_ok=True)
    (original,) = (path.parent / "originals").iterdir()
    (folder / original.name).write_bytes(path.read_bytes())
    run_command(*GENERATE, f"--resume={folder}")


N, M, NNZ = sizes("n m nnz")


@kernel
def _product(
    starts: i32[N + 1].with_values(bounded_by=NNZ + 1),
    columns: i32[NNZ].with_values(bounded_by=M),
    values: f32[NNZ],
    x: f32[M],
    y: f32[N],
) -> None:
    for i in range(N):
        y[i] = 0.0
        for j in range(starts[i], starts[i + 1]):
            y[i] += values[j] * x[columns[j]]


@functools.cache
def _sparse_product() -> KernelProgram:
    return _product.compile(espalier.Options(cache=None))


def read_sparse(path: Path) -> None:
    """Multiply with a sparse matrix: the starts of 4 rows, and the columns of elements."""
    data = path.read_bytes()
    numbers = np.frombuffer(data[: len(data) // 4 * 4], np.int32)
    starts, columns = numbers[:4], numbers[4:]
    for side in SIDES:
        arrays = [starts, columns, np.ones(len(columns), np.float32), np.ones(7, np.float32)]
        result = guarded_empty((max(len(starts) - 1, 0),), np.dtype(np.float32), side)
        _sparse_product()(*(guarded(a, side) for a in arrays), result)


LISTS = r"dense<\[[-\d, ]*\]>|poly\.\w+|affine_map<\(\) -> \([^()]*\)>|holds .*|[{}, =]"
"""What may change in `STATED` without another meaning of what is computed."""
MAX_ELEMENTS = 1 << 16
"""Of an input that a mutant is run with."""


def _inputs(function: espalier.Function) -> dict[str, np.ndarray] | None:
    """Return small integers, beside memory that nobody may touch; None if they are many."""
    random = np.random.default_rng(0)
    shapes = [[e if isinstance(e, int) else 3 for e in info.shape] for info in function.inputs]
    if any(math.prod(shape) > MAX_ELEMENTS for shape in shapes):
        return None
    arrays = {
        info.name: random.integers(0, 3, shape).astype(info.dtype)
        for info, shape in zip(function.inputs, shapes, strict=True)
    }
    return guarded_all(arrays, "after")


def _check_values(module: str | bytes, options: espalier.Options) -> None:
    """Compile and run a model; compare with the interpreter."""
    function = espalier.compile(module, options=options)
    inputs = _inputs(function)
    if inputs is None:
        return
    results = function.run(inputs)
    for name, expected in espalier.interpret(module, inputs).items():
        np.testing.assert_allclose(results[name], expected, rtol=1e-5, err_msg=name)


def read_encodings(path: Path) -> None:
    """Run a module whose constants say how they are stored."""
    text = path.read_bytes().decode(errors="replace")
    sparse = ("off", "stored")[len(text) % 2]
    _check_values(text, espalier.Options(cache=None, records=None, sparse=sparse))


def _sums(text: str, x: np.ndarray) -> np.ndarray:
    """Return what the kernel of `STATED` computes, if its constants are lists of numbers."""
    starts, columns = (
        [(int(n) + 2**31) % 2**32 - 2**31 for n in re.findall(r"-?\d+", numbers)]
        for numbers in re.findall(r"= dense<\[([-\d, ]*)\]>", text)
    )
    result = np.zeros(3, np.float32)
    for row in range(3):
        for place in range(max(starts[row], 0), min(starts[row + 1], 5)):
            assert 0 <= columns[place] < 4, "expects columns inside of x"
            result[row] += x[columns[place]]
    return result


def read_stated(path: Path) -> None:
    """Run a kernel that states what constants hold."""
    text = path.read_bytes().decode(errors="replace")
    module = _espalier.Module.parse(text)
    function = compile_module(module, options=espalier.Options(cache=None, records=None))
    inputs = _inputs(function)
    if inputs is None:
        return
    results = function.run(inputs)
    # What else has changed means something else.
    if re.sub(LISTS, "", text) == re.sub(LISTS, "", STATED):
        np.testing.assert_array_equal(results["y"], _sums(text, inputs["x"]))


def read_stored(path: Path) -> None:
    """Run a model with tensors that are stored without zeros."""
    data = path.read_bytes()
    sparse = ("off", "all")[len(data) % 2]
    _check_values(data, espalier.Options(cache=None, records=None, sparse=sparse))


READERS: dict[str, Callable[[Path], None]] = {
    name.removeprefix("read_"): value
    for name, value in list(globals().items())
    if name.startswith("read_")
}


def _outcome(message: str) -> str:
    """Return the kind of a message: its first error, without names and numbers."""
    lines = [line for line in message.splitlines() if line.strip()] or [""]
    line = next((line for line in lines if "error" in line), lines[0])
    line = re.sub(r"'[^']*'|\"[^\"]*\"", "'_'", line.rpartition("error: ")[2])
    return re.sub(r"-?\d[\w.+-]*", "N", line)[:160]


def main() -> None:
    """Read all mutants; what is not an error of ours ends the process."""
    reader, folder, seed, first, count = sys.argv[1:]
    limit_memory(MEMORY_BYTES)
    warnings.simplefilter("ignore")
    path = Path(folder) / "input"
    files = sorted((Path(folder) / "originals").iterdir())
    originals = [file.read_bytes() for file in files]
    for index in range(int(first), int(first) + int(count)):
        path.write_bytes(mutants.make(reader, originals, int(seed), index))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(10 * SECONDS)
        outcome = "accepted"
        try:
            READERS[reader](path)
        except (espalier.EspalierError, MemoryError) as error:
            outcome = f"{type(error).__name__}: {_outcome(str(error))}"
        print(index, outcome, flush=True)


if __name__ == "__main__":
    main()
