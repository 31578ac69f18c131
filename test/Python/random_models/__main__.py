"""Judge random models by hand, and make findings smaller."""

import argparse
import pickle
import tempfile
from collections import Counter
from pathlib import Path

import onnx

from random_models.generate import Sample
from random_models.heap import preload
from random_models.minimize import minimize
from random_models.search import check_all, judge_one, load, watch


def show(sample: Sample) -> None:
    """Print a sample."""
    print(onnx.printer.to_text(sample.model()))
    for name, array in sample.inputs.items():
        print(f"{name} = {array!r}")
    for name in ("winograd", "threads", "skips", "choices", "features", "sparse", "machine"):
        print(f"{name}={getattr(sample, name)}")


def main() -> int:
    """Run the command; return 1 if there was a finding."""
    parser = argparse.ArgumentParser(prog="random_models", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of seeds")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--kind", metavar="KIND", help="an operator, 'convolutions', 'attention' or 'tokens'"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", metavar="SEED", help="print a model instead")
    parser.add_argument("--minimize", metavar="SEED", help="make a failing model smaller instead")
    parser.add_argument("--save", type=Path, metavar="FILE.pickle", help="of the smaller model")
    parser.add_argument(
        "--separate", action="store_true", help="put intermediate tensors beside guard pages"
    )
    parser.add_argument(
        "--watched", action="store_true", help="run under Valgrind, and compare with nothing"
    )
    args = parser.parse_args()
    if args.show or args.minimize:
        sample = load(args.show or args.minimize)
        assert sample is not None, "an operator that has a recipe"
        if args.minimize:
            with tempfile.TemporaryDirectory() as folder:
                sample = minimize(sample, Path(folder))
            if args.save:
                args.save.write_bytes(pickle.dumps(sample))
        show(sample)
        return 0
    if args.separate:
        with tempfile.TemporaryDirectory() as folder:
            preload(Path(folder))
            return check(args)
    return check(args)


def check(args: argparse.Namespace) -> int:
    """Judge the models of some seeds; return 1 if there was a finding."""
    counts: Counter[str] = Counter()
    prefix = f"{args.kind}:" if args.kind else ""
    seeds = [f"{prefix}{seed}" for seed in range(args.seed, args.seed + args.count)]
    one = watch if args.watched else judge_one
    for seed, verdict in check_all(seeds, args.jobs, one):
        counts[verdict.kind] += 1
        counts["ill-conditioned"] += verdict.trials
        if verdict.kind != "passed":
            print(f"{verdict.kind} {seed}: {verdict.text}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
