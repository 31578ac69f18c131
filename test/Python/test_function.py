"""Compiled functions: every rule at the boundary has its message."""

import ctypes
import re
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import pytest

from espalier.arrays import TensorInfo, as_array
from espalier.errors import ArgumentError
from espalier.function import Function

F32 = np.dtype(np.float32)


class AddOne:
    """Stands for a compiled program: y = x + 1 and z = sum of w."""

    def __init__(self) -> None:
        self.inputs = [TensorInfo("x", F32, ("n", 3)), TensorInfo("w", F32, ("n",))]
        self.outputs = [TensorInfo("y", F32, ("n", 3)), TensorInfo("z", F32, ())]
        self.kernels, self.compile_seconds, self.cached = 2, 0.5, False
        self.threads = 1
        self.huge = False

    def plan(self, shapes: Sequence[Sequence[int]]) -> list[list[int]]:
        return [[2**50, 3] if self.huge else list(shapes[0]), []]

    def run(self, values: dict[str, object]) -> None:
        return None

    def bind(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> Callable[[], None]:
        def run() -> None:
            outputs[0][...] = inputs[0] + 1
            outputs[1][...] = inputs[1].sum()

        return run

    def set_num_threads(self, count: int) -> None:
        self.threads = count

    def save(self, path: str) -> None:
        raise AssertionError(path)


@pytest.fixture
def function() -> Function:
    return Function(AddOne())


def arguments(n: int = 2) -> dict[str, np.ndarray]:
    return {"x": np.ones((n, 3), F32), "w": np.ones(n, F32)}


@pytest.mark.parametrize("n", [0, 1, 5])
def test_call_by_name_and_position(function, n):
    given = arguments(n)
    y, z = function(given["x"], w=given["w"])
    assert y.tolist() == [[2.0] * 3] * n
    assert z.shape == ()
    assert z == n


def test_outputs_by_name(function):
    assert list(function.run(arguments())) == ["y", "z"]


@pytest.mark.parametrize("n", [1, 5])
def test_new_outputs_begin_with_a_cache_line(function, n):
    results = function.run(arguments(n))
    assert all(array.ctypes.data % 64 == 0 for array in results.values())
    assert all(array.flags.writeable and array.flags.c_contiguous for array in results.values())


def test_bound_calls_read_the_same_inputs(function):
    given = arguments()
    call = function.bind(given)
    first = call()["y"]
    given["x"] += 1
    assert call()["y"] is first
    assert first.tolist() == [[3.0] * 3] * 2


def test_given_outputs_are_written(function):
    y = np.zeros((2, 3), F32)
    results = function.run(arguments(), {"y": y})
    assert results["y"] is y
    assert y.tolist() == [[2.0] * 3] * 2


def test_arrays_with_a_mask_are_refused(function):
    """A program would compute with the elements that are masked."""
    given = arguments()
    masked = np.ma.masked_array(given["x"], mask=True)
    with pytest.raises(ArgumentError, match="'x': expects an array without a mask, but got Masked"):
        function(masked, given["w"])
    with pytest.raises(ArgumentError, match="'y': expects an array without a mask"):
        function.run(given, {"y": masked})


def test_dlpack(function):
    class Tensor:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __dlpack__(self, **options: object) -> object:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    given = arguments()
    y, _ = function(x=Tensor(given["x"]), w=given["w"])
    assert (y == 2).all()
    assert np.shares_memory(as_array("x", Tensor(given["x"])), given["x"])


def test_dlpack_that_raises(function) -> None:
    class Tensor:
        def __dlpack__(self, **_options: object) -> object:
            raise KeyError("device")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    with pytest.raises(ArgumentError, match=r"argument 'x': expects a tensor .* but 'device'"):
        function(**{**arguments(), "x": Tensor()})


class BFloat16Tensor:
    """Offers bfloat16 by DLPack, as PyTorch does and NumPy cannot."""

    def __init__(self, array: np.ndarray) -> None:
        self.bits = array.view(np.uint16)

    def __dlpack__(self, **_options: object) -> object:
        capsule = self.bits.__dlpack__()
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype = ctypes.c_void_p
        get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        # Behind the address, the device and the rank: the kind of element.
        place = get_pointer(capsule, b"dltensor") + 20
        ctypes.c_uint8.from_address(place).value = 4
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.bits.__dlpack_device__()


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_dlpack_of_bfloat16(shape):
    array = np.arange(int(np.prod(shape)), dtype=ml_dtypes.bfloat16).reshape(shape)
    taken = as_array("x", BFloat16Tensor(array))
    assert (taken.dtype, taken.shape) == (array.dtype, array.shape)
    assert (taken == array).all()
    assert taken.size == 0 or np.shares_memory(taken, array)
    if array.ndim == 2:
        turned = as_array("x", BFloat16Tensor(array.T))
        assert (turned == array.T).all()
        assert not turned.flags.c_contiguous


def test_description(function):
    assert repr(function) == (
        "<espalier.Function (x: float32[n, 3], w: float32[n]) -> (y: float32[n, 3], z: float32[])>"
    )
    assert (function.kernels, function.compile_seconds, function.cached) == (2, 0.5, False)


def big_endian(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder(">"))


def unaligned(array: np.ndarray) -> np.ndarray:
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
    return raw.view(array.dtype).reshape(array.shape)


INPUTS = {
    "missing": (lambda x: {"x": x}, "argument 'w': expects an array, but it is missing"),
    "unknown": (
        lambda x: {**arguments(), "q": x},
        "expects arguments out of ['x', 'w'], but got 'q'",
    ),
    "list": (lambda x: {"x": x.tolist()}, "argument 'x': expects an array, but got list"),
    "number": (lambda x: {"x": 1.0}, "argument 'x': expects an array, but got float"),
    "element type": (
        lambda x: {"x": x.astype(np.float64)},
        "argument 'x': expects element type float32, but got float64",
    ),
    "byte order": (
        lambda x: {"x": big_endian(x)},
        "argument 'x': expects little-endian elements, but got >f4",
    ),
    "rank": (lambda x: {"x": x[0]}, "argument 'x': expects rank 2, but got shape [3]"),
    "extent": (
        lambda x: {"x": x[:, :2].copy()},
        "argument 'x': expects extent 3 at axis 1, but got shape [2, 2]",
    ),
    "strides": (
        lambda x: {"x": np.asfortranarray(x)},
        "argument 'x': expects a C-contiguous array, but got strides [4, 8]",
    ),
    "alignment": (lambda x: {"x": unaligned(x)}, "argument 'x': expects aligned elements"),
    "symbol": (
        lambda x: {"x": x, "w": np.ones(4, F32)},
        "argument 'w': expects extent 2 for 'n', as in argument 'x', but got shape [4]",
    ),
}


@pytest.mark.parametrize("name", INPUTS)
def test_input_is_refused(function, name):
    make, message = INPUTS[name]
    with pytest.raises(ArgumentError, match=re.escape(message)):
        function.run(make(np.ones((2, 3), F32)))


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


OUTPUTS = {
    "unknown": (lambda g: {"q": g["x"]}, "expects outputs out of ['y', 'z'], but got 'q'"),
    "shape": (
        lambda g: {"y": np.zeros((3, 3), F32)},
        "argument 'y': expects shape [2, 3], but got [3, 3]",
    ),
    "element type": (
        lambda g: {"y": np.zeros((2, 3))},
        "argument 'y': expects element type float32, but got float64",
    ),
    "read-only": (
        lambda g: {"y": read_only(np.zeros((2, 3), F32))},
        "argument 'y': expects a writeable array, but got a read-only one",
    ),
    "strides": (
        lambda g: {"y": np.zeros((2, 6), F32)[:, ::2]},
        "argument 'y': expects a C-contiguous array",
    ),
    "input": (
        lambda g: {"y": g["x"]},
        "argument 'y': expects memory of its own, but it overlaps 'x'",
    ),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_is_refused(function, name):
    make, message = OUTPUTS[name]
    given = arguments()
    with pytest.raises(ArgumentError, match=re.escape(message)):
        function.run(given, make(given))


def test_outputs_that_overlap_are_refused(function):
    memory = np.zeros(6, F32)
    with pytest.raises(ArgumentError, match="argument 'z': expects memory of its own"):
        function.run(arguments(), {"y": memory.reshape(2, 3), "z": memory[5:].reshape(())})


def test_huge_output_is_refused(function):
    function.program.huge = True
    with pytest.raises(ArgumentError, match="output 'y': expects at most"):
        function.run(arguments())


@pytest.mark.parametrize("out", [np.zeros((2, 3), F32), [np.zeros((2, 3), F32)], ()])
def test_outputs_without_names_are_refused(function, out: object) -> None:
    message = "expects arrays by name to write outputs to, with names out of ['y', 'z'], but got"
    with pytest.raises(ArgumentError, match=re.escape(message)):
        function(**arguments(), out=out)


def test_calls_are_refused(function):
    x = np.ones((2, 3), F32)
    with pytest.raises(ArgumentError, match="argument 'x': expects one value, but got two"):
        function(x, x=x)
    with pytest.raises(ArgumentError, match="expects 2 arguments, but got 3"):
        function(x, x, x)
    with pytest.raises(ArgumentError, match="expects 1 to 1024 threads, but got 0"):
        function.set_num_threads(0)


def test_bound_values_are_checked():
    function = Function(AddOne(), {"w": np.ones(2, F32)})
    function.run(arguments())
    given = {**arguments(), "w": np.zeros(2, F32)}
    with pytest.raises(ArgumentError, match=r"argument 'w': expects the value .* \[1.0, 1.0\]"):
        function.run(given)
