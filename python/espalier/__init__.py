"""Espalier: a compiler for tensor programs.

Example:
    >>> import espalier
    >>> f = espalier.compile("model.onnx")
    >>> y = f(x=image)
"""

from espalier.compiler import Options, compile, interpret, load_module
from espalier.errors import (
    ArgumentError,
    CompileError,
    EspalierError,
    ModelError,
    UnsupportedOperators,
)
from espalier.function import Function
from espalier.kernels import Kernel, KernelError, kernel
from espalier.module import Module

__all__ = [
    "ArgumentError",
    "CompileError",
    "EspalierError",
    "Function",
    "Kernel",
    "KernelError",
    "ModelError",
    "Module",
    "Options",
    "UnsupportedOperators",
    "compile",
    "interpret",
    "kernel",
    "load_module",
]
