"""From a model to a compiled function."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from espalier import _espalier
from espalier.arrays import expect_no_mask
from espalier.buffers import Buffer, from_buffer, to_buffer
from espalier.errors import ArgumentError, EspalierError, expect, naming, reason_of
from espalier.function import Function
from espalier.importers.onnx import import_model
from espalier.module import Module
from espalier.names import check_identifier
from espalier.program import NativeProgram
from espalier.sandbox import check_text
from espalier.sparsity import check_sparse, choose_sparse

Model = onnx.ModelProto | bytes | str | os.PathLike[str]
Progress = Callable[[int, int], None]


@dataclass
class Options:
    """How to compile.

    Arguments:
        cpu: LLVM's name of the CPU; empty for the one at hand.
        features: differences to it, such as "-avx512f".
        threads: whether kernels may use several threads.
        cache: the folder of compiled programs; None for no cache.
        cache_limit: bytes of all programs in that folder, of which the least recently
            used ones are removed; None for 8 GiB, 0 for what the disk allows.
        optimize: how to look for substitutions that make the graph faster: one of
            `OPTIMIZATIONS`. What is found is used only if it is faster when run.
        kernel_times: the file with the times of kernels; None for no file.
        measure_seconds: for measuring kernels that the file has not; the cost of
            others is estimated.
        records: the file of what `espalier.tune` found, by which `compile` schedules
            kernels; None for no file.
        run_threads: number of threads that programs and kernels are measured with.
        arena: whether intermediate tensors lie in one piece of memory; if not, each is
            on the heap by itself, where tools find accesses outside of it.
        winograd: whether 3x3 convolutions are computed by Winograd's algorithm where
            that saves time; an element that is not finite then spoils its neighbours.
        fuse: whether computations share loops, so that what one computes is at hand for
            the next; to see what that is good for.
        overlap: whether recurrent layers whose steps are too short for threads to share
            run side by side, each on a thread, block of steps by block of steps.
        sparse: which weights are stored without their zeros, one of `SPARSITIES`:
            none, constants whose type has an encoding ("stored"), those of which few
            elements are not zero as well, or those that make their operator faster
            when both ways are run ("auto"); or a file with `Function.sparsity` as JSON,
            by which they are chosen. A product of such a zero with what is not finite
            is then left out.
        sparse_layers: by the name of a node, what becomes of its weights whatever
            `sparse` says: "dense", "sparse", or a format such as "union:4".
    """

    cpu: str = ""
    features: str = ""
    threads: bool = True
    cache: Path | None = field(default_factory=lambda: default_cache())
    cache_limit: int | None = None
    optimize: str = "none"
    kernel_times: Path | None = field(default_factory=lambda: default_cache() / KERNEL_TIMES)
    measure_seconds: float = 60.0
    records: Path | None = field(default_factory=lambda: default_cache() / RECORDS)
    run_threads: int = 1
    arena: bool = True
    winograd: bool = True
    fuse: bool = True
    overlap: bool = True
    sparse: str | os.PathLike[str] = "off"
    sparse_layers: dict[str, str] = field(default_factory=dict)

    def native(self) -> _espalier.CompileOptions:
        """Return the options as the extension takes them."""
        check_sparse(self.sparse, self.sparse_layers)
        options = _espalier.CompileOptions()
        # Of other graphs, weights are chosen before.
        options.sparse = self.sparse == "all" and self.optimize != "none"
        options.entries = self.sparse != "off" or bool(self.sparse_layers)
        for declared in fields(self):
            name, value = declared.name, getattr(self, declared.name)
            if value is not None and name not in ("sparse", "sparse_layers"):
                setattr(options, name, _native_option(name, declared.type, value))
        return options


_LIMITS: dict[str, tuple[int, float]] = {
    "cache_limit": (0, 2**64 - 1),
    "measure_seconds": (0, math.inf),
    "run_threads": (1, _espalier.MAX_THREADS),
}


def _native_option(name: str, declared: object, value: object) -> object:
    """Return an option's value as the extension takes it.

    Arguments:
        declared: its type.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if name in _LIMITS:
        low, high = _LIMITS[name]
        expected = f"a number from {low} to {high}"
        kind = int | float if declared is float else int
        fits = isinstance(value, kind) and not isinstance(value, bool) and low <= value <= high
    elif declared is bool:
        expected, fits = "True or False", isinstance(value, bool)
    else:
        expected = f"{'text' if declared is str else 'a path'} without null characters"
        if declared is not str and isinstance(value, os.PathLike):
            value = os.fspath(value)
        fits = isinstance(value, str) and "\0" not in value
    if not fits:
        raise EspalierError(f"option {name}: expects {expected}, but got {value!r}")
    return value


