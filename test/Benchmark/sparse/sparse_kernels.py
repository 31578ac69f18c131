"""Products of a matrix in compressed rows (CSR), and of a tensor in compressed fibers."""

from collections.abc import Callable

from espalier.kernels import Kernel, f32, i32, kernel, label, sizes
from espalier.kernels.types import Size

Extent = Size | int

n, m, o, e, f, w = sizes("n m o e f w")
STARTS = i32[n + 1].with_values(bounded_by=e + 1, monotonic=True)
COLUMNS = i32[e].with_values(bounded_by=m)
FIBERS = i32[n + 1].with_values(bounded_by=f + 1, monotonic=True)
ENTRIES = i32[f + 1].with_values(bounded_by=e + 1, monotonic=True)


@kernel
def spmv(starts: STARTS, column: COLUMNS, value: f32[e], x: f32[m], y: f32[n]) -> None:
    """Multiply by a vector."""
    for i in range(n):
        label("init")
        y[i] = 0.0
        for j in range(starts[i], starts[i + 1]):
            label("acc")
            y[i] += value[j] * x[column[j]]


def _make_spmm(w: Extent) -> Kernel:
    @kernel
    def spmm(starts: STARTS, column: COLUMNS, value: f32[e], x: f32[m, w], y: f32[n, w]) -> None:
        """Multiply by a matrix."""
        for i in range(n):
            for k in range(w):
                label("init")
                y[i, k] = 0.0
        for i in range(n):
            for j in range(starts[i], starts[i + 1]):
                for k in range(w):
                    label("acc")
                    y[i, k] += value[j] * x[column[j], k]

    return spmm


def _make_sddmm(w: Extent) -> Kernel:
    @kernel
    def sddmm(
        starts: STARTS, column: COLUMNS, value: f32[e], x: f32[n, w], z: f32[m, w], y: f32[e]
    ) -> None:
        """Multiply matrices at the entries of a third, and weigh the products by these."""
        for i in range(n):
            for j in range(starts[i], starts[i + 1]):
                label("init")
                y[j] = 0.0
                for k in range(w):
                    label("acc")
                    y[j] += x[i, k] * z[column[j], k]
                label("weigh")
                y[j] *= value[j]

    return sddmm


def _make_mttkrp(w: Extent) -> Kernel:
    @kernel
    def mttkrp(
        starts: FIBERS, row: i32[f].with_values(bounded_by=m), ends: ENTRIES,
        column: i32[e].with_values(bounded_by=o), value: f32[e],
        x: f32[m, w], z: f32[o, w], y: f32[n, w],
    ) -> None:  # fmt: skip
        """Multiply a tensor of three dimensions by a matrix along two of them."""
        for i in range(n):
            for k in range(w):
                label("init")
                y[i, k] = 0.0
        for i in range(n):
            for p in range(starts[i], starts[i + 1]):
                for j in range(ends[p], ends[p + 1]):
                    for k in range(w):
                        label("acc")
                        y[i, k] += value[j] * (x[row[p], k] * z[column[j], k])

    return mttkrp


MAKE: dict[str, Callable[[Extent], Kernel]] = {
    "spmv": lambda _: spmv,
    "spmm": _make_spmm,
    "sddmm": _make_sddmm,
    "mttkrp": _make_mttkrp,
}
"""Make a product for dense operands with so many columns."""

spmm, sddmm, mttkrp = (MAKE[name](w) for name in ("spmm", "sddmm", "mttkrp"))
