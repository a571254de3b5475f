"""What the entry of a page holds."""

from __future__ import annotations

import pytest

from bookwheel.model import Chunk, PassageTerms
from bookwheel.text import entries
from bookwheel.text.entries import page_terms


def terms_of(*texts: str) -> PassageTerms | None:
    data, chunks = b"", []
    for number, text in enumerate(texts, start=1):
        begin = len(data)
        data += text.encode() + b"\n"
        chunks.append(Chunk(number, begin, len(data), number, number, (), ""))
    return page_terms("Title", data, chunks, (), "en").text


def test_a_document_of_common_length_has_the_words_of_its_chunks() -> None:
    assert terms_of("red fox", "red hen") is None


def test_far_from_its_beginning_a_long_one_has_each_word_once_and_no_phrases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entries, "MOST_WHOLE", 22)
    held = terms_of("red fox red fox", "red hens sleep", "hens sleep a.b()")
    assert held is not None
    assert held.body.split() == ["red", "fox", "red", "fox", "hen", "sleep", "a", "b"]
    assert "".join(held.exact.split()) == "redfoxredfox\x02hens\x02sleep\x02a\x02b"
    assert held.names.split() == ["a.b()", "a.b"]


def test_what_stands_there_once_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MOST_WHOLE", 20)
    held = terms_of("red fox red fox", *(f"word{number}" for number in range(100)))
    assert held is not None
    assert len(held.exact) < 60
