"""Seeded changes of archives, tables and sealed files, whose checks of themselves still pass."""

import contextlib
import ctypes
import functools
import io
import json
import random
import sqlite3
import struct
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import mutate_text
import numpy as np
from mutate import change_bytes
from mutate_text import change as change_text

from espalier import _espalier  # noqa: F401  (loads LLVM, whose hash we use)

EDGES = (-(2**63), -(2**31), -1, 0, 1, 2, 3, 5, 7, 2**31 - 1, 2**31, 2**62)


@functools.cache
def _hash() -> "ctypes._NamedFuncPointer":
    library = ctypes.CDLL("libLLVM.so.22.1")
    function = library._ZN4llvm11xxh3_64bitsENS_8ArrayRefIhEE
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    function.restype = ctypes.c_uint64
    return function


def checksum(data: bytes) -> int:
    """Return what our files have as the checksum of some bytes."""
    return _hash()(data, len(data))


# --- Entries of the cache

HEADER = struct.Struct("<8sQQQ")
PART = struct.Struct("<QQQ")
PAGE = 4096


def unpack_entry(data: bytes) -> tuple[int, list[bytes]]:
    """Return the version and the parts of an entry of the cache."""
    _, version, count, _ = HEADER.unpack_from(data)
    table = [PART.unpack_from(data, HEADER.size + i * PART.size) for i in range(count)]
    return version, [data[offset : offset + size] for offset, size, _ in table]


def pack_entry(version: int, parts: Sequence[bytes]) -> bytes:
    """Return an entry of the cache whose checksums are right."""
    table, body = b"", b""
    start = HEADER.size + len(parts) * PART.size
    for part in parts:
        body += bytes(-(start + len(body)) % PAGE)
        table += PART.pack(start + len(body), len(part), checksum(part))
        body += part
    return HEADER.pack(b"ESPALIER", version, len(parts), checksum(table)) + table + body


