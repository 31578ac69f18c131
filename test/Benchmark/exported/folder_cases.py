"""The ONNX files of a folder as cases; those in half precision beside ours in single."""

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from peers import Arrays, Peer

from espalier.compiler import Options, compile_for

HALF = "-f16"
"""What `export.py` adds to the name of a network in half precision."""
SINGLE = "ours in f32"
"""The name of the peer that is the same network in single precision."""


def model_cases(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Return the models of a folder as cases."""
    case = {
        "model": "file",
        "baselines": ["onnxruntime", "openvino"],
        "channels_last": False,
        "metric": "median_ms",
        "threads": 1,
        "ratio": 1.0,
    }
    return [
        case | {"name": f"models/{path.stem}", "sizes": {"f": path}, "toy": {"f": path}}
        for path in sorted(folder.glob("*.onnx"))
    ]


def open_single(case: Mapping[str, Any], inputs: Arrays, options: Options) -> list[Peer]:
    """Return the network that lies beside one of half precision, compiled, if there is one."""
    half = case["sizes"].get("f") if case["model"] == "file" else None
    if half is None or HALF not in half.stem:
        return []
    single = half.with_stem(half.stem.replace(HALF, ""))
    if not single.exists():
        return []
    wide = {
        name: array.astype(np.float32) if array.dtype == np.float16 else array
        for name, array in inputs.items()
    }
    function = compile_for(onnx.load(single), wide, dynamic=True, options=options)
    function.set_num_threads(case["threads"])
    return [Peer(SINGLE, "espalier", function.bind(wide))]
