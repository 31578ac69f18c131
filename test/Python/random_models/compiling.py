"""Compiling a model as its sample says."""

import contextlib
import functools
import subprocess
from dataclasses import replace

from espalier import _espalier, compiler
from espalier.errors import CompileError, EspalierError
from espalier.function import Function
from random_models.choices import choose
from random_models.generate import Sample
from random_models.heap import is_guarded


def compile_sample(sample: Sample, cpu: str = "") -> Function:
    """Compile a sample, for this machine if no other one is named."""
    options = compiler.Options(
        cache=None,
        winograd=sample.winograd,
        arena=not is_guarded(),
        cpu=cpu,
        features=sample.features,
        sparse="stored" if sample.sparse else "off",
    )
    text = make_kernels(sample) or choose_for(sample, options) or store(sample)
    if text is None and sample.machine:
        text = load(sample)
    if text:
        function = compiler.compile(text, options=options)
    elif sample.dynamic:
        function = compiler.compile(sample.model(), options=options)
    else:
        function = compiler.compile_for(sample.model(), sample.inputs, options=options)
    if sample.threads > 1:
        with contextlib.suppress(CompileError):  # Nothing in it may be parallel.
            function.set_num_threads(sample.threads)
    return function


@functools.cache
def steps() -> list[str]:
    """Return the steps of `poly-form-kernels` that may be left out."""
    result = _optimize("module {}", "poly-form-kernels{skip=?}")
    return result.stderr.split("which are ")[1].split(", but got")[0].split(", ")


def load(sample: Sample) -> str | None:
    """Return the graph of a sample and its machine; None if what it computes depends on values."""
    module, bound = compiler.load_module(
        sample.model() if sample.dynamic else sample.static().model()
    )
    if bound:
        return None
    target = f"attributes {{poly.target = #poly.target<{sample.machine}>}}"
    return str(module).replace("{", f"{target} {{" if sample.machine else "{", 1)


def store(sample: Sample) -> str | None:
    """Return the graph of a sample with constants that are stored without zeros.

    None if none are, or if what it computes depends on values. A format that is not for
    the rows of each constant becomes the one that is chosen.
    """
    graph = load(sample) if sample.sparse else None
    if graph is None:
        return None
    form = "" if sample.sparse == "any" else f" format={sample.sparse}"
    for chosen in dict.fromkeys([form, ""]):
        sparsify = f"graph-sparsify{{max-density=0.6 min-elements=0{chosen}}}"
        result = _optimize(graph, f"canonicalize,{sparsify}")
        if result.returncode:
            raise EspalierError(result.stderr)
        try:
            options = compiler.Options(cache=None, sparse="stored")
            _espalier.lower(_espalier.Module.parse(result.stdout), "poly", options.native())
            return result.stdout
        except CompileError as error:
            if not chosen or "expects a sum that" not in str(error):
                raise
    return None


def make_kernels(sample: Sample) -> str | None:
    """Return the kernels that are formed without some steps.

    None if the sample skips none, or if what it computes depends on values. The format of
    constants is as `store` says.
    """
    if not sample.skips:
        return None
    text = store(sample) or load(sample)
    if text is None:
        return None
    skipped = [step for bit, step in enumerate(steps()) if sample.skips >> bit & 1]
    # Each step is a pass, which reads the kernels that the one before has written.
    kept = [f"poly-{step}" for step in steps() if step not in skipped]
    forming = ["convert-graph-to-poly", *kept, "poly-apply-layouts"]
    placing = [
        "poly-push-updates",
        "poly.kernel(poly-push-reductions)",
        "poly-store-in-place",
        "poly-collapse-dimensions",
        "poly-name-kernels",
    ]
    passes = ",".join(["canonicalize,cse", *forming, *placing])
    result = _optimize(text, passes)
    if result.returncode:
        # What the steps make of a sum decides which formats are for it.
        if sample.sparse not in ("", "any") and "expects a sum that" in result.stderr:
            return make_kernels(replace(sample, sparse="any"))
        raise EspalierError(f"without {skipped}: {result.stderr}")
    return result.stdout


def choose_for(sample: Sample, options: compiler.Options) -> str | None:
    """Return the statements of a sample with what is chosen for them.

    None if nothing is, or if what it computes depends on values.
    """
    if not sample.choices:
        return None
    graph = store(sample) or load(sample)
    if graph is None:
        return None
    for winograd in (sample.winograd, False):
        module = _espalier.Module.parse(graph)
        _espalier.lower(module, "statements", options.native())
        if not choose(module, sample.choices, winograd):
            return None
        text = str(module)
        try:
            _espalier.lower(module, "poly", options.native())
        except CompileError as error:
            if winograd and "Winograd" in str(error):
                continue  # Not for every convolution that it was chosen for.
            raise
        return text
    return None


def _optimize(text: str, passes: str) -> subprocess.CompletedProcess[str]:
    command = ["espalier-opt", "-", f"-pass-pipeline=builtin.module({passes})"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)
