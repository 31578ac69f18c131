"""ONNX models with random weights, made with `onnx.helper` alone.

`MODELS` maps a name to a builder. Every builder takes `batch` and `seed`; an
extent given as a string becomes a symbolic dimension.

Example:
    >>> from espalier import models
    >>> onnx_model = models.MODELS["resnet50"](batch="n", size=64)
"""

from collections.abc import Callable
from functools import partial

import onnx

from espalier.errors import EspalierError
from espalier.models.inception import inception_v3
from espalier.models.nasnet import nasnet_a
from espalier.models.nasrnn import nasrnn
from espalier.models.net import Net
from espalier.models.sequence import bert, lstm_seq2seq
from espalier.models.vision import dcgan, mobilenet_v2, residual, squeezenet

__all__ = ["MODELS", "Net", "build"]

MODELS: dict[str, Callable[..., onnx.ModelProto]] = {
    "resnet50": partial(residual, "resnet50", (3, 4, 6, 3), 1, 64),
    "resnext50": partial(residual, "resnext50", (3, 4, 6, 3), 32, 4),
    "mobilenet_v2": mobilenet_v2,
    "bert_base": bert,
    "dcgan": dcgan,
    "lstm_seq2seq": lstm_seq2seq,
    "nasnet_a": nasnet_a,
    "nasrnn": nasrnn,
    "squeezenet": squeezenet,
    "inception_v3": inception_v3,
}


def build(name: str, **options: object) -> onnx.ModelProto:
    """Build the model called `name`; `options` are its builder's arguments."""
    if name not in MODELS:
        raise EspalierError(f"expects a model out of {sorted(MODELS)}, but got '{name}'")
    return MODELS[name](**options)
