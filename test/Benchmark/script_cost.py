"""Measure what a script of 20 scheduling commands costs, as one JSON object.

The kernel is a convolution of symbolic sizes. `script_ms` is the thread CPU time of
replaying the script, which is checked once; `commands_ms` of the same commands one by
one, `last_ms` of the last of them. `--limit R` fails if the script takes more than R
times as long as its last command.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable

from espalier.kernels import f32, kernel, label, sizes
from espalier.schedules import Schedule

N, F, C, H, W = sizes("N F C H W")


@kernel
def conv(x: f32[N, C, H + 2, W + 2], w: f32[F, C, 3, 3], b: f32[F], y: f32[N, F, H, W]) -> None:
    """Write a convolution with windows of 3 x 3."""
    for n in range(N):
        for f in range(F):
            for h in range(H):
                for v in range(W):
                    label("init")
                    y[n, f, h, v] = b[f]
                    for c in range(C):
                        for r in range(3):
                            for s in range(3):
                                label("acc")
                                y[n, f, h, v] += x[n, c, h + r, v + s] * w[f, c, r, s]


COMMANDS: list[Callable[[Schedule], object]] = [
    lambda s: s.fission("init", "n"),
    lambda s: s.interchange("acc", ["n", "h", "f", "v"]),
    lambda s: s.split("acc", "f", [16]),
    lambda s: s.split("acc", "v", [14]),
    lambda s: s.split("acc", "c", [32]),
    lambda s: s.interchange("acc", ["n", "c.0", "f.0", "h", "v.0", "c.1", "r", "s", "v.1", "f.1"]),
    lambda s: s.vectorize("acc", "f.1", 16),
    lambda s: s.unroll("acc", "v.1"),
    lambda s: s.unroll("acc", "s"),
    lambda s: s.split("acc", "h", [4]),
    lambda s: s.interchange("acc", ["h.0", "f.0", "h.1"]),
    lambda s: s.parallelize("acc", "n"),
    lambda s: s.split("init", "f", [16]),
    lambda s: s.interchange("init", ["f.0", "h", "v", "f.1"]),
    lambda s: s.vectorize("init", "f.1", 16),
    lambda s: s.parallelize("init", "n"),
    lambda s: s.split("init", "h", [4]),
    lambda s: s.split("init", "v", [14]),
    lambda s: s.unroll("init", "v.1"),
    lambda s: s.unroll("acc", "r"),
]


def measure(run: Callable[..., object], *args: object) -> float:
    """Return the milliseconds of a call."""
    start = time.thread_time()
    run(*args)
    return 1e3 * (time.thread_time() - start)


def main() -> int:
    """Measure; return 1 if the script takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--limit", type=float, default=float("inf"), metavar="R")
    args = parser.parse_args()
    times: dict[str, list[float]] = {"script_ms": [], "commands_ms": [], "last_ms": []}
    for _ in range(args.repeats):
        one_by_one, script = Schedule(conv), Schedule(conv)
        each = [measure(command, one_by_one) for command in COMMANDS]
        times["script_ms"].append(measure(script.replay, str(one_by_one)))
        times["commands_ms"].append(sum(each))
        times["last_ms"].append(each[-1])
        if script.loops() != one_by_one.loops():
            raise AssertionError("expects the same loops of the script and of its commands")
    medians = {name: round(statistics.median(values), 2) for name, values in times.items()}
    ratio = round(medians["script_ms"] / medians["last_ms"], 2)
    line = {"commands": len(COMMANDS), **medians, "script_over_last": ratio}
    print(json.dumps(line), flush=True)
    return int(ratio > args.limit)


if __name__ == "__main__":
    sys.exit(main())
