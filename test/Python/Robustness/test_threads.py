"""Functions and modules that several threads use at once."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from originals import MLIR

import espalier
from espalier import _espalier
from espalier.compiler import compile_module

NUM_THREADS = 4
ROUNDS = 8


def at_once(work: Callable[[int], None], count: int = NUM_THREADS) -> None:
    """Call `work` in several threads that start together; raise what one of them raised."""
    barrier = threading.Barrier(count)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_one_function_is_called_and_saved_at_once(tmp_path):
    function = espalier.compile(MLIR, options=espalier.Options(cache=None))

    def work(number: int) -> None:
        for round_ in range(ROUNDS):
            rows = 1 + (number + round_) % 5
            x = np.full((rows, 8), number, np.float32)
            np.testing.assert_array_equal(function(x), np.full((rows, 3), 4.0 * number))
            function.set_num_threads(1 + number % 2)
            with pytest.raises(espalier.ArgumentError, match="expects"):
                function(np.zeros(number, np.float32))
        with pytest.raises(espalier.CompileError, match=f"missing{number}"):
            function.save(tmp_path / f"missing{number}" / "p.so")
        function.save(tmp_path / f"p{number}.so")

    at_once(work)
    assert len(list(tmp_path.glob("*.so"))) == NUM_THREADS


def test_modules_are_compiled_at_once(tmp_path):
    options = espalier.Options(cache=tmp_path)

    def work(number: int) -> None:
        for round_ in range(3):
            # Some of them share an entry of the cache.
            text = MLIR.replace("0.5", f"{(number + round_) % 3}.0")
            function = compile_module(_espalier.Module.parse(text), options=options)
            result = function(np.ones((2, 8), np.float32))
            np.testing.assert_array_equal(result, np.full((2, 3), 8.0 * ((number + round_) % 3)))

    at_once(work)


def test_a_module_is_compiled_by_one_thread():
    module = espalier.Module()
    x = module.input("x", [None, 8], "f32", ["n", ""])
    y = x
    for _ in range(50):
        (y,) = module.op("graph.tanh", [y])
    module.finish([y], ["y"])
    refused = []

    def work(number: int) -> None:
        if number == 0:
            compile_module(module, options=espalier.Options(cache=None))
            return
        for _ in range(200):
            try:
                str(module)
                module.input_names  # noqa: B018
            except espalier.CompileError as error:
                refused.append(str(error))
            time.sleep(0.001)

    at_once(work, 2)
    assert refused
    assert "expects a module that no other thread works on" in refused[0]


def test_values_of_a_module_that_was_changed():
    module = espalier.Module()
    x = module.input("x", [4], "f32", [""])
    (y,) = module.op("graph.relu", [x])
    module.finish([y], ["y"])
    _espalier.lower(module, "poly")
    for use in (lambda: y.shape, lambda: y.dtype, lambda: module.op("graph.relu", [y])):
        with pytest.raises(espalier.CompileError, match="the module was changed since"):
            use()


DAEMONS = """
import threading
import time
import numpy as np
import espalier
from originals import MLIR

options = espalier.Options(cache=None)
function = espalier.compile(MLIR, options=options)

def work(number):
    while True:
        if number:
            function(np.ones((64, 8), np.float32))
        else:
            espalier.compile(MLIR, options=options)

for number in range(3):
    threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(0.2)
"""


def test_python_ends_while_threads_compile_and_run():
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}\n{DAEMONS}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (result.returncode, result.stderr) == (0, "")
