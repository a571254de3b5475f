"""Tests of the Markdown that other formats are turned into."""

from __future__ import annotations

import cmarkgfm  # type: ignore[import-untyped] # the package has no stubs
import pyromark
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bookwheel.formats import composing
from bookwheel.formats.base import Unreadable
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.composing import (
    About,
    Composer,
    cell,
    link,
    parsed,
    place_sections,
    plain,
    table,
)
from bookwheel.formats.excerpt import Pieces
from bookwheel.model import Place, Section, Status
from tests.formats.cmark_headings import cmark_headings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# no heading", "\\# no heading"),
        ("#hashtag and C# and #1", "#hashtag and C# and #1"),
        ("a\n===", "a\n\\==="),
        ("a\n  ---  ", "a\n\\---  "),
        ("a\n- - -", "a\n- - \\-"),
        ("> quoted", "\\> quoted"),
        ("1 > 0", "1 > 0"),
        ("```sh", "\\```sh"),
        ("~~~", "\\~~~"),
        ("- # in a list", "- \\# in a list"),
        ("1. ```", "1. \\```"),
        ("<b>bold</b> if a<b", "\\<b>bold\\</b> if a\\<b"),
        ("a < b and x<3", "a < b and x<3"),
        ("\\<b>", "\\<b>"),
        ("\\\\<b>", "\\\\\\<b>"),
        ("    def indented():", "def indented():"),
        ("one\r# two\r\n# three", "one\n\\# two\n\\# three"),
        ("one\x0b# two\x0cthree", "one\n\\# two\nthree"),
    ],
)
def test_only_what_would_be_structure_is_escaped(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    "text", ["snake_case and __init__", "2 * 3 * 4", "a [b] c", "C:\\temp", "x | y", "100 %", "é漢"]
)
def test_words_stay_as_people_search_them(text: str) -> None:
    assert plain(text) == text


@settings(max_examples=400)
@given(st.text(alphabet="# \t\n\r-=*_+`~<>/!?ab1.)\\\x0b\x0c\u2028\xa0|[]", max_size=40))
@example("-\n# a")
@example("a\r---")
def test_plain_text_is_never_a_heading_a_fence_a_quote_or_a_tag(text: str) -> None:
    composer = Composer()
    composer.add(plain(text))
    made, _, _ = composer.finish()
    assert read_outline(made).sections == ()
    assert cmark_headings(made) == []
    assert "<!-- raw HTML omitted -->" not in cmarkgfm.github_flavored_markdown_to_html(made)
    for event in pyromark.events(made):
        started = event.get("Start") if isinstance(event, dict) else None
        assert not (isinstance(started, dict) and "Fenced" in str(started.get("CodeBlock")))
        assert not (isinstance(started, dict) and "BlockQuote" in started)
        assert not (isinstance(event, dict) and ({"Html", "InlineHtml"} & event.keys()))


@pytest.mark.parametrize(
    "mark", ["- ", "> ", "* ", "=", "-", "#", "***   ", "\\", "<", "1. ", "\t", "\r"]
)
def test_long_runs_of_marks_take_no_time(mark: str) -> None:
    assert plain(mark * 100_000 + "x")


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("a guide", "g.html", "[a guide](g.html)"),
        ("see [1]", "a b(c).docx", "[see (1)](a%20b%28c%29.docx)"),
        ("", "https://x.org/", "[https://x.org/](https://x.org/)"),
        ("no target", " ", "no target"),
        ("two\n lines", "x\ny", "[two lines](xy)"),
        ("end\\", "\\\\srv\\a", "[end\\ ](\\\\\\\\srv\\\\a)"),
    ],
)
def test_a_link_is_markdown(text: str, target: str, expected: str) -> None:
    assert link(text, target) == expected


@settings(max_examples=300)
@given(
    st.text(alphabet="ab [](){}<>\\`!\n*_\"'", max_size=20).filter(lambda text: text.strip()),
    st.text(alphabet="ab/:?#=%.()<> \\\n\t", min_size=1, max_size=20),
)
def test_every_link_is_found_again_with_its_target(text: str, target: str) -> None:
    outline = read_outline(f"Before {link(text, f'https://x.org/a{target}b')} after.")
    wanted = f"https://x.org/a{target}b".replace("\n", "").replace("\t", "")
    for plainly, encoded in ((" ", "%20"), ("(", "%28"), (")", "%29"), ("<", "%3C"), (">", "%3E")):
        wanted = wanted.replace(plainly, encoded)
    assert [(each.kind, each.target) for each in outline.links] == [("inline", wanted)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a|b", "a\\|b"),
        (" two\n lines ", "two lines"),
        ("back\\slash", "back\\\\slash"),
        ("<b>", "\\<b>"),
        ("", ""),
    ],
)
def test_a_cell_is_one_line_without_bars(text: str, expected: str) -> None:
    assert cell(text) == expected


