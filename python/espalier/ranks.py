"""Searches of several processes: one chooses candidates, the others measure them."""

from __future__ import annotations

import atexit
import contextlib
import sys
import time
from types import TracebackType
from typing import Any, Protocol

from espalier import _espalier
from espalier.compiler import Options, given_options
from espalier.errors import EspalierError

POLL_S = 0.002
"""How often a rank looks for messages; MPI's own waiting would take a core."""
END_S = 10.0
"""How long rank 0 waits for others to end."""


class Messenger(Protocol):
    """What a search needs of message passing between the ranks of a program.

    Rank 0 searches, and the others measure for it.
    """

    @property
    def size(self) -> int:
        """The number of ranks, this one among them."""
        ...

    def send(self, rank: int, message: bytes) -> None:
        """Send a message to a rank, without waiting for it.

        Messages to one rank arrive in their order, or are lost if it is.
        """
        ...

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Return a rank and its next message; None if there is none within `seconds`."""
        ...


class MpiMessenger:
    """The ranks of an MPI program, by the package `mpi4py`.

    As a context, it ends what the others do for rank 0, and the program with it if some
    do not answer: MPI would wait for them.

    Example:
        >>> with MpiMessenger() as messenger:
        ...     if messenger.rank == 0:
        ...         espalier.tune("model.onnx", messenger=messenger)
        ...     else:
        ...         measure_for_ranks(messenger)
    """

    def __init__(self) -> None:
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            raise EspalierError(
                "expects MPI and the package mpi4py (pip install mpi4py) to search with several "
                f"ranks, but got: {error}"
            ) from error
        if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
            raise EspalierError("expects an MPI that any thread may call, but got one without")
        self._mpi = MPI
        self._world = MPI.COMM_WORLD
        self.rank: int = self._world.Get_rank()
        self.size: int = self._world.Get_size()
        # What MPI may still read.
        self._sent: list[tuple[Any, bytes]] = []

    def send(self, rank: int, message: bytes) -> None:
        """Send a message to a rank."""
        # One that is gone says nothing, which is how it is noticed.
        with contextlib.suppress(self._mpi.Exception):
            self._sent = [one for one in self._sent if not one[0].Test()]
            request = self._world.Isend([message, self._mpi.BYTE], dest=rank)
            self._sent.append((request, message))

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Return a rank and its next message; None if there is none within `seconds`."""
        end = time.monotonic() + seconds
        status = self._mpi.Status()
        while not self._world.Iprobe(status=status):
            if time.monotonic() >= end:
                return None
            time.sleep(POLL_S)
        message = bytearray(status.Get_count(self._mpi.BYTE))
        source, tag = status.Get_source(), status.Get_tag()
        self._world.Recv([message, self._mpi.BYTE], source=source, tag=tag)
        return source, bytes(message)

    def __enter__(self) -> MpiMessenger:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        others = {*range(1, self.size)} if self.rank == 0 else {0}
        for rank in others:
            self.send(rank, b"")
        end = time.monotonic() + END_S
        while self.rank == 0 and others and time.monotonic() < end:
            received = self.receive(0.1)
            if received and not received[1]:
                others.discard(received[0])
        # MPI would wait for those that are lost.
        if self.rank == 0 and others:
            atexit.register(self._abort, 0 if error is None else 1)

    def _abort(self, status: int) -> None:
        """End all ranks, also those that do not answer."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._world.Abort(status)


def measure_for_ranks(messenger: Messenger, options: Options | None = None) -> None:
    """Measure the candidates that rank 0 sends, which calls `espalier.tune`.

    It ends once rank 0 sends an empty message.

    Arguments:
        messenger: how to reach rank 0.
        options: those of rank 0; with others, or on another kind of machine, rank 0
            does without this one.

    Example:
        >>> with MpiMessenger() as messenger:
        ...     measure_for_ranks(messenger)
    """
    _espalier.measure_for_ranks(_espalier.Module(), given_options(options).native(), messenger)
