"""Mutants of valid files, the same for the same seed and number."""

import random
from collections.abc import Callable, Sequence

import mutate
import mutate_binary
import mutate_model
import mutate_sparse
import mutate_text

Mutate = Callable[[bytes, bytes, random.Random], bytes]
OF_BYTES = 0.15
"""The share of mutants that know nothing of what is in a file."""


STRUCTURED: dict[str, Mutate] = {
    "arrays": mutate_binary.change_archive,
    "cache": mutate_binary.change_entry,
    "encodings": mutate_sparse.change_encoding,
    "onnx": mutate_model.change,
    "partition": mutate_binary.change_partition,
    "records": mutate_binary.change_table,
    "sparse": mutate_binary.change_numbers,
    "stated": mutate_sparse.change_stated,
    "stored": mutate_sparse.change_stored,
    "times": mutate_binary.change_table,
}
"""The other files are text."""
WITH_HEADER = {"passes", "script"}
"""Files whose first line says how to read them."""


def _without_header(original: bytes, other: bytes) -> tuple[bytes, bytes, bytes]:
    header, end, rest = original.partition(b"\n")
    return header + end, rest, other.partition(b"\n")[2]


def make(reader: str, originals: Sequence[bytes], seed: int, index: int) -> bytes:
    """Return a mutant for a reader."""
    rng = random.Random(f"{reader} {seed} {index}")
    original, other = rng.choice(originals), rng.choice(originals)
    header = b""
    if reader in WITH_HEADER:
        header, original, other = _without_header(original, other)
    if rng.random() < OF_BYTES:
        return header + mutate.change_bytes(original, rng)
    return header + STRUCTURED.get(reader, mutate_text.change)(original, other, rng)