def test_a_table_fills_short_rows_up() -> None:
    assert table([["a", "b"], ["1"], ["1", "2", "3"]]) == (
        "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |"
    )


@given(
    st.lists(
        st.lists(st.text(alphabet="ab|\\<>#\n-`", max_size=6), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_a_table_keeps_its_rows_and_columns(rows: list[list[str]]) -> None:
    made = table([[cell(each) for each in row] for row in rows])
    started = [event["Start"] for event in _events(made) if "Start" in event]
    width = max(map(len, rows))
    assert started.count("TableCell") == len(rows) * width
    assert started.count("TableRow") == len(rows) - 1


def _events(text: str) -> list[dict[str, object]]:
    options = pyromark.Options.ENABLE_TABLES
    events = pyromark.events(text, options=options)
    return [dict(event) for event in events if isinstance(event, dict)]


def test_places_are_byte_offsets() -> None:
    made = Composer()
    made.add("Größe")
    made.begin("page 1")
    made.add("漢字 \ud800\r\nb")
    made.begin("page 2")
    made.begin("page 3", row=4)
    made.add_lines("| é |")
    made.add("")
    assert made.finish()[:2] == (
        "Größe\n\n漢字 \ufffd\nb\n\n| é |\n",
        (Place(9, "page 1"), Place(23, "page 2"), Place(23, "page 3", 4)),
    )


@given(st.lists(st.text(alphabet="aé漢😀\r\n\ud800 ", max_size=12), max_size=8))
def test_each_place_begins_where_its_text_does(texts: list[str]) -> None:
    made = Composer()
    for number, text in enumerate(texts):
        made.begin(f"page {number + 1}")
        made.add(text)
    whole, places, _ = made.finish()
    data = whole.encode()
    ends = [*(place.start for place in places[1:]), len(data)]
    assert [place.label for place in places] == [f"page {n + 1}" for n in range(len(texts))]
    for place, end, text in zip(places, ends, texts, strict=False):
        shown = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ud800", "\ufffd")
        assert data[place.start : end].decode().rstrip("\n") == shown.rstrip("\n")


def test_a_document_is_named_by_its_properties_its_heading_or_its_file() -> None:
    made = Composer()
    made.add("# Heading\n\nFirst words.")
    about = About(title=" Stated\r\ntitle ", author="A\nB", date="2024-05-06", tags=("x",))
    stated = parsed(made, "a.docx", about)
    assert (stated.title, stated.author, stated.date) == ("Stated title", "A B", "2024-05-06")
    assert (stated.description, stated.tags, stated.language) == ("First words.", ("x",), None)
    assert parsed(made, "a.docx", About()).title == "Heading"
    bare = Composer()
    bare.add("words")
    assert parsed(bare, "dir/To do.docx", About()).title == "To do"


def test_a_document_without_text_is_refused() -> None:
    made = Composer()
    made.begin("page 1")
    made.add(" \n")
    with pytest.raises(Unreadable) as refused:
        parsed(made, "scan.pdf", About())
    assert refused.value.status is Status.NO_TEXT


def test_a_document_of_more_text_than_a_library_of_books_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(composing, "MAX_CONVERTED", 9)
    made = Composer()
    made.add("0123456789")
    with pytest.raises(Unreadable, match="more than 9 characters") as refused:
        parsed(made, "a.docx", About())
    assert refused.value.status is Status.TOO_LARGE


def test_places_are_the_sections_of_a_document_without_headings() -> None:
    made = Composer()
    for label in ("page 1", "page 2"):
        made.begin(label)
        made.add(f"on {label}")
        made.begin(label, row=1)
        made.add("| a |")
    document = parsed(made, "a.pdf", About())
    assert document.sections == (
        Section(1, "Page 1", 0, 18, 1, 4),
        Section(1, "Page 2", 18, 35, 5, 7),
    )


def test_rows_without_a_label_are_no_sections() -> None:
    assert place_sections(Pieces(["| a |\n"], [0, 6]), [Place(0, "", 1)]) == ()


def test_sections_of_the_reader_stand_instead_of_those_in_the_text() -> None:
    made = Composer()
    made.begin("page 1")
    made.add("# In the text")
    own = (Section(1, "Outline", 0, 14, 1, 1),)
    assert parsed(made, "a.pdf", About(), sections=own).sections == own


@pytest.mark.requirement("F-017")
def test_a_title_is_that_of_the_properties_else_the_first_heading_else_the_name() -> None:
    def title(block: str, about: About) -> str:
        composer = Composer()
        composer.add(block)
        return parsed(composer, "folder/the name.docx", about).title

    assert title("# The heading", About(title="The property")) == "The property"
    assert title("text\n\n# The heading", About()) == "The heading"
    assert title("text", About()) == "the name"
