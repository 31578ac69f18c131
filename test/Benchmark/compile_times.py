"""List the CPU time that compiling takes, one JSON object per row.

The rows are those of `operators`, or networks that `--model` names: builders of
`espalier.models` or ONNX files. Only shapes matter: weights are random. `--only PREFIX`
takes some rows, `--limit S` fails if a row takes longer.
"""

import argparse
import json
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parent / "operators"))

import onnx
from operator_rows import ROWS

import espalier
from espalier import models


def load(name: str) -> onnx.ModelProto:
    """Return a row, a network of `espalier.models` or the network in a file."""
    if name in ROWS:
        return ROWS[name].model()
    return models.build(name) if name in models.MODELS else onnx.load(name)


def compile_seconds(model: onnx.ModelProto, threads: bool) -> float:
    """Return the CPU time of compiling a model, of all threads."""
    options = espalier.Options(cache=None, threads=threads)
    start = time.process_time()
    espalier.compile(model, options=options)
    return time.process_time() - start


def main() -> int:
    """Compile the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="append", default=[], metavar="NAME|FILE")
    parser.add_argument("--only", default="", metavar="PREFIX")
    parser.add_argument("--limit", type=float, default=float("inf"), metavar="S")
    args = parser.parse_args()
    slow = False
    for case in args.model or ROWS:
        if not case.startswith(args.only):
            continue
        model = load(case)
        seconds = {
            name: round(compile_seconds(model, threads), 3)
            for name, threads in (("sequential", False), ("threads", True))
        }
        slow |= max(seconds.values()) > args.limit
        print(json.dumps({"case": case, "cpu_s": seconds}), flush=True)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
