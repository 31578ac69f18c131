"""What each kernel computes, in NumPy, in place."""

import numpy as np

Array = np.ndarray


def gemm(c: Array, a: Array, b: Array, alpha: float, beta: float) -> None:
    """Define gemm."""
    c[:] = alpha * a @ b + beta * c


def gemver(a, u1, v1, u2, v2, w, x, y, z, alpha, beta) -> None:  # noqa: ANN001
    """Define gemver."""
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * a.T @ y + z
    w += alpha * a @ x


def gesummv(a: Array, b: Array, tmp: Array, x: Array, y: Array, alpha: float, beta: float) -> None:
    """Define gesummv."""
    tmp[:] = a @ x
    y[:] = alpha * tmp + beta * b @ x


def symm(c: Array, a: Array, b: Array, alpha: float, beta: float) -> None:
    """Define symm."""
    full = np.tril(a) + np.tril(a, -1).T
    c[:] = alpha * full @ b + beta * c


def syrk(c: Array, a: Array, alpha: float, beta: float) -> None:
    """Define syrk."""
    c[:] = np.triu(c, 1) + np.tril(alpha * a @ a.T + beta * c)


def syr2k(c: Array, a: Array, b: Array, alpha: float, beta: float) -> None:
    """Define syr2k."""
    c[:] = np.triu(c, 1) + np.tril(alpha * (a @ b.T + b @ a.T) + beta * c)


def trmm(a: Array, b: Array, alpha: float) -> None:
    """Define trmm."""
    b[:] = alpha * (np.tril(a, -1).T + np.eye(len(a))) @ b


def k2mm(tmp: Array, a: Array, b: Array, c: Array, d: Array, alpha: float, beta: float) -> None:
    """Define 2mm."""
    tmp[:] = alpha * a @ b
    d[:] = tmp @ c + beta * d


def k3mm(e: Array, a: Array, b: Array, f: Array, c: Array, d: Array, g: Array) -> None:
    """Define 3mm."""
    e[:], f[:] = a @ b, c @ d
    g[:] = e @ f


def atax(a: Array, x: Array, y: Array, tmp: Array) -> None:
    """Define atax."""
    tmp[:] = a @ x
    y[:] = a.T @ tmp


def bicg(a: Array, s: Array, q: Array, p: Array, r: Array) -> None:
    """Define bicg."""
    s[:], q[:] = a.T @ r, a @ p


def doitgen(a: Array, c4: Array, total: Array) -> None:
    """Define doitgen."""
    a[:] = a @ c4
    if a.shape[0] and a.shape[1]:
        total[:] = a[-1, -1]


def mvt(x1: Array, x2: Array, y1: Array, y2: Array, a: Array) -> None:
    """Define mvt."""
    x1 += a @ y1
    x2 += a.T @ y2


def cholesky(a: Array) -> None:
    """Define cholesky."""
    a[:] = np.linalg.cholesky(np.tril(a) + np.tril(a, -1).T) + np.triu(a, 1)


def durbin(r: Array, y: Array, z: Array) -> None:
    """Define durbin; z is scratch."""
    column = np.concatenate([[1.0], r[:-1]])
    index = np.arange(len(r))
    y[:] = np.linalg.solve(column[abs(index[:, None] - index)], -r)
    # What the last step leaves behind.
    z[: len(r) - 1] = y[: len(r) - 1]


def gramschmidt(a: Array, r: Array, q: Array) -> None:
    """Define gramschmidt; a is scratch."""
    factor, upper = np.linalg.qr(a)
    sign = np.sign(np.diag(upper))
    original = a.copy()
    q[:] = factor * sign
    r[:] = np.tril(r, -1) + upper * sign[:, None]
    for k in range(a.shape[1]):
        a[:, k] = original[:, k] - q[:, :k] @ r[:k, k]


def lu(a: Array) -> None:
    """Define lu."""
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


def ludcmp(a: Array, b: Array, x: Array, y: Array) -> None:
    """Define ludcmp."""
    x[:] = np.linalg.solve(a, b)
    lu(a)
    y[:] = np.triu(a) @ x


def trisolv(a: Array, x: Array, b: Array) -> None:
    """Define trisolv."""
    x[:] = np.linalg.solve(np.tril(a), b)


def correlation(data: Array, corr: Array, mean: Array, dev: Array) -> None:
    """Define correlation."""
    mean[:] = data.mean(axis=0)
    dev[:] = data.std(axis=0)
    dev[dev <= 0.1] = 1.0
    data[:] = (data - mean) / (np.sqrt(len(data)) * dev)
    corr[:] = data.T @ data
    np.fill_diagonal(corr, 1.0)


def covariance(data: Array, cov: Array, mean: Array) -> None:
    """Define covariance."""
    mean[:] = data.mean(axis=0)
    data -= mean
    cov[:] = data.T @ data / (len(data) - 1.0)


