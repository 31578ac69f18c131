"""Change proofs in every line, and see that what they state stays proved.

    tamper.py CHECKER RULES FOLDER [SHARE]

Each line is deleted, repeated, exchanged with the next, and each number and word in
it changed. SHARE takes every n-th change. A change must be refused. There is one
exception: other steps that prove the same statement (a case that is decided at another
place, say) are a proof too; so what is accepted must state the rule, word for word,
unfold it, and have as many steps as before; or more or fewer lemmas, which are true.
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
    is_claim = False
    for number, line in enumerate(lines):
        is_claim = line.startswith(" (claims") or (is_claim and line.startswith("  "))
        before, after = "".join(lines[:number]), "".join(lines[number + 1 :])
        is_lemma = line.strip().startswith("(lemma ") and line.count("(") <= line.count(")")
        lemma = " lemma" if is_lemma or is_claim else ""
        yield "delete" + lemma, before + after
        yield "repeat" + lemma, before + line + line + after
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


def without_lemmas(steps: list[Any]) -> list[Any]:
    """Return steps without the lemmas that they name."""
    if steps[:1] == ["claims"]:
        return steps[:1]
    rest = [step for step in steps if step[:1] != ["lemma"]]
    return [without_lemmas(step) if isinstance(step, list) else step for step in rest]


def main() -> int:
    """Change proofs and have them checked; 0 if all is as it must be."""
    checker, rules, folder = sys.argv[1:4]
    share = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    counts: dict[str, int] = {}
    others = wrong = 0
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
            is_other = kind in ("word", "exchange") and len(text.split()) == len(new.split())
            if kind.endswith("lemma"):
                is_other = without_lemmas(parse(text)) == without_lemmas(parse(new))
            if is_other and get_stated(text) == get_stated(new):
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
