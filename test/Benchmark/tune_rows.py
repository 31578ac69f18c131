"""Tune rows of operators, and compare what was found with the default schedule and peers.

Each line is as `tuned.py` says; the last one has geometric means. Times of one thread are
CPU times. Outputs are compared with onnxruntime's.
"""

import argparse
import json
import sys

from operators.operator_rows import ROWS
from tuned import add_arguments, has_wrong, summarize, tune_and_compare

NAMES = (
    "GMM1-b1",
    "DENSE768x768-T62-b1",
    "C1D1-b1",
    "C2D1-b1",
    "DEP2-b1",
    "GRP2-b1",
    "T2D1-b1",
    "CAP2-b1",
    "NRM1-b1",
    "TBS0-b1",
)
"""One of each of ten classes."""


def main() -> int:
    """Run rows: ten, all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", default=NAMES, metavar="ROW")
    parser.add_argument("--all", action="store_true", help="every row")
    add_arguments(parser)
    args = parser.parse_args()
    if unknown := set(args.rows) - set(ROWS):
        parser.error(f"expects rows such as {NAMES[0]}, but got '{min(unknown)}'")
    lines = []
    for name in ROWS if args.all else args.rows:
        lines.append(tune_and_compare(name, ROWS[name].model(), args))
        print(json.dumps(lines[-1]), flush=True)
    print(json.dumps(summarize(lines)))
    return int(has_wrong(lines))


if __name__ == "__main__":
    sys.exit(main())
