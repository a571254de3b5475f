"""Finding by meaning: what it adds to words, and what it must not override."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bookwheel.embedders.static import StaticEmbedder
from bookwheel.engines.base import Found, Matrix, Vector, model_text
from bookwheel.errors import Upstream
from bookwheel.indexing.embedding import embed_missing
from bookwheel.query import Filters, SearchIn, SearchMode, SearchRequest, SearchResults
from bookwheel.search.meaning import Embedder, Nearness, measure, mix
from bookwheel.search.rank import Ranked
from bookwheel.search.run import search
from tests.search.shelf import Shelf

HYBRID, SEMANTIC, LEXICAL = SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.LEXICAL
BOTH = pytest.mark.parametrize("mode", [HYBRID, SEMANTIC])
PAGES = {
    "garage.md": "# Vehicles\n\nThe automobile needs petrol and oil; its engine must be serviced.",
    "bread.md": "# Baking\n\nKnead the dough, let the yeast rise, and put the loaf in the oven.",
    "money.md": "# Finance\n\nThe bank lends cash at an interest rate to those who repay the loan.",
    "garden.md": "# Plants\n\nWater the roses and tulips, and cut the hedge before autumn.",
    "setup/keys.md": "# Signing keys\n\nRun `rotate_key --all` to change ERR_KEY_42 at night.",
    "notes.txt": "the quick brown fox jumps over the lazy dog",
}


@cache
def static() -> StaticEmbedder:
    return StaticEmbedder()


class Broken:
    """A model that was there when documents were embedded and answers no more."""

    name, dimensions, weight, unrelated = "broken", 256, 0.3, 0.4

    @property
    def fingerprint(self) -> str:
        return static().fingerprint

    def embed_query(self, text: str) -> Vector:
        raise Upstream("The endpoint did not answer.")


class Directed:
    """A model whose every text has the vector that a test gives to it."""

    name, dimensions, fingerprint, weight, unrelated = "directed", 2, "directed", 0.3, 0.4

    def __init__(self, **vectors: Sequence[float]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self.embed(texts)

    def embed_query(self, text: str) -> Vector:
        for word, vector in self._vectors.items():
            if word in text:
                return np.array(vector, np.float32)
        return np.zeros(2, np.float32)


@pytest.fixture(scope="module")
def read_for_meaning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    shelf.put(PAGES)
    embed(shelf)
    yield shelf
    shelf.close()


def embed(shelf: Shelf, model: StaticEmbedder | Directed | None = None) -> int:
    shelf.engine.begin_writing()
    try:
        return embed_missing(shelf.engine, model or static())
    finally:
        shelf.engine.end_writing()


def ask(
    shelf: Shelf,
    text: str,
    mode: SearchMode = HYBRID,
    model: Embedder | None = None,
    **more: object,
) -> SearchResults:
    request = SearchRequest(text, mode=mode, **more)  # type: ignore[arg-type] # as each test has it
    return search(shelf.engine, request, model or static())


def found(results: SearchResults) -> list[str]:
    return [hit.document for hit in results.hits]


@BOTH
@pytest.mark.requirement("X-033")
def test_what_shares_no_word_with_the_question_is_found(
    read_for_meaning: Shelf, mode: SearchMode
) -> None:
    assert found(ask(read_for_meaning, "car maintenance", LEXICAL)) == []
    assert found(ask(read_for_meaning, "car maintenance", mode))[:1] == ["garage.md"]
    assert found(ask(read_for_meaning, "mortgage credit", mode))[:1] == ["money.md"]


@BOTH
def test_a_hit_says_how_near_it_is_and_shows_its_nearest_passage(
    read_for_meaning: Shelf, mode: SearchMode
) -> None:
    hit = ask(read_for_meaning, "car maintenance", mode).hits[0]
    assert hit.similarity is not None
    assert 0.4 <= hit.similarity < 1
    assert 0 < hit.score < 1
    assert "automobile" in hit.passage


@BOTH
@pytest.mark.parametrize("query", ["ERR_KEY_42", "rotate_key", "Signing keys", "signing keyz"])
def test_identifiers_titles_and_slips_come_first_as_they_do_by_words(
    read_for_meaning: Shelf, mode: SearchMode, query: str
) -> None:
    assert found(ask(read_for_meaning, query, mode))[:1] == ["setup/keys.md"]


@BOTH
def test_phrases_exclusions_and_filters_hold(read_for_meaning: Shelf, mode: SearchMode) -> None:
    shelf = read_for_meaning
    assert found(ask(shelf, '"quick brown" animal', mode)) == ["notes.txt"]
    assert "garage.md" not in found(ask(shelf, "car maintenance -petrol", mode))
    assert "garage.md" not in found(ask(shelf, 'car maintenance -"petrol and oil"', mode))
    filters = Filters(extensions=(".txt",))
    assert set(found(ask(shelf, "car maintenance animal", mode, filters=filters))) <= {"notes.txt"}
    filters = Filters(folders=("setup",))
    assert set(found(ask(shelf, "car maintenance lock", mode, filters=filters))) <= {
        "setup/keys.md"
    }


@BOTH
def test_a_filter_that_all_pages_meet_changes_nothing(
    read_for_meaning: Shelf, mode: SearchMode
) -> None:
    filters = Filters(collections=("shelf",))
    free = ask(read_for_meaning, "car maintenance loan", mode).hits
    assert free
    assert ask(read_for_meaning, "car maintenance loan", mode, filters=filters).hits == free


@pytest.mark.parametrize("query", ["xqzptl vwkjrr", "zzzz qqqq xxxx", "qwxz"])
def test_nonsense_finds_nothing(read_for_meaning: Shelf, query: str) -> None:
    assert found(ask(read_for_meaning, query)) == []


def test_by_meaning_alone_what_is_nearest_is_found_however_far(read_for_meaning: Shelf) -> None:
    results = ask(read_for_meaning, "lubricant", SEMANTIC)
    assert found(results)[0] == "garage.md"
    assert not any("also as" in note for note in results.relaxed)


def test_words_that_were_respelt_keep_out_nothing_that_is_near(shelf: Shelf) -> None:
    shelf.put(
        {
            "garage.md": "The engine of the vehicle wants petrol and oil.",
            "licence.md": "A notice of planes and planets.",
        }
    )
    embed(shelf)
    assert "garage.md" in found(ask(shelf, "motor plabes"))


@BOTH
def test_titles_are_compared_by_words_alone(read_for_meaning: Shelf, mode: SearchMode) -> None:
    assert found(ask(read_for_meaning, "car maintenance", mode, search_in=SearchIn.TITLE)) == []


def test_one_document_does_not_fill_the_answer(shelf: Shelf) -> None:
    part = "The automobile needs petrol and oil; its engine must be serviced. " * 12
    shelf.put({"long.md": "\n\n".join(f"## Part {n}\n\n{part}" for n in range(150)), **PAGES})
    embed(shelf)
    answer = found(ask(shelf, "car maintenance loan"))
    assert len(answer) == len(set(answer)) > 1


def test_a_page_without_vectors_stands_as_its_words_put_it(shelf: Shelf) -> None:
    shelf.put({"a.md": "zebra stripes and otter", "b.md": "zebra"})
    embed(shelf)
    before = found(ask(shelf, "zebra otter", LEXICAL))
    shelf.put({"new.md": "# Zebra otter\n\nzebra otter zebra otter"})
    assert found(ask(shelf, "zebra otter")) == ["new.md", *before]
    hit = ask(shelf, "zebra otter").hits[0]
    assert hit.similarity is None


def test_f20_vectors_of_another_model_are_as_none(shelf: Shelf) -> None:
    shelf.put(PAGES)
    embed(shelf)
    other = Directed(maintenance=[1, 0], petrol=[1, 0])
    assert found(ask(shelf, "car maintenance", model=other)) == []
    assert found(ask(shelf, "petrol", model=other)) == ["garage.md"]
    assert embed(shelf, other) == len(PAGES)
    assert found(ask(shelf, "car maintenance", model=other)) == ["garage.md"]
    assert found(ask(shelf, "car maintenance")) == ["garage.md"]


def test_f20_a_model_that_fails_leaves_words_with_a_note(read_for_meaning: Shelf) -> None:
    results = ask(read_for_meaning, "petrol", model=Broken())
    assert found(results) == ["garage.md"]
    assert "words alone were compared: The endpoint did not answer" in results.relaxed
    with pytest.raises(Upstream):
        ask(read_for_meaning, "petrol", SEMANTIC, model=Broken())


def test_a_question_in_which_the_model_knows_nothing_is_answered_by_words(shelf: Shelf) -> None:
    shelf.put({"a.md": "zebra", "b.md": "otter"})
    model = Directed(otter=[1, 0])
    embed(shelf, model)
    assert found(ask(shelf, "zebra", model=model)) == ["a.md"]
    semantic = ask(shelf, "zebra", SEMANTIC, model=model)
    assert found(semantic) == ["a.md"]
    assert "words alone were compared" in semantic.relaxed[-1]


def test_a_page_that_has_all_words_lets_in_only_what_is_clearly_related(shelf: Shelf) -> None:
    shelf.put({"a.md": "zebra stripes", "near.md": "otter", "far.md": "walrus"})
    model = Directed(zebra=[1, 0], otter=[0.5, 0.8660254], walrus=[0.3, 0.9539392])
    embed(shelf, model)
    assert set(found(ask(shelf, "zebra stripes", model=model))) == {"a.md", "near.md"}
    # Where no page has all words, meaning may help with all it has.
    assert set(found(ask(shelf, "zebra otter", model=model))) == {"a.md", "near.md", "far.md"}


def test_a_chunk_at_a_right_angle_is_told_from_one_that_is_not_read() -> None:
    rows = np.array([[0, 1], [0, 0], [1, 0]], np.float32)
    near = measure({1: rows}, np.array([1, 0], np.float32), {1})
    assert [near[1].of_chunk(ordinal) for ordinal in (1, 2, 3, 4)] == [0.0, None, 1.0, None]


def test_a_page_at_a_right_angle_is_left_out_where_that_is_too_far(shelf: Shelf) -> None:
    shelf.put({"a.md": "zebra", "b.md": "zebra otter"})
    model = Directed(otter=[0, 1], zebra=[1, 0])
    embed(shelf, model)
    every = ask(shelf, "zebra", model=model)
    assert {hit.document: hit.similarity for hit in every.hits} == {"a.md": 1.0, "b.md": 0.0}
    assert found(ask(shelf, "zebra", model=model, max_distance=0.5)) == ["a.md"]


def test_by_meaning_alone_nothing_is_said_of_words_that_need_not_match(shelf: Shelf) -> None:
    shelf.put({"a.md": "zebra", "b.md": "otter"})
    embed(shelf)
    assert "not every word had to match" in ask(shelf, "zebra otter").relaxed
    assert ask(shelf, "zebra otter", SEMANTIC).relaxed == ()


def nearness(score: float, middle: Sequence[float], chunks: int = 2) -> Nearness:
    """Return what is known of a page as near as this, that leads in some direction."""
    return Nearness(score, 1, score, True, [0.0] * chunks, np.array(middle, np.float32))


@pytest.mark.parametrize(
    ("chunks", "leaning"), [pytest.param(2, 0.3, id="short"), pytest.param(24, 0.1, id="long")]
)
def test_a_page_shares_in_the_scores_of_those_that_are_like_it(chunks: int, leaning: float) -> None:
    words = [Ranked(1, 1, 1.0), Ranked(2, 1, 0.5), Ranked(3, 1, 0.5), Ranked(4, 1, 0.5)]
    near = {
        1: nearness(0.9, [1, 0], chunks),
        2: nearness(0.4, [0, 1], chunks),
        3: nearness(0.4, [0.8, 0.6], chunks),
    }
    mixed = mix(words, near, Directed(), HYBRID, strict=False, leaning=0.3)
    scores = {item.document: item.score for item in mixed}
    own = 0.7 * 0.1 / 0.6  # of the second and third by their words; by meaning they are the last
    assert scores[3] > scores[2], "by words and by meaning they are the same"
    others = (0.8 * 1.0 + 0.6 * own) / (0.8 + 0.6)
    assert scores[3] == pytest.approx((1 - leaning) * own + leaning * others)
    assert scores[2] == pytest.approx(own), "all that is like it has the same score"
    assert scores[1] == pytest.approx(1 - leaning + leaning * own)
    mean = (1.0 + own + own) / 3
    unknown = 0.1 / 0.6  # it has no vectors: its words stand for its meaning, all for its like
    assert scores[4] == pytest.approx((1 - leaning) * unknown + leaning * mean)


def test_nearness_alone_orders_what_is_asked_for_by_meaning_alone() -> None:
    near = {1: nearness(0.9, [1, 0]), 2: nearness(0.8, [0, 1]), 3: nearness(0.4, [1, 0])}
    mixed = mix([], near, Directed(), SEMANTIC, strict=False, leaning=0.3)
    assert [(item.document, round(item.score, 6)) for item in mixed] == [
        (1, 1.0),
        (2, 0.8),
        (3, 0.0),
    ]


def test_both_shares_of_a_score_run_from_nothing_to_all() -> None:
    words = [Ranked(1, 1, 1.0), Ranked(2, 1, 0.5)]
    near = {2: nearness(0.9, [1, 0]), 3: nearness(0.5, [0, 1])}
    mixed = mix(words, near, static(), HYBRID, strict=False)
    assert [(item.document, round(item.score, 3)) for item in mixed] == [
        (1, 1.0),  # it has no vectors: its words stand for its meaning
        (2, round(0.7 * 0.1 / 0.6 + 0.3, 3)),
        (3, 0.0),
    ]
    assert [item.document for item in mix(words, near, static(), SEMANTIC, strict=False)] == [2, 3]


def test_a_model_reads_of_a_chunk_where_it_stands(shelf: Shelf) -> None:
    shelf.put({"a.md": "# Title\n\n" + "zebra " * 150 + "\n\n## Part\n\n" + "otter " * 150})
    ((title, passages),) = shelf.engine.without_vectors("x", 1)
    assert model_text(title, list(passages)[-1]).startswith("Title > Part\n")


def test_stopping_keeps_what_is_done_and_goes_on_later(shelf: Shelf) -> None:
    shelf.put({f"{n}.md": "zebra " * 4000 for n in range(20)})
    _, total = shelf.engine.embedded(static().fingerprint)
    stops = iter([False, True])
    shelf.engine.begin_writing()
    done = embed_missing(shelf.engine, static(), should_stop=lambda: next(stops, True))
    shelf.engine.end_writing()
    assert 0 < done < total
    assert shelf.engine.embedded(static().fingerprint) == (done, total)
    assert embed(shelf) == total - done
    assert embed(shelf) == 0


class Slow(Directed):
    """A model that needs a second for each text, and is interrupted at one of them."""

    def __init__(self, interrupted_at: int = 999) -> None:
        super().__init__(zebra=[1, 0])
        self.seconds = 0.0
        self._interrupted_at = interrupted_at

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.seconds += len(texts)
        if self.seconds >= self._interrupted_at:
            raise KeyboardInterrupt
        return super().embed(texts)


def test_what_a_slow_model_did_is_written_every_few_seconds(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put({f"{n}.md": f"zebra {n}" for n in range(40)})
    slow, written = Slow(), [0.0]
    write = type(shelf.engine).write_vectors

    def watched(*arguments: Any) -> None:
        written.append(slow.seconds)
        write(*arguments)

    monkeypatch.setattr(type(shelf.engine), "write_vectors", watched)
    shelf.engine.begin_writing()
    assert embed_missing(shelf.engine, slow, clock=lambda: slow.seconds) == 40
    shelf.engine.end_writing()
    assert max(after - before for before, after in pairwise(written)) <= 8
    assert shelf.engine.embedded(slow.fingerprint) == (40, 40)


def test_what_was_embedded_is_kept_when_it_is_interrupted(shelf: Shelf) -> None:
    shelf.put({f"{n}.md": f"zebra {n}" for n in range(40)})
    slow = Slow(interrupted_at=20)
    shelf.engine.begin_writing()
    with pytest.raises(KeyboardInterrupt):
        embed_missing(shelf.engine, slow, clock=lambda: slow.seconds)
    shelf.engine.end_writing()
    assert shelf.engine.embedded(slow.fingerprint) == (19, 40)


def test_a_quick_model_is_given_many_texts_at_once(shelf: Shelf) -> None:
    shelf.put({f"{n}.md": "zebra " * 4000 for n in range(40)})
    sizes: list[int] = []

    class Quick(Directed):
        def embed(self, texts: Sequence[str]) -> Matrix:
            sizes.append(len(texts))
            return super().embed(texts)

    shelf.engine.begin_writing()
    embed_missing(shelf.engine, Quick(zebra=[1, 0]), clock=lambda: 0.0)
    shelf.engine.end_writing()
    assert [size >= 256 for size in sizes[1:-1]] == [True] * (len(sizes) - 2)


def test_a_folder_of_pages_in_one_file_does_not_come_all_at_once(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put({f"{n}.md": "zebra " * 100_000 for n in range(9)})
    sizes = [len(passages) for _, passages in shelf.engine.without_vectors("x", 64)]
    assert 1 <= len(sizes) < 9
    assert sum(sizes[:-1]) <= 4096
    shelf.close()


def test_a_long_answer_looks_at_more_of_what_is_near(
    read_for_meaning: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    nearest = type(read_for_meaning.engine).nearest

    def watched(self: object, model: str, query: Vector, limit: int) -> Found:
        asked.append(limit)
        return nearest(self, model, query, limit)  # type: ignore[arg-type] # the engine itself

    monkeypatch.setattr(type(read_for_meaning.engine), "nearest", watched)
    for limit, offset, window in ((10, 0, 0), (100, 0, 0), (50, 50, 0), (10, 0, 100)):
        ask(read_for_meaning, "car maintenance", limit=limit, offset=offset, window=window)
    assert asked == [100, 400, 400, 200]


def test_pages_of_an_answer_that_lie_equally_deep_fit_together(tmp_path: Path) -> None:
    draw = random.Random(5)
    words = " ".join(PAGES.values()).replace("#", "").split()
    shelf = Shelf(tmp_path)
    shelf.put({f"{n}.md": " ".join(draw.choices(words, k=12)) for n in range(600)})
    embed(shelf)
    question = "the engine of an automobile needs oil in autumn"
    for first, last in ((0, 20), (30, 100)):
        pages = [found(ask(shelf, question, offset=at)) for at in range(first, last, 10)]
        every = [document for page in pages for document in page]
        assert len(set(every)) == len(every) > 15
    shelf.close()


def test_a_total_never_exceeds_the_number_of_documents(shelf: Shelf) -> None:
    shelf.put({f"{n}.md": f"# Car {n}\n\nA car drives along road {n}." for n in range(70)})
    embed(shelf)
    assert ask(shelf, "car").total == 70


def test_within_a_window_hits_do_not_depend_on_the_size_of_a_page(tmp_path: Path) -> None:
    draw = random.Random(5)
    words = " ".join(PAGES.values()).replace("#", "").split()
    shelf = Shelf(tmp_path)
    shelf.put({f"{n}.md": " ".join(draw.choices(words, k=12)) for n in range(600)})
    embed(shelf)
    question = "automobilx qqqq oil"
    whole = ask(shelf, question, limit=100, window=20)
    for size in (5, 20, 50):
        pages = [
            ask(shelf, question, limit=size, offset=at, window=20) for at in range(0, 100, size)
        ]
        assert [document for page in pages for document in found(page)] == found(whole)
        assert {page.total for page in pages} == {whole.total}
    shelf.close()
