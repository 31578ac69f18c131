"""Scheduling a kernel, one checked command at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from espalier import _espalier
from espalier.compiler import Options, given_options, read_text
from espalier.errors import CompileError, EspalierError
from espalier.files import write_text
from espalier.kernels.kernel import Kernel
from espalier.kernels.program import KernelProgram, compile_kernel
from espalier.schedules import attributes as a
from espalier.schedules.choices import Choice, choices, select
from espalier.schedules.commands import Commands
from espalier.schedules.errors import ScheduleError, replace_place

_SCRIPT = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{
    {}
    transform.yield
  }}
}}
"""


_HANDLE = "!transform.any_op"


class Schedule(Commands):
    """A kernel and the commands that were applied to it.

    It starts from the order of the kernel's text. Every method of `Commands` is
    applied at once; one that would change what the kernel computes, or cannot be
    applied, raises `ScheduleError` and leaves everything as it was.
    `str(schedule)` is the transform script of what was applied.

    Example:
        >>> s = Schedule(matmul)
        >>> s.tile("acc", ["i", "j"], [[64, 64]])
        >>> s.vectorize("acc", "j.1", 16)
        >>> print(s.loops())
        >>> f = s.compile()
    """

    def __init__(self, source: Kernel | _espalier.Module | str, kernel: str | None = None) -> None:
        """Start to schedule a kernel.

        Arguments:
            source: a kernel; or a module with kernels, which is changed; or
                MLIR text, which is trusted.
            kernel: the name of a kernel of the module; needed if it has several.
        """
        self.module = source = _open(source)
        kernels = json.loads(_espalier.describe_kernels(source))
        self.kernel: str = _pick(kernels, kernel)
        self._schedule = _espalier.Schedule(source, self.kernel)
        self.arguments: list[str] = kernels[self.kernel]["arguments"]
        self.parameters: list[str] = kernels[self.kernel]["parameters"]

    @classmethod
    def default(
        cls,
        source: Kernel | _espalier.Module | str,
        kernel: str | None = None,
        options: Options | None = None,
    ) -> Schedule:
        """Start from what the compiler does by itself.

        The script of the result is that of the default schedule, one `plan` for each
        part of the kernel, or empty where it keeps the program order. It may be saved
        and edited, and further commands go on from there. A kernel to which commands
        were applied is refused: take it, or its module, as it was made.

        Arguments:
            options: their `cpu` and `features` are what the schedule is for.
        """
        options = given_options(options)
        module = _open(source)
        name = _pick(json.loads(_espalier.describe_kernels(module)), kernel)
        try:
            script = _espalier.default_schedule(module, name, options.native())
        except CompileError as error:
            raise ScheduleError(str(error)) from None
        schedule = cls(module, name)
        if "transform.poly.plan" in script:
            schedule._apply(script, "")
        return schedule

    @property
    def computations(self) -> dict[str, list[str]]:
        """The kernel's computations as they are now, with their dimensions."""
        return json.loads(_espalier.describe_kernels(self.module))[self.kernel]["computations"]

    def command(
        self,
        name: str,
        targets: Sequence[tuple[str, int | None]],
        attributes: Mapping[str, str | None],
        results: int,
    ) -> list[str]:
        """Apply the operation `name`; what the methods do.

        Arguments:
            targets: a computation `kernel::name` is one of another kernel.
        """
        lines: list[str] = []
        operands = []
        for target, write in targets:
            if not isinstance(target, str):
                raise ScheduleError(f"expects the name of a computation, but got {target!r}")
            kernel, _, computation = target.rpartition("::")
            symbol = f"{a.symbol(kernel or self.kernel)}::{a.symbol(computation)}"
            lookups = [f"transform.poly.computation {symbol} of %module"]
            if write is not None:
                which = f"write {a.number(write)} " if write else ""
                lookups.append(f"transform.poly.written_array {which}of %{len(lines)}")
            for lookup in lookups:
                lines.append(f"%{len(lines)} = {lookup} : ({_HANDLE}) -> {_HANDLE}")
            operands.append(f"%{len(lines) - 1}")
        values = ", ".join(f"{k} = {v}" for k, v in attributes.items() if v is not None)
        properties = f"<{{{values}}}> " if values else ""
        types = ", ".join([_HANDLE] * len(targets)), ", ".join([_HANDLE] * results)
        made = f"%r:{results} = " if results else ""
        lines.append(
            f'{made}"transform.{name}"({", ".join(operands)}) {properties}'
            f": ({types[0]}) -> ({types[1]})"
        )
        before = self.computations
        self._apply(_SCRIPT.format("\n    ".join(lines)), place="")
        return [name for name in self.computations if name not in before] if results else []

    def replay(self, script: str, values: Mapping[str, Any] | None = None) -> None:
        """Apply a transform script, such as `str` of a schedule; all or nothing.

        Arguments:
            values: what is selected for choices of the script, by name, as for
                `espalier.schedules.select`.
        """
        self._apply(select(script, values) if values else script, "script:")

    def choices(self) -> dict[str, Choice]:
        """Return the choices that the scripts which were applied have, by name."""
        script = str(self)
        return choices(script) if script else {}

    def _apply(self, script: str, place: str) -> None:
        """Apply a script; what is refused is in a line of `place`, if that has a name."""
        try:
            self._schedule.apply(script)
        except CompileError as error:
            raise ScheduleError(replace_place(str(error), place)) from None

    def loops(self) -> str:
        """Return the loops as they are now, as text."""
        return self._schedule.loops()

    def trace(self, sizes: Sequence[int]) -> dict[str, Any]:
        """Return what the kernel does for given values of its parameters.

        The result is what `espalier_schedule_trace` of the C API describes: points
        in the order of execution, and their dependences.
        """
        return json.loads(self._schedule.trace(list(sizes)))

    @property
    def violation(self) -> dict[str, Any] | None:
        """The dependence for which the last command was refused."""
        return json.loads(self._schedule.violation)

    def __str__(self) -> str:
        return str(self._schedule)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the script to a file."""
        write_text(path, str(self))

    def load(self, path: str | os.PathLike[str], values: Mapping[str, Any] | None = None) -> None:
        """Apply the script of a file, with choices selected as for `replay`."""
        script = read_text(path)
        if script.strip():
            self._apply(select(script, values) if values else script, f"{path}:")

    def compile(self, options: Options | None = None) -> KernelProgram:
        """Compile the kernel of a module that has nothing else.

        A model is compiled with its saved schedule: `compile(model, schedule=path)`.
        """
        module = _espalier.Module.parse(str(self.module))
        return compile_kernel(module, self.arguments, options)


def _open(source: Kernel | _espalier.Module | str) -> _espalier.Module:
    """Return the module of a kernel, or of MLIR text."""
    if isinstance(source, Kernel):
        return source.module()
    if isinstance(source, str):
        return _espalier.Module.parse(source)
    if not isinstance(source, _espalier.Module):
        raise EspalierError(
            f"expects a kernel, a module or MLIR text, but got {type(source).__name__}"
        )
    return source


def _pick(kernels: Mapping[str, Any], kernel: str | None) -> str:
    """Return the kernel that is meant."""
    if not kernels:
        raise EspalierError("expects a module with kernels, but it has none")
    if kernel is None and len(kernels) != 1:
        raise EspalierError(
            f"expects the name of one of the kernels {sorted(kernels)}, but got none"
        )
    return next(iter(kernels)) if kernel is None else kernel
