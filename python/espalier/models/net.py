"""A small builder of ONNX graphs with random weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Dim = int | str
"""An extent: a number, or the name of a symbolic dimension."""

DTYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}


class Net:
    """An ONNX graph under construction.

    Values are named by strings, as in ONNX. Weights are drawn from `seed`, so
    that the same calls make the same model.

    Example:
        >>> net = Net("tiny")
        >>> x = net.input("x", [1, 3, 8, 8])
        >>> y = net.node("Relu", net.conv(x, 3, 4, 3))
        >>> model = net.finish((y, "y", [1, 4, 8, 8]))
    """

    def __init__(self, name: str, seed: int = 0, opset: int = 20) -> None:
        self.name = name
        self.opset = opset
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._count = 0

    def _fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def input(self, name: str, shape: Sequence[Dim], dtype: str = "float32") -> str:
        """Declare a graph input; a string extent is a symbolic dimension."""
        self._inputs.append(helper.make_tensor_value_info(name, DTYPES[dtype], list(shape)))
        return name

    def constant(
        self, value: np.ndarray | np.generic | Sequence[int] | Sequence[float] | int
    ) -> str:
        """Add an initializer; Python integers become int64."""
        name = self._fresh("const")
        self._weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, shape: Sequence[int], scale: float) -> str:
        """Add a float32 initializer of normally distributed values."""
        value = self._rng.standard_normal(shape, dtype=np.float32)
        return self.constant(np.multiply(value, np.float32(scale), out=value))

    def uniform(self, shape: Sequence[int], low: float, high: float) -> str:
        """Add a float32 initializer of uniformly distributed values."""
        return self.constant(self._rng.uniform(low, high, shape).astype(np.float32))

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        """Add a node with one output and return that output."""
        return self.nodes(op, 1, *inputs, **attributes)[0]

    def nodes(self, op: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:  # noqa: ANN401
        """Add a node with several outputs and return them."""
        name = self._fresh(op.lower())
        results = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(op, list(inputs), results, name=name, **attributes))
        return results

    def conv(
        self,
        x: str,
        channels: int,
        filters: int,
        kernel: int | tuple[int, int],
        stride: int = 1,
        pad: int | tuple[int, int] | None = None,
        groups: int = 1,
        bias: bool = False,
    ) -> str:
        """Add a 2-D convolution; `pad` defaults to keeping the size at stride 1."""
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        if pad is None:
            pad = (kh // 2, kw // 2)
        ph, pw = (pad, pad) if isinstance(pad, int) else pad
        fan_in = channels // groups * kh * kw
        inputs = [x, self.weight([filters, channels // groups, kh, kw], (2.0 / fan_in) ** 0.5)]
        if bias:
            inputs.append(self.weight([filters], 0.05))
        return self.node(
            "Conv",
            *inputs,
            kernel_shape=[kh, kw],
            strides=[stride, stride],
            pads=[ph, pw, ph, pw],
            group=groups,
        )

    def batch_norm(self, x: str, channels: int) -> str:
        """Add an inference-time batch normalization with random statistics."""
        scale = self.uniform([channels], 0.5, 1.0)
        shift, mean = self.weight([channels], 0.05), self.weight([channels], 0.05)
        variance = self.uniform([channels], 0.8, 1.2)
        return self.node("BatchNormalization", x, scale, shift, mean, variance, epsilon=1e-5)

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        """Add a fully connected layer on a matrix."""
        weight = self.weight([outputs, inputs], inputs**-0.5)
        return self.node("Gemm", x, weight, self.weight([outputs], 0.05), transB=1)

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        """Add a product with a matrix, and a bias, on the last dimension."""
        y = self.node("MatMul", x, self.weight([inputs, outputs], inputs**-0.5))
        return self.node("Add", y, self.weight([outputs], 0.05))

    def classifier(self, x: str, channels: int, classes: int) -> str:
        """Add global average pooling and a dense layer."""
        pooled = self.node("Flatten", self.node("GlobalAveragePool", x), axis=1)
        return self.dense(pooled, channels, classes)

    def finish(self, *outputs: tuple[str, str, Sequence[Dim]]) -> onnx.ModelProto:
        """Close the graph.

        Arguments:
            outputs: value, name and shape of each float32 output.

        Returns a model that ONNX's checker has accepted.
        """
        values = []
        for value, name, shape in outputs:
            self._nodes.append(helper.make_node("Identity", [value], [name], name=name))
            values.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)))
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs, values, initializer=self._weights
        )
        model = helper.make_model(
            graph,
            producer_name="espalier.models",
            ir_version=10,
            opset_imports=[helper.make_opsetid("", self.opset)],
        )
        onnx.checker.check_model(model)
        return model
