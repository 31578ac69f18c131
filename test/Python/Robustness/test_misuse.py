"""Public functions answer arguments that they do not expect with an error, and go on.

A few sets of arguments each; `ESPALIER_FUZZ_MUTANTS` in the environment asks for more.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import espalier
from espalier import kernels

WORKER = Path(__file__).parent / "misuse_worker.py"
COUNT = max(int(os.environ.get("ESPALIER_FUZZ_MUTANTS", "40")) // 20, 1)
SEED = int(os.environ.get("ESPALIER_FUZZ_SEED", "1"))
NO_CACHE = espalier.Options(cache=None)


def test_every_function_refuses_what_it_does_not_expect() -> None:
    first, faults, lines = 0, [], [""]
    while lines[-1] != "END":
        command = [sys.executable, str(WORKER), str(first), str(10**9), str(SEED), str(COUNT)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = result.stdout.splitlines() or [""]
        tried = [line for line in lines if line.startswith("CALL")]
        faults += ["\n".join(lines[i:]) for i, x in enumerate(lines) if x.startswith("FAULT")][:5]
        if lines[-1] != "END":
            assert tried, result.stderr
            faults.append(f"status {result.returncode} in {tried[-1]}: {result.stderr[-1000:]}")
            first = int(tried[-1].split()[1]) + 1
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("value", ["1", b"1", None, [1]])
def test_scalar_types_convert_numbers_only(value: object) -> None:
    """With a string, the constructor of ml_dtypes' bfloat16 ends the process."""
    with pytest.raises(espalier.EspalierError, match="expects a number, but got"):
        kernels.bf16(value)  # type: ignore[arg-type]


def test_messages_say_what_is_expected() -> None:
    (size,) = kernels.sizes("n")
    expected = {
        "expects names of sizes in one string, but got list": lambda: kernels.sizes(["n"]),
        "expects a size or a number, but got tuple": lambda: size - (size,),
        "expects options of type espalier.Options, but got str": lambda: espalier.compile(
            "func.func @main() { return }", options="fast"
        ),
        "expects a NumPy array, but got list": lambda: espalier.Module().constant([1.0]),
    }
    for message, call in expected.items():
        with pytest.raises(espalier.EspalierError) as error:
            call()
        assert message in str(error.value)


def test_arrays_that_are_no_plain_memory() -> None:
    x = np.ones((2, 8), np.float32)
    model = """
    func.func @main(%x: tensor<2x8xf32> {espalier.name = "x"}) -> (tensor<2x8xf32> {espalier.name = "y"}) {
      %0 = graph.relu %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
      return %0 : tensor<2x8xf32>
    }"""  # noqa: E501
    function = espalier.compile(model, options=NO_CACHE)
    whole = np.ones(64, np.float32)
    repeated = np.lib.stride_tricks.as_strided(whole, (2, 8), (0, 4))
    for array in (repeated, whole.reshape(8, 8)[:2].T.reshape(2, 8)[:, ::-1], x.astype(">f4")):
        with pytest.raises(espalier.ArgumentError):
            function(array)
    frozen = x.copy()
    frozen.flags.writeable = False
    assert np.array_equal(function(frozen), x)
    for out in (frozen, repeated, x):
        with pytest.raises(espalier.ArgumentError):
            function(x, out={"y": out})