OPTIMIZATIONS = ("none", "egraph", "ilp", "backtracking")
KERNEL_TIMES = "kernels.sqlite"
RECORDS = "tuning.sqlite"


def given_options(options: Options | None, usual: Options | None = None) -> Options:
    """Return the options that a caller gave, or the usual ones."""
    if options is None:
        return usual or Options()
    expect("options of type espalier.Options", options, Options)
    return options


def default_cache() -> Path:
    """Return the user's folder of compiled programs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "espalier"


def is_mlir(model: Model) -> bool:
    """Say whether a model is MLIR text, or a path to it, rather than ONNX."""
    if isinstance(model, onnx.ModelProto | bytes):
        return False
    if not isinstance(model, str | os.PathLike):
        raise EspalierError(
            "expects a path, an ONNX model or its bytes, or MLIR as text as a model, "
            f"but got {type(model).__name__}"
        )
    text = os.fspath(model)
    return "\n" in text or text.endswith(".mlir") or "func.func" in text


def read_text(path: str | os.PathLike[str]) -> str:
    """Return what a text file contains."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise EspalierError(
            f"cannot read '{os.fspath(path)}': expects text in UTF-8, but got other "
            f"bytes at byte {error.start}"
        ) from error
    # The latter is said of names with null characters.
    except (OSError, ValueError) as error:
        raise EspalierError(f"cannot read '{os.fspath(path)}': {reason_of(error)}") from error


def load_module(
    model: Model,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    values: Mapping[str, np.ndarray] | None = None,
) -> tuple[_espalier.Module, dict[str, np.ndarray]]:
    """Return a model as a module, and the input values that it relies on."""
    for what, given in {"dims": dims, "shapes": shapes, "values": values}.items():
        if given is not None:
            expect(f"a mapping of names as {what}", given, Mapping)
    module, bound = _load_module(model, dims, shapes, values)
    names = module.input_names
    if stray := [name for name in {**(shapes or {}), **(values or {})} if name not in names]:
        raise ArgumentError(f"expects names of inputs out of {names}, but got {stray}")
    return module, bound


def _load_module(
    model: Model,
    dims: Mapping[str, int] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    values: Mapping[str, np.ndarray] | None,
) -> tuple[_espalier.Module, dict[str, np.ndarray]]:
    with naming(model):
        if not is_mlir(model):
            module = Module()
            return module, import_model(model, module, dims, shapes, values)
        if dims or shapes:
            raise EspalierError("expects an ONNX model for shapes to be given, but got MLIR")
        assert not isinstance(model, onnx.ModelProto | bytes), "MLIR is text or a path"
        text = os.fspath(model)
        if text.endswith(".mlir") and "\n" not in text:
            text = read_text(text)
        check_text(text)
        return _espalier.Module.parse(text), {}


