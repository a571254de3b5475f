"""Tests of cutting text to a length."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.text.cut import cut, squeeze


@pytest.mark.requirement("F-016")
@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 10, "short"),
        ("exactly 10", 10, "exactly 10"),
        ("one two three", 10, "one two…"),
        ("one two, three", 9, "one two…"),
        ("  many \n blanks  ", 20, "many blanks"),
        ("x" * 30, 10, "x" * 9 + "…"),
        ("a " + "x" * 30, 10, "a…"),
        ("日本語の文章はここで切れる", 6, "日本語の文…"),
        ("e\u0301" * 10, 6, "e\u0301e\u0301…"),
        ("👩\u200d👩\u200d👧" * 3, 8, "👩\u200d👩\u200d👧…"),
        ("🇩🇪" * 5, 6, "🇩🇪🇩🇪…"),
        ("👍🏽" * 5, 4, "👍🏽…"),
        (" " * 5_000 + "late", 10, "late"),
        ("", 10, ""),
    ],
)
def test_text_is_cut_between_words_and_never_inside_a_letter(
    text: str, limit: int, expected: str
) -> None:
    assert cut(text, limit=limit) == expected


@given(st.text(max_size=80), st.integers(2, 40))
def test_a_cut_is_within_its_limit_and_a_beginning_of_the_text(text: str, limit: int) -> None:
    short = cut(text, limit=limit)
    line = squeeze(text)
    assert len(short) <= limit
    assert line.startswith(short.removesuffix("…")) or short == line
    assert (short == line) == (len(line) <= limit)


@given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=40))
def test_whole_words_stay_whole(words: list[str]) -> None:
    short = cut(" ".join(words), limit=20).removesuffix("…")
    assert words[: len(short.split())] == short.split()


def test_no_letter_is_parted_from_a_combining_mark() -> None:
    text = unicodedata.normalize("NFD", "ééééééééé " * 5)
    for limit in range(2, len(squeeze(text))):
        kept = len(cut(text, limit=limit).removesuffix("…"))
        assert kept < 2 or not unicodedata.combining(squeeze(text)[kept])
