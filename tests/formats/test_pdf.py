"""Tests of PDF files."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import pdf
from bookwheel.formats.base import Unreadable
from bookwheel.formats.pdf import read
from bookwheel.formats.pdf_properties import iso_date, proper_title
from bookwheel.formats.pdf_text import clean, tidy_lines
from bookwheel.formats.registry import read as read_any
from bookwheel.model import Parsed, Place, Status
from bookwheel.text.chunking import chunk
from bookwheel.text.pointers import find_stretch
from tests.formats.making_pdf import Entry, Page, make_pdf

PROSE = (
    "The first line of this paragraph is about as long as the others,",
    "and the second one is too, so that nobody takes it for an end.",
)


def read_pages(*lines: Sequence[str | bytes]) -> Parsed:
    return read(make_pdf([Page(page) for page in lines]), "dir/file.pdf")


def refusal(data: bytes) -> tuple[Status, str]:
    with pytest.raises(Unreadable) as caught:
        read_any(data, "a.pdf")
    return caught.value.status, caught.value.reason


def section_texts(parsed: Parsed) -> list[tuple[int, str, str]]:
    data = parsed.text.encode()
    return [(s.level, s.heading, data[s.start : s.end].decode()) for s in parsed.sections]


@pytest.mark.requirement("X-024")
def test_pages_are_places_and_their_chunks_point_to_them() -> None:
    parsed = read_pages(["One is here"], ["Two is here"], [], ["Four is here"])
    assert parsed.text == "One is here\n\nTwo is here\n\nFour is here\n"
    assert parsed.places == (Place(0, "page 1"), Place(13, "page 2"), Place(26, "page 4"))
    assert [part.pointer for part in chunk(parsed)] == ["page 1", "page 2", "page 4"]
    found = find_stretch(parsed.text.encode(), list(parsed.places), "page 2")
    assert found is not None
    assert parsed.text.encode()[found.start : found.end] == b"Two is here\n\n"


@pytest.mark.requirement("X-024")
def test_without_an_outline_each_page_is_a_section() -> None:
    parsed = read_pages(["One"], ["Two"])
    assert section_texts(parsed) == [(1, "Page 1", "One\n\n"), (1, "Page 2", "Two\n")]


@pytest.mark.requirement("X-024")
def test_an_outline_gives_the_sections_and_headings_in_the_text() -> None:
    pages = [
        Page(["Foreword", "Chapter 1", "Beginnings", "Text of one.", "1.1 Über uns", "We."]),
        Page(["A page without a heading", "at all"]),
        Page(["2. Ends", "Text of two."]),
    ]
    outline = [
        Entry("Chapter 1: Beginnings", 1, [Entry("Über uns", 1), Entry("Not printed", 2)]),
        Entry("2 ENDS", 3),
    ]
    parsed = read(make_pdf(pages, outline=outline), "a.pdf")
    assert parsed.text == (
        "Foreword\n\n## Chapter 1 Beginnings\n\nText of one.\n\n### 1.1 Über uns\n\nWe.\n\n"
        "A page without a heading\nat all\n\n"
        "## 2. Ends\n\nText of two.\n"
    )
    first, about, not_printed, last = section_texts(parsed)
    assert first[:2] == (2, "Chapter 1: Beginnings")
    assert first[2].startswith("## Chapter 1 Beginnings\n")
    assert first[2].endswith("at all\n\n")
    assert about == (3, "Über uns", "### 1.1 Über uns\n\nWe.\n\n")
    assert not_printed == (3, "Not printed", "A page without a heading\nat all\n\n")
    assert last == (2, "2 ENDS", "## 2. Ends\n\nText of two.\n")
    lines = parsed.text.split("\n")
    assert [lines[section.start_line - 1] for section in parsed.sections] == [
        "## Chapter 1 Beginnings",
        "### 1.1 Über uns",
        "A page without a heading",
        "## 2. Ends",
    ]


def test_a_section_begins_where_a_line_begins_with_its_title() -> None:
    pages = [Page(["Something else", "Methods: we looked at things", "Results: none"])]
    outline = [Entry("Methods", 1), Entry("Results", 1)]
    assert section_texts(read(make_pdf(pages, outline=outline), "a.pdf")) == [
        (2, "Methods", "Methods: we looked at things\n"),
        (2, "Results", "Results: none\n"),
    ]


def test_an_outline_out_of_order_is_put_in_the_order_of_the_text() -> None:
    pages = [Page(["First", "a"]), Page(["Second", "b"])]
    outline = [Entry("Second", 2), Entry("First", 1), Entry("Nowhere", 1)]
    parsed = read(make_pdf(pages, outline=outline), "a.pdf")
    assert section_texts(parsed) == [
        (2, "First", "## First\n\na\n\n"),
        (2, "Second", "## Second\n\nb\n"),
    ]


def test_an_outline_that_leads_back_to_itself_ends() -> None:
    data = make_pdf([Page(["One", "x"])], outline=[Entry("One", 1, [Entry("Two", 1)])])
    number = data[: data.index(b"/Title <feff00540077006f>")].rsplit(b" 0 obj", 1)[0].rsplit()[-1]
    looped = data.replace(
        b"/Title <feff00540077006f>", b"/Next %s 0 R /First %s 0 R" % (number, number)
    )
    assert read(looped, "a.pdf").text.startswith("## One\n")


@pytest.mark.requirement("X-024")
def test_link_annotations_are_links_with_their_text_and_sentence() -> None:
    page = Page(
        ["Before it. Read", "the manual here", "and no more."],
        links=[("https://example.org/manual", 1), ("#1", 0)],
    )
    parsed = read(make_pdf([Page(["x"]), page]), "a.pdf")
    link = ("annotation", "https://example.org/manual", "the manual here")
    context = "Read the manual here and no more."
    assert [each[:5] for each in parsed.links] == [(*link, context, 4)]


def test_an_address_that_is_printed_and_laid_over_counts_once() -> None:
    page = Page(["See https://example.org/a/", "and www.example.org too"])
    over = Page(page.lines, links=[("https://example.org/a/long", 0), ("mailto:a@example.org", 1)])
    bare = [("bare", "https://example.org/a/"), ("bare", "www.example.org")]
    assert [(k.kind, k.target) for k in read(make_pdf([page]), "a.pdf").links] == bare
    both = read(make_pdf([page, over]), "a.pdf").links
    assert [(k.kind, k.target, k.line) for k in both] == [
        ("bare", "https://example.org/a/", 1),
        ("bare", "www.example.org", 2),
        ("annotation", "https://example.org/a/long", 4),
        ("annotation", "mailto:a@example.org", 5),
    ]


def test_a_link_over_two_lines_is_one_link_and_a_picture_shows_its_address() -> None:
    lines = ["the long", "name of it", "", "", ""]
    page = Page(lines, links=[("http://a.org", 0), ("http://a.org", 1), ("http://b.org", 4)])
    found = read(make_pdf([page]), "a.pdf").links
    assert [(link.target, link.text) for link in found] == [
        ("http://a.org", "the long name of it"),
        ("http://b.org", "http://b.org"),
    ]


def test_text_that_looks_like_markdown_is_neither_heading_nor_link() -> None:
    parsed = read_pages(["# not", "===", "a [[wiki]] and [b](c.html)", "<h1>no</h1>"])
    assert [s.heading for s in parsed.sections] == ["Page 1"]
    assert parsed.links == ()
    assert "[[wiki]] and [b](c.html)" in parsed.text


@pytest.mark.requirement("X-024")
def test_properties_name_the_document() -> None:
    properties = {
        "Title": "Der Bericht – 1",
        "Author": "Jo Müller",
        "Subject": "What it is about",
        "Keywords": "one, two;three",
        "CreationDate": "D:20240131120000+01'00'",
    }
    parsed = read(make_pdf([Page(["x"])], properties=properties, language="de-DE"), "a.pdf")
    assert (parsed.title, parsed.author) == ("Der Bericht – 1", "Jo Müller")
    assert (parsed.description, parsed.language) == ("What it is about", "de-DE")
    assert parsed.tags == ("one", "two", "three")
    assert parsed.date == "2024-01-31T12:00:00+01:00"


@pytest.mark.parametrize(
    ("title", "proper"),
    [
        ("untitled", ""),
        ("Untitled-2", ""),
        ("(anonymous)", ""),
        ("Microsoft Word - Plan 2024.docx", "Plan 2024"),
        ("Microsoft PowerPoint - Plan.ppt", "Plan"),
        ("report_final.docx", ""),
        ("C:\\Users\\me\\x.doc", ""),
        ("/home/me/x", ""),
        ("PowerPoint Presentation", ""),
        ("Presentation of results", "Presentation of results"),
        ("Node.js in practice", "Node.js in practice"),
    ],
)
def test_stopgaps_and_file_names_are_no_titles(title: str, proper: str) -> None:
    assert proper_title(title) == proper


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("D:20240131120000Z", "2024-01-31T12:00:00Z"),
        ("D:20240131120000Z00'00'", "2024-01-31T12:00:00Z"),
        ("D:20240131120000-05'30", "2024-01-31T12:00:00-05:30"),
        ("20240131", "2024-01-31"),
        ("D:2024", "2024"),
        ("2024-01-31T12:00:00", "2024-01-31T12:00:00"),
        ("D:20249999", ""),
        ("D:20240131996099", "2024-01-31"),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_are_written_as_iso_does(value: str, date: str) -> None:
    assert iso_date(value) == date


def test_without_a_title_the_largest_lines_of_the_first_page_are_it() -> None:
    page = Page(["On the Origin of Pages", *PROSE, "It ends."], first_size=24)
    parsed = read(make_pdf([page], properties={"Title": "untitled"}), "dir/file.pdf")
    assert parsed.title == "On the Origin of Pages"
    assert parsed.description.startswith("The first line of this paragraph")
    assert read_pages(["All of", "one size"]).title == "file"


def test_a_description_is_text_and_has_no_escapes_of_markdown() -> None:
    line = "A table of <td> and other tags that are all as long as the next,"
    found = read_pages([line, *PROSE])
    assert found.text.startswith("A table of \\<td> and")
    assert found.description.startswith("A table of <td> and other tags")


def test_words_broken_at_a_line_end_are_whole() -> None:
    page = [
        "This is about inter-",
        "national law and state-of-",
        "the-art tools of COVID-",
        "19 here",
    ]
    parsed = read_pages(page)
    assert "international\nlaw" in parsed.text
    assert "state-of-the-art" in parsed.text
    assert "COVID-19" in parsed.text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Ef\ufffefects of it", "Effects\nof it"),
        ("Anglo\ufffeSaxon", "Anglo-Saxon"),
        ("INTRO\ufffeDUCTION", "INTRODUCTION"),
        ("http://a.org/x\ufffey", "http://a.org/x-y"),
        ("end\ufffe", "end-"),
        ("\ufffe", "-"),
        ("soft\xad\r\nware", "software"),
        ("soft\xadware", "software"),
        ("2012\xad51", "2012-51"),
        ("\ufb01nd o\ufb03ce", "find office"),
        ("ze\u200bro\x00 \ufeffwidth\x07", "zero width"),
        ("a\tb\xa0c\u2029d\re", "a b c\nd\ne"),
    ],
)
def test_what_is_invisible_does_not_break_words(raw: str, text: str) -> None:
    assert clean(raw) == text


def test_a_short_line_with_a_stop_ends_a_paragraph_and_bullets_are_lists() -> None:
    text = "\n".join((*PROSE, "It ends.", PROSE[0], "\u2022 one", "\u2022", "two"))
    assert tidy_lines(text) == [*PROSE, "It ends.", "", PROSE[0], "- one", "- two"]


def read_drawn(lines: Sequence[str], step: float) -> str:
    """Return the text of lines that are drawn letter by letter: ` ` is a gap, `_` a narrow one."""
    drawn = ""
    for at, line in enumerate(lines):
        x = 50.0
        for letter in line:
            if letter not in " _":
                drawn += f"BT /F1 10 Tf {x:.2f} {700 - 15 * at} Td ({letter}) Tj ET\n"
            x += {" ": 4.0, "_": 2.4}.get(letter, step)
    return read(make_pdf([Page(content=drawn.encode())]), "a.pdf").text


DRAWN = ["hope and_head up on_one open page", "been one_good deep gap_and bead", "dog nod_and hug"]
WIDTH = 5.56
"""Of each of their letters in this font."""


def test_a_narrow_gap_parts_words_where_letters_overlap_otherwise() -> None:
    """Programs that print web pages write no spaces, and letters wider than they are."""
    wanted = "\n".join(DRAWN).replace("_", " ")
    assert read_drawn(DRAWN * 4, WIDTH - 0.36) == f"{wanted}\n" * 4


@pytest.mark.parametrize("times", [1, 4])
def test_a_narrow_gap_parts_no_words_where_letters_do_not_overlap(times: int) -> None:
    lines = [line.replace("_", "") for line in DRAWN]
    assert read_drawn(lines * times, WIDTH) == ("\n".join(lines) + "\n") * times


def test_letters_of_any_script_are_read() -> None:
    letters = {65: "\U0001f600", 66: "\ufb01", 67: "\U00020000", 68: "\u0416"}
    parsed = read(make_pdf([Page(["ABCD x"])], unicode_map=letters), "a.pdf")
    assert parsed.text == "\U0001f600fi\U00020000\u0416 x\n"


def test_a_broken_page_is_told_and_the_others_are_kept() -> None:
    parsed = read(make_pdf([Page(["One"]), None, Page(["Three"])]), "a.pdf")
    assert parsed.text == "One\n\n(page 2 could not be read)\n\nThree\n"
    assert [place.label for place in parsed.places] == ["page 1", "page 2", "page 3"]


@pytest.mark.requirement("X-029")
@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (
            make_pdf([Page(["x"])], encrypt="secret"),
            (Status.ENCRYPTED, "it is protected by a password"),
        ),
        (make_pdf([Page()]), (Status.NO_TEXT, "no text layer: a scan?")),
        (make_pdf([Page(content=b"0 0 9 9 re f")]), (Status.NO_TEXT, "no text layer: a scan?")),
        (make_pdf([]), (Status.UNREADABLE, "it has no pages")),
        (make_pdf([None]), (Status.UNREADABLE, "no page of it can be read")),
        (b"%PDF-1.7\nnothing of it", (Status.UNREADABLE, "a damaged PDF")),
    ],
)
def test_a_file_without_readable_text_says_why(data: bytes, answer: tuple[Status, str]) -> None:
    assert refusal(data) == answer


def test_protection_that_no_reader_knows_is_encryption() -> None:
    assert refusal(make_pdf([Page(["x"])], encrypt="?"))[0] == Status.ENCRYPTED


def test_a_file_that_opens_without_a_password_is_read() -> None:
    assert read(make_pdf([Page(["In the open"])], encrypt=""), "a.pdf").text == "In the open\n"


def test_attachments_are_listed_by_name_behind_the_pages() -> None:
    data = make_pdf([Page(["One"])], attachments=["Büro.xlsx", "b.txt"], outline=[Entry("One", 1)])
    parsed = read(data, "a.pdf")
    assert parsed.text == "## One\n\nAttachment: Büro.xlsx\n\nAttachment: b.txt\n"
    assert [place.label for place in parsed.places][1:] == [
        "attachment 'Büro.xlsx'",
        "attachment 'b.txt'",
    ]
    assert section_texts(parsed) == [(2, "One", "## One\n")]


def test_values_of_fields_and_notes_are_text_of_their_page() -> None:
    rectangle = "/Type /Annot /Rect [0 0 10 10]"
    over = [
        f"<< {rectangle} /Subtype /Widget /FT /Tx /T (n) /TU (Your name) /V (Ada) >>",
        f"<< {rectangle} /Subtype /Widget /FT /Btn /T (b) /V /Yes >>",
        f"<< {rectangle} /Subtype /Text /Contents (A note.) >>",
        f"<< {rectangle} /Subtype /Popup /Contents (A note.) >>",
    ]
    parsed = read(
        make_pdf([Page(["Form"], annotations=over), Page(annotations=over[2:3])]), "a.pdf"
    )
    assert parsed.text == "Form\n\nYour name: Ada\n\nA note.\n\nA note.\n"
    assert [place.label for place in parsed.places] == ["page 1", "page 2"]


def test_too_many_pages_and_too_long_a_page_are_read_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 2)
    monkeypatch.setattr(pdf, "MAX_PAGE_TEXT", 8)
    assert read_pages(["One"], ["Two and so on"], ["Three"]).text == (
        "One\n\nTwo and\n\n(the last 5 characters of page 2 are left out)\n\n"
        "(only the first 2 of 3 pages were read)\n"
    )


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bookwheel.formats.base.MAX_TEXT", 20)
    monkeypatch.setattr(pdf, "MAX_TEXT", 20)
    page = Page(["word " * 10])
    with pytest.raises(Unreadable) as caught:
        read(make_pdf([page] * 10), "a.pdf")
    assert caught.value.status == Status.TOO_LARGE


def test_nesting_without_end_is_survived() -> None:
    data = make_pdf([Page(["deep"])], properties={"Title": "T"})
    deep = data.replace(b"/Type /Catalog", b"/Type /Catalog /X " + b"[" * 50_000 + b"]" * 50_000)
    assert read(deep, "a.pdf").text == "deep\n"


WHOLE = make_pdf(
    [Page(["1 Start", *PROSE, "the link"], links=[("http://a.org", 3)]), Page(["Two"])],
    outline=[Entry("Start", 1, [Entry("Two", 2)])],
    properties={"Title": "T", "CreationDate": "D:2024"},
    attachments=["a.txt"],
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=12))
def test_any_damage_gives_a_document_or_a_reason(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, byte in changes:
        data[place] = byte
    try:
        parsed = read(bytes(data), "a.pdf")
    except Unreadable:
        return
    size = len(parsed.text.encode())
    assert all(0 <= s.start < s.end <= size for s in parsed.sections)
    assert all(0 <= place.start <= size for place in parsed.places)


@given(st.text(alphabet="ab \n\r-\xad\ufffe\u2022.#\u200b\xa0", max_size=60))
def test_clean_lines_hold_no_blank_ends(raw: str) -> None:
    assert all(line == line.strip() for line in tidy_lines(clean(raw)))
