#!/usr/bin/env python3
"""Times a convolution, Relu and MaxPool in one kernel, scheduled by hand; prints JSON.

Usage: fused.py [--batch N] [--seconds S] [--toy]

Each row of results is computed in one iteration: `compute_at` puts the two rows of the
convolution that it needs in front of it, blocks of which stay in registers.
onnxruntime runs the same model in turns; times are those of the process.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from espalier.kernels import f32, kernel, label, local, sizes
from espalier.models import Net
from espalier.schedules import Schedule
from espalier.testing.onnxruntime import OnnxRuntime

n = sizes("n")[0]


@kernel
def block(x: f32[n, 226, 226, 3], filters: f32[3, 3, 3, 32], out: f32[n, 112, 112, 32]) -> None:
    """A 3 x 3 convolution, its positive part, the maximum of 2 x 2 of these."""
    t = local(f32[n, 224, 224, 32])
    for b in range(n):
        for y in range(224):
            for z in range(224):
                for o in range(32):
                    label("init")
                    t[b, y, z, o] = 0.0
    for b in range(n):
        for y in range(224):
            for z in range(224):
                for o in range(32):
                    for r in range(3):
                        for s in range(3):
                            for c in range(3):
                                label("conv")
                                t[b, y, z, o] += x[b, y + r, z + s, c] * filters[r, s, c, o]
    for b in range(n):
        for y in range(224):
            for z in range(224):
                for o in range(32):
                    label("relu")
                    t[b, y, z, o] = max(t[b, y, z, o], 0.0)
    for b in range(n):
        for y in range(112):
            for z in range(112):
                for o in range(32):
                    label("zero")
                    out[b, y, z, o] = 0.0
    for b in range(n):
        for y in range(112):
            for z in range(112):
                for o in range(32):
                    for r in range(2):
                        for s in range(2):
                            label("pool")
                            out[b, y, z, o] = max(out[b, y, z, o], t[b, 2 * y + r, 2 * z + s, o])


def make_schedule() -> Schedule:
    """Return the schedule."""
    s = Schedule(block)
    # Two rows of the convolution in front of the row that pools them.
    s.compute_at("conv", "pool", "y")
    # Blocks of 14 columns: initialized, updated and clamped in registers.
    s.split("conv", "z", [14])
    s.split("relu", "z", [14])
    s.interchange("conv", ["z.0", "r", "s", "c", "z.1", "o"])
    s.fuse("conv", "relu", 3)
    s.decompose("conv", "r")
    s.split("init", "z.init", [14])
    (store,) = s.cache_write("conv", 0, loop="z.0", placement="register")
    for name, z, o in [
        ("init", "z.init.1", "o"),
        ("conv", "z.1", "o"),
        ("relu", "z.1", "o"),
        (store, "e4", "e5"),
    ]:
        s.vectorize(name, o, 16)
        s.unroll(name, o + ".0")
        s.unroll(name, z)
    for loop in ("r", "s", "c"):
        s.unroll("conv", loop)
    # The maximum of four, from zero on, in registers too.
    s.decompose("pool", "o")
    (store,) = s.cache_write("pool", 0, loop="z", placement="register")
    for name, o in [("zero", "o"), ("pool", "o"), (store, "e3")]:
        s.vectorize(name, o, 16)
        s.unroll(name, o + ".0")
    s.unroll("pool", "r")
    s.unroll("pool", "s")
    return s


def make_peer(x: np.ndarray, filters: np.ndarray) -> Callable[[], np.ndarray]:
    """Return the same in onnxruntime, which has the channels first."""
    net = Net("block")
    batch, height, width, channels = x.shape
    given = net.input("x", [batch, channels, height, width])
    weights = net.constant(np.ascontiguousarray(filters.transpose(3, 2, 0, 1)))
    y = net.node("Relu", net.node("Conv", given, weights))
    y = net.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    shape = [batch, filters.shape[3], height // 2 - 1, width // 2 - 1]
    session = OnnxRuntime(net.finish((y, "y", shape)), threads=1)
    inputs = {"x": np.ascontiguousarray(x.transpose(0, 3, 1, 2))}
    return lambda: session.run(inputs)["y"]


def main() -> int:
    """Measure; return 1 if the results differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--toy", action="store_true", help="one image, to compare results")
    args = parser.parse_args()
    batch = 1 if args.toy else args.batch
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch, 226, 226, 3), dtype=np.float32)
    filters = rng.standard_normal((3, 3, 3, 32), dtype=np.float32)
    out = np.zeros((batch, 112, 112, 32), np.float32)
    program = make_schedule().compile()
    program.set_num_threads(1)
    peer = make_peer(x, filters)
    calls = {
        "ours": lambda: program(x, filters, out),
        "onnxruntime": peer,
    }
    samples: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + (0 if args.toy else args.seconds)
    while len(samples["ours"]) < 3 or time.perf_counter() < end:
        for name, call in calls.items():
            start = time.process_time()
            call()
            samples[name].append(1e3 * (time.process_time() - start))
    right = bool(np.allclose(out, peer().transpose(0, 2, 3, 1), rtol=1e-3, atol=1e-3))
    ours, theirs = (statistics.median(samples[name]) for name in calls)
    line = {
        "case": "conv_relu_maxpool",
        "shape": [batch, 224, 224, 3, 32],
        "threads": 1,
        "median_ms": round(ours, 2),
        "baseline": "onnxruntime",
        "baseline_ms": round(theirs, 2),
        "ratio": round(ours / theirs, 3),
        "passed": right,
    }
    print(json.dumps(line))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
