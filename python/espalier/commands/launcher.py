"""Whether a launcher of MPI programs started this command, several times."""

import os

from espalier.errors import EspalierError
from espalier.ranks import MpiMessenger

COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
"""In which variables launchers say how many processes there are: Open MPI, MPICH, Slurm."""


def count_launched() -> int:
    """Return of how many processes this is one."""
    counts = [os.environ.get(name, "") for name in COUNTS]
    return max((int(count) for count in counts if count.isdigit()), default=1)


def find_messenger() -> MpiMessenger | None:
    """Return how to reach the other processes; None if this one is alone."""
    count = count_launched()
    if count < 2:
        return None
    messenger = MpiMessenger()
    if messenger.size < 2:
        raise EspalierError(
            f"expects {count} ranks, as many as were started, but to MPI each is alone: start "
            "them by the MPI that mpi4py uses, as mpirun, or srun --mpi=pmix"
        )
    return messenger
