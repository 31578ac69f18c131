"""Kernels of several nests, with branches, local arrays and scalars, under commands."""

from random_nests import run_cases


def test_random_nests_agree_with_python():
    faults, counts = run_cases(cases=20, seed=3)
    assert not faults, "\n\n".join(faults)
    assert counts["run"] > 40
    assert counts["accepted"] > 20
