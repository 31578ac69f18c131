"""List the CPU time that compiling single operators takes, one JSON object per row.

The rows are those of `operators`. Only shapes matter: weights are random. `--only
PREFIX` takes some rows, `--limit S` fails if a row takes longer.
"""

import argparse
import json
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parent / "operators"))

from operator_rows import ROWS, Row

import espalier


def compile_seconds(row: Row, threads: bool) -> float:
    """Return the CPU time of compiling a row, of all threads."""
    model = row.model()
    options = espalier.Options(cache=None, threads=threads)
    start = time.process_time()
    espalier.compile(model, options=options)
    return time.process_time() - start


def main() -> int:
    """Compile the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="PREFIX")
    parser.add_argument("--limit", type=float, default=float("inf"), metavar="S")
    args = parser.parse_args()
    slow = False
    for row in ROWS.values():
        if not row.name.startswith(args.only):
            continue
        seconds = {
            name: round(compile_seconds(row, threads), 3)
            for name, threads in (("sequential", False), ("threads", True))
        }
        slow |= max(seconds.values()) > args.limit
        print(json.dumps({"case": row.name, "cpu_s": seconds}), flush=True)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
