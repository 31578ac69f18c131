"""Reading MLIR text that is not trusted.

MLIR's parser is not hardened, so text is first parsed in a child process with
limits on time and memory. What the child survives, this process parses too:
the parser is deterministic.
"""

import resource
import subprocess
import sys

from espalier.errors import CompileError

SECONDS = 60
MEMORY_BYTES = 4 << 30
EXIT_INVALID = 3
"""Not 1, with which Python ends when it has no memory for its own modules."""
_CHILD = "import sys; from espalier import sandbox; sandbox.child(sys.stdin.buffer.read())"


def check_text(text: str) -> None:
    """Parse MLIR text in a child process; raise `CompileError` if that fails."""
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {_CHILD}"]
    try:
        result = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CompileError(
            f"expects MLIR that is read in {SECONDS} s, but it takes longer"
        ) from error
    except OSError as error:
        raise CompileError(f"cannot start a process to read MLIR: {error.strerror}") from error
    if result.returncode == EXIT_INVALID:
        raise CompileError(f"expects valid MLIR, but {result.stdout.decode(errors='replace')}")
    if result.returncode != 0:
        said = result.stderr.decode(errors="replace").strip().splitlines()
        reason = f": {said[-1]}" if said else ""
        raise CompileError(
            f"expects valid MLIR, but reading it ended with {result.returncode}{reason}"
        )


def limit_memory(size: int) -> None:
    """Let this process have `size` bytes of memory more than it has, and write no dump.

    What it has may be terabytes of addresses, as with a sanitizer.
    """
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + size
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        limit = min(limit, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def child(text: bytes) -> None:
    """Parse, in the child process; ends it with EXIT_INVALID after printing an error."""
    from espalier import _espalier

    limit_memory(MEMORY_BYTES + 8 * len(text))
    try:
        _espalier.Module.parse(text.decode())
    except (CompileError, UnicodeDecodeError) as error:
        print(error, end="")
        sys.exit(EXIT_INVALID)
