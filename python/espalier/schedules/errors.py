"""What a schedule refuses."""

import re

from espalier.errors import EspalierError


class ScheduleError(EspalierError):
    """A command that cannot be applied, or would change what a kernel computes."""


def replace_place(message: str, place: str) -> str:
    """Say in which line of `place` a command is, or nothing for a generated script."""
    lines = r"^script\.mlir:(\d+): "
    return re.sub(
        lines, lambda line: f"{place}{line[1]}: " if place else "", message, flags=re.MULTILINE
    )
