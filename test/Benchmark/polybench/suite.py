"""The 30 kernels of the suite, with sizes and inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import blas
import medley
import numpy as np
import products
import references
import solvers
import stencils

from espalier.kernels import Kernel
from espalier.kernels.tree import Array, Scalar

Arguments = dict[str, np.ndarray | float]
SEED = 7


@dataclass(frozen=True)
class Case:
    """One kernel.

    Arguments:
        large: sizes for benchmarks, those called LARGE in PolyBench 4.2.
    """

    name: str
    kernel: Kernel
    large: Mapping[str, int]

    @property
    def small(self) -> dict[str, int]:
        """Sizes for tests: about those called MINI."""
        sizes = {name: max(size // 40, 9) for name, size in self.large.items()}
        if self.name == "gramschmidt":
            # As many independent columns as there are.
            sizes["m"] = sizes["n"]
        return sizes

    def arguments(self, sizes: Mapping[str, int]) -> Arguments:
        """Return arrays and scalars for which the kernel is well conditioned."""
        random = np.random.default_rng(SEED)
        arguments: Arguments = {}
        for argument in self.kernel.tree.arguments:
            if isinstance(argument, Scalar):
                arguments[argument.name] = SCALARS.get(argument.name, 1.5)
            else:
                arguments[argument.name] = _array(argument, sizes, random)
        prepare = PREPARE.get(self.name)
        if prepare:
            prepare(arguments)
        return arguments

    def own_sizes(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return the sizes that no array has."""
        extents = {
            extent.atom
            for argument in self.kernel.tree.arguments
            if isinstance(argument, Array)
            for extent in argument.type.extents
        }
        return {s.name: sizes[s.name] for s in self.kernel.tree.sizes if s not in extents}

    def reference(self, arguments: Arguments, sizes: Mapping[str, int]) -> None:
        """Compute in NumPy, in place."""
        getattr(references, self.name)(*arguments.values(), **self.own_sizes(sizes))


SCALARS = {"alpha": 1.5, "beta": 1.2, "dx": 0.25, "dy": 0.5, "dt": 0.125}


def defined(name: str, arguments: Arguments) -> Arguments:
    """Return the results that rounding leaves defined."""
    arrays = {k: v for k, v in arguments.items() if k not in SCRATCH.get(name, [])}
    if name == "gramschmidt":
        # Only so many columns are independent; PolyBench has more.
        rank = min(arrays["q"].shape)
        arrays = {"q": arrays["q"][:, :rank], "r": arrays["r"][:rank]}
    return arrays


SCRATCH = {"gramschmidt": ["a"], "adi": ["p", "q"]}
"""Arrays whose values in the end are of no interest."""


def _array(array: Array, sizes: Mapping[str, int], random: np.random.Generator) -> np.ndarray:
    shape = [extent.evaluate(sizes) for extent in array.type.extents]
    if array.type.element.is_float:
        return random.random(shape).astype(array.type.element.dtype)
    return random.integers(0, 100, shape).astype(array.type.element.dtype)


def _dominant(arguments: Arguments) -> None:
    """Make a matrix symmetric and diagonally dominant, so definite."""
    a = arguments["a"]
    a[:] = (a + a.T) / 2 + len(a) * np.eye(len(a))


def _autocorrelation(arguments: Arguments) -> None:
    """Make the Toeplitz matrix definite."""
    arguments["r"][:] = 0.5 ** np.arange(1, len(arguments["r"]) + 1)


def _bases(arguments: Arguments) -> None:
    arguments["seq"] %= 4
    arguments["table"][:] = 0


def _smooth(arguments: Arguments) -> None:
    arguments["alpha"] = 0.25


def _tall(arguments: Arguments) -> None:
    """Make columns independent."""
    a = arguments["a"]
    a[: a.shape[1]] += a.shape[1] * np.eye(*a[: a.shape[1]].shape)


PREPARE = {
    "cholesky": _dominant,
    "lu": _dominant,
    "ludcmp": _dominant,
    "trisolv": _dominant,
    "durbin": _autocorrelation,
    "gramschmidt": _tall,
    "nussinov": _bases,
    "deriche": _smooth,
}
LARGE: dict[Kernel, dict[str, int]] = {
    blas.gemm: {"m": 1000, "n": 1100, "k": 1200},
    blas.gemver: {"n": 2000},
    blas.gesummv: {"n": 1300},
    blas.symm: {"m": 1000, "n": 1200},
    blas.syr2k: {"m": 1000, "n": 1200},
    blas.syrk: {"m": 1000, "n": 1200},
    blas.trmm: {"m": 1000, "n": 1200},
    products.k2mm: {"m": 800, "n": 900, "p": 1100, "q": 1200},
    products.k3mm: {"m": 800, "n": 900, "p": 1000, "q": 1100, "r": 1200},
    products.atax: {"m": 1900, "n": 2100},
    products.bicg: {"m": 1900, "n": 2100},
    products.doitgen: {"r": 150, "q": 140, "p": 160},
    products.mvt: {"n": 2000},
    solvers.cholesky: {"n": 2000},
    solvers.durbin: {"n": 2000},
    solvers.gramschmidt: {"m": 1000, "n": 1200},
    solvers.lu: {"n": 2000},
    solvers.ludcmp: {"n": 2000},
    solvers.trisolv: {"n": 2000},
    medley.correlation: {"m": 1200, "n": 1400},
    medley.covariance: {"m": 1200, "n": 1400},
    medley.deriche: {"w": 4096, "h": 2160},
    medley.floyd_warshall: {"n": 2800},
    medley.nussinov: {"n": 2500},
    stencils.adi: {"t": 500, "n": 1000},
    stencils.fdtd_2d: {"t": 500, "nx": 1000, "ny": 1200},
    stencils.heat_3d: {"t": 500, "n": 120},
    stencils.jacobi_1d: {"t": 500, "n": 2000},
    stencils.jacobi_2d: {"t": 500, "n": 1300},
    stencils.seidel_2d: {"t": 500, "n": 2000},
}
CASES = {k.name: Case(k.name, k, sizes) for k, sizes in LARGE.items()}
