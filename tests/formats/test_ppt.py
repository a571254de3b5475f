"""Tests of old PowerPoint files."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.model import Parsed, Status
from bookwheel.text.chunking import chunk
from tests.formats.making_office import (
    atom,
    container,
    old_slide,
    ole,
    ppt,
    text_atoms,
    text_shape,
)

TITLE, BODY, NOTES, OTHER = 0, 1, 2, 4
HELLO = old_slide(text_shape(text_atoms(TITLE, "Hello")), text_shape(text_atoms(BODY, "a\rb")))


def letters(text: str) -> bytes:
    return text.encode("utf-16-le")


def text_of(page: bytes, outline: bytes = b"", links: bytes = b"") -> str:
    return read(ppt([(page, outline)], links=links), "a.ppt").text.removeprefix("## Slide 1\n\n")


def test_slides_come_in_the_order_of_the_show_with_their_notes() -> None:
    shown = atom(0x03F9, bytes(10) + b"\x04\0" + bytes(4))
    hidden = old_slide(text_shape(text_atoms(OTHER, "Caf\xe9")), first=shown)
    notes = old_slide(
        text_shape(text_atoms(NOTES, "Say this")),
        text_shape(text_atoms(OTHER, "7")),
        kind=0x03F0,
        first=atom(0x03F1, struct.pack("<II", 256, 0)),
    )
    parsed = read(ppt([(HELLO, b""), (hidden, b"")], [notes]), "a.ppt")
    assert parsed.text == (
        "## Hello\n\n- a\n- b\n\nNotes: Say this\n\n## Slide 2 (hidden)\n\nCaf\xe9\n"
    )
    assert parsed.title == "Hello"
    assert [c.pointer for c in chunk(parsed)] == ["slide 1", "slide 2"]


def test_texts_of_the_outline_stand_where_a_shape_refers_to_them() -> None:
    outline = text_atoms(TITLE, "Named") + text_atoms(BODY, "one") + text_atoms(BODY, "unshown")
    shapes = [text_shape(text_atoms(OTHER, "box"))]
    shapes += [text_shape(atom(0x0F9E, struct.pack("<I", index))) for index in (1, 0, 99)]
    assert text_of(old_slide(*shapes), outline) == "## Named\n\nunshown\n\nbox\n\none\n"


def test_bytes_levels_line_breaks_and_links_of_a_text() -> None:
    words = "top\x0bline\rbelow it"
    style = (
        struct.pack("<IHI", 9, 0, 0) + struct.pack("<IHIHH", 99, 1, 0x1081, 3, 0x2022) + bytes(2)
    )
    click = container(0x0FF2, atom(0x0FF3, struct.pack("<IIII", 0, 5, 0, 0)))
    content = (
        atom(0x0F9F, struct.pack("<I", BODY))
        + atom(0x0FA8, words.encode("latin-1"))
        + atom(0x0FA1, style)
        + click
        + atom(0x0FDF, struct.pack("<II", 9, 14))
    )
    links = container(
        0x0FD7, atom(0x0FD3, struct.pack("<I", 5)), atom(0x0FBA, letters("https://x.org/"), 1)
    )
    found = text_of(old_slide(text_shape(content)), links=links)
    assert found == "- top line\n  - [below](https://x.org/) it\n"


def test_footers_stay_out_and_comments_are_kept() -> None:
    comment = container(0x2EE0, atom(0x0FBA, letters("Ann"), 0), atom(0x0FBA, letters("Why?"), 1))
    tags = container(0x1388, container(0x138A, atom(0x138B, comment)))
    page = old_slide(
        text_shape(text_atoms(OTHER, "foot"), placeholder=9),
        text_shape(text_atoms(OTHER, "kept")),
        last=tags,
    )
    assert text_of(page) == "kept\n\nComments:\n\n- Ann: Why?\n"


def test_slides_are_found_without_a_sound_list() -> None:
    data = ole({"PowerPoint Document": HELLO + HELLO, "Current User": b""})
    parsed = read(data, "a.ppt")
    assert parsed.text.count("## Hello") == 2
    assert [place.label for place in parsed.places] == ["slide 1", "slide 2"]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (ppt([(old_slide(), b"")]), Status.NO_TEXT),
        (ole({"PowerPoint Document": b"\1\2\3"}), Status.NO_TEXT),
        (
            ole(
                {
                    "PowerPoint Document": b"",
                    "Current User": atom(0x0FF6, struct.pack("<III", 20, 0xF3D1C4DF, 0)),
                }
            ),
            Status.ENCRYPTED,
        ),
        (ole({"PowerPoint Document": container(0x2F14)}), Status.ENCRYPTED),
    ],
)
def test_files_that_cannot_be_read_are_refused(data: bytes, status: Status) -> None:
    with pytest.raises(Unreadable) as refused:
        read(data, "a.ppt")
    assert refused.value.status is status


WHOLE = ppt([(HELLO, text_atoms(BODY, "x")), (HELLO, b"")])


@settings(max_examples=60)
@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4))
def test_any_damage_gives_a_document_or_a_refusal(at: int, piece: bytes) -> None:
    try:
        parsed = read(WHOLE[:at] + piece + WHOLE[at + len(piece) :], "a.ppt")
    except Unreadable:
        return
    assert isinstance(parsed, Parsed)
