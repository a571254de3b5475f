"""The records of an old Excel file: what its reader must not see, and what it does not give.

Beside the cells these are errors, links, comments and text boxes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import plain
from bookwheel.formats.grid import Extras, Marks
from bookwheel.formats.xlsx_parts import column_name, write_note
from bookwheel.model import Status

_MAX_ROW, _MAX_COLUMN = 65_536, 256
_MAX_WORDS = 5_000
_BOF = frozenset({0x809, 0x409, 0x209, 0x009})
_EOF = 0x0A
_CELLS = frozenset({0x203, 0x204, 0x27E, 0xFD, 0xBD, 0xD6, 0x02, 0x03, 0x04})
_UNKNOWN = 0xEEEE
"""A kind of record that there is not."""
_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
}
_URL_MONIKER = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
_HEADER = struct.Struct("<HH")
_LONG = struct.Struct("<I")
_DIMENSIONS = {14: struct.Struct("<IIHH"), 10: struct.Struct("<HHHH")}


class _Words(NamedTuple):
    """What one sheet says beside its cells."""

    links: Marks
    errors: Marks
    texts: dict[int, str]
    """Texts of comments and text boxes by the numbers of their objects."""
    notes: list[tuple[str, str, int]]
    """Place, author and object of each comment."""


class OldWorkbook:
    """The records of a workbook, walked once."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts: dict[int, int] = {}
        self._sheets: list[_Words] = []
        self._sheet = _Words({}, {}, {}, [])
        self._object = 0
        self._strays: list[int] = []
        self._walk()

    def without_strays(self) -> bytes | None:
        """Return the stream without the cells of charts, or None where it has none.

        A chart keeps a copy of its numbers, which would pass for the first cells of its sheet.
        """
        if not self._strays:
            return None
        changed = bytearray(self._data)
        for at in self._strays:
            changed[at : at + 2] = _UNKNOWN.to_bytes(2, "little")
        return bytes(changed)

    def read_sheet(self, index: int, name: str) -> Extras:
        """Return what is beside the cells of a sheet."""
        if index >= len(self._sheets):
            return Extras()
        return Extras(0, self._sheets[index].links, self._sheets[index].errors)

    def read_blocks(self, index: int, name: str) -> Iterator[str]:
        """Yield the comments and text boxes of a sheet as Markdown."""
        if index >= len(self._sheets):
            return
        sheet = self._sheets[index]
        notes = []
        for place, author, number in sheet.notes:
            words = sheet.texts.pop(number, "")
            if words:
                notes.append(write_note(place, author, words))
        if notes:
            yield "Comments:\n\n" + "\n".join(notes)
        for words in sheet.texts.values():
            yield plain(words)

    def _walk(self) -> None:
        data, unpack = self._data, _HEADER.unpack_from
        handlers: dict[int, Callable[[int, int], None]] = {
            0x200: self._dimensions,
            0x2F: self._password,
            0x85: self._bound_sheet,
            0x205: self._bool_or_error,
            0x06: self._formula,
            0x206: self._formula,
            0x406: self._formula,
            0x1B8: self._hyperlink,
            0x5D: self._drawn,
            0x1B6: self._text,
            0x1C: self._note,
        }
        at, end, depth = 0, len(data) - 4, 0
        while at <= end:
            kind, size = unpack(data, at)
            if kind in _CELLS:
                if depth > 1:
                    self._strays.append(at)
                elif size >= 4 and at < end and unpack(data, at + 4)[1] >= _MAX_COLUMN:
                    raise _damaged()
            elif kind in handlers and at + 4 + size <= end + 4:
                handlers[kind](at + 4, size)
            elif kind in _BOF:
                if at in self._starts:
                    self._sheet, depth = self._sheets[self._starts[at]], 0
                depth += 1
            elif kind == _EOF:
                depth -= 1
            at += 4 + size

    def _dimensions(self, at: int, size: int) -> None:
        numbers = _DIMENSIONS.get(size)
        if numbers is not None:
            first_row, last_row, _, last = numbers.unpack_from(self._data, at)
            # The last are one behind the end; a start behind them is that of an empty sheet.
            if last_row > _MAX_ROW or last > _MAX_COLUMN or (first_row > last_row and last_row):
                raise _damaged()

    def _password(self, at: int, size: int) -> None:
        raise Unreadable(Status.ENCRYPTED, "it is protected by a password")

    def _bound_sheet(self, at: int, size: int) -> None:
        if size >= 4:
            self._starts[_LONG.unpack_from(self._data, at)[0]] = len(self._sheets)
            self._sheets.append(_Words({}, {}, {}, []))

    def _bool_or_error(self, at: int, size: int) -> None:
        if size >= 8 and self._data[at + 7]:
            self._add_error(at, self._data[at + 6])

    def _formula(self, at: int, size: int) -> None:
        data = self._data
        if size >= 14 and data[at + 12 : at + 14] == b"\xff\xff" and data[at + 6] == 2:
            self._add_error(at, data[at + 8])

    def _add_error(self, at: int, code: int) -> None:
        row, column = _HEADER.unpack_from(self._data, at)
        if column >= _MAX_COLUMN:
            raise _damaged()
        self._sheet.errors.setdefault(row, {})[column] = _ERRORS.get(code, "")

    def _hyperlink(self, at: int, size: int) -> None:
        record = self._data[at : at + size]
        start = record.find(_URL_MONIKER, 8) + len(_URL_MONIKER)
        if size < 32 or start < 32 or start + 4 > size:
            return
        length = _LONG.unpack_from(record, start)[0]
        target = record[start + 4 : start + 4 + length].decode("utf-16-le", "replace")
        row, _, column = struct.unpack_from("<HHH", record)
        self._sheet.links.setdefault(row, {})[column] = target.partition("\0")[0]

    def _drawn(self, at: int, size: int) -> None:
        """Remember the number of the object whose text may follow."""
        if size >= 8:
            self._object = int.from_bytes(self._data[at + 6 : at + 8], "little")

    def _text(self, at: int, size: int) -> None:
        data = self._data
        count = int.from_bytes(data[at + 10 : at + 12], "little")
        after = at + size
        if size < 12 or not count or data[after : after + 2] != b"\x3c\0":
            return
        wide = data[after + 4 : after + 5] == b"\x01"
        letters = data[after + 5 : after + 5 + (2 * count if wide else count)]
        words = letters.decode("utf-16-le" if wide else "latin-1", "replace")
        if len(self._sheet.texts) < _MAX_WORDS:
            self._sheet.texts[self._object] = " ".join(words.split())

    def _note(self, at: int, size: int) -> None:
        if size < 11 or len(self._sheet.notes) >= _MAX_WORDS:
            return
        row, column, _, number, count = struct.unpack_from("<HHHHH", self._data, at)
        wide = self._data[at + 10] & 1
        letters = self._data[at + 11 : at + 11 + (2 * count if wide else count)]
        author = letters.decode("utf-16-le" if wide else "latin-1", "replace")
        place = f"{column_name(column)}{row + 1}"
        self._sheet.notes.append((place, " ".join(author.split()), number))


def _damaged() -> Unreadable:
    return Unreadable(Status.UNREADABLE, "a damaged spreadsheet (cells beyond the last column)")
