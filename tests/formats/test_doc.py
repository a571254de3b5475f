"""Tests of files of Word 6 to 2003."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats import registry
from bookwheel.formats.base import Unreadable
from bookwheel.formats.doc import read
from bookwheel.formats.doc_old import OldHeader
from bookwheel.model import Status
from bookwheel.text.chunking import chunk
from tests.formats.making_word import doc, old_doc, ole, style_sheet, summarize

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


_STYLES = style_sheet(
    (0, 1, 0xFFF, "Normal", b""),
    (1, 1, 0, "heading 1", b""),
    (2, 1, 0, "heading 2", b"\x40\x26\x09"),
    None,
    (62, 1, 0, "Title", b""),
    (0xFFE, 1, 1, "Chapter", b""),
    (0xFFE, 1, 0, "Clause", b"\x40\x26\x02"),
    (0xFFE, 2, 1, "Strong", b""),
    (0xFFE, 1, 8, "Loop", b""),
    (0xFFE, 1, 0, "Überschrift 4,U4", b""),
)


def test_headings_by_what_the_styles_say() -> None:
    """By their kind, the style that they are based on, their outline level or their name."""
    text = "".join(f"{letter}\r" for letter in "abcdefghij")
    found = [(2 * at + 1, at, b"") for at in range(10)]
    parsed = registry.read(doc(text, properties=found, styles=_STYLES), "a.doc")
    lines = ["a", "# b", "c", "### d", "# e", "# f", "### g", "h", "i", "#### j"]
    assert parsed.text == "\n\n".join(lines) + "\n"


@pytest.mark.parametrize("size", [0, 3, 8, 40, len(_STYLES) - 1])
def test_styles_that_are_cut_off_leave_the_text(size: int) -> None:
    found = [(2, 1, b""), (4, 0, b"")]
    data = doc("a\rb\r", properties=found, styles=_STYLES[:size])
    assert registry.read(data, "a.doc").text == "# a\n\nb\n"


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
        (doc("x", kind=0xA5DB, version=0x2D), Status.UNREADABLE, "unknown version"),
        (old_doc(b"x", flags=0x100), Status.ENCRYPTED, "password"),
        (old_doc(b"x", lengths=(-5,)), Status.UNREADABLE, "damaged"),
        (old_doc(b"\r"), Status.NO_TEXT, "no text"),
        (doc("\r"), Status.NO_TEXT, "no text"),
        (ole({"WordDocument": b""}), Status.UNREADABLE, "unknown version"),
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


@pytest.mark.parametrize(
    ("text", "language", "codec"),
    [
        pytest.param("Prix: 5 € – déjà vu\r", 0x409, "cp1252", id="western"),
        pytest.param("Компания предлагает вина\r", 0x419, "cp1251", id="by its language"),
        pytest.param("Компания предлагает вина\x07\r", 0x409, "cp1251", id="said to be English"),
        pytest.param("Zażółć gęślą jaźń\r", 0x415, "cp1250", id="Polish"),
        pytest.param("繁體中文字\r", 0x404, "cp950", id="traditional Chinese"),
    ],
)
def test_word_6_is_read_in_its_code_page(text: str, language: int, codec: str) -> None:
    data = old_doc(text.encode(codec), language=language)
    assert registry.read(data, "a.doc").text == text.rstrip("\r\x07") + "\n"


def test_word_6_that_ends_in_its_header_is_damaged() -> None:
    with pytest.raises(Unreadable, match="ends in its header"):
        OldHeader(b"\xdc\xa5\x65\0")


def test_word_6_of_the_far_east_may_have_wide_letters() -> None:
    data = old_doc("傳真 (5555)\r".encode("utf-16-le"), flags=0x1000, lengths=(10,))
    assert registry.read(data, "a.doc").text == "傳真 (5555)\n"


def test_word_6_of_a_mac_has_its_letters() -> None:
    data = old_doc("Café • naïve\r".encode("mac_roman"), letters=0x100)
    assert registry.read(data, "a.doc").text == "Café • naïve\n"


def test_word_6_has_headings_tables_and_pages() -> None:
    cells = b"\0\0\x18\x01"
    row = b"\0\0\x0f\x02\x09\x01\x18\x01\x19\x01\xbe\x09\x09"  # tabs that hold other codes
    data = b"Title\ra\x07b\x07\x07c\x07d\x07\x07end\rnext\r"
    ends = [6, 8, 10, 11, 13, 15, 16, 20, 25]
    said = [b"\x01\0", cells, cells, row, cells, cells, row, b"\0\0", b"\0\0\x09\x01"]
    parsed = registry.read(old_doc(data, properties=list(zip(ends, said, strict=True))), "a.doc")
    assert parsed.text == "# Title\n\n| a | b |\n| --- | --- |\n| c | d |\n\nend\n\nnext\n"
    assert [place.label for place in parsed.places] == ["page 1", "page 2"]


def test_word_6_saved_in_pieces_is_put_in_order() -> None:
    data = old_doc(b"world\rHello ", pieces=[(6, 12), (0, 6)])
    assert registry.read(data, "a.doc").text == "Hello world\n"


@given(st.data())
def test_damaged_word_6_gives_a_document_or_is_refused(draw: st.DataObject) -> None:
    data = bytearray(
        old_doc(b"Hello\rworld\r", pieces=[(0, 6), (6, 12)], properties=[(6, b"\1\0")])
    )
    for _ in range(draw.draw(st.integers(1, 8))):
        data[draw.draw(st.integers(512, len(data) - 1))] = draw.draw(st.integers(0, 255))
    try:
        registry.read(bytes(data), "a.doc")
    except Unreadable:
        pass
