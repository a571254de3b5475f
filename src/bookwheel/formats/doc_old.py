"""The binary structures of Word 6 and 95: the text has one byte a letter, in a code page.

Those of the Far East may have two.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import islice

from bookwheel.formats.base import Unreadable
from bookwheel.formats.decoding import guess_encoding
from bookwheel.formats.doc_binary import Lengths, Paragraph, Piece, read_codes
from bookwheel.formats.story import Format
from bookwheel.model import Status

_MAKERS = (b"\xa5", b"\xa6")
_VERSIONS = tuple(bytes((number, 0)) for number in range(101, 106))
_IN_PIECES, _ENCRYPTED, _WIDE = 0x0004, 0x0100, 0x1000
_MAC, _ENGLISH = 0x100, 0x409
_TEXT, _COUNTS, _PARAGRAPHS, _PIECES = 0x18, 0x34, 0xC0, 0x160
_PAGE = 512
_PROPERTIES = 7
"""Bytes of an entry of a page that says where the properties of a paragraph lie."""
_MAX_PARAGRAPHS = 2_000_000
_HEADINGS = range(1, 10)
_BREAKS_PAGE, _IN_TABLE, _ROW_END, _OF_TABLES = 9, 24, 25, 182
_LONG = dict.fromkeys((2, 16, 17, 18, 19, 21, 22, 26, 27, 28, *range(30, 36)), 2)
_SIZES = {**_LONG, **dict.fromkeys((*range(38, 44), *range(45, 50)), 2), 20: 4}
"""Bytes that follow a property where that is not one."""
_SAID = frozenset({3, 12, 15, 23})
"""Properties that say themselves how long they are."""
_CODE_PAGES = {
    **dict.fromkeys((0x02, 0x19, 0x22, 0x23, 0x2F), "cp1251"),
    **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x1C, 0x24), "cp1250"),
    **dict.fromkeys((0x25, 0x26, 0x27), "cp1257"),
    0x01: "cp1256",
    0x04: "cp936",
    0x08: "cp1253",
    0x0D: "cp1255",
    0x11: "cp932",
    0x12: "cp949",
    0x1E: "cp874",
    0x1F: "cp1254",
    0x2A: "cp1258",
}
"""By the language of the document, of which ten bits matter."""
_TRADITIONAL = frozenset({0x0404, 0x0C04})
_CODE_PAGE = re.compile(r"(?:cp|windows-)(?:125\d|874|9\d\d)", re.I)
_GUESSED_PIECES = 1_000
_MARKS = bytes(range(32))


def is_old(document: bytes) -> bool:
    """Tell a file of Word 6 or 95."""
    return document[1:2] in _MAKERS and document[2:4] in _VERSIONS


class OldHeader:
    """The head of a file, which leads to everything else; there is no second stream."""

    def __init__(self, document: bytes) -> None:
        try:
            language, flags = struct.unpack_from("<6xH2xH", document, 0)
            letters = struct.unpack_from("<H", document, 0x14)[0]
            self._text: tuple[int, int] = struct.unpack_from("<II", document, _TEXT)
            self.lengths = Lengths(*struct.unpack_from("<8i", document, _COUNTS))
            self.paragraphs: tuple[int, int] = struct.unpack_from("<II", document, _PARAGRAPHS)
            self._pieces: tuple[int, int] = struct.unpack_from("<II", document, _PIECES)
        except struct.error:
            raise Unreadable(Status.UNREADABLE, "a Word file that ends in its header") from None
        if flags & _ENCRYPTED:
            raise Unreadable(Status.ENCRYPTED, "it is protected by a password")
        if min(self.lengths) < 0:
            raise Unreadable(Status.UNREADABLE, "a Word file with a damaged header")
        self._is_in_pieces = bool(flags & _IN_PIECES)
        self._width = 2 if flags & _WIDE else 1
        self._language = 0 if letters == _MAC else language or _ENGLISH

    def read_pieces(self, document: bytes) -> list[Piece]:
        """Return the pieces of the text: one, unless the file was saved in a hurry."""
        if not self._is_in_pieces:
            start, end = self._text
            return [Piece(0, max(0, end - start) // self._width, start, self._width)]
        codes = read_codes(document, self._pieces)
        return [Piece(first, last, code, self._width) for first, last, code in codes]

    def find_codec(self, document: bytes, pieces: list[Piece]) -> str:
        """Return the code page of the text; many a file is said to be English and is not."""
        if not self._language:
            return "mac_roman"
        if self._language in _TRADITIONAL:
            return "cp950"
        named = _CODE_PAGES.get(self._language & 0x3FF)
        if named:
            return named
        spans = (document[each.offset : each.offset + each.last - each.first] for each in pieces)
        letters = b"".join(islice(spans, _GUESSED_PIECES)).translate(None, _MARKS)
        guessed = guess_encoding(letters)
        return guessed if _CODE_PAGE.fullmatch(guessed) else "cp1252"


def read_old_paragraphs(document: bytes, span: tuple[int, int]) -> Iterator[tuple[int, Paragraph]]:
    """Yield where each paragraph begins in the file, and what is said of it."""
    count = min((span[1] - 4) // 6, _MAX_PARAGRAPHS)
    for index in range(count):
        page = struct.unpack_from("<H", document, span[0] + 4 * (count + 1) + 2 * index)[0]
        base = page * _PAGE
        runs = document[base + _PAGE - 1]
        starts = struct.unpack_from(f"<{runs}I", document, base)
        for run, start in enumerate(starts):
            place = document[base + 4 * (runs + 1) + _PROPERTIES * run]
            yield start, _read_paragraph(document, base + 2 * place) if place else Paragraph()


def _read_paragraph(document: bytes, at: int) -> Paragraph:
    end = at + 1 + 2 * document[at]
    style = struct.unpack_from("<H", document, at + 1)[0]
    values = dict(_read_properties(document[at + 3 : end]))
    return Paragraph(
        Format(
            level=style if style in _HEADINGS else 0,
            in_table=bool(values.get(_IN_TABLE)),
            breaks_page=bool(values.get(_BREAKS_PAGE)),
        ),
        ends_row=bool(values.get(_ROW_END)),
    )


def _read_properties(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the code of each property with the first byte of its value."""
    at = 0
    while at + 2 <= len(data) and data[at] < _OF_TABLES:  # none of those that follow is looked at
        code = data[at]
        yield code, data[at + 1]
        at += 1 + (1 + data[at + 1] if code in _SAID else _SIZES.get(code, 1))
