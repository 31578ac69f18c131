"""Seeded changes of bytes that know nothing of what the bytes mean."""

import random
import struct

NUMBERS = (b"0", b"-1", b"4294967296", b"9223372036854775807", b"99999999999999999999", b"1e999")
WORDS = (b"?", b"x", b"f32", b"tensor<", b"dense<", b"(", b")", b"{", b"}", b'"', b"[" * 300, b"\0")


def _place(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def flip(data: bytearray, rng: random.Random) -> None:
    """Change some bits."""
    for _ in range(rng.randint(1, 8)):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def truncate(data: bytearray, rng: random.Random) -> None:
    """Cut the end off."""
    del data[_place(data, rng) :]


def remove(data: bytearray, rng: random.Random) -> None:
    """Remove a part."""
    start = _place(data, rng)
    del data[start : start + rng.choice((1, 4, 16, 100))]


def repeat(data: bytearray, rng: random.Random) -> None:
    """Repeat a part, perhaps often."""
    start = _place(data, rng)
    part = bytes(data[start : start + rng.choice((1, 8, 40))])
    data[start:start] = part * rng.choice((1, 2, 200))


def number(data: bytearray, rng: random.Random) -> None:
    """Replace digits, or four or eight bytes, by a number at the edge."""
    digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if digits and rng.random() < 0.7:
        start = rng.choice(digits)
        data[start : start + 1] = rng.choice(NUMBERS)
        return
    start = _place(data, rng)
    edge = rng.choice((-(2**63), -1, 0, 2**31, 2**62))
    packed = struct.pack("<q", edge)[: rng.choice((4, 8))]
    data[start : start + len(packed)] = packed


def word(data: bytearray, rng: random.Random) -> None:
    """Insert a token."""
    start = _place(data, rng)
    data[start:start] = rng.choice(WORDS)


def exchange(data: bytearray, rng: random.Random) -> None:
    """Exchange two lines."""
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    data[:] = b"\n".join(lines)


MUTATIONS = (flip, truncate, remove, repeat, number, word, exchange)


def change_bytes(original: bytes, rng: random.Random) -> bytes:
    """Return a changed copy of some bytes."""
    data = bytearray(original)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(MUTATIONS)(data, rng)
    return bytes(data)
