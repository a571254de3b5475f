"""Models of other libraries, shown with a static model that the test makes on disk."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from bookwheel.embedders import registry
from bookwheel.embedders.installed import mark_folder
from bookwheel.errors import BadRequest
from bookwheel.settings import load

SETTINGS = load(use_start_folder=False, environment={})
WORDS = {"[UNK]": 0, "[PAD]": 1, "salt": 2, "pepper": 3, "password": 4}


def save_model(folder: Path, *rows: tuple[int, int]) -> None:
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.array([[0, 0], [0, 0], *rows], np.float32)
    StaticModel(vectors, tokenizer).save_pretrained(folder)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    save_model(tmp_path / "tiny", (4, 1), (4, 2), (0, 3))
    return str(tmp_path / "tiny")


def test_a_model2vec_model_is_loaded_from_its_folder(folder: str) -> None:
    """Rows at unit length in the order of the texts, zeros for blank ones."""
    model = registry.load(f"model2vec:{folder}", SETTINGS)
    assert model is not None
    assert (model.name, model.dimensions) == (f"model2vec:{folder}", 2)
    rows = model.embed(["salt", "", "password"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-6)
    near, blank, far = rows @ model.embed_query("pepper")
    assert near > far > blank == 0
    assert not model.embed_query(" ").any()
    assert model.embed([]).shape == (0, 2)


def fingerprint(folder: str) -> str:
    model = registry.load(f"model2vec:{folder}", SETTINGS)
    assert model is not None
    return model.fingerprint


def test_another_model_in_the_same_folder_is_another_model(folder: str) -> None:
    """Of the same size even; a copy with other times, or another description, is the same."""
    first = fingerprint(folder)
    for file in Path(folder).iterdir():
        os.utime(file, (1, 1))
    (Path(folder) / "README.md").write_text("Better than ever.", encoding="utf-8")
    assert fingerprint(folder) == first
    save_model(Path(folder), (4, 1), (4, 2), (1, 3))
    assert fingerprint(folder) != first


def test_a_large_file_is_told_by_pieces_from_all_over_it(tmp_path: Path) -> None:
    """Weights that were trained anew differ everywhere."""
    marks = set()
    for fill in (b"a", b"b"):
        (tmp_path / "weights").write_bytes(b"head" * 1024 + fill * (1 << 20) + b"tail" * 1024)
        marks.add(mark_folder(tmp_path))
    assert len(marks) == 2
    assert mark_folder(tmp_path / "weights") == ()


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    """With what to do about it."""
    with pytest.raises(BadRequest, match="cannot be loaded") as refusal:
        registry.load(f"model2vec:{tmp_path}", SETTINGS)
    assert "Name a folder" in refusal.value.advice


def test_why_a_model_cannot_be_loaded_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries give whole paragraphs, as of a network that is not there."""

    def refuse(model: str) -> StaticModel:
        raise OSError(f"No network.\n\n  {model} is not in the\n  local cache.")

    monkeypatch.setattr(StaticModel, "from_pretrained", refuse)
    with pytest.raises(BadRequest) as refusal:
        registry.load("model2vec:tiny", SETTINGS)
    said = "The model 'tiny' cannot be loaded: No network. tiny is not in the local cache."
    assert refusal.value.message == said
