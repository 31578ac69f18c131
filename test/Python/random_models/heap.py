"""Intermediate tensors beside memory that nobody may touch.

In a process that was started with `preload`, each is an allocation of its own, and
`guarded_heap` puts it beside a page that ends the process.
"""

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from espalier.testing.guarded import SIDES, Side

SOURCE = Path(__file__).with_name("guarded_heap.c")


def preload(folder: Path) -> None:
    """Let processes that this one starts have such a heap; its library is in `folder`."""
    library = folder / "guarded_heap.so"
    command = ["cc", "-O1", "-fno-builtin", "-shared", "-fPIC", str(SOURCE), "-o", str(library)]
    subprocess.run(command, check=True)
    os.environ["LD_PRELOAD"] = str(library)


def is_guarded() -> bool:
    """Say whether this process has such a heap."""
    return hasattr(ctypes.CDLL(None), "guard_heap")


@contextlib.contextmanager
def guarded_heap(side: Side) -> Iterator[None]:
    """Guard what is allocated, if this process has such a heap."""
    if not is_guarded():
        yield
        return
    guard_heap = ctypes.CDLL(None).guard_heap
    guard_heap(1 + SIDES.index(side))
    try:
        yield
    finally:
        guard_heap(0)
