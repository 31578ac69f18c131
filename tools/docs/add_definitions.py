#!/usr/bin/env python3
"""Adds each operator's definition to the reference page of its dialect.

A definition that the TableGen record gives is shown as it stands there. One that
is built in C++ is shown as it is for the example of the operator's description.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import textwrap

# An operator with its operands and attributes, and the types of its operands.
OPERATOR = re.compile(r"= \w+\.\w+ ([^=]*?(?:\{[^}]*\})?)\s*: \(([^)]*)\)\s*->")


def load_definitions(llvm_tblgen: str, td: str, includes: list[str]) -> dict[str, str]:
    """Return the text of each operator's definition, empty if built in C++."""
    command = [llvm_tblgen, "--dump-json", td, *(f"-I{folder}" for folder in includes)]
    records = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    definitions = {}
    for name in records["!instanceof"].get("Op", []):
        record = records[name]
        if record.get("definition") is not None:
            dialect = records[record["opDialect"]["def"]]["name"]
            text = textwrap.dedent(record["definition"].expandtabs()).strip("\n ")
            definitions[f"{dialect}.{record['opName']}"] = text
    return definitions


def split_types(text: str) -> list[str]:
    """Split a list of types at its outer commas."""
    types = re.findall(r"(?:[^,<(]|<[^>]*>)+", text)
    return [entry.strip() for entry in types if entry.strip()]


def wrap(example: str, number: int) -> str:
    """Make a function of an example, whose operands become arguments."""
    arguments = {}
    for operands, types in OPERATOR.findall(example):
        arguments |= dict(zip(re.findall(r"%\w+", operands), split_types(types), strict=False))
    # What has no type in the text is a size.
    arguments = dict.fromkeys(re.findall(r"%\w+", example), "index") | arguments
    defined = re.findall(r"%\w+", " ".join(re.findall(r"^[%\w, ]+(?= = )", example, re.M)))
    defined += re.findall(r"(%\w+):", " ".join(re.findall(r"^ *\^\w+\(.*\)", example, re.M)))
    given = ", ".join(f"{name}: {kind}" for name, kind in arguments.items() if name not in defined)
    return f"func.func @example{number}({given}) {{\n{example}\nreturn\n}}\n"


def print_definitions(espalier_opt: str, examples: list[str]) -> list[str]:
    """Return the definition of the last operator of each example."""
    module = "".join(wrap(example, number) for number, example in enumerate(examples))
    lines = module.splitlines()
    command = [espalier_opt, "--graph-print-definitions", "-o", "/dev/null"]
    run = subprocess.run(command, input=module, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"an example is wrong:\n{run.stderr}")
    found = {}
    for line, text in re.findall(
        r"^<stdin>:(\d+):\d+: remark: (.*?)\n *\^", run.stderr, re.S | re.M
    ):
        message = text.split("\n" + lines[int(line) - 1])[0]
        number = "\n".join(lines[: int(line)]).count("func.func @example") - 1
        found[number] = message
    return [found.get(number, "") for number in range(len(examples))]


def main() -> None:
    """Rewrite the page that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llvm-tblgen", required=True)
    parser.add_argument("--espalier-opt", required=True)
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("td")
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()

    definitions = load_definitions(args.llvm_tblgen, args.td, args.includes)
    sections = re.split(r"(?=^### `)", args.page.read_text(encoding="utf-8"), flags=re.M)
    names = [re.match(r"### `([\w.]*)`", section) for section in sections]
    known = [n for n, name in enumerate(names) if name and name[1] in definitions]
    examples = {}
    for n in known:
        if example := re.search(r"```mlir\n(.*?)```", sections[n], re.S):
            examples[n] = example[1]
    printed = dict(
        zip(examples, print_definitions(args.espalier_opt, list(examples.values())), strict=True)
    )
    for n in known:
        title, text = "Definition:", definitions[names[n][1]]
        if not text:
            title, text = "Definition of the example:", printed.get(n, "")
        if text:
            # Before what mlir-tblgen adds behind the description.
            head, tail = re.split(
                r"(?=^(?:Traits|Interfaces|Effects): )", sections[n], maxsplit=1, flags=re.M
            )
            sections[n] = f"{head}{title}\n```\n{text}\n```\n\n{tail}"
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text("".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
