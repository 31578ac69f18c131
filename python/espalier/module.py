"""Modules under construction."""

import numpy as np

from espalier import _espalier, ir
from espalier.dtypes import mlir_name
from espalier.errors import expect


class Module(_espalier.Module):
    """A module of the graph dialect with one function `main`.

    Example:
        >>> module = Module()
        >>> x = module.input("x", [None, 3], "f32", ["batch", ""])
        >>> (y,) = module.op("graph.relu", [x])
        >>> module.finish([y], ["y"])
    """

    def constant(self, array: np.ndarray) -> ir.Value:
        """Add a constant; the array is not copied and must not change."""
        expect("a NumPy array", array, np.ndarray)
        native = array.dtype.newbyteorder("=")
        dtype, shape = mlir_name(native), list(array.shape)
        array = array.astype(native, copy=False)
        data = np.require(array, requirements=["C", "A"]).reshape(-1).view(np.uint8)
        return self.constant_bytes(dtype, shape, data)
