"""Seeded changes of text that mostly stays well-formed: tokens, lines and brackets."""

import random
import re
from collections.abc import Callable

# A tensor type such as 2x?xf32 is several tokens.
TOKEN = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|[%@#!^?][\w.$-]*|\d+(?:\.\d+)?(?:e[+-]?\d+)?'
    rb"|x(?=[\d?]|[fiu]\d|bf16|index)|[A-Za-z_][\w.$]*|->|[<>=!]=|\s+|.",
    re.DOTALL,
)
NUMBERS = (
    b"0",
    b"1",
    b"2",
    b"63",
    b"64",
    b"2147483647",
    b"4294967296",
    b"9223372036854775807",
    b"9223372036854775808",
    b"99999999999999999999",
    b"1e999",
    b"0.5",
)
# What may often stand for another one.
ELEMENT = re.compile(rb"[fiu]\d+|bf16")
SHAPED = (b"tensor", b"memref", b"vector")
CLOSING = {b"(": b")", b"[": b"]", b"{": b"}", b"<": b">"}
Tokens = list[bytes]


def split(text: bytes) -> Tokens:
    """Return the tokens of a text; joined, they are the text."""
    return TOKEN.findall(text)


def kind(token: bytes) -> str:
    """Return what a token may stand in for."""
    first = token[:1]
    if first.isdigit():
        return "number"
    if first.isspace():
        return "space"
    if first.isalpha() or first == b"_":
        if ELEMENT.fullmatch(token):
            return "element"
        if token in SHAPED:
            return "shaped"
        return "dotted" if b"." in token else "word"
    return first.decode("latin1") if first in b'"%@#!^?' else "mark"


def _places(tokens: Tokens, rng: random.Random) -> list[int]:
    """Return the tokens of one kind, each kind as likely as another."""
    kinds: dict[str, list[int]] = {}
    for i, token in enumerate(tokens):
        kinds.setdefault(kind(token), []).append(i)
    kinds.pop("space", None)
    return rng.choice(list(kinds.values())) if kinds else []


def _group(tokens: Tokens, rng: random.Random, opening: bytes | None = None) -> slice | None:
    """Return what lies between two brackets that belong together."""
    starts = [i for i, t in enumerate(tokens) if (t == opening if opening else t in CLOSING)]
    if not starts:
        return None
    start = rng.choice(starts)
    depth = 0
    for end in range(start, len(tokens)):
        depth += (tokens[end] == tokens[start]) - (tokens[end] == CLOSING[tokens[start]])
        if depth == 0:
            return slice(start + 1, end)
    return None


def replace(tokens: Tokens, other: Tokens, rng: random.Random) -> None:
    """Put a token of `other` in the place of one of its kind."""
    places = _places(tokens, rng)
    if not places:
        return
    place = rng.choice(places)
    same = [t for t in other if kind(t) == kind(tokens[place])]
    if same:
        tokens[place] = rng.choice(same)


def replace_here(tokens: Tokens, _other: Tokens, rng: random.Random) -> None:
    """Repeat a token in the place of one of its kind."""
    replace(tokens, tokens, rng)


def number(tokens: Tokens, _other: Tokens, rng: random.Random) -> None:
    """Put another number in the place of one."""
    numbers = [i for i, token in enumerate(tokens) if kind(token) in ("number", "?")]
    if numbers:
        place = rng.choice(numbers)
        near = [b"%d" % (int(tokens[place]) + d) for d in (-1, 1, 2) if tokens[place].isdigit()]
        tokens[place] = rng.choice((*NUMBERS, *near * 4))


def sign(tokens: Tokens, _other: Tokens, rng: random.Random) -> None:
    """Negate a number."""
    numbers = [i for i, token in enumerate(tokens) if kind(token) == "number"]
    if numbers:
        tokens.insert(rng.choice(numbers), b"-")


def remove(tokens: Tokens, _other: Tokens, rng: random.Random) -> None:
    """Remove a token."""
    places = _places(tokens, rng)
    if places:
        del tokens[rng.choice(places)]


def repeat(tokens: Tokens, _other: Tokens, rng: random.Random) -> None:
    """Repeat a token, perhaps after a comma."""
    places = _places(tokens, rng)
    if places:
        place = rng.choice(places)
        tokens[place:place] = [tokens[place], rng.choice((b" ", b", "))]


def lines(tokens: Tokens, other: Tokens, rng: random.Random) -> None:
    """Move, repeat, remove, or take in a line."""
    mine, others = b"".join(tokens).split(b"\n"), b"".join(other).split(b"\n")
    place, target = rng.randrange(len(mine)), rng.randrange(len(mine))
    action = rng.choice(("move", "repeat", "remove", "take"))
    line = rng.choice(others) if action == "take" else mine[place]
    if action in ("move", "remove"):
        del mine[place]
    if action != "remove":
        mine.insert(target, line)
    tokens[:] = split(b"\n".join(mine))


def group(tokens: Tokens, other: Tokens, rng: random.Random) -> None:
    """Put what other brackets hold between brackets."""
    place = _group(tokens, rng)
    if place is not None:
        source = rng.choice((tokens, other))
        taken = _group(source, rng, tokens[place.start - 1])
        tokens[place] = source[taken] if taken else []


def nest(tokens: Tokens, _other: Tokens, rng: random.Random) -> None:
    """Empty brackets, or put more around what they hold."""
    place = _group(tokens, rng)
    if place is not None:
        opening = tokens[place.start - 1]
        count = rng.choice((0, 1, 1, 300))
        inner = tokens[place] if count else []
        tokens[place] = [opening] * count + inner + [CLOSING[opening]] * count


MUTATIONS: tuple[Callable[[Tokens, Tokens, random.Random], None], ...] = (
    *(replace, replace_here, number) * 4,
    *(lines, group) * 2,
    *(sign, remove, repeat, nest),
)


def change(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a changed copy of a text, with parts of another."""
    tokens, others = split(original), split(other)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(MUTATIONS)(tokens, others, rng)
    return b"".join(tokens)