def deriche(img: Array, out: Array, y1: Array, y2: Array, alpha: float) -> None:
    """Define deriche: the sum of a causal and an anticausal recursive filter."""
    e = np.exp(-alpha)
    k = (1 - e) ** 2 / (1 + 2 * alpha * e - np.exp(2 * alpha))
    a1, a2, a3, a4 = k, k * e * (alpha - 1), k * e * (alpha + 1), -k * e**2
    b, c = 2.0**-alpha, -(e**2)
    source = img
    for axis in (1, 0):
        x, f, g = (np.moveaxis(v, axis, 0) for v in (source, y1, y2))
        zero = np.zeros_like(x[:1])
        x = np.concatenate([zero, zero, x, zero, zero])
        f_all, g_all = np.zeros_like(x), np.zeros_like(x)
        for i in range(2, len(x) - 2):
            f_all[i] = a1 * x[i] + a2 * x[i - 1] + b * f_all[i - 1] + c * f_all[i - 2]
        for i in range(len(x) - 3, 1, -1):
            g_all[i] = a3 * x[i + 1] + a4 * x[i + 2] + b * g_all[i + 1] + c * g_all[i + 2]
        f[:], g[:] = f_all[2:-2], g_all[2:-2]
        out[:] = y1 + y2
        source = out.copy()


def floyd_warshall(path: Array) -> None:
    """Define floyd_warshall."""
    for k in range(len(path)):
        np.minimum(path, path[:, k : k + 1] + path[k], out=path)


def nussinov(seq: Array, table: Array) -> None:
    """Define nussinov."""
    n = len(seq)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            pairs = int(seq[i] + seq[j] == 3) if length > 1 else 0
            inner = table[i + 1, j - 1] if length > 1 else 0
            splits = [table[i, k] + table[k + 1, j] for k in range(i + 1, j)]
            table[i, j] = max(table[i, j - 1], table[i + 1, j], inner + pairs, *splits)


def adi(u: Array, v: Array, p: Array, q: Array, dx: float, dy: float, dt: float, *, t: int) -> None:
    """Define adi: implicit half steps, solved as tridiagonal systems; p, q are scratch."""
    n = len(u)
    a, d = -dt / dx**2, -dt / dy**2 / 2
    b, e = 1 - 2 * a, 1 - 2 * d
    if n < 3:
        return
    inner = slice(1, n - 1)

    def solve(off: float, diagonal: float, right: Array) -> Array:
        """Solve for columns with boundary values 1; return the inner part."""
        matrix = np.diag([diagonal] * (n - 2))
        matrix += np.diag([off] * (n - 3), 1) + np.diag([off] * (n - 3), -1)
        right = right.copy()
        right[0] -= off
        right[-1] -= off
        return np.linalg.solve(matrix, right)

    for _ in range(t):
        rows = -d * u[:, :-2] + (1 + 2 * d) * u[:, 1:-1] - d * u[:, 2:]
        v[0, inner] = v[n - 1, inner] = 1.0
        v[inner, inner] = solve(a, b, rows[inner])
        columns = -a * v[:-2] + (1 + 2 * a) * v[1:-1] - a * v[2:]
        u[inner, 0] = u[inner, n - 1] = 1.0
        u[inner, inner] = solve(d, e, columns[:, inner].T).T


def fdtd_2d(ex: Array, ey: Array, hz: Array, fict: Array) -> None:
    """Define fdtd_2d."""
    for value in fict:
        ey[0] = value
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def heat_3d(a: Array, b: Array, *, t: int) -> None:
    """Define heat_3d."""
    center = (slice(1, -1),) * 3
    for _ in range(t):
        for x, y in ((a, b), (b, a)):
            total = x[center].copy()
            for axis in range(3):
                moved = np.moveaxis(x, axis, 0)
                step = moved[2:] - 2.0 * moved[1:-1] + moved[:-2]
                total += 0.125 * np.moveaxis(step[:, 1:-1, 1:-1], 0, axis)
            y[center] = total


def jacobi_1d(a: Array, b: Array, *, t: int) -> None:
    """Define jacobi_1d."""
    for _ in range(t):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def jacobi_2d(a: Array, b: Array, *, t: int) -> None:
    """Define jacobi_2d."""
    for _ in range(t):
        for x, y in ((a, b), (b, a)):
            y[1:-1, 1:-1] = 0.2 * (
                x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1]
            )


def seidel_2d(a: Array, *, t: int) -> None:
    """Define seidel_2d."""
    for _ in range(t):
        for i in range(1, len(a) - 1):
            for j in range(1, len(a) - 1):
                a[i, j] = a[i - 1 : i + 2, j - 1 : j + 2].sum() / 9.0
