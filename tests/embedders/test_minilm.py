"""The transformer: what it gives, and that only the right weights run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bookwheel.embedders import minilm
from bookwheel.embedders.minilm import MiniLMEmbedder
from bookwheel.errors import BadRequest

TEXTS = [
    "To change the secret with which you log in, open your account settings.",
    "The recipe needs two eggs, flour and a pinch of salt.",
    "",
    "word " * 600,
    "密码",
    " \n",
]


@pytest.fixture(scope="module")
def model() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_what_is_near_in_meaning_is_nearer(model: MiniLMEmbedder) -> None:
    """An answer that shares no word with the question lies nearer than another text."""
    answer, other = model.embed(TEXTS[:2]) @ model.embed_query("How do I reset my password?")
    assert answer > other + 0.2


def test_rows_have_unit_length_and_blank_texts_zeros(model: MiniLMEmbedder) -> None:
    """In the order of the texts, though these run by length."""
    rows = model.embed(TEXTS)
    assert rows.shape == (len(TEXTS), model.dimensions)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1, 0, 1, 1, 0], atol=1e-5)
    assert rows[1] @ model.embed_query(TEXTS[1]) > 0.99
    assert model.embed([]).shape == (0, model.dimensions)


def test_other_weights_do_not_run(tmp_path: Path) -> None:
    """A file with another hash is refused before anything reads it."""
    file = tmp_path / "model.onnx"
    file.write_bytes(b"something else")
    with pytest.raises(BadRequest, match="not the model it should be"):
        minilm._checked(file)
