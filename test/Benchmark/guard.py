#!/usr/bin/env python3
"""Says which of a few rows became slower, before a policy changes for all.

Usage: guard.py [--keep] [--seconds S] [--only TEXT]

Each row runs in turns with onnxruntime on one thread. Its ratio, our time over that of
onnxruntime, is compared with the one in `guard.jsonl`, kept from an earlier run on the
same machine; --keep writes what was measured there instead, for the rows that ran. The
exit status is 1 if a row takes more than a quarter more of onnxruntime's time than it
did, or computes something else.
"""

import argparse
import json
import pathlib
import sys
from typing import Any

from bench import Case, load_cases, run_all
from machines import describe_machine
from operator_rows import operator_cases
from other_rows import OTHER_ROWS

KEPT = pathlib.Path(__file__).parent / "guard.jsonl"
MARGIN = 1.25
ROWS = [
    *("C1D1-b1", "C2D1-b1", "C2D2-b1", "C3D2-b1", "GRP1-b1", "DIL1-b1", "DEP1-b1", "T2D1-b1"),
    *("CBR2-b1", "CAP1-b1", "GMM0-b1", "NRM0-b1", "TBS0-b1"),
    *("DENSE768x768-T1-b1", "DENSE768x768-T62-b1", "BMMNT-T62-b16", "BMMNN-T62-b16"),
]
"""Of `operators`: one or two of each class, by what limits them."""
CASES = [
    *(f"operators/{row}" for row in [*ROWS, *OTHER_ROWS]),
    *(f"Networks/{name}" for name in ("mobilenet_v2", "squeezenet", "dcgan")),
]

Kept = dict[tuple[str, str], dict[str, Any]]


def guarded_cases() -> list[Case]:
    """Return the cases that are run."""
    cases = [*load_cases(toy=False), *operator_cases(OTHER_ROWS.values(), toy=False)]
    return [case | {"baselines": ["onnxruntime"]} for case in cases if case["name"] in CASES]


def load_kept() -> Kept:
    """Return the lines of earlier runs by machine and case."""
    if not KEPT.exists():
        return {}
    lines = (json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines())
    return {(line["machine"], line["case"]): line for line in lines}


def main() -> int:
    """Run the rows, and compare with those that were kept, or keep them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help=f"write {KEPT.name}")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long to time each")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows that contain TEXT")
    args = parser.parse_args()
    kept, machine = load_kept(), describe_machine()
    cases = [case for case in guarded_cases() if args.only in case["name"]]
    if not cases:
        parser.error(f"argument --only: expects part of a row's name, but got '{args.only}'")
    failed = False
    for result in run_all(cases, toy=False, seconds=args.seconds):
        if "ratio" not in result:
            continue
        key = machine["machine"], result["case"]
        before = kept.get(key)
        right = result["error"] <= 1e-4
        slower = before is not None and result["ratio"] > MARGIN * before["ratio"]
        failed |= not right or (slower and not args.keep)
        kept[key] = {name: result[name] for name in ("case", "ratio", "median_ms")} | machine
        verdict = "wrong" if not right else "slower" if slower else "new" if not before else "fine"
        earlier = f"{before['ratio']:.3f}" if before else "-"
        print(f"{result['case']:36} ratio {result['ratio']:.3f} before {earlier:5} {verdict}")
        sys.stdout.flush()
    if args.keep and not failed:
        lines = (json.dumps(line) + "\n" for _, line in sorted(kept.items()))
        KEPT.write_text("".join(lines), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
