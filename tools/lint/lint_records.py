"""Checks what TableGen records of ops and passes must ship with."""

import json
import pathlib
import re
import subprocess
from collections.abc import Iterator

Texts = dict[pathlib.Path, str]


def load_records(root: pathlib.Path, tools: pathlib.Path, td: pathlib.Path) -> dict | str:
    """Return the records that a file leads to, or the parser's complaint."""
    includes = [root / "include", root / td.parent, tools.parent / "include"]
    command = [str(tools / "llvm-tblgen"), "--dump-json", str(root / td)]
    command += [f"-I{folder}" for folder in includes]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.returncode == 0 else run.stderr


def joined(texts: Texts, folder: pathlib.Path, pattern: str, but: str = "") -> str:
    """Return the tests below a folder whose names match, as one text."""
    return "\n".join(
        text
        for path, text in texts.items()
        if path.is_relative_to(folder) and path.match(pattern) and not (but and path.match(but))
    )


def check_op(record: dict, dialect: str, td: pathlib.Path, texts: Texts) -> Iterator[str]:
    """Check one op against its tests in test/Dialect/<Name>/."""
    op = f"{dialect}.{record['opName']}"
    tests = pathlib.Path("test") / td.relative_to("include/espalier").parents[1]
    transform = dialect == "transform"
    names = ["transform-ops*.mlir", "transform-ops-invalid*.mlir"]
    if not transform:
        names = ["ops*.mlir", "invalid*.mlir"]
    roundtrip = joined(texts, tests, names[0], but=names[1])
    invalid = joined(texts, tests, names[1])
    description = record["description"] or ""
    for field in ("summary", "description"):
        if not (record[field] or "").strip():
            yield f"{td}: {op} has no {field}"
    if "```mlir" not in description:
        yield f"{td}: {op} has no example"
    if transform and "#### Return modes" not in description:
        yield f"{td}: {op} does not say its return modes"
    if not re.search(rf"\b{re.escape(op)}(?!\w)", roundtrip):
        yield f"{tests}/{names[0]}: no test of {op}"
    class_name = record["!name"].rpartition("_")[2]
    for label in sorted(set(re.findall(r"\((C\d+)\)", description))):
        if not re.search(rf"\b{class_name}\b.*\b{label}\b", invalid):
            yield f"{tests}/{names[1]}: no case for '{class_name} {label}'"


def check_pass(record: dict, td: pathlib.Path, texts: Texts) -> Iterator[str]:
    """Check one pass; any test may use it."""
    argument = record["argument"]
    for field in ("summary", "description"):
        if not (record[field] or "").strip():
            yield f"{td}: -{argument} has no {field}"
    tests = joined(texts, pathlib.Path("test"), "*.*")
    if not re.search(rf"(?<!\w){argument}(?![\w-])", tests):
        yield f"{td}: -{argument} has no test"


def check(root: pathlib.Path, tools: pathlib.Path, texts: Texts) -> Iterator[str]:
    """Check every op and pass that a .td file under include/ defines."""
    files = [path for path in texts if path.suffix == ".td" and path.parts[0] == "include"]
    by_name = {path.name: path for path in files}
    included = set(re.findall(r'include ".*?([^/"]+)"', "".join(texts[td] for td in files)))
    seen = set()
    for td in files:
        records = load_records(root, tools, td)
        if isinstance(records, str):
            # A part of another file need not stand alone.
            if td.name not in included:
                yield f"{td}: {records.splitlines()[0]}"
            continue
        kinds = records["!instanceof"]
        for name in kinds.get("Op", []) + kinds.get("PassBase", []):
            record = records[name]
            origin = by_name.get(record["!locs"][-1].rpartition(":")[0])
            if origin is None or name in seen:
                continue
            seen.add(name)
            if "argument" in record:
                yield from check_pass(record, td, texts)
            else:
                dialect = records[record["opDialect"]["def"]]["name"]
                yield from check_op(record, dialect, origin, texts)
