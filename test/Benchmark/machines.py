"""What machine this is, and where and when a result line was measured."""

import datetime
import pathlib
import platform
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parent
INFO = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")


def name_vectors(info: str = INFO) -> str:
    """Return the widest vectors of a machine, or nothing if they are of 128 bits.

    Arguments:
        info: the text of /proc/cpuinfo.
    """
    found = re.search(r"^flags\s*: (.*)$", info, re.MULTILINE)
    flags = found[1].split() if found else []
    return next((n for f, n in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if f in flags), "")


def name_machine(info: str = INFO) -> str:
    """Return the model of a machine and its vectors; models of several classes share a name.

    Arguments:
        info: the text of /proc/cpuinfo.
    """
    found = re.search(r"^model name\s*: (.*)$", info, re.MULTILINE)
    vectors = name_vectors(info)
    return f"{found[1] if found else platform.machine()}{', ' * bool(vectors)}{vectors}"


def describe_machine() -> dict[str, str]:
    """Return what a result line has about where and when it was measured."""
    return {
        "commit": find_commit(),
        "machine": name_machine(),
        "date": datetime.date.today().isoformat(),
    }


def find_commit() -> str:
    """Return the commit that is checked out; empty without git or a repository."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    if shutil.which("git") is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
