"""The tests of the onnx package, on the importer alone."""

import re

import numpy as np
import onnx

from espalier.importers.onnx import import_model, operators
from espalier.testing.node_suite import node_cases, run_case
from numpy_builder import NumpyBuilder

# The operators that real models need must be on the list.
NEEDED = (
    "Add And AveragePool BatchNormalization Cast Clip Concat Conv ConvTranspose Gather "
    "GRU GatherElements GatherND Gelu Gemm IsNaN LSTM LayerNormalization Loop MatMul MaxPool "
    "Mul Pad RNN Scan "
    "ReduceMean Relu Reshape Slice Softmax Tanh Transpose Unsqueeze Where Constant "
    "ConstantOfShape Div Equal Erf Expand Flatten GlobalAveragePool GreaterOrEqual Identity "
    "Pow Shape Sqrt Squeeze Sub Split Ceil"
)


def execute(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    builder = NumpyBuilder([feed])
    import_model(model, builder, values=feed)
    return list(builder.outputs[0].values())


def test_needed_operators_are_claimed():
    assert set(NEEDED.split()) <= set(operators())


REPEATED = re.compile(r"test_(gru|loop|lstm|rnn|scan|simple_rnn)")


def test_recurrent_node_cases_pass():
    """All but those of ONNX's sequence types."""
    outcomes = [run_case(case, execute) for case in node_cases() if REPEATED.match(case.name)]
    refused = {o.name: o.message for o in outcomes if o.verdict != "passed"}
    assert set(refused) == {"test_loop13_seq", "test_loop16_seq_none"}
    assert len(outcomes) == 25


def test_node_cases_pass_or_are_refused_by_name():
    outcomes = [run_case(case, execute) for case in node_cases()]
    assert {o.name: o.message for o in outcomes if o.verdict == "failed"} == {}
    assert sum(o.verdict == "passed" for o in outcomes) > 1480
    for outcome in outcomes:
        if outcome.verdict == "unsupported":
            assert re.search(r"node '[^']+': \w+ (has|is|needs|belongs)", outcome.message)
