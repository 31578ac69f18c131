"""Products of a matrix in compressed rows (CSR) with a vector and with a matrix."""

from espalier.kernels import f32, i32, kernel, label, sizes

n, m, e, w = sizes("n m e w")
STARTS = i32[n + 1].with_values(bounded_by=e + 1, monotonic=True)
COLUMNS = i32[e].with_values(bounded_by=m)


@kernel
def spmv(starts: STARTS, column: COLUMNS, value: f32[e], x: f32[m], y: f32[n]) -> None:
    """Multiply by a vector."""
    for i in range(n):
        label("init")
        y[i] = 0.0
        for j in range(starts[i], starts[i + 1]):
            label("acc")
            y[i] += value[j] * x[column[j]]


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
