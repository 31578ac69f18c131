"""Systems that start no more threads: fewer work, or there is an error, never an exit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("few_threads.c")
COMMON = """
import ctypes, sys
import numpy as np
import espalier

def parallel_model(n):
    text = f"tensor<{n}x{n}xf32>"
    return f'''
    func.func @main(%x: {text} {{espalier.name = "x"}}) -> ({text} {{espalier.name = "y"}}) {{
      %0 = graph.matmul %x, %x : ({text}, {text}) -> {text}
      %1 = graph.softmax %0 {{axis = 1 : i64}} : ({text}) -> {text}
      return %1 : {text}
    }}'''

def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)

allow = ctypes.CDLL(None).allow_threads
options = espalier.Options(cache=None)

def check(function, threads):
    n = function.inputs[0].shape[0]
    x = np.linspace(-1, 1, n * n, dtype=np.float32).reshape(n, n)
    function.set_num_threads(threads)
    np.testing.assert_allclose(function(x), softmax(x @ x), 1e-4, 1e-6)

"""
CHILD = """
allow(0)
try:
    espalier.compile(parallel_model(64), options=options)
except espalier.CompileError as error:
    print(error)
# The one that compiles, while Python waits for signals.
allow(1)
functions = [espalier.compile(parallel_model(n), options=options) for n in (192, 256)]
for count in (0, 1, 2, 7):
    allow(count)
    for function in functions:
        for threads in (4, 2, 8):
            check(function, threads)
print("still there")
"""
# A process that is forked has none of the threads.
FORK = """
import os
function = espalier.compile(parallel_model(192), options=options)
check(function, 8)
allow(2)
child = os.fork()
check(function, 8)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("still there")
"""
# Those that one caller gives back go to others, among them those that are new.
CALLERS = """
import threading
functions = [espalier.compile(parallel_model(n), options=options) for n in (64, 96, 128, 160)]

def work(function):
    for _ in range(2):
        ready.wait()
    for threads in (8, 3, 8, 2, 5, 8):
        check(function, threads)

for _ in range(8):
    ready = threading.Barrier(5)
    callers = [threading.Thread(target=work, args=(function,)) for function in functions]
    allow(4)
    for caller in callers:
        caller.start()
    ready.wait()
    allow(3)
    ready.wait()
    for caller in callers:
        caller.join()
print("still there")
"""
# OpenMP's threads have the stacks that the user asks for.
STACKS = """
import resource
function = espalier.compile(parallel_model(192), options=options)
space = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (space + (3 << 30), -1))
check(function, 8)
print("still there")
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Return the library that counts threads."""
    path = tmp_path / "few_threads.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(SOURCE), "-o", str(path), "-ldl"], check=True)
    return path


def run(folder: Path, library: Path, script: str, **changes: str) -> str:
    """Return what a script prints."""
    (folder / "child.py").write_text(COMMON + script)
    result = subprocess.run(
        [sys.executable, "child.py"],
        cwd=folder,
        env={**os.environ, "LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1", **changes},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_programs_and_compilation(tmp_path, library):
    first, last = run(tmp_path, library, CHILD).splitlines()
    assert first.startswith("cannot start a thread")
    assert last == "still there"


def test_processes_that_are_forked(tmp_path, library):
    assert run(tmp_path, library, FORK) == "still there\n"


def test_callers_at_once(tmp_path, library):
    assert run(tmp_path, library, CALLERS) == "still there\n"


def test_large_stacks(tmp_path, library):
    assert run(tmp_path, library, STACKS, OMP_STACKSIZE="1G") == "still there\n"
