"""Every refusal of a command has a test that quotes it."""

import pathlib
import re
from collections.abc import Iterator

Texts = dict[pathlib.Path, str]

COMMANDS = [pathlib.Path("lib/Dialect/Poly", folder) for folder in ("Transforms", "TransformOps")]
REFUSAL = re.compile(r"\b(?:refuse|fail|fault|createStringError|emit\w*(?:Error|Failure))\(")
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
STATEMENT = re.compile(rf'(?:{LITERAL}|[^";])*')
BETWEEN = ".{0,120}?"
WORDS = re.compile(rf"(?:{LITERAL}\s*)+")


def squeeze(text: str) -> str:
    """Drop what differs between a text and a quotation of it: blanks and quotes."""
    return re.sub(r'[\s"\\]+', "", text)


def refusals(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line of each refusal, and what is always in it, in order."""
    for start in REFUSAL.finditer(text):
        statement = STATEMENT.match(text, start.end())
        assert statement
        words = [
            squeeze(found[0])
            for found in WORDS.finditer(statement[0])
            # One of two texts.
            if not statement[0][: found.start()].rstrip().endswith(("?", ":"))
        ]
        if any(words):
            yield text.count("\n", 0, start.start()) + 1, words


def check(texts: Texts) -> Iterator[str]:
    """Find refusals that no test meets."""
    tests = squeeze("\n".join(text for path, text in texts.items() if path.parts[0] == "test"))
    for path, text in texts.items():
        if any(map(path.is_relative_to, COMMANDS)) and path.suffix == ".cpp":
            for line, words in refusals(text):
                if not re.search(BETWEEN.join(map(re.escape, words)), tests):
                    yield f"{path}:{line}: no test quotes this refusal"
