"""Change proofs in every line, and see that what they state stays proved.

    tamper.py CHECKER RULES FOLDER SOURCES [SHARE]

Each line is deleted, repeated, exchanged with the next, and each number and word in
it changed. SHARE takes every n-th change. A change must be refused. There is one
exception: other steps that prove the same statement (a case that is decided at another
place, say) are a proof too; so what is accepted must state the rule, word for word,
unfold it, and have the same steps but for the word that was changed. Only lemmas, and
changes of sizes, each of which says what is true by itself, may be more or fewer.

Each word that the checker's SOURCES compare with must be in some proof.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any


def change(text: str) -> Iterator[tuple[str, str]]:
    """Yield kinds of changes, and the changed texts."""
    lines = text.splitlines(keepends=True)
    yield "header", lines[0]
    yield "command", "(assert false)\n" + text
    yield "command", text.replace("(choose", "(assert false) (choose", 1)
    for number, line in enumerate(lines):
        before, after = "".join(lines[:number]), "".join(lines[number + 1 :])
        yield "delete", before + after
        yield "repeat", before + line + line + after
        if number + 1 < len(lines):
            rest = "".join(lines[number + 2 :])
            yield "exchange", before + lines[number + 1] + line + rest
        for word in re.finditer(r"[^\s()]+", line):
            old = word.group()
            new = str(int(old) + 1) if re.fullmatch(r"-?\d+", old) else old + "x"
            start, end = word.span()
            yield "word", before + line[:start] + new + line[end:] + after


def parse(text: str) -> list[Any]:
    """Return the nested lists that a proof is, without its first lines."""
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    (top,) = stack
    return top


def get_stated(text: str) -> tuple[str, list[Any]]:
    """Return the statement, and for each case its ranks and what outputs unfold to."""
    statement, at, steps = text.partition("(at")
    cases = parse(at + steps)
    outputs = [[part[:3] for part in case if part[0] == "output"] for case in cases]
    return statement, [[case[1] for case in cases if case != "end"], outputs]


def without_truths(steps: list[Any]) -> list[Any]:
    """Return steps without lemmas and changes of sizes, which are true by themselves."""
    if steps[:1] == ["claims"]:
        return steps[:1]
    if steps[:1] == ["sizes"]:
        steps = [steps[0], *steps[2:]]
    return [without_truths(step) if isinstance(step, list) else step for step in steps]


def is_other(kind: str, text: str, new: str) -> bool:
    """Return whether a changed proof that is accepted is one of the same statement."""
    if kind in ("header", "command") or get_stated(text) != get_stated(new):
        return False
    if kind in ("word", "exchange"):
        return len(text.split()) == len(new.split())
    return without_truths(parse(text)) == without_truths(parse(new))


def list_read(sources: list[str]) -> set[tuple[str, str]]:
    """Return the words that the checker compares lists with, and where they stand."""
    places = {"checkDemand": "demand", "changeSizes": "size", "getLemma": "lemma"}
    result = set()
    for source in sources:
        function = ""
        for line in pathlib.Path(source).read_text().splitlines():
            if name := re.match(r"\S.*::(\w+)\(", line):
                function = name.group(1)
            for word in re.findall(r"\.is\(\"(\w+)\"\)", line):
                result.add((places.get(function, "step"), word))
    return result


def list_written(steps: list[Any], place: str = "step") -> set[tuple[str, str]]:
    """Return the words with which lists begin, and where they stand."""
    result = set()
    head = steps[0] if steps and isinstance(steps[0], str) else ""
    result.add((place, head))
    for number, step in enumerate(steps):
        inner = "step"
        if head == "met" or (head, number) == ("cancel", 5) or (head, place) == ("case", "demand"):
            inner = "demand"
        elif (head, number) == ("sizes", 1) or (head, place) == ("", "size"):
            inner = "size"
        elif head in ("claims", "lemma"):
            inner = "lemma"
        if isinstance(step, list):
            result |= list_written(step, inner)
    return result


def main() -> int:
    """Change proofs and have them checked; 0 if all is as it must be."""
    checker, rules, folder, sources = sys.argv[1:5]
    share = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    counts: dict[str, int] = {}
    others = wrong = 0
    unseen = list_read(sources.split(","))
    for path in pathlib.Path(folder).glob("*.proof"):
        _, at, steps = path.read_text().partition("(at")
        unseen -= list_written(parse(at + steps))
    if unseen:
        print(f"expected proofs with each kind of step, but got none with {sorted(unseen)}")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        changed: dict[str, tuple[str, str, str]] = {}
        for path in sorted(pathlib.Path(folder).glob("*.proof")):
            text = path.read_text()
            for number, (kind, new) in enumerate(change(text)):
                if (number > 2 and number % share) or new.split() == text.split():
                    continue
                name = f"{path.stem}-{number}"
                changed[name] = kind, text, new
                (pathlib.Path(scratch) / f"{name}.proof").write_text(new)
        command = [checker, f"--rules={rules}", scratch]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        refused = set(re.findall(r"([^/\n]+)\.proof: not checked", result.stdout))
        seen = re.findall(r"^(\d+) proofs: \d+ checked, (\d+) not", result.stdout, re.MULTILINE)
        if seen != [(str(len(changed)), str(len(refused)))]:
            print(f"expected a verdict on each of {len(changed)} proofs, but got {seen}")
            return 1
        for name, (kind, text, new) in changed.items():
            counts[kind] = counts.get(kind, 0) + 1
            if name in refused:
                continue
            if is_other(kind, text, new):
                others += 1
                continue
            wrong += 1
            print(f"accepted: {name} ({kind})")
    total = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    print(f"{sum(counts.values())} changes: {total}")
    print(f"{others} other proofs of the same statement, {wrong} wrong")
    return int(wrong != 0 or not counts)


if __name__ == "__main__":
    sys.exit(main())
