"""Rules of the user's, that derive scripts of a kernel's text."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import espalier
from tuning import keeping, make_model, statuses


def smaller_tiles(kernel: str, script: str) -> Iterator[str]:
    """Yield the default schedule with other options of tiles."""
    assert "poly.kernel @kernel" in kernel
    assert "transform.poly.plan" in script
    yield re.sub(
        r"(tile\.\w+\"> = )\d+( : i64 from options = )\[[^]]*\]", r"\g<1>2\2[2, 3]", script
    )


def tried(records: Path, rule: str) -> list[tuple[str, str]]:
    """Return what became of a rule's scripts."""
    with sqlite3.connect(records) as connection:
        return connection.execute(
            "SELECT status, script FROM trials WHERE rule = ?", [rule]
        ).fetchall()


def test_scripts_of_a_rule_are_tried(tmp_path: Path) -> None:
    records = tmp_path / "records.sqlite"
    options = keeping(records)
    tuned = espalier.tune(make_model(), trials=16, rules=[smaller_tiles], options=options)
    assert not tuned.rule_faults
    found = tried(records, "smaller_tiles")
    assert found
    assert all("= 2 : i64 from options = [2, 3]" in script for _, script in found[:1])
    assert not {"wrong", "failed"} & set(statuses(records))
    again = espalier.tune(make_model(), trials=0, rules=[smaller_tiles], options=options)
    assert sum(kernel.trials for kernel in again.kernels) == 16


def raising(_kernel: str, _script: str) -> list[str]:
    """Raise."""
    raise RuntimeError("a rule of mine")


def none_at_all(_kernel: str, _script: str) -> list[str]:
    """Return nothing."""
    return []


def no_texts(_kernel: str, _script: str) -> list[int]:
    """Return what is no script."""
    return [7]


def no_script(_kernel: str, _script: str) -> list[str]:
    """Return text that nobody can parse."""
    return ["no script"]


def no_sequence(_kernel: str, _script: str) -> list[str]:
    """Return a module without a sequence."""
    return ["module {}"]


def foreign(_kernel: str, script: str) -> list[str]:
    """Return a script that does more than schedule."""
    first = script.index("{transform.readonly}) {") + len("{transform.readonly}) {")
    return [f"{script[:first]}\ntransform.apply_cse to %arg0 : !transform.any_op{script[first:]}"]


def open_options(_kernel: str, script: str) -> list[str]:
    """Return a script with a choice of anything."""
    return [re.sub(r"options = \[[^]]*\]", "options = 1", script, count=1)]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (raising, "RuntimeError: a rule of mine"),
        (no_texts, "expects scripts as texts, but got 'int'"),
        (no_script, "custom op 'no' is unknown"),
        (no_sequence, "expects a script with a sequence '__transform_main' of one argument"),
        (foreign, "transform.apply_cse"),
        (open_options, "expects a list of options"),
    ],
)
def test_what_is_wrong_with_a_rule_is_reported(
    tmp_path: Path, rule: espalier.tuning.Rule, reason: str
) -> None:
    records = tmp_path / "records.sqlite"
    tuned = espalier.tune(
        make_model(), trials=2, rules=[rule, none_at_all], options=keeping(records)
    )
    (fault,) = tuned.rule_faults
    assert fault.startswith(f"rule '{rule.__name__}', kernel 'matmul_add_")
    assert reason in fault
    assert len(statuses(records)) == 2, "the search goes on"


def test_names_of_rules_are_taken() -> None:
    def lanes(_kernel: str, _script: str) -> list[str]:
        return []

    with pytest.raises(espalier.EspalierError, match=r"'rules': expects names other.*got 'lanes'"):
        espalier.tune(make_model(), rules=[lanes], options=keeping(None))
