"""Products of matrices and vectors, as in the BLAS."""

from espalier.kernels import f64, kernel, sizes

m, n, k = sizes("m n k")


@kernel
def gemm(c: f64[m, n], a: f64[m, k], b: f64[k, n], alpha: f64, beta: f64) -> None:
    """Compute c = alpha a b + beta c."""
    for i in range(m):
        for j in range(n):
            c[i, j] *= beta
        for p in range(k):
            for j in range(n):
                c[i, j] += alpha * a[i, p] * b[p, j]


@kernel
def gemver(
    a: f64[n, n],
    u1: f64[n],
    v1: f64[n],
    u2: f64[n],
    v2: f64[n],
    w: f64[n],
    x: f64[n],
    y: f64[n],
    z: f64[n],
    alpha: f64,
    beta: f64,
) -> None:
    """Compute a += u1 v1' + u2 v2'; x += beta a' y + z; w += alpha a x."""
    for i in range(n):
        for j in range(n):
            a[i, j] = a[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += beta * a[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] += alpha * a[i, j] * x[j]


@kernel
def gesummv(
    a: f64[n, n], b: f64[n, n], tmp: f64[n], x: f64[n], y: f64[n], alpha: f64, beta: f64
) -> None:
    """Compute y = alpha a x + beta b x."""
    for i in range(n):
        tmp[i] = 0
        y[i] = 0
        for j in range(n):
            tmp[i] += a[i, j] * x[j]
            y[i] += b[i, j] * x[j]
        y[i] = alpha * tmp[i] + beta * y[i]


@kernel
def symm(c: f64[m, n], a: f64[m, m], b: f64[m, n], alpha: f64, beta: f64) -> None:
    """Compute c = alpha a b + beta c, where a is symmetric and its lower part is stored."""
    total: f64
    for i in range(m):
        for j in range(n):
            total = 0
            for p in range(i):
                c[p, j] += alpha * b[i, j] * a[i, p]
                total += b[p, j] * a[i, p]
            c[i, j] = beta * c[i, j] + alpha * b[i, j] * a[i, i] + alpha * total


@kernel
def syrk(c: f64[n, n], a: f64[n, m], alpha: f64, beta: f64) -> None:
    """Compute c = alpha a a' + beta c, the lower part."""
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
        for p in range(m):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, p] * a[j, p]


@kernel
def syr2k(c: f64[n, n], a: f64[n, m], b: f64[n, m], alpha: f64, beta: f64) -> None:
    """Compute c = alpha a b' + alpha b a' + beta c, the lower part."""
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
        for p in range(m):
            for j in range(i + 1):
                c[i, j] += a[j, p] * alpha * b[i, p] + b[j, p] * alpha * a[i, p]


@kernel
def trmm(a: f64[m, m], b: f64[m, n], alpha: f64) -> None:
    """Compute b = alpha a' b, where a is lower triangular with ones on its diagonal."""
    for i in range(m):
        for j in range(n):
            for p in range(i + 1, m):
                b[i, j] += a[p, i] * b[p, j]
            b[i, j] = alpha * b[i, j]
