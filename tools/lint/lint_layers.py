"""Checks that libraries depend downwards only.

Both statements of a dependence count: `#include "espalier/..."` in a source of
a folder, and a library `Espalier<Folder>` in a CMakeLists.txt.
"""

import pathlib
import re
from collections.abc import Iterator

# From the bottom up; a folder may use its own layer and those below.
LAYERS = [
    ["Support"],
    ["Definition"],
    ["Polyhedral"],
    ["Dialect"],
    ["Interpreter", "Conversion", "Proof", "Substitution"],
    ["Pipeline"],
    ["ExecutionEngine"],
    ["Measurement"],
    ["Optimize", "Tuning"],
    ["CAPI"],
]
RANKS = {folder: rank for rank, folders in enumerate(LAYERS) for folder in folders}
# Compiled programs link this one, so it knows nothing of the compiler.
RUNTIME = "Runtime"
DIALECT_LIBRARY = re.compile(r"(Graph|Poly|Rec)(Transforms|TransformOps|Analysis)?")
FORBIDDEN = {
    r'#include "(?:espalier|mlir)/InitAll': "includes InitAll, which is for tools",
    r"\bcl::(?:opt|list)\b": "declares a command-line option",
    r"\bgetenv\(": "reads the environment",
}


def folder_of(path: pathlib.Path) -> str | None:
    """Return the library folder of a file under lib/ or include/espalier/."""
    for parent in ("lib", "include/espalier"):
        if path.is_relative_to(parent):
            parts = path.relative_to(parent).parts
            return parts[0] if len(parts) > 1 else None
    return None


def rank_of(folder: str, parts: tuple[str, ...]) -> int | None:
    """Return the height of a folder's layer.

    A dialect's transformations lie beside the conversions, above its operations.
    """
    if folder == "Dialect" and len(parts) > 1 and parts[1] != "IR":
        return RANKS["Conversion"]
    return RANKS.get(folder)


def used_folders(path: pathlib.Path, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what the file uses, as spelt, with the parts of its folder."""
    if path.name == "CMakeLists.txt":
        for name in re.findall(r"\bEspalier([A-Z]\w+)\b", text):
            folder = next((f for f in [*RANKS, RUNTIME] if name.startswith(f)), None)
            if folder:
                yield f"Espalier{name}", (folder,)
            elif match := DIALECT_LIBRARY.fullmatch(name):
                yield f"Espalier{name}", ("Dialect", match[1], match[2] or "IR")
            elif "To" in name:
                yield f"Espalier{name}", ("Conversion", name)
        return
    for include in re.findall(r'#include "espalier/([^"]+)"', text):
        yield include, pathlib.PurePath(include).parts[:-1]


def check(path: pathlib.Path, text: str) -> Iterator[str]:
    """Check one file against the layers."""
    folder = folder_of(path)
    if folder is None:
        return
    if path.parts[0] == "lib" and path.suffix == ".cpp":
        for pattern, message in FORBIDDEN.items():
            if re.search(pattern, text):
                yield f"{path}: {message}"
    base = pathlib.PurePath("lib" if path.parts[0] == "lib" else "include/espalier")
    rank = rank_of(folder, path.relative_to(base).parts[1:])
    for spelling, parts in used_folders(path, text):
        if not parts or parts[0] == folder == RUNTIME:
            continue
        used = rank_of(parts[0], parts[1:])
        if folder == RUNTIME or (None not in (rank, used) and used > rank):
            yield f"{path}: {folder} lies below '{spelling}' and must not use it"
