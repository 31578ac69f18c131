"""Readers of files answer mutated files with a result or an error of ours, in bounded time.

A few mutants each; `ESPALIER_FUZZ_MUTANTS` in the environment asks for more.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import espalier
from espalier import _espalier, models
from espalier.commands.common import load_arrays
from espalier.compiler import compile_module

HERE = Path(__file__).parent
MUTANTS = int(os.environ.get("ESPALIER_FUZZ_MUTANTS", "40"))
SEED = int(os.environ.get("ESPALIER_FUZZ_SEED", "1"))
MLIR = """
func.func @main(%x: tensor<?x8xf32> {espalier.name = "x"}) -> (tensor<?x3xf32> {espalier.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<8x3xf32>
  %0 = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
  %1 = graph.relu %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
"""  # noqa: E501
RULES = """
rule commute
src (ewadd ?i0 (ewmul ?i1 ?i2))
dst (ewadd (ewmul ?i2 ?i1) ?i0)

rule by-identity
src (matmul :act none ?i0 (const_imm))
dst ?i0
where dim(const_imm#1, 1) == dim(?i0, 1)
"""
KERNEL = """
func.func @main(%x: tensor<8xf32> {espalier.name = "x"}) -> (tensor<8xf32> {espalier.name = "y"}) {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def make_onnx(path: Path) -> None:
    """Write a model with weights, attributes and symbolic dimensions."""
    net = models.Net("tiny")
    x = net.input("x", ["batch", 4])
    y = net.node("Softmax", net.node("Relu", net.linear(x, 4, 3)), axis=1)
    onnx.save(net.finish((y, "y", ["batch", 3])), path)


def make_mlir(path: Path) -> None:
    """Write a module of the graph dialect."""
    path.write_text(MLIR)


def make_script(path: Path) -> None:
    """Write a schedule of a kernel."""
    lowered = _espalier.Module.parse(KERNEL)
    _espalier.lower(lowered, "poly")
    schedule = espalier.Schedule(lowered)
    ((compute, loops),) = schedule.computations.items()
    schedule.split(compute, loops[0], [4])
    schedule.save(path)


def make_arrays(path: Path) -> None:
    """Write an archive of arrays."""
    np.savez(path.with_suffix(".npz"), x=np.arange(6.0).reshape(2, 3), y=np.int8([1, 2]))
    path.with_suffix(".npz").rename(path)


def make_cache(path: Path) -> None:
    """Write an entry of the cache, and keep its name for the worker."""
    folder = path.parent / "cache"
    module = _espalier.Module.parse(KERNEL)
    compile_module(module, options=espalier.Options(cache=folder))
    (entry,) = folder.glob("*.espalier")
    path.write_bytes(entry.read_bytes())


def make_times(path: Path) -> None:
    """Write a table of measured kernels."""
    options = espalier.Options(
        cache=None, optimize="egraph", kernel_times=path, measure_seconds=0.1
    )
    compile_module(_espalier.Module.parse(KERNEL), options=options)


def make_rules(path: Path) -> None:
    """Write rules with parameters, variables and a condition."""
    path.write_text(RULES)


def make_patterns(path: Path) -> None:
    """Write rules as PDL patterns."""
    make_rules(path.with_suffix(".rules"))
    command = ["espalier-rules", "emit", str(path.with_suffix(".rules"))]
    path.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)


def make_proof(path: Path) -> None:
    """Write the proof of a rule with a condition."""
    make_rules(path.with_suffix(".rules"))
    folder = path.parent / "proofs"
    command = ["espalier-rules", "verify", f"--proofs={folder}", str(path.with_suffix(".rules"))]
    subprocess.run(command, capture_output=True, check=True)
    (folder / "by-identity.proof").rename(path)


def make_costs(path: Path) -> None:
    """Write a table of costs."""
    path.write_text("# Seconds.\n1e-6 graph.relu tensor<8xf32> -> tensor<8xf32>\n")


def make_input(path: Path) -> None:
    """Write what `espalier-run` takes as an input."""
    path.write_text("8xf32=1,-2.5,3e2,4,5,6,7,8")


def make_sparse(path: Path) -> None:
    """Write the starts of three rows, and columns."""
    path.write_bytes(np.int32([0, 2, 2, 5, 0, 6, 1, 2, 3]).tobytes())


MAKERS = {
    "onnx": make_onnx,
    "mlir": make_mlir,
    "script": make_script,
    "arrays": make_arrays,
    "cache": make_cache,
    "times": make_times,
    "rules": make_rules,
    "patterns": make_patterns,
    "proof": make_proof,
    "costs": make_costs,
    "input": make_input,
    "sparse": make_sparse,
}
# Each of these compiles or searches again, or is read by a command.
SLOW = {"cache", "times", "rules", "patterns", "proof", "costs", "input"}


def read_mutants(reader: str, folder: Path, first: int, count: int) -> tuple[int, str]:
    """Read mutants from `first` on in a child; return the next one and what went wrong."""
    command = [sys.executable, str(HERE / "fuzz_worker.py"), reader, str(folder / "original")]
    command += [str(folder), str(SEED), str(first), str(count)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    done = first + len(result.stdout.split())
    fault = "" if result.returncode == 0 else f"status {result.returncode}: {result.stderr[-2000:]}"
    return done, fault


@pytest.mark.parametrize("reader", MAKERS)
def test_mutants_are_answered(tmp_path, reader):
    MAKERS[reader](tmp_path / "original")
    first, last = 0, max(MUTANTS // 5, 1) if reader in SLOW else MUTANTS
    faults = []
    while first < last:
        first, fault = read_mutants(reader, tmp_path, first, last - first)
        if fault:
            kept = tmp_path / f"fault{first}"
            kept.write_bytes((tmp_path / "input").read_bytes())
            faults.append(f"{kept}: {fault}")
            first += 1
    assert not faults, "\n".join(faults)


def test_names_that_are_no_text(tmp_path):
    make_onnx(tmp_path / "m.onnx")
    model = (tmp_path / "m.onnx").read_bytes().replace(b"Softmax", b"Soft\xffax")
    with pytest.raises(espalier.EspalierError, match="expects names in UTF-8"):
        espalier.compile(model)


def test_archive_with_unknown_compression(tmp_path):
    make_arrays(tmp_path / "original")
    data = bytearray((tmp_path / "original").read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + 10] = 99
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(espalier.EspalierError, match=r"cannot read .*a\.npz"):
        load_arrays(tmp_path / "a.npz")
