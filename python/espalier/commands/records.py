"""Merge, prune or replay what `espalier tune` keeps.

`merge` adds the trials and winners of other files; `prune` removes trials; `replay` tries
again what was fastest of a model's kernels, with all checks, and leaves the file alone.
"""

import argparse
from pathlib import Path

from espalier.commands.common import (
    add_compile_options,
    add_model_option,
    make_options,
    parse_dims,
    positive,
)
from espalier.compiler import RECORDS, default_cache
from espalier.errors import EspalierError
from espalier.records import ReplayedTrial, merge_records, prune_records, replay_records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    merge = actions.add_parser("merge", help="add what other files have")
    add_file(merge)
    merge.add_argument("others", type=Path, nargs="+", metavar="FILE")
    merge.set_defaults(action=run_merge)
    prune = actions.add_parser("prune", help="remove trials; winners stay")
    add_file(prune)
    prune.add_argument(
        "--keep", type=positive, metavar="N", help="but the N fastest of each kernel and build"
    )
    prune.add_argument("--other-builds", action="store_true", help="of other builds of Espalier")
    prune.set_defaults(action=run_prune)
    replay = actions.add_parser("replay", help="try again what was fastest")
    add_model_option(replay)
    replay.add_argument(
        "--keep", type=positive, default=8, metavar="N", help="of each kernel (%(default)d)"
    )
    add_compile_options(replay)
    replay.set_defaults(action=run_replay)


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the file that is changed."""
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="which is changed (default: in the cache)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    return args.action(args)


def run_merge(args: argparse.Namespace) -> int:
    """Merge files into one."""
    records = args.records or default_cache() / RECORDS
    for other in args.others:
        print(f"{records}: {merge_records(records, other)} new trials of {other}")
    return 0


def run_prune(args: argparse.Namespace) -> int:
    """Remove trials from a file."""
    if not args.keep and not args.other_builds:
        raise EspalierError("records prune: expects --keep, --other-builds or both, but got none")
    records = args.records or default_cache() / RECORDS
    removed = prune_records(records, other_builds=args.other_builds, keep=args.keep or 0)
    print(f"{records}: {removed} trials removed")
    return 0


def describe(trial: ReplayedTrial) -> str:
    """Return the line about a trial."""
    where = "another build" if trial.build else "this build"
    text = f"{trial.kernel} ({trial.rule}, {where}): {trial.recorded_s * 1e6:.1f} us, now "
    if trial.status != "measured":
        return f"{text}{trial.status}: {trial.error}"
    code = "the same code" if trial.same_code else "other code"
    return f"{text}{trial.seconds * 1e6:.1f} us, {code}"


def run_replay(args: argparse.Namespace) -> int:
    """Try records of a model again; 1 if one does not do what it did."""
    options = make_options(args)
    trials = replay_records(
        args.model,
        options.records or default_cache() / RECORDS,
        dims=parse_dims(args),
        keep=args.keep,
        options=options,
    )
    for trial in trials:
        print(describe(trial))
    fitting = sum(trial.status == "measured" for trial in trials)
    print(f"{len(trials)} trials, {fitting} as recorded")
    return int(fitting < len(trials))
