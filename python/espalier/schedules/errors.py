"""What a schedule refuses."""

from espalier.errors import EspalierError


class ScheduleError(EspalierError):
    """A command that cannot be applied, or would change what a kernel computes."""
