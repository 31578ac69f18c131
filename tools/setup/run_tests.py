#!/usr/bin/env python3
"""Runs the lit suites and the Python tests, and adds up what they say.

The last line is `N passed, N failed`. Exits with 1 if a test failed, could not
be run, or if there were none.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

TIMEOUT_SECONDS = 900
PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}


def run_lit(lit: str, suites: list[str], output: pathlib.Path) -> list[str]:
    """Run the lit suites and return the code of each test."""
    results = output / "lit.json"
    results.unlink(missing_ok=True)
    command = [sys.executable, lit, "-sv", "-o", str(results)]
    if importlib.util.find_spec("psutil"):
        command.append(f"--timeout={TIMEOUT_SECONDS}")
    status = subprocess.run([*command, *suites], check=False).returncode
    if not results.exists():
        return ["FAIL"]
    codes = [test["code"] for test in json.loads(results.read_text())["tests"]]
    failed = any(code not in PASSED | SKIPPED for code in codes)
    return codes + (["FAIL"] if status and not failed else [])


def run_pytest(folder: pathlib.Path, output: pathlib.Path) -> list[str]:
    """Run the Python tests and return a code for each, in lit's words."""
    results = output / "pytest.xml"
    results.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={results}"]
    command += ["-p", "no:cacheprovider", str(folder)]
    if importlib.util.find_spec("xdist"):
        command += ["-n", str(os.cpu_count()), "--dist=worksteal"]
    status = subprocess.run(command, check=False).returncode
    if not results.exists():
        return ["FAIL"]
    codes = []
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            codes.append("FAIL")
        else:
            codes.append("UNSUPPORTED" if "skipped" in kinds else "PASS")
    return codes + (["FAIL"] if status and "FAIL" not in codes else [])


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lit", required=True)
    parser.add_argument("--suites", nargs="+", required=True)
    parser.add_argument("--pytest", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    args = parser.parse_args()

    args.output.mkdir(parents=True, exist_ok=True)
    codes = run_lit(args.lit, args.suites, args.output)
    if args.pytest and args.pytest.is_dir():
        codes += run_pytest(args.pytest, args.output)
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    failed = len(codes) - passed - skipped
    if skipped:
        print(f"{skipped} not supported on this machine")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
