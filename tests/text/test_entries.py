"""What the entry of a page holds: of its text, and of its file's name."""

from __future__ import annotations

import pytest

from bookwheel.model import Chunk, PassageTerms
from bookwheel.text import entries
from bookwheel.text.entries import name_words, page_terms


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


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a/budget-forecast-2024.xlsx", "budget forecast 2024"),
        ("Annual_Report.final.docx", "Annual Report final"),
        ("BudgetForecast.pptx", "BudgetForecast Budget Forecast"),
        ("budget2024.csv", "budget2024 budget 2024"),
        ("h264 notes.txt", "h264 notes"),
        ("20240117.txt", "20240117"),
        ("LICENSE", "LICENSE"),
        ("plans/budget-forecast/index.md", "budget forecast"),
        ("README.md", ""),
        ("予算-2024.txt", "予算 2024"),
        ("", ""),
    ],
)
def test_a_name_is_cut_at_marks_camel_case_and_years(path: str, words: str) -> None:
    assert name_words(path) == words


def test_a_name_that_the_title_says_already_adds_nothing() -> None:
    bare = page_terms("Budget forecast", b"", (), (), "en")
    assert page_terms("Budget forecast", b"", (), (), "en", name="budget forecasts") == bare


def test_words_of_a_name_count_as_those_of_a_heading() -> None:
    terms = page_terms("Plan", b"", (), ("Costs",), "en", name="budget forecasts")
    assert (terms.title, terms.headings) == (" plan", " cost budget forecast")
    assert terms.title_exact == " plan budget forecasts"
