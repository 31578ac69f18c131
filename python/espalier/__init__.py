"""Espalier: a compiler for tensor programs.

Example:
    >>> import espalier
    >>> f = espalier.compile("model.onnx")
    >>> y = f(x=image)
"""

from espalier import interruption  # noqa: F401  (before what takes long)
from espalier.compiler import (
    Options,
    compile,
    interpret,
    load_module,
    lower,
    optimize_module,
)
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
from espalier.recursion import Recursive, RecursiveError, Structures, recursive
from espalier.schedules import Schedule, ScheduleError
from espalier.tuning import Tuned, tune

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
    "Recursive",
    "RecursiveError",
    "Schedule",
    "ScheduleError",
    "Structures",
    "Tuned",
    "UnsupportedOperators",
    "compile",
    "interpret",
    "kernel",
    "load_module",
    "lower",
    "optimize_module",
    "recursive",
    "tune",
]
