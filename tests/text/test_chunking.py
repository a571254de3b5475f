"""Tests of cutting documents into chunks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.html import read as read_html
from bookwheel.formats.markdown import read_text
from bookwheel.formats.text import read as read_plain
from bookwheel.model import Chunk, Parsed, Place
from bookwheel.text.chunking import LIMIT, chunk

BLANK = b" \t\n\x0b\x0c\r"


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def texts(parsed: Parsed) -> list[str]:
    data = parsed.text.encode()
    return [data[part.start : part.end].decode() for part in chunk(parsed)]


def assert_covers(parsed: Parsed) -> None:
    """Every byte that is neither blank nor quiet is in exactly one chunk."""
    data = parsed.text.encode()
    count = bytearray(len(data))
    for part in chunk(parsed):
        assert part.start < part.end
        data[part.start : part.end].decode()
        for at in range(part.start, part.end):
            count[at] += 1
        assert part.start_line == data[: part.start].count(b"\n") + 1
        assert part.end_line == data[: part.end].count(b"\n") + 1
    quiet = {at for start, end in parsed.quiet for at in range(start, end)}
    for at, letter in enumerate(data):
        if at in quiet:
            assert count[at] == 0
        elif letter not in BLANK:
            assert count[at] == 1
        else:
            assert count[at] <= 1


def test_small_neighbours_are_joined() -> None:
    parsed = read_text("# T\n\n## A\n\n" + words(40) + "\n\n## B\n\n" + words(50) + "\n", "a.md")
    assert len(chunk(parsed)) == 1


def test_sections_of_a_good_size_stand_alone() -> None:
    text = "".join(f"## S{n}\n\n{words(110)}\n\n" for n in range(3))
    found = chunk(read_text(text, "a.md"))
    assert [part.trail for part in found] == [("S0",), ("S1",), ("S2",)]
    assert [part.ordinal for part in found] == [1, 2, 3]


def test_long_sections_are_cut_between_paragraphs() -> None:
    paragraph = words(60) + "."
    parts = texts(read_text("\n\n".join([paragraph] * 6), "a.md"))
    assert parts == ["\n\n".join([paragraph] * 2)] * 3


def test_long_paragraphs_are_cut_between_sentences() -> None:
    parts = texts(read_text((words(30) + ". ") * 10, "a.md"))
    assert all(part.endswith(".") for part in parts)
    assert all(len(part.split()) <= LIMIT for part in parts)


def test_a_sentence_that_never_ends_is_cut_between_words() -> None:
    parts = texts(read_text(words(1_000), "a.md"))
    assert len(parts) > 5
    assert all(part.startswith("word") and part.endswith("word") for part in parts)


def test_a_code_fence_is_kept_whole_unless_it_alone_is_too_long() -> None:
    code = "```\n" + "\n\n".join(["x = 1"] * 30) + "\n```"
    parts = texts(read_text(f"{words(90)}\n\n{words(20)}\n\n{code}\n\n{words(90)}", "a.md"))
    assert any(code in part for part in parts)
    long = "```\n" + "\n".join(["x = 1  # y"] * 300) + "\n```"
    assert len(texts(read_text(long, "a.md"))) > 3


@pytest.mark.parametrize(
    "text",
    ["日本語の文章" * 500, "ภาษาไทยที่ไม่มีช่องว่าง" * 200, "QUJDRA" * 5_000, "x" * 20_000, "é" * 20_000],
)
def test_text_without_blanks_is_cut_too(text: str) -> None:
    parsed = read_plain(text.encode(), "a.txt")
    parts = texts(parsed)
    assert "".join(parts) == text
    assert all(len(part) <= 4_000 for part in parts)


def test_no_chunk_begins_with_a_mark_of_the_letter_before() -> None:
    parts = texts(read_plain(("ที่นี่" * 3_000).encode(), "a.txt"))
    assert len(parts) > 10
    assert not [part for part in parts if part[0] in "\u0e35\u0e48"]


def test_the_trail_is_the_path_of_headings_without_the_title() -> None:
    text = f"# T\n\n{words(120)}\n\n## A\n\n### B\n\n{words(120)}\n\n# C\n\n{words(120)}\n"
    found = chunk(read_text(text, "a.md"))
    assert [part.trail for part in found] == [(), ("A", "B"), ("C",)]


def test_the_trail_of_a_title_and_its_first_section_is_the_sections() -> None:
    text = f"# T\n\n## Install\n\n{words(120)}\n"
    assert [part.trail for part in chunk(read_text(text, "a.md"))] == [("Install",)]


def test_an_h1_that_is_not_the_title_is_in_the_trail() -> None:
    text = f"---\ntitle: Other\n---\n# T\n\n{words(120)}\n"
    assert chunk(read_text(text, "a.md"))[0].trail == ("T",)


def test_pointers_name_lines() -> None:
    parsed = read_text("---\ntitle: x\n---\n\none\ntwo\n\n", "a.md")
    assert chunk(parsed) == [Chunk(1, 18, 25, 5, 6, (), "lines 5-6")]
    assert chunk(read_plain(b"only", "a.txt")) == [Chunk(1, 0, 4, 1, 1, (), "line 1")]


def test_pointers_name_places_which_are_never_mixed() -> None:
    places = (Place(0, "page 1"), Place(4, "page 2"), Place(8, "page 3"))
    parsed = Parsed(title="t", description="", text="one\ntwo\n\nthree", places=places)
    assert [(part.pointer, part.start) for part in chunk(parsed)] == [
        ("page 1", 0),
        ("page 2", 4),
        ("page 3", 9),
    ]


def test_a_crumb_at_the_end_goes_to_the_chunk_before() -> None:
    assert len(chunk(read_text(words(110) + "\n\n## End\n\nBye.\n", "a.md"))) == 1


def test_five_megabytes_on_one_line_take_linear_time() -> None:
    def seconds(size: int) -> float:
        parsed = read_plain(b"word and " * (size // 9), "a.txt")
        started = time.process_time()
        assert chunk(parsed)
        return time.process_time() - started

    small = max(seconds(500_000), 0.02)
    assert seconds(5_000_000) < 40 * small


MARKUP = st.text(alphabet="# \n`ab.é日>-~|[](){}<nav/", max_size=150)


@settings(max_examples=200)
@given(MARKUP, st.integers(1, 60))
def test_every_byte_of_markdown_is_in_exactly_one_chunk(text: str, times: int) -> None:
    assert_covers(read_text((text + " wörd\n") * times, "a.md"))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 260), st.integers(0, 3)), max_size=8))
def test_every_byte_of_a_structured_document_is_in_one_chunk(
    sections: list[tuple[int, int, int]],
) -> None:
    text = "".join(
        f"{'#' * level} H{level}\n\n" + f"{words(count)}. Ende.\n\n" * times
        for level, count, times in sections
    )
    assert_covers(read_text(text, "a.md"))
    for part in texts(read_text(text, "a.md")):
        assert len(part.split()) <= LIMIT + 30


@given(MARKUP)
def test_every_byte_of_a_page_is_in_one_chunk_or_quiet(text: str) -> None:
    assert_covers(read_html(f"<p>x</p><nav>é{text}</nav><h2>y</h2>{text}".encode(), "a.html"))


@given(st.data())
def test_any_quiet_spans_and_places_are_respected(data: st.DataObject) -> None:
    text = data.draw(st.text(alphabet="ab \n.", min_size=1, max_size=60)) * 8
    marks = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    quiet = tuple(zip(marks[::2], marks[1::2], strict=False))
    starts = data.draw(st.sets(st.integers(0, len(text) - 1), max_size=4))
    places = tuple(Place(start, f"page {start}") for start in sorted(starts))
    assert_covers(Parsed(title="t", description="", text=text, quiet=quiet, places=places))
