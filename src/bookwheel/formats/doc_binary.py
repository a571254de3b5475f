"""The binary structures of Word 97 to 2003: where the text lies and what its paragraphs are."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from bookwheel.formats.base import Unreadable
from bookwheel.formats.doc_styles import (
    HEADINGS,
    OUTLINE,
    outline_level,
    read_levels,
    read_properties,
)
from bookwheel.formats.story import Format
from bookwheel.model import Status

_WORD_97 = 0xA5EC
_FIRST_FIB = 0xC0
"""The version of the first files with this layout; those of Word 6 and 95 are below it."""
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
_COUNTS, _STYLES, _PARAGRAPHS, _PIECES = 0x4C, 0xA2, 0x102, 0x1A2
_COMPRESSED = 0x40000000
Codes = list[tuple[int, int, int]]
"""Pieces as they are stored: first letter, the one after the last, and a code for their place."""
_PAGE = 512
_PROPERTIES = 13
"""Bytes of an entry of a page that says where the properties of a paragraph lie."""
_MAX_PARAGRAPHS = 2_000_000
_IN_TABLE, _ROW_END, _BREAKS_PAGE = 0x2416, 0x2417, 0x2407


class Paragraph(NamedTuple):
    """What the file says of a paragraph."""

    format: Format = Format()
    ends_row: bool = False


class Lengths(NamedTuple):
    """How many letters each part of the text has, in the order in which they follow."""

    body: int
    footnotes: int
    margins: int
    macros: int
    comments: int
    endnotes: int
    boxes: int
    margin_boxes: int


class Piece(NamedTuple):
    """A stretch of text: letters from `first` to `last` lie in the file from `offset` on."""

    first: int
    last: int
    offset: int
    width: int


class Header:
    """The head of a file, which leads to everything else."""

    def __init__(self, document: bytes) -> None:
        try:
            kind, version = struct.unpack_from("<HH", document, 0)
            flags = struct.unpack_from("<H", document, 0x0A)[0]
            self.lengths = Lengths(*struct.unpack_from("<8i", document, _COUNTS))
            self.pieces: tuple[int, int] = struct.unpack_from("<II", document, _PIECES)
            self.styles: tuple[int, int] = struct.unpack_from("<II", document, _STYLES)
            self.paragraphs: tuple[int, int] = struct.unpack_from("<II", document, _PARAGRAPHS)
        except struct.error:
            raise Unreadable(Status.UNREADABLE, "a Word file that ends in its header") from None
        if kind != _WORD_97 or version < _FIRST_FIB:
            raise Unreadable(Status.UNREADABLE, "a Word file of an unknown version")
        if flags & _ENCRYPTED:
            raise Unreadable(Status.ENCRYPTED, "it is protected by a password")
        if min(self.lengths) < 0:
            raise Unreadable(Status.UNREADABLE, "a Word file with a damaged header")
        self.table = "1Table" if flags & _SECOND_TABLE else "0Table"


def read_pieces(table: bytes, span: tuple[int, int]) -> list[Piece]:
    """Return the pieces of the text in their order."""
    return [
        Piece(first, last, (code & ~_COMPRESSED) // 2, 1)
        if code & _COMPRESSED
        else Piece(first, last, code, 2)
        for first, last, code in read_codes(table, span)
    ]


def read_codes(table: bytes, span: tuple[int, int]) -> Codes:
    """Return the table of pieces."""
    at, end = span[0], min(len(table), sum(span))
    try:
        while at < end and table[at] == 1:
            at += 3 + struct.unpack_from("<H", table, at + 1)[0]
        if at >= end or table[at] != 2:
            raise Unreadable(Status.UNREADABLE, "a Word file without a table of its text")
        size = min(struct.unpack_from("<I", table, at + 1)[0], len(table) - at - 5)
        count = (size - 4) // 12
        borders = struct.unpack_from(f"<{count + 1}I", table, at + 5)
        places = at + 5 + 4 * (count + 1)
        codes = [
            struct.unpack_from("<I", table, places + 8 * index + 2)[0] for index in range(count)
        ]
    except struct.error:
        raise Unreadable(Status.UNREADABLE, "a damaged table of its text") from None
    return [each for each in zip(borders, borders[1:], codes, strict=False) if each[0] < each[1]]


class Paragraphs:
    """The properties of paragraphs by the place in the file of the mark that ends them."""

    def __init__(self, every: Iterator[tuple[int, Paragraph]]) -> None:
        self._starts: list[int] = []
        self._found: list[Paragraph] = []
        try:
            for start, found in every:
                if not self._starts or start >= self._starts[-1]:
                    self._starts.append(start)
                    self._found.append(found)
        except (struct.error, IndexError):
            pass  # the text can be read without what is damaged here

    def find(self, offset: int) -> Paragraph:
        """Return what is known of the paragraph at this place."""
        at = bisect_right(self._starts, offset) - 1
        return self._found[at] if at >= 0 else Paragraph()


def read_paragraphs(
    document: bytes, table: bytes, header: Header
) -> Iterator[tuple[int, Paragraph]]:
    """Yield where each paragraph begins in the file, and what is said of it."""
    span, levels = header.paragraphs, read_levels(table, header.styles)
    count = min((span[1] - 4) // 8, _MAX_PARAGRAPHS)
    for index in range(count):
        page = struct.unpack_from("<I", table, span[0] + 4 * (count + 1) + 4 * index)[0] & 0x3FFFFF
        base = page * _PAGE
        runs = document[base + _PAGE - 1]
        starts = struct.unpack_from(f"<{runs}I", document, base)
        for run, start in enumerate(starts):
            place = document[base + 4 * (runs + 1) + _PROPERTIES * run]
            yield start, _read_paragraph(document, base + 2 * place if place else 0, levels)


def _read_paragraph(document: bytes, at: int, levels: dict[int, int]) -> Paragraph:
    if not at:
        return Paragraph()
    if document[at]:
        start, size = at + 1, 2 * document[at] - 1
    else:
        start, size = at + 2, 2 * document[at + 1]
    style = struct.unpack_from("<H", document, start)[0]
    values = dict(read_properties(document[start + 2 : start + size]))
    level = levels.get(style, style if style in HEADINGS else 0)
    if OUTLINE in values:
        level = outline_level(values[OUTLINE])
    return Paragraph(
        Format(
            level=level,
            in_table=bool(values.get(_IN_TABLE)),
            breaks_page=bool(values.get(_BREAKS_PAGE)),
        ),
        ends_row=bool(values.get(_ROW_END)),
    )
