"""Models of one operator, with symbolic dimensions where they matter."""

import numpy as np
import onnx

from support import one_op

F32, I64 = np.float32, np.int64
SIZES = [{"n": 2, "s": 5}, {"n": 3, "s": 8}]
IMAGE = {"x": (F32, ["n", 4, "s", 9])}
MATRIX = {"x": (F32, ["n", "s"])}
WEIGHTS = np.random.default_rng(0).standard_normal((6, 4, 3, 3)).astype(F32)


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, I64)


CASES = {
    "conv": one_op("Conv", IMAGE, {"w": WEIGHTS}, strides=[2, 1], pads=[1, 0, 2, 1]),
    "conv_same": one_op("Conv", IMAGE, {"w": WEIGHTS}, auto_pad="SAME_LOWER"),
    "conv_valid_bias": one_op(
        "Conv", IMAGE, {"w": WEIGHTS, "b": np.arange(6, dtype=F32)}, auto_pad="VALID"
    ),
    "conv_groups": one_op(
        "Conv", IMAGE, {"w": WEIGHTS[:, :2]}, group=2, dilations=[2, 2], pads=[2, 2, 2, 2]
    ),
    "conv_1d": one_op("Conv", {"x": (F32, ["n", 4, "s"])}, {"w": WEIGHTS[:, :, 0]}),
    "conv_transpose": one_op(
        "ConvTranspose", IMAGE, {"w": WEIGHTS[:4]}, strides=[2, 2], output_padding=[1, 0]
    ),
    # Windows that tile the result, as one product.
    "conv_transpose_tiles": one_op(
        "ConvTranspose",
        IMAGE,
        {"w": WEIGHTS[:4, :3, :2, :3], "b": np.arange(6, dtype=F32)},
        strides=[2, 3],
        group=2,
    ),
    "conv_transpose_tiles_of_weights": one_op(
        "ConvTranspose", {"x": (F32, ["n", 4, "s"]), "w": (F32, [4, 5, 3])}, strides=[3]
    ),
    # Windows side by side, of whose result a border is left out.
    "conv_transpose_tiles_cut": one_op(
        "ConvTranspose", IMAGE, {"w": WEIGHTS[:4, :3, :2, :2]}, strides=[2, 2], pads=[1, 0, 0, 1]
    ),
    # More phases than there is code for.
    "conv_transpose_far": one_op(
        "ConvTranspose",
        IMAGE,
        {"w": np.linspace(-1, 1, 4 * 2 * 9 * 10, dtype=F32).reshape(4, 2, 9, 10)},
        strides=[9, 8],
        pads=[1, 0, 2, 3],
    ),
    "max_pool": one_op("MaxPool", IMAGE, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    "max_pool_ceil": one_op("MaxPool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "average_pool": one_op(
        "AveragePool", IMAGE, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1
    ),
    "global_average_pool": one_op("GlobalAveragePool", IMAGE),
    "global_max_pool": one_op("GlobalMaxPool", IMAGE),
    "gemm": one_op(
        "Gemm",
        {"x": (F32, [4, "n"])},
        {"b": np.ones((5, 4), F32), "c": np.arange(5, dtype=F32)},
        transA=1,
        transB=1,
        alpha=0.5,
        beta=2.0,
    ),
    "matmul_batch": one_op("MatMul", {"x": (F32, ["n", 1, "s", 4]), "z": (F32, [3, 4, 2])}),
    "matmul_vectors": one_op("MatMul", {"x": (F32, [4]), "z": (F32, ["n", 4, "s"])}),
    "einsum": one_op(
        "Einsum",
        {"x": (F32, ["n", "s", 2, 4]), "z": (F32, ["n", "s", 2, 4])},
        equation="bqhd,bkhd->bhqk",
    ),
    "einsum_ellipsis": one_op(
        "Einsum", {"x": (F32, ["n", "s", 4]), "z": (F32, [4, 3])}, equation="...i,ij->...j"
    ),
    "einsum_upper_case": one_op(
        "Einsum", {"x": (F32, ["n", "s", 4]), "z": (F32, ["n", 4, 3])}, equation="bSd,bdE->SbE"
    ),
    "einsum_cases_differ": one_op(
        "Einsum", {"x": (F32, ["n", "s"]), "z": (F32, [4, "n"])}, equation="aA,Ba->AB"
    ),
    "einsum_ellipsis_upper_case": one_op(
        "Einsum", {"x": (F32, ["n", "s", 4]), "z": (F32, [4, 3])}, equation="...Z,ZA->A..."
    ),
    "einsum_diagonal": one_op("Einsum", {"x": (F32, [3, "n", 3])}, equation="iji->ji"),
    "einsum_trace": one_op("Einsum", {"x": (F32, ["n", 4, 4])}, equation="...ii"),
    "softmax": one_op("Softmax", MATRIX, axis=0),
    "log_softmax": one_op("LogSoftmax", MATRIX),
    "layer_norm_no_bias": one_op("LayerNormalization", IMAGE, {"w": np.full(9, 0.5, F32)}),
    "batch_norm": one_op(
        "BatchNormalization", IMAGE, {k: np.arange(1, 5, dtype=F32) for k in "sbmv"}
    ),
    "batch_norm_in_training": one_op(
        "BatchNormalization",
        IMAGE,
        {k: np.arange(1, 5, dtype=F32) for k in "sbmv"},
        outputs=("y", "mean", "variance"),
        opset=15,
        training_mode=1,
        momentum=0.7,
    ),
    "group_norm": one_op(
        "GroupNormalization",
        IMAGE,
        {"s": np.ones(4, F32), "b": np.zeros(4, F32)},
        opset=21,
        num_groups=2,
    ),
    "reduce_mean": one_op("ReduceMean", IMAGE, {"a": ints(1, -1)}, keepdims=0),
    "reduce_mean_13": one_op("ReduceMean", IMAGE, axes=[2], opset=13),
    "reduce_all": one_op("ReduceSum", IMAGE),
    "reduce_nothing": one_op("ReduceSum", IMAGE, noop_with_empty_axes=1),
    "log_sum_exp": one_op("ReduceLogSumExp", MATRIX, {"a": ints(1)}),
    "arg_max": one_op("ArgMax", MATRIX, axis=1, keepdims=0, select_last_index=1),
    "top_1": one_op("TopK", MATRIX, {"k": ints(1)}, outputs=("y", "z")),
    "cumsum": one_op("CumSum", MATRIX, {"a": ints(1)}, reverse=1, exclusive=1),
    "transpose": one_op("Transpose", IMAGE),
    "reshape": one_op("Reshape", IMAGE, {"s": ints(0, -1, 3)}),
    "flatten": one_op("Flatten", IMAGE, axis=-2),
    "unsqueeze": one_op("Unsqueeze", MATRIX, {"a": ints(-1, 0)}),
    "squeeze": one_op("Squeeze", {"x": (F32, ["n", 1, "s", 1])}, {"a": ints(1, -1)}),
    "expand": one_op("Expand", {"x": (F32, ["n", 1])}, {"s": ints(3, 1, 4)}),
    "slice": one_op("Slice", IMAGE, {"a": ints(1, -3), "b": ints(-1, 2**63 - 1), "c": ints(2, 3)}),
    "slice_far": one_op("Slice", MATRIX, {"a": ints(6), "b": ints(7), "c": ints(1)}),
    "slice_steps": one_op(
        "Slice", MATRIX, {"a": ints(1), "b": ints(100), "c": ints(1), "d": ints(3)}
    ),
    "slice_reversed": one_op(
        "Slice", MATRIX, {"a": ints(-1), "b": ints(-(2**63)), "c": ints(1), "d": ints(-2)}
    ),
    "split": one_op("Split", IMAGE, outputs=("y", "z"), num_outputs=2, axis=1),
    "split_sizes": one_op("Split", IMAGE, {"s": ints(1, 3)}, outputs=("y", "z"), axis=1),
    "concat_many": one_op(
        "Concat",
        {"x": (F32, ["n", 3])},
        {f"c{i}": np.full((1 + i % 3, 3), i, F32) for i in range(70)},
        axis=0,
    ),
    "concat": one_op("Concat", {"x": (F32, ["n", "s"]), "z": (F32, ["n", 3])}, axis=-1),
    "tile": one_op("Tile", MATRIX, {"r": ints(2, 3)}),
    "pad": one_op("Pad", MATRIX, {"p": ints(1, 0, 2, 3), "v": np.float32(7)}),
    "pad_axes": one_op(
        "Pad", MATRIX, {"p": ints(1, 1), "a": ints(-1)}, operands=["x", "p", "", "a"], mode="edge"
    ),
    "gather": one_op("Gather", MATRIX, {"i": np.array([[0, -1]], I64)}, axis=1),
    "where": one_op("Where", {"c": (np.bool_, ["n", 1]), "x": (F32, ["n", "s"]), "z": (F32, [])}),
    "clip_low": one_op("Clip", MATRIX, {"low": np.float32(0.25)}),
    "clip_high": one_op("Clip", MATRIX, {"h": np.float32(0.25)}, operands=["x", "", "h"]),
    "pow_mixed": one_op("Pow", MATRIX, {"e": np.int64(2)}),
    "max_of_three": one_op(
        "Max", {"x": (F32, ["n", "s"]), "z": (F32, ["s"]), "v": (F32, ["n", 1])}
    ),
    "mean_of_one": one_op("Mean", MATRIX),
    "cast_to_bool": one_op("Cast", {"x": (np.int32, ["n", "s"])}, to=9),
    "trilu": one_op("Trilu", {"x": (F32, ["n", "s", "s"])}, {"k": np.int64(-1)}, upper=0),
    "one_hot": one_op(
        "OneHot",
        {"x": (I64, ["n"])},
        {"d": np.int64(64), "v": np.array([-1, 1], F32)},
        axis=0,
    ),
    "depth_to_space": one_op("DepthToSpace", IMAGE, blocksize=2, mode="CRD"),
    "dropout": one_op("Dropout", MATRIX, outputs=("y", "z")),
    "mish": one_op("Mish", MATRIX),
    "celu": one_op("Celu", MATRIX, alpha=0.5),
    "hard_swish": one_op("HardSwish", MATRIX),
    "prelu": one_op("PRelu", IMAGE, {"slope": np.arange(9, dtype=F32)}),
    **{name: one_op(name.capitalize(), MATRIX) for name in ("tan", "asin", "acos", "atan")},
    **{f"{name}h": one_op(f"{name}h".capitalize(), MATRIX) for name in ("sin", "cos")},
    **{f"a{name}h": one_op(f"A{name}h", MATRIX) for name in ("sin", "cos", "tan")},
}


def recurrent(op: str, gates: int, direction: str, **attributes: object) -> onnx.ModelProto:
    rng = np.random.default_rng(1)
    count = 2 if direction == "bidirectional" else 1

    def weight(*shape: int) -> np.ndarray:
        return rng.standard_normal((count, *shape)).astype(F32)

    constants = {"w": weight(gates * 3, 4), "r": weight(gates * 3, 3), "b": weight(gates * 6)}
    return one_op(
        op,
        {"x": (F32, ["s", "n", 4])},
        constants,
        outputs=("y", "h"),
        hidden_size=3,
        direction=direction,
        **attributes,
    )


for _direction in ("forward", "reverse", "bidirectional"):
    CASES[f"lstm_{_direction}"] = recurrent("LSTM", 4, _direction)
    CASES[f"rnn_{_direction}"] = recurrent("RNN", 1, _direction)
    CASES[f"lstm_coupled_{_direction}"] = recurrent("LSTM", 4, _direction, input_forget=1, clip=0.5)
for _before in (0, 1):
    CASES[f"gru_{_before}"] = recurrent("GRU", 3, "bidirectional", linear_before_reset=_before)
