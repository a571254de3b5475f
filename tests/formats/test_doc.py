"""Tests of files of Word 97 to 2003."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import registry
from bookwheel.formats.base import Unreadable
from bookwheel.formats.doc import read
from bookwheel.model import Status
from bookwheel.text.chunking import chunk
from tests.formats.making_word import doc, ole, summarize

IN_TABLE = b"\x16\x24\x01"
ROW_END = IN_TABLE + b"\x17\x24\x01"
LINK = '\x13 HYPERLINK "https://x.org/" \x14the guide\x15'


def text_of(text: str, wide: bool = True) -> str:
    return registry.read(doc(text, wide=wide), "a.doc").text


@pytest.mark.parametrize("wide", [True, False])
def test_paragraphs_letters_and_fields(wide: bool) -> None:
    text = f"Grüße \u2013 see {LINK}.\rnon\x1estop so\x1fft\x0bnext\tx\x01\x08\r"
    text += "Page \x13PAGE\x147\x15\r\ty\r"
    assert text_of(text, wide) == (
        "Grüße \u2013 see [the guide](https://x.org/).\n\nnon-stop soft\nnext\tx\n\nPage 7\n\ny\n"
    )


def test_headings_by_built_in_styles_and_outline_levels() -> None:
    text = "One\rText\rTwo\r"
    found = [(3, 1, b""), (8, 0, b""), (12, 15, b"\x40\x26\x01")]
    parsed = registry.read(doc(text, properties=found), "a.doc")
    assert parsed.text == "# One\n\nText\n\n## Two\n"


def test_tables_by_the_marks_of_cells_and_rows() -> None:
    text = "a\x07\x07\x07b\x07c\rd\x07\x07end\r"
    found = [
        (1, 0, IN_TABLE),
        (2, 0, IN_TABLE),
        (3, 0, ROW_END),
        (5, 0, IN_TABLE),
        (7, 0, IN_TABLE),
        (9, 0, IN_TABLE),
        (10, 0, ROW_END),
        (14, 0, b""),
    ]
    parsed = registry.read(doc(text, properties=found), "a.doc")
    assert parsed.text == "| a |  |\n| --- | --- |\n| b | c d |\n\nend\n"


def test_page_breaks_become_pages() -> None:
    parsed = registry.read(doc("one\x0ctwo\r\x0cthree\r"), "a.doc")
    assert [each.label for each in parsed.places] == ["page 1", "page 2", "page 3"]


def test_notes_comments_and_headers_stand_at_the_end() -> None:
    body, notes, header, comment, box = (
        "Text\x02 on\r",
        "\x02 foot\r",
        "\x03\rTop\rTop\r",
        "\x05Why?\r",
        "boxed\r",
    )
    lengths = (len(body), len(notes), len(header), 0, len(comment), 0, len(box), 0)
    data = doc(body + notes + header + comment + box, lengths=lengths)
    assert registry.read(data, "a.doc").text == (
        "Text[^1] on\n\nboxed\n\nFootnotes\n\n[^1] foot\n\nComments\n\nWhy?\n\nTop\n"
    )


def _narrow(text: bytes) -> bytes:
    return struct.pack("<II", 30, len(text) + 1) + text + b"\0"


def test_properties_are_read_in_their_code_page() -> None:
    summary = summarize(
        {
            1: struct.pack("<IHH", 2, 1251, 0),
            2: _narrow("Привет".encode("cp1251")),
            4: struct.pack("<II", 31, 4) + "Ann\0".encode("utf-16-le"),
            5: _narrow(b"a; b"),
            12: struct.pack("<IQ", 64, 133_590_384_000_000_000),
        }
    )
    parsed = registry.read(doc("x\r", summary=summary), "a.doc")
    assert (parsed.title, parsed.author, parsed.tags) == ("Привет", "Ann", ("a", "b"))
    assert parsed.date == "2024-05-01T12:00:00"


@pytest.mark.parametrize(
    "summary",
    [
        b"\xfe\xff",
        summarize({2: struct.pack("<II", 0x101E, 0xFFFFFFFF)}),
        summarize({2: struct.pack("<II", 30, 0xFFFFFFFF)}),
        summarize({12: struct.pack("<IQ", 64, 2**64 - 1), 1: struct.pack("<IHH", 2, 7, 0)}),
        summarize({})[:52] + b"\xff\xff\xff\xff",
    ],
)
def test_damaged_properties_do_no_harm(summary: bytes) -> None:
    parsed = registry.read(doc("x\r", summary=summary), "a.doc")
    assert (parsed.title, parsed.date) == ("a", None)


def test_pieces_that_share_their_bytes_cannot_grow_without_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bookwheel.formats.doc.MAX_TEXT", 10)
    with pytest.raises(Unreadable) as refused:
        text_of("x" * 30)
    assert refused.value.status is Status.TOO_LARGE


def test_a_field_that_never_ends_swallows_nothing() -> None:
    assert text_of("a \x13 PAGE b\rc\r") == "a  PAGE b\n\nc\n"


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (doc("x", flags=0x100), Status.ENCRYPTED, "password"),
        (doc("x", kind=0xA5DC, version=0x65), Status.UNREADABLE, "Word 6/95 format"),
        (doc("\r"), Status.NO_TEXT, "no text"),
        (ole({"WordDocument": b""}), Status.UNREADABLE, "Word 6/95 format"),
        (ole({"WordDocument": doc("x")[512:1_500]}), Status.UNREADABLE, "damaged"),
        (doc("x", lengths=(-5,)), Status.UNREADABLE, "damaged"),
        (doc("x")[:700], Status.UNREADABLE, "OLE file"),
    ],
)
def test_files_that_give_no_document_are_refused(data: bytes, status: Status, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason) as refused:
        registry.read(data, "a.doc")
    assert refused.value.status is status


def test_what_is_no_word_file_is_refused() -> None:
    for data in (b"", b"\xd0\xcf\x11\xe0", ole({"Other": b"x"})):
        with pytest.raises(Unreadable):
            read(data, "a.doc")


SAMPLE = doc("One\rGr\u00fc\u00dfe \x07\x07\x0c" + LINK + "\r", properties=[(3, 1, ROW_END)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 5_000), st.binary(min_size=1, max_size=4))
def test_a_mutated_file_is_read_or_refused(at: int, change: bytes) -> None:
    try:
        chunk(registry.read(SAMPLE[:at] + change + SAMPLE[at + len(change) :], "a.doc"))
    except Unreadable:
        pass


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([0x4C, 0x50, 0x102, 0x106, 0x1A2, 0x1A6]), st.integers(-(2**31), 2**31 - 1))
def test_any_number_in_the_header_is_read_or_refused(place: int, number: int) -> None:
    data = bytearray(SAMPLE)
    struct.pack_into("<i", data, 512 + place, number)
    try:
        chunk(registry.read(bytes(data), "a.doc"))
    except Unreadable:
        pass
