"""In a long question words that are near to its own count, though no page has them as asked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from bookwheel.engines.base import Matrix, Vector
from bookwheel.indexing.embedding import embed_missing
from bookwheel.query import SearchMode, SearchRequest
from bookwheel.search.batch import embedder_of_batch
from bookwheel.search.run import search
from tests.search.shelf import Shelf

LONG = "garage repairs washes polishes paints car doors quickly"
WORK = "# Work\n\nThe garage repairs, washes, polishes and paints"
PAGES = {
    "balcony.md": f"{WORK} balcony doors quickly.",
    "vehicle.md": f"{WORK} automobile doors quickly.",
}


class Knows:
    """A model to which all texts are alike, and of all words only two."""

    name, dimensions, fingerprint, weight, unrelated = "knows", 2, "knows", 0.3, 0.4

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.array([[1, 0]] * len(texts), np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self.embed(texts)

    def embed_query(self, text: str) -> Vector:
        return np.array([1, 0], np.float32)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        self.asked += words
        known = ("car", "automobile")
        return np.array([[word in known, word not in known] for word in words], np.float32)

    def is_word(self, word: str) -> bool:
        return False


@pytest.fixture
def model() -> Knows:
    return Knows()


def embed(shelf: Shelf, model: Knows) -> None:
    shelf.engine.begin_writing()
    embed_missing(shelf.engine, model)
    shelf.engine.end_writing()


@pytest.fixture
def shelf(tmp_path: Path, model: Knows) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    made.put(PAGES)
    embed(made, model)
    yield made
    made.close()


def found(shelf: Shelf, model: Knows, text: str, mode: SearchMode = SearchMode.HYBRID) -> list[str]:
    hits = search(shelf.engine, SearchRequest(text, mode=mode), model).hits
    return [hit.document for hit in hits]


def test_the_page_that_says_a_word_otherwise_comes_first(shelf: Shelf, model: Knows) -> None:
    assert found(shelf, model, LONG) == ["vehicle.md", "balcony.md"]
    assert found(shelf, model, LONG.replace("car", "terrace")) == ["balcony.md", "vehicle.md"]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("garage car doors", SearchMode.HYBRID),  # a few words may be a title
        (LONG, SearchMode.LEXICAL),
        (LONG, SearchMode.SEMANTIC),
        ("车库修理洗涤抛光油漆汽车门", SearchMode.HYBRID),  # no blanks between words
    ],
)
def test_words_are_compared_in_long_questions_by_both_alone(
    shelf: Shelf, model: Knows, text: str, mode: SearchMode
) -> None:
    found(shelf, model, text, mode)
    assert model.asked == []


def test_a_batch_is_answered_as_each_question_is(shelf: Shelf, model: Knows) -> None:
    together = embedder_of_batch(shelf.engine, model, [LONG, "garage"])
    hits = search(shelf.engine, SearchRequest(LONG), together).hits
    assert [hit.document for hit in hits] == ["vehicle.md", "balcony.md"]


def test_a_slip_is_compared_as_what_it_meant(shelf: Shelf, model: Knows) -> None:
    found(shelf, model, LONG.replace("car", "automobiel"))
    assert "automobile" in model.asked
    assert "automobiel" not in model.asked


def test_words_are_compared_in_the_form_in_which_both_are_written(
    tmp_path: Path, model: Knows
) -> None:
    shelf = Shelf(tmp_path)
    words = "Verein misst Größe Straße Fußball Füße Spaß Spieler"
    shelf.put({"a.md": unicodedata.normalize("NFD", f"# A\n\n{words}"), "b.md": "# B\n\nVerein"})
    embed(shelf, model)
    found(shelf, model, words)
    shelf.close()
    asked, read = model.asked[:8], model.asked[8:]
    assert "grösse" in asked
    assert set(asked) <= set(read)


def test_pages_beyond_the_first_stay_behind_them(shelf: Shelf, model: Knows) -> None:
    shelf.put({f"{number}.md": f"# {number}\n\nThe garage repairs." for number in range(30)})
    embed(shelf, model)
    request = SearchRequest(LONG, limit=40)
    hits = search(shelf.engine, request, model).hits
    assert [hit.document for hit in hits[:2]] == ["vehicle.md", "balcony.md"]
    scores = [hit.rank_score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len(hits) == 32
