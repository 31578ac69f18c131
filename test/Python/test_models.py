"""The reference models: valid ONNX, finite results, importable."""

import numpy as np
import onnx
import pytest

from espalier.errors import EspalierError
from espalier.importers.onnx import import_model
from espalier.models import MODELS, build
from espalier.testing.compare import error_relative_to_scale
from espalier.testing.onnxruntime import OnnxRuntime
from numpy_builder import NumpyBuilder

# Sizes that keep the structure and take little time.
SMALL = {
    "resnet50": {"size": 32},
    "resnext50": {"size": 32},
    "mobilenet_v2": {"size": 32},
    "bert_base": {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": "s"},
    "dcgan": {"width": 8},
    "lstm_seq2seq": {"hidden": 16, "embedding": 8, "vocabulary": 64, "sequence": "s"},
    "nasnet_a": {"size": 48, "filters": 8, "repeats": 1},
    "nasrnn": {"steps": 2, "hidden": 16},
    "squeezenet": {"size": 48},
    "inception_v3": {"size": 75},
}


def test_every_model_has_small_sizes():
    assert set(SMALL) == set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_model_is_imported_as_onnxruntime_runs_it(name):
    model = build(name, batch="n", **SMALL[name])
    onnx.checker.check_model(model, full_check=True)
    session = OnnxRuntime(model)
    feeds = [session.random_inputs({"n": n, "s": s}, seed=n) for n, s in ((1, 7), (2, 5))]
    builder = NumpyBuilder(feeds)
    import_model(model, builder)
    for feed, actual in zip(feeds, builder.outputs, strict=True):
        for output, expected in session.run(feed).items():
            assert np.isfinite(expected).all()
            assert expected.std() > 1e-3
            assert actual[output].shape == expected.shape
            assert error_relative_to_scale(actual[output], expected) < 1e-4


def test_bert_of_small_operators_equals_bert():
    options = {**SMALL["bert_base"], "batch": 1, "sequence": 6}
    model, primitive = (build("bert_base", primitive=p, **options) for p in (False, True))
    feed = OnnxRuntime(model).random_inputs()
    expected = OnnxRuntime(model).run(feed)
    builder = NumpyBuilder([feed])
    import_model(primitive, builder)
    assert {"gelu", "layer_norm"}.isdisjoint(builder.operations)
    for name, array in builder.outputs[0].items():
        assert error_relative_to_scale(array, expected[name]) < 1e-4


def test_seed_decides_the_weights():
    first, same, other = (build("dcgan", width=8, seed=seed) for seed in (0, 0, 1))
    assert first.SerializeToString() == same.SerializeToString() != other.SerializeToString()


def test_unknown_model_is_an_error():
    with pytest.raises(EspalierError, match=r"expects a model out of .* but got 'resnet9000'"):
        build("resnet9000")
