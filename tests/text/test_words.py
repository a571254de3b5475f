"""The one analysis: what documents are found by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.text.matching import Finder
from bookwheel.text.words import (
    analyze,
    analyze_query,
    fold,
    is_unspaced,
    normal_title,
    strip_accents,
)

CASES = {
    # surface: (stems, exact, names)
    "tabs.get()": ("tab get", "tabs get", "tabs.get() tabs.get"),
    "String.prototype.small()": (
        "string prototyp small",
        "string prototype small",
        "string.prototype.small() string.prototype.small",
    ),
    "@custom-media": ("custom media", "custom media", "@custom-media custom-media"),
    "C++": ("c", "c", "c++ c"),
    "C#,": ("c", "c", "c# c"),
    "snake_case": ("snake case", "snake case", "snake_case"),
    "camelCase": ("camelcas camel case", "camelcase", ""),
    "HTMLElement": ("htmlelement html element", "htmlelement", ""),
    "DEC-0054": ("dec 0054", "dec 0054", "dec-0054"),
    "v1.2.3": ("v1 2 3", "v1 2 3", "v1.2.3"),
    "--dry-run": ("dri run", "dry run", "--dry-run dry-run"),
    "::before": ("befor", "before", "::before before"),
    "std::vector<int>": ("std vector int", "std vector int", "std::vector"),
    "__init__": ("init", "init", "__init__"),
    "APIs": ("api", "apis", ""),
    "user's": ("user", "user", ""),
    "**bold**,": ("bold", "bold", ""),
    "[a link](https://example.org/not/words)": ("a link", "a link", ""),
    "Übergrößen": ("ubergrossen", "übergrössen", ""),
    "café": ("cafe", "café", ""),
    "हिन्दी": ("हिन्दी", "हिन्दी", ""),
    "検索エンジン": ("検索 索エ エン ンジ ジン", "検索 索エ エン ンジ ジン", ""),
    "iPhone用": ("iphon 用", "iphone 用", ""),
    "การค้นหา": ("กา าร รค ค้ ้น นห หา",) * 2 + ("",),
    "ＦＵＬＬ": ("full", "full", ""),
    "soft\u00adhyphen": ("softhyphen", "softhyphen", ""),
    "می\u200cخواهم": ("میخواهم", "میخواهم", ""),
}


@pytest.mark.parametrize("surface", CASES)
def test_a_surface_gives_its_words_forms_and_names(surface: str) -> None:
    terms = analyze(surface, "en")
    assert tuple(form.strip() for form in terms) == CASES[surface]


@pytest.mark.parametrize(
    ("language", "word", "stem"),
    [
        ("en", "running", "run"),
        ("de", "Häuser", "haus"),
        ("ru", "книгами", "книг"),
        ("xx", "running", "running"),
    ],
)
def test_words_are_stemmed_in_their_own_language(language: str, word: str, stem: str) -> None:
    assert analyze(word, language).stems.strip() == stem


def test_a_query_is_analysed_like_the_text_it_must_find() -> None:
    for surface in CASES:
        terms = analyze(surface, "en")
        for asked in analyze_query(surface, ("en",)):
            assert {word.exact for word in asked.words} <= set(terms.exact.split())
            assert {word.stems[0] for word in asked.words} <= set(terms.stems.split())
            assert set(asked.names) <= set(terms.names.split())


def test_words_too_long_to_be_words_are_left_out() -> None:
    assert analyze("a" * 65 + " kept", "en").exact.strip() == "kept"


def test_a_text_of_many_different_words_keeps_its_memory_bounded() -> None:
    text = " ".join(f"w{number}x" for number in range(1000))
    first = analyze(text, "en")
    assert analyze(text, "en") == first


@given(st.text(max_size=300))
def test_any_text_has_terms_without_blanks_in_them(text: str) -> None:
    for form in analyze(text, "en"):
        assert "  " not in form
        assert form == "" or form.startswith(" ")


@given(st.text(max_size=200))
def test_any_text_is_a_query(text: str) -> None:
    for surface in analyze_query(text, ("en", "de")):
        assert surface.words or surface.names


@given(st.text(max_size=200))
def test_what_a_finder_marks_lies_in_the_text_in_order(text: str) -> None:
    terms = analyze(text, "en")
    worth = dict.fromkeys(terms.exact.split(), 1.0)
    found = Finder(worth, "en").find(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
    assert [start for start, _, _ in found] == sorted(start for start, _, _ in found)
    if terms.exact:
        assert {term for _, _, term in found} <= set(worth)


def test_a_finder_marks_inflected_and_unspaced_words() -> None:
    worth = {"run": 1.0, "索エ": 1.0}
    assert Finder(worth, "en").find("He RUNS.") == [(3, 7, "run")]
    assert Finder(worth, "ja").find("検索エンジン") == [(1, 3, "索エ")]


def test_titles_are_the_same_whatever_case_accents_and_blanks() -> None:
    assert normal_title("  Été  à\tla Plage ") == normal_title("ete a LA plage")


def test_folding_keeps_accents_and_stripping_keeps_vowel_signs() -> None:
    assert (fold("CAFÉ ß"), strip_accents("café हिन्दी й")) == ("café ss", "cafe हिन्दी и")


def test_unspaced_scripts_are_told_apart() -> None:
    assert [is_unspaced(text) for text in ("検索", "หา", "abc", "ab検", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(("language", "word"), [("nl", "gestuurd"), ("id", "membaca")])
def test_a_finder_knows_languages_whose_stems_lose_their_first_letter(
    language: str, word: str
) -> None:
    terms = analyze(word, language).stems.split()
    assert Finder(dict.fromkeys(terms, 1.0), language).find(word) == [(0, len(word), terms[0])]


def test_a_finder_passes_over_words_that_begin_with_other_letters() -> None:
    assert Finder({"run": 1.0}, "en").find("She walked while he ran and runs.") == [(28, 32, "run")]