def change_entry(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return an entry of the cache with other facts, parts, or a table of others.

    Code and constants stay as they are: who can write a checksum can write code.
    """
    version, parts = unpack_entry(original)
    match rng.choice(("facts", "facts", "fact", "objects", "remove", "table", "version")):
        case "facts":
            parts[0] = change_text(parts[0], parts[0], rng)
        case "fact":
            facts = json.loads(parts[0])
            name = rng.choice(list(facts))
            others = [None, 0, -1, 2**63, 1e300, "", "x\0y", "\ud800", [], {}, facts["header"]]
            facts[name] = rng.choice(others)
            parts[0] = json.dumps(facts).encode()
        case "objects":
            # Before the first section: the object's own table.
            place = rng.randrange(2, len(parts))
            cut = rng.choice((0, 1, 16, 63, 64, 100))
            parts[place] = rng.choice((b"", parts[place][:cut], bytes(64), b"\x7fELF" * 40))
        case "remove":
            del parts[rng.randrange(len(parts))]
        case "table":
            return _change_table(pack_entry(version, parts), len(parts), rng)
        case "version":
            version = rng.choice((0, 1, 3, 2**64 - 1))
    return pack_entry(version, parts)


def _change_table(data: bytes, count: int, rng: random.Random) -> bytes:
    """Change numbers of the table of parts; its checksum is right."""
    result = bytearray(data)
    end = HEADER.size + count * PART.size
    for _ in range(rng.randint(1, 3)):
        place = HEADER.size + 8 * rng.randrange(3 * count)
        edges = (2**64 - 1, 2**63, 2**64 - PAGE, len(data), len(data) - 1, 0, PAGE, 1)
        struct.pack_into("<Q", result, place, rng.choice(edges))
    struct.pack_into("<Q", result, HEADER.size - 8, checksum(bytes(result[HEADER.size : end])))
    return bytes(result)


# --- Partitions of espalier-rules


def change_partition(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a partition with other numbers, and the hash of them."""
    line, _, numbers = original[:-8].partition(b"\n")
    words = np.frombuffer(numbers, np.uint64).copy()
    for _ in range(rng.randint(1, 3)):
        # The counts come first, and matter more.
        place = rng.randrange(rng.choice((8, len(words))))
        words[place] = np.int64(rng.choice(EDGES)).astype(np.uint64)
    if rng.random() < 0.3:
        words = words[: rng.randrange(len(words))]
    content = line + b"\n" + words.tobytes()
    return content + struct.pack("<Q", checksum(content))


# --- Archives of arrays


def change_archive(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return an archive of arrays with other headers, data, names or packing."""
    with zipfile.ZipFile(io.BytesIO(original)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place = rng.randrange(len(members))
    name, data = members[place]
    match rng.choice(("header", "header", "data", "bytes", "name", "repeat", "nest")):
        case "header":
            # An .npy file: 10 bytes, then a dictionary as text, then the data.
            end = 10 + struct.unpack_from("<H", data, 8)[0]
            header = data[10:end].rstrip()
            text = change_text(header, header, rng)
            members[place] = name, data[:8] + struct.pack("<H", len(text)) + text + data[end:]
        case "data":
            members[place] = name, data[: rng.randrange(len(data))]
        case "bytes":
            members[place] = name, change_bytes(data, rng)
        case "name":
            names = ("../x.npy", "x", "x" * 300, "a\0.npy", "\u00fc.npy", "-0.npy")
            members[place] = rng.choice(names), data
        case "repeat":
            members += members * rng.choice((1, 50))
        case "nest":
            members[place] = name, other
    result = io.BytesIO()
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(result, "w", packing) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return result.getvalue()


# --- Tables

STATEMENTS = (
    "UPDATE {table} SET {column} = {value}",
    "UPDATE {table} SET {column} = {value}",
    "UPDATE {table} SET {column} = {value}",
    "UPDATE {table} SET {column} = {value} || {column}",
    "DELETE FROM {table}",
    "DROP TABLE {table}",
    "ALTER TABLE {table} RENAME TO other",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other",
    "ALTER TABLE {table} ADD COLUMN other DEFAULT {value}",
    "CREATE TABLE other AS SELECT * FROM {table}",
    "CREATE INDEX i ON {table} ({column})",
    "CREATE TRIGGER t BEFORE INSERT ON {table} BEGIN SELECT RAISE(FAIL, 'no'); END",
    "DROP TABLE {table}; CREATE TABLE {table} ({columns})",
    "DROP TABLE {table}; CREATE VIEW {table} AS WITH RECURSIVE r({columns}) AS "
    "(SELECT {zeros} UNION ALL SELECT {columns} FROM r) SELECT * FROM r",
    "PRAGMA user_version = {value}",
    "PRAGMA application_id = {value}",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA page_size = 512; VACUUM",
)
VALUES = ("0", "-1", "1e308", "9e999", "''", "'x'", "x'00ff'", "zeroblob(3000000)", "2147483647")


def _change_rows(table: sqlite3.Connection, rng: random.Random) -> None:
    """Run a statement on one of the tables, or change one of the scripts in it."""
    names = [row[0] for row in table.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    name = rng.choice(names)
    columns = [row[1] for row in table.execute(f"PRAGMA table_info({name})")]
    if "script" in columns and rng.random() < 0.5:
        rows = table.execute(f"SELECT DISTINCT script FROM {name}").fetchall()
        script = str(rng.choice(rows)[0])
        changed = mutate_text.change(script.encode(), script.encode(), rng)
        text = changed.decode(errors="replace")
        table.execute(f"UPDATE {name} SET script = ? WHERE script = ?", (text, script))
        return
    statement = rng.choice(STATEMENTS).format(
        table=name,
        column=rng.choice(columns),
        columns=", ".join(columns),
        zeros=", ".join("0" for _ in columns),
        value=rng.choice(VALUES),
    )
    table.executescript(statement)


def change_table(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return tables with other rows or another scheme."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        path.write_bytes(original)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as table:
            # A view may be without end.
            table.set_progress_handler(lambda: 1, 1_000_000)
            for _ in range(rng.choice((1, 1, 2))):
                # What one statement removed, another may miss.
                with contextlib.suppress(sqlite3.Error, IndexError):
                    _change_rows(table, rng)
            with contextlib.suppress(sqlite3.Error):
                table.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return path.read_bytes()


# --- Arrays of numbers


def change_numbers(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return numbers of 32 bits with others among them."""
    numbers = list(np.frombuffer(original, np.int32))
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(numbers))
        numbers[place] = rng.choice((*(e for e in EDGES if -(2**31) <= e < 2**31), numbers[-1]))
        if rng.random() < 0.2:
            del numbers[place]
        elif rng.random() < 0.2:
            numbers.insert(place, rng.choice(numbers))
        if not numbers:
            break
    return np.array(numbers, np.int32).tobytes()
