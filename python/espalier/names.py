"""Names of programs, from which those of C are made."""

import re

from espalier.errors import EspalierError


def to_identifier(text: str) -> str:
    """Return a text as an identifier of C; an empty one is `program`."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text) or "program"
    # The runtime has the names that start with its own.
    return f"x_{name}" if name[0].isdigit() or name.startswith("espalier") else name


def check_identifier(name: str) -> str:
    """Return a program's name, if C can have it."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise EspalierError(f"expects a C identifier as the program's name, but got '{name}'")
    if name.startswith("espalier"):
        raise EspalierError(
            f"expects a program's name that does not start with 'espalier', but got '{name}'"
        )
    return name
