"""Compiled programs under Valgrind, which follows each access of each thread.

Programs are compiled for `CPU`, since Valgrind knows no longer vectors, and linked with
`threads.c` in place of OpenMP's library, whose waiting it does not understand.
"""

import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from espalier.function import Function

CPU = "x86-64-v3"
TOOLS = {
    "drd": ["--check-stack-var=yes", "--first-race-only=yes"],
    "memcheck": ["--partial-loads-ok=no"],
}
"""What sees accesses of two threads that do not wait for one another; and reads beside an
array, and what depends on memory that nobody wrote."""

FOUND = 3
"""The exit status of a program that Valgrind has something to say about."""

HERE = Path(__file__).parent
INCLUDE = HERE.parents[2] / "include"


class UnknownInstruction(Exception):
    """A program has an instruction that this Valgrind cannot run."""


def build(function: Function, folder: Path, defines: Sequence[str] = ()) -> Path:
    """Return an executable that runs a function that was compiled for `CPU`."""
    function.save(folder / "program.o")
    header = (folder / "program.h").read_text()
    program = re.search(r"extern const espalier_program (\w+);", header)
    assert program is not None, header
    # The name stands for one that tells programs apart.
    names = ["-include", str(folder / "program.h"), f"-DPROGRAM={program[1]}"]
    sources = [str(HERE / name) for name in ("program.c", "threads.c")]
    flags = ["-O1", "-g", "-w", f"-I{INCLUDE}", *(f"-D{name}" for name in defines)]
    result = folder / "program"
    command = ["cc", *flags, *names, *sources, str(folder / "program.o"), "-o", str(result)]
    subprocess.run([*command, "-lm", "-lpthread"], check=True)
    return result


def watch(
    program: Path, inputs: Mapping[str, np.ndarray], tool: str, threads: int = 3
) -> str | None:
    """Run a program on inputs in its order; return what the tool says, None if nothing.

    Raises UnknownInstruction.
    """
    data, log = program.with_name("inputs"), program.with_name(f"{tool}.txt")
    with data.open("wb") as file:
        for array in inputs.values():
            file.write(np.array(array.shape, np.int64).tobytes())
            file.write(np.ascontiguousarray(array).tobytes())
    command = ["valgrind", "--quiet", f"--tool={tool}", f"--log-file={log}"]
    # It has no room for the longest of our blocks.
    command += [f"--error-exitcode={FOUND}", "--vex-guest-max-insns=20", *TOOLS[tool]]
    run = subprocess.run(
        [*command, program, str(threads), data], capture_output=True, text=True, check=False
    )
    if run.returncode == 0:
        return None
    if run.returncode == -signal.SIGILL:
        raise UnknownInstruction(log.read_text())
    return log.read_text() if run.returncode == FOUND else f"exit {run.returncode}: {run.stdout}"
