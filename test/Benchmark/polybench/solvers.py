"""Factorizations and solutions of linear systems."""

import math

from espalier.kernels import f64, kernel, sizes

m, n = sizes("m n")


@kernel
def cholesky(a: f64[n, n]) -> None:
    """Replace the lower part of a by its factor: a = l l'."""
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = math.sqrt(a[i, i])


@kernel
def durbin(r: f64[n], y: f64[n], z: f64[n]) -> None:
    """Solve the Yule-Walker equations: the Toeplitz matrix of 1, r by Durbin's recursion."""
    assert n >= 1
    alpha: f64 = -r[0]
    beta: f64 = 1.0
    total: f64
    y[0] = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


@kernel
def gramschmidt(a: f64[m, n], r: f64[n, n], q: f64[m, n]) -> None:
    """Factor a = q r by the modified Gram-Schmidt process; a is overwritten."""
    norm: f64
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(norm)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = 0.0
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]


@kernel
def lu(a: f64[n, n]) -> None:
    """Replace a by its factors: a = l u, l with ones on its diagonal."""
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


@kernel
def ludcmp(a: f64[n, n], b: f64[n], x: f64[n], y: f64[n]) -> None:
    """Solve a x = b; a is replaced by its factors, l y = b."""
    w: f64
    for i in range(n):
        for j in range(i):
            w = a[i, j]
            for k in range(j):
                w -= a[i, k] * a[k, j]
            a[i, j] = w / a[j, j]
        for j in range(i, n):
            w = a[i, j]
            for k in range(i):
                w -= a[i, k] * a[k, j]
            a[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= a[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= a[i, j] * x[j]
        x[i] = w / a[i, i]


@kernel
def trisolv(a: f64[n, n], x: f64[n], b: f64[n]) -> None:
    """Solve a x = b for a lower triangular a."""
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
