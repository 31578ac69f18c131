"""Reads mutants of valid files: `fuzz.py [--minutes M] [--seed S] [--kept FOLDER] READER...`.

Each reader in turn gets M minutes. Prints how many mutants were read and how often
what was said; a mutant that is answered otherwise is kept, beside the reason.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
CHUNK = 500
"""Mutants of one child: what it leaks does not add up."""


@dataclass
class Result:
    """What became of mutants: how often each answer came, and what was no answer."""

    answers: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    count: int = 0


def prepare(reader: str, folder: Path, *, wide: bool) -> None:
    """Write valid files for a reader; if `wide`, of all kinds that there are."""
    from originals import MAKERS

    needed = ("script",) if reader == "choices" else ()
    for name in needed:
        (folder / name).mkdir()
        MAKERS[name](folder / name, False)
    (folder / "originals").mkdir()
    MAKERS[reader](folder / "originals", wide)


def read(reader: str, folder: Path, seed: int, count: int, result: Result) -> None:
    """Read the next mutants in child processes, one after each that went wrong."""
    last = result.count + count
    while result.count < last:
        numbers = [str(number) for number in (seed, result.count, last - result.count)]
        command = [sys.executable, str(HERE / "fuzz_worker.py"), reader, str(folder), *numbers]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        answers = [line.partition(" ")[2] for line in child.stdout.splitlines()]
        result.answers.update(answers)
        result.count += len(answers)
        if child.returncode == 0:
            continue
        kept = folder / f"fault{result.count}"
        if (folder / "input").exists():
            shutil.copy(folder / "input", kept)
        result.count += 1
        result.faults.append(f"{kept}: status {child.returncode}: {child.stderr[-6000:]}")


def processor_minutes() -> float:
    """Return how long children have computed, which a busy machine does not change."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) / 60


def fuzz(reader: str, args: argparse.Namespace) -> bool:
    """Read mutants for some minutes; return whether all were answered."""
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{reader}-", dir=args.kept))
    prepare(reader, folder, wide=True)
    result = Result()
    start, used = time.monotonic(), processor_minutes()
    while (minutes := (time.monotonic() - start) / 60) < args.minutes:
        read(reader, folder, args.seed, min(CHUNK, max(result.count, 20)), result)
    accepted = result.answers["accepted"]
    print(
        f"{reader}: seed {args.seed}, {minutes:.1f} minutes ({processor_minutes() - used:.1f} of "
        f"a processor), {result.count} mutants, {accepted} accepted, {len(result.answers)} "
        f"answers, {len(result.faults)} faults"
    )
    for answer, count in result.answers.most_common(args.answers):
        print(f"  {count} {answer}")
    for fault in result.faults:
        print(fault)
    sys.stdout.flush()
    if not result.faults:
        shutil.rmtree(folder)
    return not result.faults


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="+", metavar="READER", help="see originals.py")
    parser.add_argument("--minutes", type=float, default=1.0, help="for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=int, default=20, help="to print, the most frequent")
    parser.add_argument("--kept", type=Path, help="folder for mutants without an answer")
    args = parser.parse_args()
    if args.kept:
        args.kept.mkdir(parents=True, exist_ok=True)
    answered = [fuzz(reader, args) for reader in args.readers]
    return 0 if all(answered) else 1


if __name__ == "__main__":
    sys.exit(main())