def compile(
    model: Model,
    *,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    values: Mapping[str, np.ndarray] | None = None,
    name: str | None = None,
    schedule: str | os.PathLike[str] | None = None,
    select: Mapping[str, Any] | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Function:
    """Compile a model.

    The function runs on this machine; one that was compiled for another CPU can be
    saved, and refuses to run where that CPU's extensions are missing.

    Arguments:
        model: ONNX as a path, as bytes or parsed; or MLIR, as a path that ends
            in .mlir or as text. MLIR is parsed in a child process first.
        dims: numbers for symbolic dimensions, by name.
        shapes: shapes of inputs, by name; they fix symbolic dimensions, and the
            code is better for it.
        values: values of inputs, by name, used only where an operator needs a
            known operand; the function then accepts only those values.
        name: what the program is called in C, an identifier; without one, as MLIR's
            `module @name` or the ONNX graph is called, with other characters replaced.
        schedule: the file of a transform script for the model's kernels; kernels
            that it does not schedule get what was tuned, or the default schedule.
        select: what is selected for choices of that script, by name.
        progress: called with the number of finished and of all parts.

    Example:
        >>> f = espalier.compile("model.onnx", shapes={"x": (1, 3, 224, 224)})
        >>> y = f(x=image)
        >>> f = espalier.compile("model.onnx", options=espalier.Options(cpu="haswell"))
        >>> f.save("model.so")
    """
    script = None if schedule is None else read_text(schedule)
    module, bound = load_module(model, dims, shapes, values)
    with naming(model):
        if name is not None:
            module.name = check_identifier(name)
        layers = None
        if script is not None:
            layers = apply_script(module, script, schedule, options, select)
        elif select:
            raise EspalierError("expects a schedule for what is selected, but got none")
        return compile_module(module, bound, options, progress, layers)


def apply_script(
    module: _espalier.Module,
    script: str,
    path: str | os.PathLike[str] | None,
    options: Options | None = None,
    select: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Lower a module to kernels, and apply to them a transform script read from `path`.

    Arguments:
        select: what is selected for choices of the script, by name.

    Returns what was chosen of weights, as `Function.sparsity` has it.
    """
    with naming(path):
        check_text(script)
        if select:
            script = _espalier.select(module, script, json.dumps(dict(select)))
        layers = choose_sparse(module, given_options(options))
        _espalier.schedule(module, script, given_options(options).native())
    return layers


def compile_for(
    model: Model,
    inputs: Mapping[str, np.ndarray],
    *,
    dynamic: bool = False,
    dims: Mapping[str, int] | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Function:
    """Compile a model for given inputs.

    Arguments:
        inputs: arrays by name; their shapes are compiled in.
        dynamic: keep symbolic dimensions instead.
    """
    shapes = None if dynamic or is_mlir(model) else shapes_of(inputs)
    return compile(
        model, dims=dims, shapes=shapes, values=inputs, options=options, progress=progress
    )


def lower(
    model: Model,
    *,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    values: Mapping[str, np.ndarray] | None = None,
    options: Options | None = None,
    stage: str = "poly",
) -> _espalier.Module:
    """Return a model as a module of kernels without schedules.

    The arguments are those of `compile`, and a stage of compilation: at
    "statements" kernels are not formed yet, and there is one for each statement of
    an operator, for which a script can choose layouts and algorithms. What `Schedule`
    does to the kernels can be saved as a script, which `compile` takes.
    """
    module, _ = load_module(model, dims, shapes, values)
    with naming(model):
        choose_sparse(module, given_options(options))
        _espalier.lower(module, stage, given_options(options).native())
    return module


def shapes_of(inputs: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of what has one."""
    return {k: tuple(v.shape) for k, v in inputs.items() if hasattr(v, "shape")}


def interpret(model: Model, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Run a model in the reference interpreter: plain loops, in double precision.

    This is slow; it is what compiled programs are compared with.
    """
    expect("arrays by name", inputs, Mapping)
    shapes = None if is_mlir(model) else shapes_of(inputs)
    module, _ = load_module(model, None, shapes, inputs)
    with naming(model):
        return interpret_module(module, inputs)


def interpret_module(
    module: _espalier.Module, inputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Run a module of the graph dialect in the reference interpreter."""
    missing = [name for name in module.input_names if name not in inputs]
    if missing:
        raise EspalierError(f"argument '{missing[0]}': expects an array, but it is missing")
    buffers = [_argument(name, inputs[name]) for name in module.input_names]
    results = _espalier.interpret(module, buffers)
    return dict(zip(module.output_names, map(from_buffer, results), strict=True))


def _argument(name: str, value: object) -> Buffer:
    """Return an input as the interpreter takes it."""
    expect_no_mask(f"argument '{name}'", value)
    try:
        return to_buffer(np.asarray(value))
    # The second is said of lists of different lengths.
    except (EspalierError, ValueError) as error:
        raise ArgumentError(f"argument '{name}': {error}") from error


def compile_module(
    module: _espalier.Module,
    bound: Mapping[str, np.ndarray] | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
    layers: Sequence[dict[str, Any]] | None = None,
) -> Function:
    """Compile a module; the module is changed on the way.

    Arguments:
        bound: the inputs whose values the module relies on.
        layers: what was chosen of its weights, if that is done.
    """
    options = given_options(options)
    if layers is None:
        layers = choose_sparse(module, options)
    program = _espalier.compile(module, options.native(), progress)
    return Function(NativeProgram(program), bound, layers)


def optimize_module(module: _espalier.Module, options: Options | None = None) -> dict[str, Any]:
    """Replace a module's graph by one that is predicted to be faster; return a report.

    What the report has: `Function.optimization`.
    """
    options = given_options(options, Options(optimize="egraph"))
    return json.loads(_espalier.optimize(module, options.native()))
