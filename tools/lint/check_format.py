#!/usr/bin/env python3
"""Checks that the C++ sources are laid out as clang-format does it.

Usage: check_format.py <source root> <clang-format>
"""

import pathlib
import subprocess
import sys

import lint_files


def main() -> int:
    """Print what clang-format would change; return its status."""
    root, clang_format = sys.argv[1:]
    files = lint_files.list_files(pathlib.Path(root))
    sources = [str(path) for path in files if path.suffix in {".cpp", ".h", ".def"}]
    command = [clang_format, "--dry-run", "-Werror", *sources]
    return subprocess.run(command, cwd=root, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
