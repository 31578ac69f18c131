"""Lists the files of the project."""

import pathlib
import shutil
import subprocess

IGNORED = {".git", "__pycache__", "Inputs"}


def list_files(root: pathlib.Path) -> list[pathlib.Path]:
    """Return what belongs to the project, relative to its root."""
    if (root / ".git").exists() and shutil.which("git"):
        command = [
            "git",
            "-c",
            "safe.directory=*",
            "-C",
            str(root),
            "ls-files",
            "-co",
            "--exclude-standard",
        ]
        listing = subprocess.run(command, capture_output=True, text=True, check=True)
        files = [pathlib.Path(line) for line in listing.stdout.splitlines()]
    else:
        files = [path.relative_to(root) for path in root.rglob("*")]
    return sorted(
        path
        for path in files
        if (root / path).is_file()
        and not path.parts[0].startswith("build")
        and not IGNORED & set(path.parts)
    )
