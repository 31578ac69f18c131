"""Steps in time over grids."""

from espalier.kernels import f64, kernel, sizes

t, n, nx, ny = sizes("t n nx ny")


@kernel
def adi(u: f64[n, n], v: f64[n, n], p: f64[n, n], q: f64[n, n], dx: f64, dy: f64, dt: f64) -> None:
    """Heat by alternating directions: tridiagonal systems along columns, then rows."""
    a: f64
    b: f64
    c: f64
    d: f64
    e: f64
    f: f64
    a = -(2.0 * dt / (dx * dx)) / 2.0
    b = 1.0 + 2.0 * dt / (dx * dx)
    c = a
    d = -(1.0 * dt / (dy * dy)) / 2.0
    e = 1.0 + 1.0 * dt / (dy * dy)
    f = d
    for _s in range(1, t + 1):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]
                ) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


@kernel
def fdtd_2d(ex: f64[nx, ny], ey: f64[nx, ny], hz: f64[nx, ny], fict: f64[t]) -> None:
    """Maxwell's equations in two dimensions, by finite differences."""
    assert nx >= 1
    for s in range(t):
        for j in range(ny):
            ey[0, j] = fict[s]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@kernel
def heat_3d(a: f64[n, n, n], b: f64[n, n, n]) -> None:
    """The heat equation in three dimensions, back and forth between two arrays."""
    for _s in range(1, t + 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    a[i, j, k] = (
                        0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                        + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                        + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1])
                        + b[i, j, k]
                    )


@kernel
def jacobi_1d(a: f64[n], b: f64[n]) -> None:
    """Means of three neighbours, back and forth between two arrays."""
    for _s in range(t):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])


@kernel
def jacobi_2d(a: f64[n, n], b: f64[n, n]) -> None:
    """Means of five neighbours, back and forth between two arrays."""
    for _s in range(t):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, 1 + j] + a[1 + i, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, 1 + j] + b[1 + i, j] + b[i - 1, j])


@kernel
def seidel_2d(a: f64[n, n]) -> None:
    """Means of nine neighbours, in place."""
    for _s in range(t):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1]
                    + a[i - 1, j]
                    + a[i - 1, j + 1]
                    + a[i, j - 1]
                    + a[i, j]
                    + a[i, j + 1]
                    + a[i + 1, j - 1]
                    + a[i + 1, j]
                    + a[i + 1, j + 1]
                ) / 9.0
