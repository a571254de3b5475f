"""What every engine must do with documents and words, whatever it is made of."""

from __future__ import annotations

import pytest

from bookwheel.engines.base import Field, Found, Match, Term
from bookwheel.engines.base import WritableEngine as Engine
from bookwheel.model import Status
from bookwheel.query import Filters
from tests.engines.drafts import (
    NOTES,
    body,
    draft,
    fill,
    found,
    key_of,
    paths_of,
    problems,
    ranking,
    refusal,
)

EVERYTHING = Match(())


# Writing


def test_a_replaced_document_is_found_by_its_new_words_only(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus walrus"), draft("b.md", "walrus"))
    fill(engine, draft("a.md", "penguin"))
    assert (found(engine, "walrus"), found(engine, "penguin")) == (["b.md"], ["a.md"])


def test_a_replaced_document_keeps_its_key_and_leaves_no_old_part_behind(engine: Engine) -> None:
    fill(engine, draft("a.md", "# One\n\nx [l](l.md)\n\n## Two\n\ny\n"))
    key = key_of(engine, "a.md")
    fill(engine, draft("a.md", "plain"))
    assert key_of(engine, "a.md") == key
    assert (engine.text(key), engine.sections(key), engine.links(key)) == (b"plain", [], [])
    assert engine.passages([(key, 2)]) == {}
    assert problems(engine) == []


def test_a_document_that_turns_unreadable_gives_up_its_text_and_its_words(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"))
    key = key_of(engine, "a.md")
    fill(engine, refusal("a.md", Status.ENCRYPTED, reason="locked"))
    assert found(engine, "walrus") == []
    assert (engine.text(key), engine.paths("notes"), engine.page_count()) == (b"", [], 0)
    assert [(d.path, d.status, d.reason) for d in engine.ledger()] == [
        ("a.md", Status.ENCRYPTED, "locked")
    ]
    assert problems(engine) == []


def test_of_two_drafts_of_one_file_the_last_counts(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"), draft("a.md", "penguin"))
    assert (found(engine, "walrus"), found(engine, "penguin")) == ([], ["a.md"])
    assert engine.page_count() == 1
    assert problems(engine) == []


def test_a_removed_document_never_comes_back_in_an_answer(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"), draft("b.md", "walrus"))
    key = key_of(engine, "a.md")
    engine.begin_writing()
    assert engine.remove("notes", ["a.md", "never.md"]) == 1
    engine.commit()
    engine.end_writing()
    fill(engine, draft("c.md", "walrus"))
    assert found(engine, "walrus") == ["b.md", "c.md"]
    assert paths_of(engine, Match((), excluded=(Term(Field.BODY, "zebra", 1.0),))) == [
        "b.md",
        "c.md",
    ]
    assert key_of(engine, "c.md") != key
    assert (engine.document("notes", "a.md"), engine.documents_by_key([key])) == (None, {})
    assert (engine.text(key), engine.passages([(key, 1)])) == (b"", {})
    assert problems(engine) == []


def test_a_removed_document_is_gone_from_the_catalogue_before_the_commit(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    engine.remove("notes", ["a.md"])
    assert found(engine, "walrus") == []
    engine.end_writing()


def test_a_file_written_again_after_its_removal_is_found_once(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    engine.remove("notes", ["a.md"])
    engine.write([draft("a.md", "walrus")])
    engine.commit()
    engine.end_writing()
    assert engine.match_pages(Match(body("walrus")), 9, count=True).total == 1
    assert problems(engine) == []


def test_a_batch_that_cannot_be_written_whole_is_not_written_at_all(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    before = engine.generation
    with pytest.raises(KeyError):
        engine.write([draft("b.md", "penguin"), draft("c.md", "x", collection="unheard of")])
    engine.commit()
    engine.end_writing()
    assert (engine.paths("notes"), found(engine, "penguin")) == (["a.md"], [])
    assert engine.generation == before


def test_what_is_not_committed_is_read_by_path_and_found_after_the_next_start(
    engine: Engine,
) -> None:
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    engine.write([draft("b.md", "walrus"), draft("a.md", "penguin")])
    engine.remove("notes", [])
    assert engine.text(key_of(engine, "b.md")) == b"walrus"
    engine.end_writing()
    engine.begin_writing()
    engine.end_writing()
    assert (found(engine, "walrus"), found(engine, "penguin")) == (["b.md"], ["a.md"])
    assert problems(engine) == []


def test_writing_nothing_changes_nothing(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"))
    engine.begin_writing()
    before = engine.generation
    engine.write([])
    assert engine.remove("notes", []) == 0
    engine.touch("notes", {})
    assert engine.generation == before
    engine.end_writing()


def test_every_change_of_documents_raises_the_generation(engine: Engine) -> None:
    engine.begin_writing()
    engine.declare([NOTES])
    seen = [engine.generation]
    engine.write([draft("a.md", "walrus")])
    seen.append(engine.generation)
    engine.write([draft("a.md", "penguin"), draft("b.md", "walrus")])
    seen.append(engine.generation)
    engine.remove("notes", ["a.md"])
    seen.append(engine.generation)
    engine.end_writing()
    assert seen == [0, 1, 2, 3]
    document = engine.document("notes", "b.md")
    assert document is not None
    assert document.generation == 2


def test_an_engine_can_be_closed_and_used_again(engine: Engine) -> None:
    fill(engine, draft("a.md", "walrus"))
    engine.close()
    assert found(engine, "walrus") == ["a.md"]
    engine.close()
    engine.close()


# Matching


@pytest.fixture
def zoo(engine: Engine) -> Engine:
    """Give an engine with a few documents that differ in one respect each."""
    fill(
        engine,
        draft(
            "north/sea/walrus.md",
            "---\ntags: [Sea, cold]\n---\n# Walrus\n\nA walrus swims under ice.\n",
            date="2020-01-31",
        ),
        draft("north/bear.md", "---\ntags: [cold]\n---\n# Bear\n\nA bear walks on ice.\n", date=""),
        draft("south/penguin.html", "<title>Penguin</title><p>A penguin swims under ice.</p>"),
        draft("northern.txt", "Ice under swims.", date="2021-01-01"),
        draft("north/papers.md", "# Walrus\n\nPrinted ice.", collection="papers"),
        refusal("north/broken.md"),
    )
    return engine


def test_all_clauses_must_be_met_or_any_as_asked(zoo: Engine) -> None:
    match = Match(body("swim", "walk"))
    assert paths_of(zoo, match) == [
        "north/bear.md",
        "north/sea/walrus.md",
        "northern.txt",
        "south/penguin.html",
    ]
    assert paths_of(zoo, match._replace(all_clauses=True)) == []
    assert found(zoo, "swim", "penguin") == ["south/penguin.html"]


def test_a_clause_is_met_by_any_of_its_terms(zoo: Engine) -> None:
    either = (Term(Field.BODY, "walk", 1.0), Term(Field.TITLE, "penguin", 1.0))
    match = Match((either, *body("ice")), all_clauses=True)
    assert paths_of(zoo, match) == ["north/bear.md", "south/penguin.html"]


def test_a_clause_without_terms_is_met_by_nothing(zoo: Engine) -> None:
    assert paths_of(zoo, Match(((), *body("ice")), all_clauses=True)) == []
    assert "northern.txt" in paths_of(zoo, Match(((), *body("ice"))))


def test_terms_are_looked_for_in_their_own_field_only(zoo: Engine) -> None:
    assert paths_of(zoo, Match(((Term(Field.TITLE, "walrus", 1.0),),))) == [
        "north/papers.md",
        "north/sea/walrus.md",
    ]
    assert paths_of(zoo, Match(((Term(Field.TITLE, "walk", 1.0),),))) == []


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_phrase_stands_as_written_however_short(zoo: Engine, count: int) -> None:
    words = ("swims", "under", "ice")[:count]
    expected = ["north/sea/walrus.md", "south/penguin.html"]
    assert paths_of(zoo, Match((), phrases=(words,))) == (
        sorted([*expected, "northern.txt"]) if count == 1 else expected
    )


def test_an_empty_phrase_asks_for_nothing(zoo: Engine) -> None:
    assert paths_of(zoo, Match(body("walk"), phrases=((),), excluded_phrases=((),))) == [
        "north/bear.md"
    ]


def test_exclusions_hold_beside_words_and_alone(zoo: Engine) -> None:
    swimming = Term(Field.BODY, "swim", 1.0)
    assert paths_of(zoo, Match(body("ice"), excluded=(swimming,))) == [
        "north/bear.md",
        "north/papers.md",
    ]
    assert paths_of(zoo, Match((), excluded=(swimming,))) == ["north/bear.md", "north/papers.md"]
    assert paths_of(zoo, Match((), excluded_phrases=(("under", "ice"),))) == [
        "north/bear.md",
        "north/papers.md",
        "northern.txt",
    ]


def test_exclusions_beside_a_bonus_still_find_all_the_others(zoo: Engine) -> None:
    match = Match(
        (), excluded=(Term(Field.BODY, "swim", 1.0),), titles=("bear",), title_bonus=1000.0
    )
    assert ranking(zoo, match) == ["north/bear.md", "north/papers.md"]


def test_exclusions_hold_for_passages_alone_too(zoo: Engine) -> None:
    match = Match((), excluded=(Term(Field.BODY, "swim", 1.0),))
    keys = {key_of(zoo, "north/bear.md"), key_of(zoo, "north/papers.md", "papers")}
    assert {key for key, _, _ in zoo.match_passages(match, 100).entries} == keys


def test_a_match_of_nothing_in_particular_is_every_document(zoo: Engine) -> None:
    assert len(paths_of(zoo, EVERYTHING)) == 5
    assert zoo.match_pages(EVERYTHING, 2, count=True).total == 5


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(collections=("papers",)), ["north/papers.md"]),
        (Filters(collections=("nowhere",)), []),
        (Filters(extensions=(".html", ".txt")), ["northern.txt", "south/penguin.html"]),
        (
            Filters(folders=("north",)),
            ["north/bear.md", "north/papers.md", "north/sea/walrus.md"],
        ),
        (Filters(folders=("/north/sea/",)), ["north/sea/walrus.md"]),
        (Filters(folders=("sea",)), []),
        (
            Filters(folders=("",), collections=("notes",), extensions=(".md",)),
            ["north/bear.md", "north/sea/walrus.md"],
        ),
        (Filters(tags=("SEA",)), ["north/sea/walrus.md"]),
        (Filters(tags=("sea", "cold")), ["north/bear.md", "north/sea/walrus.md"]),
        (Filters(date_from="2020-01-31", date_to="2020-01-31"), ["north/sea/walrus.md"]),
        (Filters(date_to="2020-12-31"), ["north/sea/walrus.md"]),
        (Filters(date_from="2020-02-01", date_to="2021-12-31"), ["northern.txt"]),
        (Filters(collections=("notes",), folders=("south",), tags=("cold",)), []),
    ],
)
def test_filters_hold_throughout(zoo: Engine, filters: Filters, expected: list[str]) -> None:
    assert paths_of(zoo, Match((), filters=filters)) == expected
    assert paths_of(zoo, Match(body("ice"), filters=filters)) == expected


def test_filters_add_nothing_to_the_score(zoo: Engine) -> None:
    match = Match(body("swim"))
    plain = zoo.match_pages(match, 10)
    everything = Filters(("notes",), (".md", ".txt", ".html"), ("",), (), "1999-01-01")
    filtered = zoo.match_pages(match._replace(filters=everything), 10)
    assert filtered == plain
    keys = tuple(key for key, _, _ in plain.entries)
    assert zoo.match_pages(match._replace(documents=keys), 10) == plain


def test_no_filter_is_the_same_as_an_empty_one(zoo: Engine) -> None:
    match = Match(body("ice"))
    assert zoo.match_pages(match._replace(filters=Filters()), 10) == zoo.match_pages(match, 10)


def test_a_bonus_lifts_a_page_without_being_asked_for(zoo: Engine) -> None:
    match = Match(body("ice"), bonus=(Term(Field.BODY, "walk", 9.0),))
    assert ranking(zoo, match)[0] == "north/bear.md"
    assert len(ranking(zoo, match)) == 5


def test_the_exact_title_lifts_a_page_by_the_bonus_alone(zoo: Engine) -> None:
    match = Match(body("ice"), titles=("penguin", "no such title"), title_bonus=1000.0)
    plain = {key: score for key, _, score in zoo.match_pages(Match(body("ice")), 10).entries}
    lifted = {key: score for key, _, score in zoo.match_pages(match, 10).entries}
    penguin = key_of(zoo, "south/penguin.html")
    assert ranking(zoo, match)[0] == "south/penguin.html"
    assert lifted.pop(penguin) == pytest.approx(plain.pop(penguin) + 1000.0, abs=0.01)
    assert lifted == pytest.approx(plain)


def test_the_name_of_a_file_lifts_it_as_its_title_does(zoo: Engine) -> None:
    for name, path in (("walrus.md", "north/sea/walrus.md"), ("northern.txt", "northern.txt")):
        found = zoo.match_pages(Match(body("ice"), titles=(name,), title_bonus=1000.0), 10)
        assert [key for key, _, score in found.entries if score > 1000] == [key_of(zoo, path)]
    stem = zoo.match_pages(Match(body("ice"), titles=("northern",), title_bonus=1000.0), 10)
    assert all(score < 1000 for _, _, score in stem.entries)


def test_weights_decide_the_order(zoo: Engine) -> None:
    walk, swim = Term(Field.BODY, "walk", 50.0), Term(Field.BODY, "print", 1.0)
    order = ranking(zoo, Match(((walk,), (swim,))))
    assert order == ["north/bear.md", "north/papers.md"]
    swapped = Match(((walk._replace(weight=1.0),), (swim._replace(weight=50.0),)))
    assert ranking(zoo, swapped) == ["north/papers.md", "north/bear.md"]


def test_a_restriction_to_documents_holds_and_none_is_none(zoo: Engine) -> None:
    bear, walrus = key_of(zoo, "north/bear.md"), key_of(zoo, "north/sea/walrus.md")
    match = Match(body("ice"), documents=(bear, walrus, 999_999))
    assert paths_of(zoo, match) == ["north/bear.md", "north/sea/walrus.md"]
    assert paths_of(zoo, match._replace(documents=())) == []
    passages = zoo.match_passages(match._replace(documents=(bear,)), 10).entries
    assert [entry[:2] for entry in passages] == [(bear, 1)]


def test_the_limit_cuts_the_entries_and_not_the_count(zoo: Engine) -> None:
    match = Match(body("ice"))
    assert [
        (len(answer.entries), answer.total)
        for answer in (zoo.match_pages(match, limit, count=True) for limit in (0, 1, 4, 5, 10_000))
    ] == [(0, 5), (1, 5), (4, 5), (5, 5), (5, 5)]
    assert zoo.match_pages(Match(body("dodo")), 0, count=True) == Found((), 0)


def test_entries_come_best_first_and_pages_have_ordinal_zero(zoo: Engine) -> None:
    entries = zoo.match_pages(Match(body("swim", "ice")), 10).entries
    scores = [score for _, _, score in entries]
    assert scores == sorted(scores, reverse=True)
    assert {ordinal for _, ordinal, _ in entries} == {0}


def test_any_text_may_be_a_term(zoo: Engine) -> None:
    for text in ("", " ", "\x00", "a b", "AND", '"', "\U0010ffff", "x" * 100_000):
        assert paths_of(zoo, Match(((Term(Field.BODY, text, 1.0),),))) == []
        assert paths_of(zoo, Match((), phrases=((text, text),))) == []
        assert paths_of(zoo, Match((), filters=Filters((text,) if text else ("-",)))) == []
        assert zoo.frequency(Field.EXACT, text) == 0


def test_frequency_counts_the_pages_that_hold_a_term(zoo: Engine) -> None:
    assert [
        zoo.frequency(field, term)
        for field, term in (
            (Field.BODY, "ice"),
            (Field.BODY, "swim"),
            (Field.TITLE, "walrus"),
            (Field.EXACT, "swims"),
            (Field.EXACT, "swim"),
            (Field.NAMES, "nothing"),
        )
    ] == [5, 3, 2, 3, 0, 0]


def test_the_vocabulary_is_the_words_as_written_by_their_length(zoo: Engine) -> None:
    vocabulary = zoo.vocabulary()
    assert sorted(vocabulary[5]) == ["swims", "under", "walks"]
    assert sorted(vocabulary[1]) == ["a"]
    fill(zoo, draft("new.md", "zygote"))
    zoo.refresh()
    assert "zygote" in zoo.vocabulary()[6]
