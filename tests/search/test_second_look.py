"""A second look at the first hits: a better order, within a time, remembering what was read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bookwheel.embedders.minilm import MiniLMEmbedder
from bookwheel.engines.base import Matrix, Vector
from bookwheel.indexing.embedding import embed_missing
from bookwheel.query import SearchMode, SearchRequest, SearchResults
from bookwheel.search import second_look
from bookwheel.search.run import search
from bookwheel.search.second_look import LOOKED_AT, SecondLook
from tests.search.shelf import Shelf


class LikesPlums:
    """A model to which a text is the nearer the more plums are in it; each batch takes a second."""

    name, dimensions, fingerprint, weight, unrelated = "plums", 2, "plums", 0.4, 0.0

    def __init__(self) -> None:
        self.read: list[str] = []
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.read += texts
        self.seconds += 1
        angles = [min(1.5, 0.1 * text.count("plum")) for text in texts]
        return np.array([[np.sin(angle), np.cos(angle)] for angle in angles], np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        return np.array([1, 0], np.float32)


@pytest.fixture
def model() -> LikesPlums:
    return LikesPlums()


def looking(model: LikesPlums, seconds: float = 1000.0) -> SecondLook:
    return SecondLook(model, seconds=seconds, clock=lambda: model.seconds)


def ask(shelf: Shelf, look: SecondLook, text: str = "fruit", **asked: int) -> SearchResults:
    return search(shelf.engine, SearchRequest(text, **asked), None, look)  # type: ignore[arg-type]  # numbers only


def paths(results: SearchResults) -> list[str]:
    return [hit.document for hit in results.hits]


def orchard(count: int) -> dict[str, str]:
    """Documents that words put in the order of their numbers, and the model the other way."""
    return {
        f"{number:02}.txt": "Some fruit " + "pear " * number + "plum " * (number // 3)
        for number in range(count)
    }


def test_the_model_changes_the_order_and_finds_nothing_new(shelf: Shelf, model: LikesPlums) -> None:
    shelf.put(orchard(12) | {"other.txt": "plum plum plum"})
    usual = shelf.find(SearchRequest("fruit", limit=20))
    results = ask(shelf, looking(model), limit=20)

    assert sorted(paths(results)) == sorted(usual)
    assert paths(results) != usual
    assert paths(results).index("11.txt") < usual.index("11.txt")
    assert results.remarks == ()


def test_scores_fall_and_places_follow_the_rank_score(shelf: Shelf, model: LikesPlums) -> None:
    shelf.put(orchard(40))
    hits = ask(shelf, looking(model), limit=40).hits

    assert len(model.read) == LOOKED_AT
    for each in ("score", "rank_score"):
        values = [getattr(hit, each) for hit in hits]
        assert values == sorted(values, reverse=True)


def test_pages_of_an_answer_fit_together(shelf: Shelf, model: LikesPlums) -> None:
    shelf.put(orchard(40))
    look = looking(model)
    whole = paths(ask(shelf, look, limit=40))
    pages = [paths(ask(shelf, look, limit=8, offset=start)) for start in range(0, 40, 8)]

    assert [path for page in pages for path in page] == whole


def test_when_time_is_up_the_rest_keeps_its_order_and_that_is_said(
    shelf: Shelf, model: LikesPlums
) -> None:
    shelf.put(orchard(12))
    usual = shelf.find(SearchRequest("fruit", limit=12))
    results = ask(shelf, looking(model, seconds=2), limit=12)

    assert len(model.read) == 8
    assert sorted(paths(results)[:8]) == sorted(usual[:8])
    assert paths(results)[8:] == usual[8:]
    assert results.remarks == ("in 2 s only 8 of 12 hits got a second look",)


def test_what_was_read_is_remembered_until_it_changes(shelf: Shelf, model: LikesPlums) -> None:
    shelf.put(orchard(6))
    look = looking(model)
    first = ask(shelf, look)
    again = ask(shelf, look)
    assert (again, len(model.read)) == (first, 6)

    shelf.put({"03.txt": "fruit and plums"})
    ask(shelf, look)
    assert len(model.read) == 7
    assert "and plums" in model.read[-1]


def test_with_the_next_search_the_look_goes_on_where_it_stopped(
    shelf: Shelf, model: LikesPlums
) -> None:
    shelf.put(orchard(12))
    look = looking(model, seconds=2)

    assert [len(ask(shelf, look, limit=12).remarks) for _ in range(3)] == [1, 0, 0]
    assert len(model.read) == 12


def test_only_so_much_is_remembered(
    shelf: Shelf, model: LikesPlums, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_look, "_KEPT", 5)
    shelf.put(orchard(8))
    look = looking(model)
    ask(shelf, look)

    assert len(look._read) == 5


def test_a_page_whose_title_is_the_query_stays_first(shelf: Shelf, model: LikesPlums) -> None:
    shelf.put({"a.md": "# Fruit\n\nfruit"} | orchard(12))

    assert paths(ask(shelf, looking(model)))[0] == "a.md"


def test_a_document_without_text_keeps_its_place_by_its_title(
    shelf: Shelf, model: LikesPlums
) -> None:
    shelf.put({"fruit.md": "", "b.txt": "fruit and plums"})

    assert sorted(paths(ask(shelf, looking(model)))) == sorted(shelf.find("fruit"))


def test_the_model_reads_where_a_passage_stands(shelf: Shelf, model: LikesPlums) -> None:
    shelf.put({"a.md": "# Garden\n\n## Trees\n\nfruit", "b.md": "# Kitchen\n\nfruit"})
    ask(shelf, looking(model))

    assert sorted(text.split("\n")[0] for text in model.read) == ["Garden > Trees", "Kitchen"]


def test_the_real_model_puts_the_answer_first(shelf: Shelf) -> None:
    shelf.put(
        {
            "a.md": "Password password password: a password is a word of the English language.",
            "b.md": "To choose a new password, open the account settings and click on forgotten.",
            "c.md": "The password of the wireless network hangs on the wall.",
        }
    )
    look = SecondLook(MiniLMEmbedder(), seconds=60)
    query = "forgotten password how can I get back into my account"

    assert paths(ask(shelf, look, query))[0] == "b.md"


def test_what_stands_around_the_passage_is_read_too(shelf: Shelf, model: LikesPlums) -> None:
    long = "# One\n\n" + "apple word " * 60 + "\n\n# Two\n\nfruit " + "pear word " * 60
    shelf.put({"a.md": long + "\n\n# Three\n\n" + "plum word " * 60, "b.md": "fruit"})

    ask(shelf, looking(model))

    (read,) = [text for text in model.read if "pear" in text]
    assert "plum" in read
    assert len(read) <= 1400


def test_the_model_that_made_the_vectors_does_not_look_again(
    shelf: Shelf, model: LikesPlums
) -> None:
    pages = {f"{name}.md": "fruit" + n * " plum" for n, name in enumerate("abc", start=1)}
    shelf.put(pages)
    shelf.engine.begin_writing()
    embed_missing(shelf.engine, model)
    shelf.engine.end_writing()
    look, asked = looking(model), SearchRequest("fruit")
    usual = search(shelf.engine, asked, model)
    model.read.clear()

    again = search(shelf.engine, asked, model, look)
    assert paths(again) == paths(usual)
    assert [hit.score for hit in again.hits] == [hit.score for hit in usual.hits]
    assert any("read every passage already" in remark for remark in again.remarks)
    assert not model.read

    shelf.put({"d.md": "fruit plum plum plum"})
    assert not search(shelf.engine, asked, model, look).remarks, "one of the hits has no vector yet"
    assert model.read

    by_words = asked._replace(mode=SearchMode.LEXICAL)
    assert not search(shelf.engine, by_words, None, look).remarks


def test_of_long_pages_the_model_read_too_little_to_overrule_the_first_look(
    shelf: Shelf, model: LikesPlums
) -> None:
    """Of two hits each is one's favourite: the larger share decides."""
    by_words, by_model = "Fruit, fruit and fruit.", "Some fruit" + " plum" * 9
    rest = "".join(f"\n\n## Part {number}\n\n{'stone ' * 120}" for number in range(40))
    shelf.put({"a.md": by_words, "b.md": by_model})
    assert paths(ask(shelf, looking(model))) == ["b.md", "a.md"]

    shelf.put({"a.md": by_words + rest, "b.md": by_model + rest})
    results = ask(shelf, looking(model))

    assert paths(results) == ["a.md", "b.md"]
    assert min(hit.chunks for hit in results.hits) > 32


def test_where_most_hits_are_short_the_model_counts_as_usual(
    shelf: Shelf, model: LikesPlums
) -> None:
    rest = "".join(f"\n\n## Part {number}\n\n{'stone ' * 120}" for number in range(40))
    shelf.put({"a.md": "Fruit, fruit and fruit.", "b.md": "Some fruit" + " plum" * 9})
    shelf.put({"c.md": "One fruit among many others" + rest})

    assert paths(ask(shelf, looking(model)))[0] == "b.md"
