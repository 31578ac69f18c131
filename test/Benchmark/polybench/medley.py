"""Statistics, images, paths and foldings."""

import math

from espalier.kernels import f32, f64, i32, kernel, sizes

m, n, w, h = sizes("m n w h")


@kernel
def correlation(data: f64[n, m], corr: f64[m, m], mean: f64[m], dev: f64[m]) -> None:
    """Correlations of the columns of data, which is normalized in place."""
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= f64(n)
    for j in range(m):
        dev[j] = 0.0
        for i in range(n):
            dev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        dev[j] = math.sqrt(dev[j] / f64(n))
        dev[j] = 1.0 if dev[j] <= 0.1 else dev[j]
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(f64(n)) * dev[j]
    for i in range(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    for i in range(max(m - 1, 0), m):
        corr[i, i] = 1.0


@kernel
def covariance(data: f64[n, m], cov: f64[m, m], mean: f64[m]) -> None:
    """Covariances of the columns of data, from which the mean is taken."""
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= f64(n)
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= f64(n) - 1.0
            cov[j, i] = cov[i, j]


@kernel
def deriche(img: f32[w, h], out: f32[w, h], y1: f32[w, h], y2: f32[w, h], alpha: f32) -> None:
    """Smooth an image: recursive filters along the rows, then along the columns."""
    k: f32
    b: f32
    a1: f32
    a2: f32
    a3: f32
    a4: f32
    c: f32
    xm1: f32
    ym1: f32
    ym2: f32
    xp1: f32
    xp2: f32
    yp1: f32
    yp2: f32
    k = (
        (1.0 - math.exp(-alpha))
        * (1.0 - math.exp(-alpha))
        / (1.0 + 2.0 * alpha * math.exp(-alpha) - math.exp(2.0 * alpha))
    )
    a1 = k
    a2 = k * math.exp(-alpha) * (alpha - 1.0)
    a3 = k * math.exp(-alpha) * (alpha + 1.0)
    a4 = -k * math.exp(-2.0 * alpha)
    b = math.pow(f32(2.0), -alpha)
    c = -math.exp(-2.0 * alpha)
    for i in range(w):
        ym1 = 0.0
        ym2 = 0.0
        xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * img[i, j] + a2 * xm1 + b * ym1 + c * ym2
            xm1 = img[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in range(w):
        yp1 = 0.0
        yp2 = 0.0
        xp1 = 0.0
        xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b * yp1 + c * yp2
            xp2 = xp1
            xp1 = img[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = y1[i, j] + y2[i, j]
    for j in range(h):
        xm1 = 0.0
        ym1 = 0.0
        ym2 = 0.0
        for i in range(w):
            y1[i, j] = a1 * out[i, j] + a2 * xm1 + b * ym1 + c * ym2
            xm1 = out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in range(h):
        xp1 = 0.0
        xp2 = 0.0
        yp1 = 0.0
        yp2 = 0.0
        for i in range(w - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b * yp1 + c * yp2
            xp2 = xp1
            xp1 = out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = y1[i, j] + y2[i, j]


@kernel
def floyd_warshall(path: i32[n, n]) -> None:
    """Replace lengths of edges by lengths of shortest paths."""
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


@kernel
def nussinov(seq: i32[n], table: i32[n, n]) -> None:
    """Count the pairs of the best folding of each part of a sequence of bases."""
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                if i < j - 1:
                    table[i, j] = max(
                        table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0)
                    )
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
