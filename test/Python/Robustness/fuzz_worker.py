"""Reads mutants in a child process: `fuzz_worker.py READER ORIGINAL FOLDER SEED FIRST COUNT`.

The mutant at hand is in FOLDER/input, so that it is there when the process ends.
"""

import contextlib
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mutate import mutants

import espalier
from espalier import _espalier
from espalier.commands.common import load_arrays
from espalier.compiler import compile_module, optimize_module
from espalier.importers.onnx import import_model
from espalier.module import Module

MEMORY_BYTES = 4 << 30
SECONDS = 20
KERNEL = """
func.func @main(%x: tensor<8xf32> {espalier.name = "x"}) -> (tensor<8xf32> {espalier.name = "y"}) {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def read_onnx(path: Path) -> None:
    """Import a model."""
    import_model(path.read_bytes(), Module(), None, None, None)


def read_mlir(path: Path) -> None:
    """Parse and lower a module."""
    module = _espalier.Module.parse(path.read_bytes().decode(errors="replace"))
    _espalier.lower(module, "scheduled")


def read_script(path: Path) -> None:
    """Apply a transform script to a kernel."""
    module = _espalier.Module.parse(KERNEL)
    _espalier.lower(module, "poly")
    _espalier.transform(module, path.read_bytes().decode(errors="replace"))


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


def read_times(path: Path) -> None:
    """Optimize with a table of times."""
    options = espalier.Options(
        cache=None, optimize="egraph", kernel_times=path, measure_seconds=0.01
    )
    optimize_module(_espalier.Module.parse(KERNEL), options)


READERS: dict[str, Callable[[Path], None]] = {
    name.removeprefix("read_"): value
    for name, value in list(globals().items())
    if name.startswith("read_")
}


def main() -> None:
    """Read all mutants; what is not an error of ours ends the process."""
    reader, original, folder, seed, first, count = sys.argv[1:]
    # A sanitizer's runtime, which is loaded first, reserves terabytes.
    if not os.environ.get("LD_PRELOAD"):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    path = Path(folder) / "input"
    texts = mutants(Path(original).read_bytes(), int(seed), int(first) + int(count))
    for index, text in enumerate(texts):
        if index < int(first):
            continue
        path.write_bytes(text)
        signal.alarm(SECONDS)
        with contextlib.suppress(espalier.EspalierError, MemoryError):
            READERS[reader](path)
        print(index, flush=True)


main()
