"""Ctrl-C while the package is imported for the command; imported before all else.

Python imports the package to find the module that `-m` names, so that the command's own
handler comes a second late.
"""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    """End the process, in which nothing has begun."""
    os.write(2, b"espalier: interrupted\n")
    os._exit(128 + signal.SIGINT)


def _is_command() -> bool:
    """Say whether Python looks for the module of `python -m espalier`."""
    given = sys.orig_argv
    return sys.argv[:1] == ["-m"] and "-m" in given and given[given.index("-m") + 1] == "espalier"


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
