"""Where and when a result line was measured."""

import datetime
import pathlib
import platform
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parent


def name_machine(info: str) -> str:
    """Return the model of a machine and its vectors; models of several classes share a name.

    Arguments:
        info: the text of /proc/cpuinfo.
    """
    known = dict(re.findall(r"^(model name|flags)\s*: (.*)$", info, re.MULTILINE))
    flags = known.get("flags", "").split()
    vectors = next((n for f, n in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if f in flags), "")
    return f"{known.get('model name') or platform.machine()}{', ' * bool(vectors)}{vectors}"


def describe_machine() -> dict[str, str]:
    """Return what a result line has about where and when it was measured."""
    return {
        "commit": find_commit(),
        "machine": name_machine(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")),
        "date": datetime.date.today().isoformat(),
    }


def find_commit() -> str:
    """Return the commit that is checked out; empty without git or a repository."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    if shutil.which("git") is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
