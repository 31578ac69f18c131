"""A small model for tests of what goes wrong around it."""

from pathlib import Path

import numpy as np

import espalier

MODEL = """
func.func @main(%x: tensor<?x8xf32> {espalier.name = "x", espalier.dims = ["n", ""]})
    -> (tensor<?x8xf32> {espalier.name = "y"}) {
  %0 = graph.relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
"""
X = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)


def optimized(folder: Path, model: str = MODEL) -> espalier.Function:
    """Compile with measured kernels, whose times are in `folder`."""
    options = espalier.Options(
        cache=None,
        optimize="egraph",
        kernel_times=folder / "times.sqlite",
        measure_seconds=0.1,
    )
    return espalier.compile(model, options=options)
