"""Several products in a row."""

from espalier.kernels import f64, kernel, sizes

m, n, p, q, r, s = sizes("m n p q r s")


@kernel
def k2mm(
    tmp: f64[m, n], a: f64[m, p], b: f64[p, n], c: f64[n, q], d: f64[m, q], alpha: f64, beta: f64
) -> None:
    """Compute d = alpha a b c + beta d."""
    for i in range(m):
        for j in range(n):
            tmp[i, j] = 0
            for k in range(p):
                tmp[i, j] += alpha * a[i, k] * b[k, j]
    for i in range(m):
        for j in range(q):
            d[i, j] *= beta
            for k in range(n):
                d[i, j] += tmp[i, k] * c[k, j]


@kernel
def k3mm(
    e: f64[m, n],
    a: f64[m, p],
    b: f64[p, n],
    f: f64[n, q],
    c: f64[n, r],
    d: f64[r, q],
    g: f64[m, q],
) -> None:
    """Compute g = (a b) (c d)."""
    for i in range(m):
        for j in range(n):
            e[i, j] = 0
            for k in range(p):
                e[i, j] += a[i, k] * b[k, j]
    for i in range(n):
        for j in range(q):
            f[i, j] = 0
            for k in range(r):
                f[i, j] += c[i, k] * d[k, j]
    for i in range(m):
        for j in range(q):
            g[i, j] = 0
            for k in range(n):
                g[i, j] += e[i, k] * f[k, j]


@kernel
def atax(a: f64[m, n], x: f64[n], y: f64[n], tmp: f64[m]) -> None:
    """Compute y = a' (a x)."""
    for i in range(n):
        y[i] = 0
    for i in range(m):
        tmp[i] = 0
        for j in range(n):
            tmp[i] += a[i, j] * x[j]
        for j in range(n):
            y[j] += a[i, j] * tmp[i]


@kernel
def bicg(a: f64[n, m], s: f64[m], q: f64[n], p: f64[m], r: f64[n]) -> None:
    """Compute s = a' r; q = a p."""
    for i in range(m):
        s[i] = 0
    for i in range(n):
        q[i] = 0
        for j in range(m):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]


@kernel
def doitgen(a: f64[r, q, p], c4: f64[p, p], total: f64[p]) -> None:
    """Multiply each row of a by c4, in place."""
    for i in range(r):
        for j in range(q):
            for k in range(p):
                total[k] = 0
                for h in range(p):
                    total[k] += a[i, j, h] * c4[h, k]
            for k in range(p):
                a[i, j, k] = total[k]


@kernel
def mvt(x1: f64[n], x2: f64[n], y1: f64[n], y2: f64[n], a: f64[n, n]) -> None:
    """x1 += a y1; x2 += a' y2."""
    for i in range(n):
        for j in range(n):
            x1[i] += a[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += a[j, i] * y2[j]
