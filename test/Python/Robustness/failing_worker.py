"""Makes system calls below a public call fail: `failing_worker.py CALL SEED COUNT`.

Of each kind, COUNT system calls fail, alone and with all that follow; of those for memory,
which are few, ten times as many.
Each attempt is printed before it is made, and what is wrong after it.
"""

import contextlib
import ctypes
import errno
import gc
import os
import random
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import public_calls
import recursive_calls
from public_calls import Call

import espalier
from espalier.models import MODELS

CALLS = public_calls.CALLS | recursive_calls.CALLS
KINDS = {
    "writing": (1, errno.ENOSPC),
    "reading": (2, errno.EIO),
    "memory": (3, errno.ENOMEM),
    "processes": (4, errno.EAGAIN),
}
"""The numbers of failing_calls.c, and what the calls fail with."""
MANY = 10
PIPES_STAY = sys.version_info < (3, 11, 4)
"""Python's subprocess left pipes open where it got no more."""


def names(folder: Path) -> set[str]:
    """Return what is in a folder."""
    return {path.name for path in folder.iterdir()}


def handles() -> set[str]:
    """Return the files that this process has open."""
    gc.collect()
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.add(f"{number}: {os.readlink(f'/proc/self/fd/{number}')}")
    ignored = ("/proc/", "pipe:") if PIPES_STAY else ("/proc/",)
    return {name for name in found if not any(text in name for text in ignored)}


def attempt(call: Call) -> str:
    """Make a call; return what is wrong with how it ends."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            call.run()
    except (espalier.EspalierError, MemoryError):
        return ""
    except BaseException:
        return traceback.format_exc()
    return ""


def sweep(folder: Path, call: Call, kind: str, rng: random.Random, count: int) -> None:
    """Let some system calls of one kind fail."""
    number, error = KINDS[kind]
    system = ctypes.CDLL(None)
    system.fail_calls.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
    system.stop_failing.restype = ctypes.c_long
    call.prepare()
    never = 1 << 40
    system.fail_calls(number, error, never, never)
    call.run()
    total = system.stop_failing()
    print(f"CALLS {total} {kind}", flush=True)
    chosen = min(MANY * count if kind == "memory" else count, total)
    for first in rng.sample(range(1, total + 1), chosen):
        for last in (first, never):
            print(f"TRY {kind} {first} to {last}", flush=True)
            call.prepare()
            before = handles()
            system.fail_calls(number, error, first, last)
            wrong = attempt(call)
            system.stop_failing()
            if others := names(folder) - call.files:
                wrong += f"left {sorted(others)}"
            if opened := handles() - before:
                wrong += f"left open {sorted(opened)}"
            with contextlib.suppress(ChildProcessError):
                wrong += f"left the process {os.waitpid(-1, os.WNOHANG)}"
            if wrong:
                print(f"FAULT {wrong}", flush=True)


if __name__ == "__main__":
    name, seed, count = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    MODELS["tiny"] = public_calls.tiny_network
    with tempfile.TemporaryDirectory() as parent:
        made = CALLS[name](Path(parent))
        # What is imported and started once.
        made.run()
        for kind in KINDS:
            sweep(Path(parent), made, kind, random.Random(int(seed)), int(count))
        made.run()
    print("END", flush=True)
