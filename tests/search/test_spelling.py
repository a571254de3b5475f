"""Near words."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from bookwheel.engines.base import Vocabulary
from bookwheel.query import Filters
from bookwheel.search.spelling import (
    MOST_CANDIDATES,
    Speller,
    near_words,
    one_slip_away,
    words_beginning,
)
from tests.search.shelf import Shelf


def lengths(*words: str) -> Vocabulary:
    found: dict[int, list[str]] = {}
    for word in words:
        found.setdefault(len(word), []).append(word)
    return Vocabulary(found)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("lettter", [(1, "letter")]),
        ("leter", [(1, "letter")]),
        ("lettre", [(1, "letter")]),
        ("pletter", [(1, "letter")]),
        ("ettre", []),
        ("lttre", []),
        ("elttre", []),
        ("corresspond", [(1, "correspond")]),
        ("corresspondd", [(2, "correspond")]),
        ("gorresspond", []),
        ("letter", []),
        ("12", []),
        ("777", []),
    ],
)
def test_one_slip_is_near_and_two_only_in_a_long_word(
    word: str, near: list[tuple[int, str]]
) -> None:
    assert near_words(word, lengths("letter", "1234", "778", "correspond")) == near


def test_the_commonest_of_equally_near_words_comes_first(shelf: Shelf) -> None:
    shelf.put({"a.md": "cart", "b.md": "card", "c.md": "card"})
    assert Speller(shelf.engine, Filters()).words("carx", own=0) == ["card", "cart"]


def test_a_word_is_taken_for_a_slip_only_of_a_far_commoner_one(shelf: Shelf) -> None:
    shelf.put({f"{n}.md": "colour" for n in range(25)} | {"x.md": "colous", "y.md": "colons"})
    speller = Speller(shelf.engine, Filters())
    assert speller.words("colous", own=1) == ["colour"]


def test_words_of_removed_and_of_filtered_out_pages_are_not_offered(shelf: Shelf) -> None:
    shelf.put({"a/x.md": "secretive", "b/y.md": "secretary", "c.md": "secretion"})
    shelf.engine.begin_writing()
    shelf.engine.remove("shelf", ["c.md"])
    shelf.engine.commit()
    shelf.engine.end_writing()
    scope = Filters(folders=("b",))
    assert Speller(shelf.engine, scope).words("secretari", own=0) == ["secretary"]
    assert "secretion" not in Speller(shelf.engine, Filters()).words("secretiom", own=0)


def test_few_candidates_are_offered(shelf: Shelf) -> None:
    shelf.put({f"{letter}.md": f"wor{letter}" for letter in "abcdefgh"})
    assert len(Speller(shelf.engine, Filters()).words("worz", own=0)) == MOST_CANDIDATES


def test_a_word_cut_short_or_misspelt_at_its_beginning_is_found(shelf: Shelf) -> None:
    shelf.put({"a.md": "framebufferTexture2D", "b.md": "something else"})
    for word in ("framebufferte", "framebuffertekture", "framebufferTexture"):
        assert shelf.find(word) == ["a.md"]
    assert shelf.find("fra") == []


LETTERS = st.text("abc", min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(word=st.text("abc", min_size=4, max_size=10), others=st.lists(LETTERS, max_size=30))
def test_what_is_passed_over_unmeasured_is_not_near(word: str, others: list[str]) -> None:
    words = sorted({*others, word + "ab", "c" + word[1:] + "a", word[0] + "cc" + word[2:]} - {word})
    vocabulary = Vocabulary({n: [each for each in words if len(each) == n] for n in range(20)})
    steps = {other: OSA.distance(word, other) for other in words}
    near = {other for other, far in steps.items() if far == 1}
    if not near and len(word) >= 8:
        near = {other for other, far in steps.items() if far == 2 and other[0] == word[0]}
    assert {other for _, other in near_words(word, vocabulary)} == near
    heads = {
        other
        for other in words
        if len(word) < len(other) <= len(word) + 8 and OSA.distance(word, other[: len(word)]) <= 1
    }
    assert {other for _, other in words_beginning(word, vocabulary)} == heads


WORDS = st.text("abcäдж1", min_size=1, max_size=6)


@given(WORDS, st.sets(WORDS, max_size=40))
def test_the_words_one_slip_away_are_those_that_a_measure_finds(word: str, words: set[str]) -> None:
    near = one_slip_away(word, lengths(*words))
    assert sorted(near) == [(1, each) for each in sorted(words) if OSA.distance(word, each) == 1]


def test_in_a_vocabulary_of_many_letters_the_same_words_are_near() -> None:
    foreign = [chr(letter) + "x" for letter in range(0x400, 0x400 + 3000)]
    assert one_slip_away("leter", lengths("letter", "later", *foreign)) == [
        (1, "later"),
        (1, "letter"),
    ]


PROSE = {f"{n}.md": f"The pod can be in use: too many go to the top, tie {n}." for n in range(60)}


@pytest.mark.parametrize("word", ["toe", "thy", "car", "pin", "usa", "teh"])
def test_no_word_is_respelt_into_one_that_stands_everywhere(shelf: Shelf, word: str) -> None:
    shelf.put(PROSE | {"x.md": "a trap"})
    answer = shelf.ask(word)
    assert answer.hits == ()
    assert answer.relaxed == (f"no document has '{word}'",)


@pytest.mark.parametrize("word", ["pdo", "kuberntes"])
def test_a_slip_of_what_all_documents_are_about_is_respelt(shelf: Shelf, word: str) -> None:
    shelf.put({name: f"{text} Kubernetes" for name, text in PROSE.items()})
    assert shelf.ask(word).total == len(PROSE)


def test_what_swaps_the_letters_of_a_filler_word_is_no_slip_of_another(shelf: Shelf) -> None:
    shelf.put({"a.md": "rotate the key", "b.md": "ten tech keys", "c.md": "the tech"})
    answer = shelf.ask("rotate teh key")
    assert answer.hits[0].document == "a.md"
    assert "no document has 'teh'" in answer.relaxed


NOTIZEN = {
    "urlaub.md": "# Urlaub\n\nJeder Mitarbeiter hat 30 Urlaubstage im Jahr. Der Antrag geht an die "
    "Personalabteilung und muss zwei Wochen vorher gestellt werden.",
    "reisen.md": "# Reisen\n\nKosten werden nach der Reise mit dem Formular abgerechnet; sie sind "
    "ab dem ersten Tag zu belegen. Belege liegen im Original bei, sonst gibt es kein Geld.",
    "unfall.md": "# Unfall\n\nBei einem Unfall auf dem Weg zur Arbeit ist die Kasse zu "
    "benachrichtigen. Die Formulare dafür liegen beim Empfang, und das Telefon steht daneben.",
    "parken.md": "# Parken\n\nDie Plätze hinter dem Haus stehen allen offen. Besucher melden sich "
    "beim Pförtner an, und sie bekommen von ihm einen Schein für die Scheibe.",
}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Wie viele Urlaubstage habe ich?", "urlaub.md"),
        ("Was muss ich bei einem Unfall tun?", "unfall.md"),
        ("Wo kann ich als Besucher parken?", "parken.md"),
    ],
)
@pytest.mark.parametrize("others", [{}, {"en.md": "The key and the door of this house."}])
def test_no_filler_word_of_any_language_is_respelt(
    shelf: Shelf, others: dict[str, str], question: str, first: str
) -> None:
    shelf.put(NOTIZEN | others)
    answer = shelf.ask(question)
    assert answer.hits[0].document == first
    assert not answer.respelt
    assert {hit.language for hit in answer.hits} == {"de"}


def test_a_filler_word_of_a_language_that_no_document_has_is_no_slip(shelf: Shelf) -> None:
    shelf.put({"a.md": "The rich key is with the door.", "b.md": "Each of us has a desk."})
    answer = shelf.ask("wie verbinde ich einen key")
    assert not answer.respelt
    assert answer.hits[0].document == "a.md"
    assert "'ich' also as 'rich'" in " ".join(shelf.ask("ich").relaxed)  # alone it may be a slip


def test_a_slip_and_an_ending_are_too_much_for_a_short_word(shelf: Shelf) -> None:
    shelf.put(
        {"a.md": "Das Reh ist nicht im Wald, und die Wiese ist von der Sonne auf dem Berg warm."}
    )
    assert shelf.find("Rebe") == []


@pytest.mark.parametrize(
    ("text", "query", "note"),
    [
        ("Accidents were reported.", "acident", "'acident' also as 'accidents'"),
        ("They insure, and are insured.", "insurrance", "'insurrance' also as 'insure'"),
        (
            "Änderungen am Vertrag, und die Kasse ist nicht im Haus.",
            "Ändderung",
            "'ändderung' also as 'änderungen'",
        ),
    ],
)
def test_a_note_shows_whole_words_as_documents_write_them(
    shelf: Shelf, text: str, query: str, note: str
) -> None:
    shelf.put({"a.md": text})
    answer = shelf.ask(query)
    assert [hit.document for hit in answer.hits] == ["a.md"]
    assert answer.relaxed == (note,)


def test_no_note_says_that_a_word_is_also_itself(shelf: Shelf) -> None:
    german = (
        "Ein Unfall ist der Kasse zu melden, und das Formular liegt beim Empfang auf dem Tisch."
    )
    shelf.put({f"{n}.md": f"the road and the car are in this town {n}" for n in range(120)})
    shelf.put({"unfall.md": german})
    answer = shelf.ask("unfall")
    assert answer.hits[0].document == "unfall.md"
    assert answer.respelt == ""


def test_a_word_of_a_page_out_of_reach_is_not_shown_for_a_stem(shelf: Shelf) -> None:
    shelf.put({"a/x.md": "accidental accidental", "b/y.md": "accidents"})
    scope = Filters(folders=("b",))
    assert Speller(shelf.engine, scope).stems("acid") == [("accid", "accidents")]


def test_words_that_were_asked_for_are_nothing_to_the_garbage_collector() -> None:
    words = lengths(*(f"word{number:05}" for number in range(2_000)))
    assert (1, "word01234") in near_words("wodr01234", words)
    assert near_words("word991234", words)
    gc.collect()
    known = (tuple, list, dict, set, frozenset)
    long = [each for each in gc.get_objects() if isinstance(each, known) and len(each) >= 1_000]
    assert not [each for each in long if "word01234" in each]
