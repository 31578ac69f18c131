"""Names of programs."""

import numpy as np
import pytest

import espalier
from espalier.errors import EspalierError
from espalier.names import check_identifier, to_identifier
from support import one_op


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("model", "model"),
        ("my-model.v2", "my_model_v2"),
        ("2nd", "x_2nd"),
        ("", "program"),
        ("Änderung", "_nderung"),
        ("espalier", "x_espalier"),
        ("a\0b\n", "a_b_"),
    ],
)
def test_any_text_becomes_an_identifier(text: str, name: str) -> None:
    assert to_identifier(text) == name
    assert check_identifier(name) == name


@pytest.mark.parametrize("name", ["", "2nd", "a-b", "a b", "espalier_x", "ä", "a\n"])
def test_names_that_c_cannot_have(name: str) -> None:
    with pytest.raises(EspalierError, match=r"expects a (C identifier|program's name)"):
        check_identifier(name)


def test_the_graph_names_the_program_if_nobody_else_does(tmp_path) -> None:
    model = one_op("Abs", {"x": (np.float32, [2])})
    model.graph.name = "torch-jit"
    for name, expected in ((None, "torch_jit"), ("mine", "mine")):
        options = espalier.Options(cache=None)
        espalier.compile(model, name=name, options=options).save(tmp_path / "a.o")
        header = (tmp_path / "a.h").read_text()
        assert f"extern const espalier_program {expected}_program;" in header
