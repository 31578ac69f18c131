"""List the CPU time that compiling single convolutions takes, one JSON object per row.

The rows are the convolutions of Ansor's table of operators, at batch 1 and 16. Only
shapes matter: weights are random. `--only PREFIX` takes some rows, `--limit S` fails
if a row takes longer.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

import espalier

# Extents of the image, input channels, output channels, kernel, stride, border.
CONVOLUTIONS = {
    "C1D": [((256,), 64, 128, 3, 2, 1), ((256,), 128, 256, 1, 2, 0), ((64,), 256, 256, 5, 1, 2)],
    "C2D": [((224, 224), 3, 64, 7, 2, 3), ((56, 56), 64, 64, 1, 1, 0), ((7, 7), 512, 512, 3, 1, 1)],
    "C3D": [((16, 56, 56), 64, 64, 1, 1, 0), ((16, 14, 14), 256, 256, 3, 1, 1)],
    "CAP": [((16, 16), 32, 64, 3, 2, 1), ((8, 8), 32, 64, 3, 1, 1)],
}
# The same with the number of groups, and with the dilation.
GROUPED = [((56, 56), 64, 128, 3, 2, 1, 4), ((14, 14), 256, 256, 3, 1, 1, 4)]
DILATED = [((224, 224), 3, 64, 7, 2, 3, 2), ((14, 14), 256, 256, 3, 1, 1, 2)]
# Extents, channels, kernel, stride, border.
DEPTHWISE = [
    ((112, 112), 32, 3, 1, 1),
    ((112, 112), 64, 3, 2, 1),
    ((14, 14), 512, 3, 2, 1),
    ((7, 7), 1024, 3, 1, 1),
]
TRANSPOSED = [
    ((4, 4), 512, 256, 4, 2, 1),
    ((8, 8), 256, 128, 4, 2, 1),
    ((16, 16), 128, 64, 4, 2, 1),
    ((32, 32), 64, 3, 4, 2, 1),
]


@dataclass(frozen=True)
class Row:
    """One convolution."""

    name: str
    batch: int
    image: tuple[int, ...]
    inputs: int
    outputs: int
    kernel: int
    stride: int
    border: int
    groups: int = 1
    dilation: int = 1
    transposed: bool = False

    def model(self) -> onnx.ModelProto:
        """Return the row as a model whose weights are constant."""
        dims = len(self.image)
        channels = (
            (self.inputs, self.outputs)
            if self.transposed
            else (self.outputs, self.inputs // self.groups)
        )
        shape = (*channels, *[self.kernel] * dims)
        weights = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        node = helper.make_node(
            "ConvTranspose" if self.transposed else "Conv",
            ["x", "w"],
            ["y"],
            strides=[self.stride] * dims,
            pads=[self.border] * 2 * dims,
            group=self.groups,
            dilations=[self.dilation] * dims,
        )
        x = helper.make_tensor_value_info("x", 1, [self.batch, self.inputs, *self.image])
        y = helper.make_tensor_value_info("y", 1, None)
        graph = helper.make_graph([node], "g", [x], [y], [numpy_helper.from_array(weights, "w")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 9
        return model


def rows() -> Iterator[Row]:
    """Yield all rows."""
    for batch in (1, 16):
        for kind, shapes in CONVOLUTIONS.items():
            for number, shape in enumerate(shapes):
                yield Row(f"{kind}{number}-b{batch}", batch, *shape)
        for number, shape in enumerate(GROUPED):
            yield Row(f"GRP{number}-b{batch}", batch, *shape)
        for number, (*shape, dilation) in enumerate(DILATED):
            yield Row(f"DIL{number}-b{batch}", batch, *shape, dilation=dilation)
        for number, (image, channels, *rest) in enumerate(DEPTHWISE):
            yield Row(
                f"DEP{number}-b{batch}", batch, image, channels, channels, *rest, groups=channels
            )
        for number, shape in enumerate(TRANSPOSED):
            yield Row(f"T2D{number}-b{batch}", batch, *shape, transposed=True)


def compile_seconds(row: Row, threads: bool) -> float:
    """Return the CPU time of compiling a row, of all threads."""
    model = row.model()
    options = espalier.Options(cache=None, threads=threads)
    start = time.process_time()
    espalier.compile(model, options=options)
    return time.process_time() - start


def main() -> int:
    """Compile the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="PREFIX")
    parser.add_argument("--limit", type=float, default=float("inf"), metavar="S")
    args = parser.parse_args()
    slow = False
    for row in rows():
        if not row.name.startswith(args.only):
            continue
        seconds = {
            name: round(compile_seconds(row, threads), 3)
            for name, threads in (("sequential", False), ("threads", True))
        }
        slow |= max(seconds.values()) > args.limit
        print(json.dumps({"case": row.name, "cpu_s": seconds}), flush=True)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
