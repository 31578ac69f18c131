"""Kernels written as Python functions.

Example:
    >>> from espalier.kernels import f64, kernel, sizes
    >>> m, n, k = sizes("m n k")
    >>> @kernel
    ... def matmul(a: f64[m, k], b: f64[k, n], c: f64[m, n]) -> None:
    ...     for i in range(m):
    ...         for j in range(n):
    ...             for p in range(k):
    ...                 c[i, j] += a[i, p] * b[p, j]
    >>> matmul(a, b, c)
"""

from espalier.kernels.combiner import Combiner, combiner
from espalier.kernels.kernel import Kernel, kernel
from espalier.kernels.program import KernelProgram
from espalier.kernels.scope import KernelError
from espalier.kernels.types import (
    ScalarType,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    label,
    local,
    sizes,
)

__all__ = [
    "Combiner",
    "Kernel",
    "KernelError",
    "KernelProgram",
    "ScalarType",
    "bf16",
    "combiner",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "kernel",
    "label",
    "local",
    "sizes",
]
