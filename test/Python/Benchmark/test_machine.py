"""What a machine reaches, and what follows for programs."""

import pytest

from espalier.machine import Machine

CACHES = [(1_000, 50.0), (10_000, 20.0)]


@pytest.mark.parametrize(
    ("threads", "size", "rate"),
    [(1, 1_000, 50), (1, 1_001, 20), (2, 2_000, 50), (2, 2_001, 20), (4, 10**9, 20)],
)
def test_each_thread_reads_its_part(threads: int, size: int, rate: float):
    assert Machine(100.0, CACHES, threads).rate(size) == rate


def test_the_bound_is_arithmetic_or_reading():
    machine = Machine(100.0, CACHES, threads=2)
    assert machine.bound_ms(1e8, 2_000) == pytest.approx(1)
    assert machine.bound_ms(1, 20_000) == pytest.approx(1e-3)
