"""Tune networks, and compare what was found with the default schedules and peers.

They are those of `Networks/cases.toml`, whose sizes they have, and ONNX files, such as
`exported/export.py` writes. Each line is as `tuned.py` says.
"""

import argparse
import json
import sys
import tomllib
from pathlib import Path

import onnx
from tuned import add_arguments, has_wrong, summarize, tune_and_compare

from espalier import models

CASES = Path(__file__).parent / "Networks" / "cases.toml"
NAMES = ("resnet50", "mobilenet_v2", "bert_base", "dcgan")


def load(name: str, batch: int, toy: bool) -> onnx.ModelProto:
    """Return a network of the cases, or that of a file."""
    if name.endswith(".onnx"):
        return onnx.load(name)
    cases = {c["name"]: c for c in tomllib.loads(CASES.read_text(encoding="utf-8"))["case"]}
    if name not in cases:
        expected = ", ".join(sorted(cases))
        sys.exit(f"expects an ONNX file or one of {expected}, but got '{name}'")
    case = cases[name]
    return models.build(case["model"], batch=batch, **case["toy" if toy else "sizes"])


def main() -> int:
    """Run networks: four, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=NAMES, metavar="NETWORK|FILE.onnx")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--toy", action="store_true", help="small ones, to see that it runs")
    add_arguments(parser)
    parser.set_defaults(trials=1000, budget=1800)
    args = parser.parse_args()
    lines = []
    for name in args.networks:
        model = load(name, args.batch, args.toy)
        case = f"{Path(name).stem}-b{args.batch}"
        lines.append(tune_and_compare(case, model, args))
        print(json.dumps(lines[-1]), flush=True)
    print(json.dumps(summarize(lines)))
    return int(has_wrong(lines))


if __name__ == "__main__":
    sys.exit(main())
