"""Tests of plain text files."""

from __future__ import annotations

import pytest

from bookwheel.formats.text import read


@pytest.mark.requirement("F-013")
def test_the_first_line_is_the_title() -> None:
    assert read(b"  Shopping  list \nmilk\n", "a.txt").title == "Shopping list"


@pytest.mark.requirement("F-013")
@pytest.mark.parametrize(
    "data", [b"\nsecond", b" \t \nsecond", b"\r\nsecond", "\u3000\nx".encode()]
)
def test_a_blank_first_line_gives_way_to_the_file_name(data: bytes) -> None:
    assert read(data, "notes/memo.txt").title == "memo"


@pytest.mark.requirement("F-014")
def test_lines_two_to_four_are_the_description() -> None:
    assert read(b"1\n2\n\n4\n5\n", "a.txt").description == "2 4"


def test_one_line_has_no_description() -> None:
    assert read(b"only", "a.txt").description == ""


@pytest.mark.requirement("F-015")
def test_the_text_is_whole_and_unchanged() -> None:
    text = "T\n\n  indented\ttab \u2028 x\n\n\n# no heading\n"
    parsed = read(text.encode(), "a.txt")
    assert parsed.text == text
    assert parsed.sections == ()


@pytest.mark.requirement("F-016")
def test_a_megabyte_on_the_first_line_is_cut_for_the_title() -> None:
    parsed = read(b"word " * 200_000 + b"\n" + b"more " * 100, "a.txt")
    assert parsed.title.endswith("word…")
    assert len(parsed.title) <= 200
    assert parsed.description.endswith("more…")
    assert len(parsed.description) <= 150
    assert len(parsed.text) == 1_000_501
