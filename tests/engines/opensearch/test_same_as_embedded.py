"""Both engines find the same: the product makes the terms, and each only looks them up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from bookwheel.engines.base import Every, Field, InOrder, Match, Some, Term, Without, WritableEngine
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.text.words import analyze, analyze_query
from tests.cluster.library import open_apart
from tests.engines.drafts import draft, fill
from tests.text.test_words import CASES

pytestmark = [pytest.mark.cluster, pytest.mark.every_case]


class Pair(NamedTuple):
    """The same documents in both engines."""

    embedded: WritableEngine
    cluster: WritableEngine

    def agree(self, match: Match) -> set[str]:
        """Return the paths that a match finds, which must be the same in both."""
        found = [_paths(engine, match) for engine in self]
        assert found[0] == found[1]
        return found[0]


def _paths(engine: WritableEngine, match: Match) -> set[str]:
    keys = [key for key, _, _ in engine.match_pages(match, 1000).entries]
    return {document.path for document in engine.documents_by_key(keys).values()}


def _passages(engine: WritableEngine, match: Match) -> set[tuple[str, int]]:
    found = engine.match_passages(match, 1000).entries
    named = engine.documents_by_key([key for key, _, _ in found])
    return {(named[key].path, ordinal) for key, ordinal, _ in found}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("both")
    drafts = [
        draft(f"{number:02}.md", f"# Case {number}\n\nbefore {surface} after\n")
        for number, surface in enumerate(CASES)
    ]
    drafts += [
        draft(
            "long.md", "# Long\n\n" + "walrus ice " * 200 + "\n\n## More\n\n" + "seal ice " * 200
        ),
        draft("word.md", "x" * 9_000 + " and " + "ж" * 9_000),
    ]
    with (
        closing(EmbeddedEngine(folder / "catalog.db")) as embedded,
        open_apart(folder, "both") as cluster,
    ):
        engines = Pair(embedded, cluster)
        for engine in engines:
            fill(engine, *drafts)
        yield engines


@pytest.mark.parametrize("surface", CASES)
def test_a_surface_of_the_table_is_found_alike_by_each_of_its_terms(
    pair: Pair, surface: str
) -> None:
    terms = analyze(surface, "en")
    path = f"{list(CASES).index(surface):02}.md"
    fields = (Field.BODY, terms.stems), (Field.EXACT, terms.exact), (Field.NAMES, terms.names)
    for field, text in fields:
        for word in text.split():
            match = Match(((Term(field, word, 1.0),),))
            assert path in pair.agree(match)
            assert _passages(pair.embedded, match) == _passages(pair.cluster, match)
            assert pair.embedded.frequency(field, word) == pair.cluster.frequency(field, word)


@pytest.mark.parametrize("surface", CASES)
def test_a_surface_of_the_table_is_found_alike_as_a_phrase(pair: Pair, surface: str) -> None:
    words = tuple(analyze(surface, "en").exact.split())
    for phrase in (words, ("before", *words), (*words, "after"), words[::-1], ("after", *words)):
        pair.agree(Match((), phrases=(phrase,)))
        pair.agree(Match((), excluded_phrases=(phrase,)))
        pair.agree(Match((), required=InOrder(phrase)))


@pytest.mark.parametrize("surface", CASES)
def test_words_near_each_other_are_found_alike(pair: Pair, surface: str) -> None:
    word = analyze(surface, "en").exact.split()[0]
    for other in {"before", "after", "ice"} - {word}:
        for gap in (0, 1, 3):
            ways = (InOrder((word, other), gap), InOrder((other, word), gap))
            pair.agree(Match((), required=Some(ways)))


@pytest.mark.parametrize("surface", CASES)
def test_a_question_finds_the_same_with_all_and_with_any_words(pair: Pair, surface: str) -> None:
    words = [word for each in analyze_query(f"{surface} ice", ("en",)) for word in each.words]
    clauses = tuple(tuple(Term(Field.BODY, stem, 1.0) for stem in each.stems) for each in words)
    for all_clauses in (True, False):
        pair.agree(Match(clauses, all_clauses=all_clauses))


def test_conditions_within_each_other_find_the_same(pair: Pair) -> None:
    ice, seal = InOrder(("ice",)), InOrder(("seal", "ice"))
    for condition in (Every((ice, seal)), Every((ice, Without(seal))), Without(Every((ice, seal)))):
        pair.agree(Match((), required=condition))
    assert pair.agree(Match((), required=Every((ice, seal)))) == {"long.md"}


def test_scores_are_so_alike_that_bonuses_weigh_the_same(pair: Pair) -> None:
    match = Match(((Term(Field.BODY, "case", 1.0),), (Term(Field.BODY, "ice", 2.0),)))
    best = [engine.match_pages(match, 1).entries[0][2] for engine in pair]
    assert best[0] == pytest.approx(best[1], rel=0.05)


def test_both_have_the_same_vocabulary(pair: Pair) -> None:
    for field in (Field.EXACT, Field.BODY):
        mine, theirs = (
            {
                word
                for length, words in engine.vocabulary(field).items()
                if length <= 100
                for word in words
                if word != "\x02"
            }
            for engine in pair
        )
        assert mine == theirs
