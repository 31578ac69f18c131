#!/usr/bin/env python3
"""Writes the Python class whose methods are the scheduling commands.

Every transform operation `poly.<command>` whose first operand is `$target`
becomes a method with the operation's arguments and its description. An array is
called by a computation that writes it, and the number of that write. Numbers are
numbers: parameters in their place, which are operands, are for scripts.
"""

import argparse
import json
import keyword
import pathlib
import re
import subprocess
import sys
import textwrap
from typing import Any

Record = dict[str, Any]
HEADER = '''"""The scheduling commands; generated from their definitions."""

from collections.abc import Mapping, Sequence

from espalier.schedules import attributes as a


class Commands:
    """One method per command; computations and loops are called by name.

    A method returns the names of the computations that it makes.
    """

    def command(
        self,
        name: str,
        targets: Sequence[tuple[str, int | None]],
        attributes: Mapping[str, str | None],
        results: int,
    ) -> list[str]:
        """Apply the operation `name`; return the names of new computations.

        Arguments:
            targets: computations; for an array that one writes, the number of the
                write.
        """
        raise NotImplementedError
'''
SCALARS = {
    "StrAttr": ("str", "text"),
    "I64Attr": ("int", "integer"),
    "BoolAttr": ("bool", "boolean"),
    "F64Attr": ("float", "real"),
    "AffineMapAttr": ("str | int", "affine_map"),
    "IntegerSetAttr": ("str", "raw"),
    "FlatSymbolRefAttr": ("str", "symbol"),
    "DenseI64ArrayAttr": ("Sequence[int]", "integers"),
    "Poly_LoopKindAttrInterface": ("str", "raw"),
}
"""The Python type of an attribute, and the function that makes its text."""


class Generator:
    """Translates records."""

    def __init__(self, records: dict[str, Any]) -> None:
        self.records = records

    def attribute(self, name: str) -> tuple[str, str]:
        """Return the Python type of an attribute, and what makes its text."""
        record = self.records[name]
        if name in SCALARS:
            kind, function = SCALARS[name]
            return kind, f"a.{function}"
        if name == "Poly_MemorySpaceAttr":
            cases = [case["str"] for case in self.cases(self.records["Poly_Placement"])]
            return "str", f"a.memory_space({cases!r})"
        if "TypedArrayAttrBase" in record["!superclasses"]:
            kind, function = self.attribute(record["elementAttr"]["def"])
            return f"Sequence[{kind}]", f"a.array({function})"
        if "EnumAttrInfo" in record["!superclasses"]:
            cases = {case["str"]: case["value"] for case in self.cases(record)}
            return "str", f"a.enumerator({cases!r})"
        if "ConfinedAttr" in record["!superclasses"]:
            return self.attribute(record["baseAttr"]["def"])
        sys.exit(f"expects a kind of attribute that is known, but got {name}")

    def cases(self, record: Record) -> list[Record]:
        """Return the cases of an enumeration."""
        return [self.records[case["def"]] for case in record["enumerants"]]

    def command(self, record: Record) -> str:
        """Return a method."""
        required, optional, targets, values = [], [], [], []
        open_groups = 0
        is_array = "PolyArrayDataOp" in record["!superclasses"]
        for argument, name in record["arguments"]["args"]:
            name = name + "_" if keyword.iskeyword(name) else name
            kind = self.records[argument["def"]]
            supers = kind["!superclasses"]
            if argument["def"] == "TransformHandleTypeInterface":
                required.append(f"{name}: str")
                targets.append(f"({name}, {'write' if is_array else None})")
            elif "Variadic" in supers or "Optional" in supers:
                open_groups += 1
            elif "OptionalAttr" in supers or "DefaultValuedAttr" in supers:
                type_name, function = self.attribute(kind["baseAttr"]["def"])
                optional.append(f"{name}: {type_name} | None = None")
                values.append(f'"{name}": a.optional({function}, {name})')
            elif argument["def"] == "UnitAttr":
                optional.append(f"{name}: bool = False")
                values.append(f'"{name}": a.flag({name})')
            else:
                type_name, function = self.attribute(argument["def"])
                required.append(f"{name}: {type_name}")
                values.append(f'"{name}": {function}({name})')
        if is_array:
            optional.append("write: int = 0")
        if open_groups > 1:
            segments = ", ".join(["1"] * len(targets) + ["0"] * open_groups)
            values.append(f'"operandSegmentSizes": "array<i32: {segments}>"')
        name = record["opName"].removeprefix("poly.")
        results = len(record["results"]["args"])
        body = (
            f'return self.command("{record["opName"]}", [{", ".join(targets)}], '
            f"{{{', '.join(values)}}}, {results})"
        )
        parameters = ", ".join(["self", *required, *optional])
        return (
            f"    def {name}({parameters}) -> list[str]:\n"
            f"{textwrap.indent(docstring(record), '        ')}\n        {body}\n"
        )


def docstring(record: Record) -> str:
    """Return the documentation of a method."""
    text = textwrap.dedent(record["description"].expandtabs()).strip()
    text = re.sub(r"#### Return modes\s*", "", text.partition("\nExample:")[0]).strip()
    text = "\n".join(line for line in text.splitlines() if "Definite failure" not in line)
    text = text.replace("- Silenceable failure:", "Refused if").replace("\\", "\\\\")
    summary = record["summary"]
    return f'"""{summary[0].upper()}{summary[1:]}.\n\n{text.strip()}\n"""'


def main() -> None:
    """Generate what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llvm-tblgen", required=True)
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("td")
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    command = [args.llvm_tblgen, "--dump-json", args.td, *(f"-I{i}" for i in args.includes)]
    records = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    generator = Generator(records)
    methods = []
    for name in records["!instanceof"]["Op"]:
        record = records[name]
        arguments = [argument for _, argument in record["arguments"]["args"]]
        if record["opName"].startswith("poly.") and arguments[:1] == ["target"]:
            methods.append(generator.command(record))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text("\n".join([HEADER, *methods]))


if __name__ == "__main__":
    main()
