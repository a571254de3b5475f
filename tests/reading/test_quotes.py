"""A quoted stretch is found again by its words, and given back as the document has it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.reading.quotes import _find, _Searched
from bookwheel.text.plain import plain

TEXT = (
    "# The *Contract*\n\nVendor_X (Ltd.) agrees -- see [terms](https://a.example/x) -- to\n"
    "pay 1,200.50 EUR.\n\n> İstanbul office: STRASSE, Straße, naïve.\n\n"
    "ไม่มีช่องว่าง 日本語の文書です。 次の文。\n\nThe end."
)


def find(quote: str, text: str = TEXT, longest: int = 500) -> str | None:
    return _find((_Searched(plain(text)), _Searched(text)), quote, longest)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("vendor x ltd agrees", "Vendor_X (Ltd.) agrees"),
        ("agrees see terms to pay", "agrees -- see terms -- to pay"),
        ("pay 1 200 50 eur", "pay 1,200.50 EUR."),
        ("İstanbul office", "İstanbul office:"),
        ("stanbul office: strasse, straße", "İstanbul office: STRASSE, Straße,"),
        ("本語の文", "本語の文"),
        ("The Contract … The end", "The Contract … The end."),
        ("the end", "The end."),
        ("he en", "he en"),
        ("(https://a.example/x) -- to", "https://a.example/x) -- to"),
    ],
)
def test_words_are_found_and_given_back_as_they_stand(quote: str, found: str) -> None:
    assert find(quote) == found


@pytest.mark.parametrize(
    "quote", ["", "…", " -- ", "agrees to", "The Contract … nobody", "end The", "Vendor_X pays"]
)
def test_what_does_not_stand_there_is_not_found(quote: str) -> None:
    assert find(quote) is None


def test_a_long_quotation_is_cut_at_a_word() -> None:
    assert find("word " * 500, "word " * 600, longest=20) == "word word word word…"


def test_repeating_texts_do_not_slow_it() -> None:
    """A million words that nearly match, and never do; time shows only as a hang."""
    assert find("a " * 5000 + "b", "a " * 1_000_000) is None


WORDS = st.text(st.characters(codec="utf-8"), max_size=60)


@settings(max_examples=150)
@given(WORDS, st.data())
def test_any_stretch_of_a_plain_text_is_found_within_it(text: str, data: st.DataObject) -> None:
    line = plain(text)
    start = data.draw(st.integers(0, len(line)))
    stop = data.draw(st.integers(start, len(line)))
    searched = _Searched(line)
    found = searched.find(line[start:stop]) if any(map(str.isalnum, line[start:stop])) else ""
    assert found is None or found in line


@settings(max_examples=150)
@given(WORDS, WORDS)
def test_no_quotation_and_no_text_is_too_odd(quote: str, text: str) -> None:
    find(quote, text)
