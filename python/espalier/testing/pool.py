"""Running many tests in worker processes that may crash or hang."""

import multiprocessing
import multiprocessing.connection
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Worker = Callable[[str], Any]


def _serve(worker: Worker, pipe: multiprocessing.connection.Connection) -> None:
    pipe.send(None)
    while (name := pipe.recv()) is not None:
        pipe.send(worker(name))


class _Process:
    """One worker process and the test that it is at."""

    def __init__(self, worker: Worker) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([worker.__module__])
        self.pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(worker, other), daemon=True)
        self._process.start()
        other.close()
        self.current: str | None = None

    def start(self, name: str) -> None:
        self.current = name
        self.pipe.send(name)

    def end(self) -> int | None:
        """Stop the process; return its exit status if it had ended by itself."""
        self._process.join(timeout=1)
        status = self._process.exitcode
        self._process.kill()
        self._process.join()
        self.pipe.close()
        return status


def run_isolated(
    worker: Worker, names: Sequence[str], jobs: int, timeout: float
) -> Iterator[tuple[str, Any]]:
    """Yield each name with its worker's result, in the order of completion.

    The result is a string where the worker crashed or took too long.

    Arguments:
        worker: a function of an importable module, which is imported once.
        timeout: seconds without any result after which what runs is stopped.
    """
    pending = list(reversed(names))
    processes = [_Process(worker) for _ in range(min(jobs, len(names)))]
    while processes:
        ready = multiprocessing.connection.wait([p.pipe for p in processes], timeout)
        stuck = [] if ready else list(processes)
        for process in [p for p in processes if p.pipe in ready] + stuck:
            name = process.current
            try:
                if process in stuck:
                    raise TimeoutError
                result = process.pipe.recv()
            except (EOFError, ConnectionResetError, TimeoutError) as error:
                status = process.end()
                result = (
                    f"took over {timeout:.0f} s" if process in stuck else f"ended with {status}"
                )
                processes.remove(process)
                if name is None:
                    raise RuntimeError(f"a worker could not start: it {result}") from error
                if pending:
                    processes.append(_Process(worker))
            else:
                if pending:
                    process.start(pending.pop())
                else:
                    processes.remove(process)
                    process.pipe.send(None)
                    process.end()
            if name is not None:
                yield name, result
