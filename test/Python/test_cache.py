"""The cache of compiled programs, used by several processes at once."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import espalier
from espalier.__main__ import main

COUNT = 6


def program(number: int) -> str:
    """Return one of several programs, whose results differ."""
    return f"""
func.func @main(%x: tensor<3xf32> {{espalier.name = "x"}}) -> (tensor<3xf32> {{espalier.name = "y"}}) {{
  %c = graph.constant dense<{number}.0> : tensor<3xf32>
  %0 = graph.add %x, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}}
"""  # noqa: E501


def compile_all(folder: Path, limit: int, start: int) -> list[float]:
    """Compile and run every program twice, each process in another order."""
    options = espalier.Options(cache=folder, cache_limit=limit)
    sums = {}
    for number in [(start + i) % COUNT for i in range(2 * COUNT)]:
        function = espalier.compile(program(number), options=options)
        sums[number] = float(np.sum(function(np.zeros(3, np.float32))))
    return [sums[number] for number in range(COUNT)]


def used_bytes(folder: Path) -> int:
    """Return the bytes of all entries; leftovers of writers would count."""
    return sum(path.stat().st_size for path in folder.iterdir())


def test_processes_share_a_cache_that_is_too_small(tmp_path):
    espalier.compile(program(0), options=espalier.Options(cache=tmp_path))
    limit = 5 * used_bytes(tmp_path) // 2
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        jobs = [pool.submit(compile_all, tmp_path, limit, 2 * i) for i in range(3)]
        for job in jobs:
            assert job.result() == [3.0 * number for number in range(COUNT)]
    assert used_bytes(tmp_path) <= limit
    names = {path.suffix for path in tmp_path.iterdir()}
    assert names <= {".espalier", ".timestamp"}


def test_command_line_limits_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "espalier"
    folder.mkdir()
    (folder / "llvmcache-old").write_bytes(bytes(2 << 20))
    (tmp_path / "model.mlir").write_text(program(1))
    compile_model = ["compile", str(tmp_path / "model.mlir"), "-o", str(tmp_path / "model.so")]
    assert main([*compile_model, "--cache-limit", "4"]) == 0
    assert used_bytes(folder) > 2 << 20
    (tmp_path / "model.mlir").write_text(program(2))
    assert main([*compile_model, "--cache-limit", "1"]) == 0
    assert 0 < used_bytes(folder) < 1 << 20
