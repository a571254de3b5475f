"""The records of an old PowerPoint file: how they nest, where each slide lies, and their text."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from bookwheel.formats.composing import link
from bookwheel.formats.drawing import Paragraph

_MAX_EDITS = 10_000
_HEADER = struct.Struct("<HHI")
_LONG = struct.Struct("<I")
_USER_EDIT, _DIRECTORY = 0x0FF5, 0x1772
HEADER, CHARS, BYTES, STYLE, OUTLINE = 0x0F9F, 0x0FA0, 0x0FA8, 0x0FA1, 0x0F9E
INTERACTIVE, INTERACTIVE_ATOM, LINK_RANGE, STRING = 0x0FF2, 0x0FF3, 0x0FDF, 0x0FBA
LISTED = frozenset({1, 5, 7, 8})
"""Kinds of text that have bullets by their nature: bodies of slides."""
_PROPERTIES = (
    (0x00F, 2),
    (0x080, 2),
    (0x010, 2),
    (0x040, 2),
    (0x020, 4),
    (0x800, 2),
    (0x1000, 2),
    (0x2000, 2),
    (0x4000, 2),
    (0x100, 2),
    (0x400, 2),
    (0x8000, 2),
)
"""Bits that say which properties of paragraphs follow before the tab stops, and their sizes."""
_TABS = 0x100000
_AFTER_TABS = ((0x10000, 2), (0xE0000, 2), (0x200000, 2))


class Record(NamedTuple):
    """One record: its kind, its instance, and where its content lies."""

    kind: int
    instance: int
    start: int
    end: int


def records(data: bytes, start: int, end: int) -> Iterator[Record]:
    """Yield the records side by side in a stretch; a damaged one ends them."""
    start, end = start + 8, min(end, len(data))
    unpack = _HEADER.unpack_from
    while start <= end:
        version, kind, size = unpack(data, start - 8)
        after = start + size
        # The hot loop of such files: this makes a Record without calling its constructor.
        yield tuple.__new__(Record, (kind, version >> 4, start, after if after < end else end))
        start = after + 8


def record_at(data: bytes, at: int) -> Record | None:
    """Return the record that begins at a place."""
    return next(records(data, at, len(data)), None) if 0 <= at < len(data) else None


def read_directory(data: bytes, at: int) -> tuple[dict[int, int], int]:
    """Return where each persistent object lies, and the number of the document.

    Every time a file is saved in haste a table is added that goes before the older ones.
    """
    places: dict[int, int] = {}
    document, seen = 0, set[int]()
    while at not in seen and len(seen) < _MAX_EDITS:
        seen.add(at)
        edit = record_at(data, at)
        if edit is None or edit.kind != _USER_EDIT or edit.end - edit.start < 20:
            break
        before, table, number = struct.unpack_from("<III", data, edit.start + 8)
        document = document or number
        for key, place in _read_table(data, table):
            places.setdefault(key, place)
        if not before:
            break
        at = before
    return places, document


def _read_table(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    table = record_at(data, at)
    if table is None or table.kind != _DIRECTORY:
        return
    numbers = [n for (n,) in _LONG.iter_unpack(_whole(data[table.start : table.end]))]
    index = 0
    while index < len(numbers):
        first, count = numbers[index] & 0xFFFFF, numbers[index] >> 20
        yield from enumerate(numbers[index + 1 : index + 1 + count], first)
        index += 1 + count


def _whole(content: bytes) -> bytes:
    return content[: len(content) // 4 * 4]


class Text(NamedTuple):
    """A text with its kind: 0 and 6 are titles, 1 a body, 2 notes, 4 any other."""

    kind: int
    text: str
    levels: tuple[tuple[int, int], ...]
    """Runs of characters with the level of their paragraphs."""

    def paragraphs(self) -> list[Paragraph]:
        """Return the paragraphs that have text."""
        found: list[Paragraph] = []
        at = 0
        listed = self.kind in LISTED
        for line in self.text.split("\r"):
            words = line.replace("\x0b", "\n").strip()
            if words:
                found.append(Paragraph(words, self._level(at) if listed else -1))
            at += len(line) + 1
        return found

    def _level(self, at: int) -> int:
        for count, level in self.levels:
            if at < count:
                return level
            at -= count
        return 0


class Outline:
    """The texts of a slide that stand in the list of slides, referred to by their numbers."""

    def __init__(self, texts: list[Text]) -> None:
        self._texts = texts
        self._used: set[int] = set()

    def use(self, index: int) -> Text | None:
        """Return a text that a shape of the slide shows."""
        self._used.add(index)
        return self._texts[index] if index < len(self._texts) else None

    def unused(self) -> list[Text]:
        """Return the texts that no shape has shown."""
        return [text for index, text in enumerate(self._texts) if index not in self._used]


def read_texts(data: bytes, box: Record, outline: Outline, links: dict[int, str]) -> Iterator[Text]:
    """Yield the texts in a record; some stand in the outline, and a number refers to them."""
    kind = 4
    text: Text | None = None
    ranges: list[tuple[int, int, str]] = []
    target = ""
    for record in records(data, box.start, box.end):
        content = data[record.start : record.end]
        if record.kind in (HEADER, CHARS, BYTES, OUTLINE) and text is not None:
            yield _linked(text, ranges)
            text, ranges = None, []
        if record.kind == HEADER:
            kind = content[0] if content else 4
        elif record.kind in (CHARS, BYTES):
            codec = "utf-16-le" if record.kind == CHARS else "latin-1"
            text = Text(kind, content.decode(codec, "replace"), ())
        elif record.kind == OUTLINE and len(content) >= 4:
            text = outline.use(_LONG.unpack_from(content)[0])
        elif record.kind == STYLE and text is not None:
            text = text._replace(levels=tuple(_read_levels(content, len(text.text))))
        elif record.kind == INTERACTIVE:
            target = _read_target(data, record, links)
        elif record.kind == LINK_RANGE and len(content) >= 8:
            ranges.append((*struct.unpack_from("<II", content), target))
    if text is not None:
        yield _linked(text, ranges)


def _read_target(data: bytes, record: Record, links: dict[int, str]) -> str:
    for atom in records(data, record.start, record.end):
        if atom.kind == INTERACTIVE_ATOM and atom.end - atom.start >= 8:
            return links.get(_LONG.unpack_from(data, atom.start + 4)[0], "")
    return ""


def _linked(text: Text, ranges: list[tuple[int, int, str]]) -> Text:
    """Return the text with its links; levels hold no longer where it grew, but for one line."""
    words = text.text
    for start, end, target in sorted(ranges, reverse=True):
        shown = words[start:end]
        if target and shown.strip() and "\r" not in shown:
            words = words[:start] + link(shown, target) + words[end:]
    if words == text.text:
        return text
    before, after = text.text.split("\r"), words.split("\r")
    levels = [
        (len(new) + 1, text._level(at)) for new, at in zip(after, _starts(before), strict=False)
    ]
    return text._replace(text=words, levels=tuple(levels))


def _starts(lines: list[str]) -> Iterator[int]:
    at = 0
    for line in lines:
        yield at
        at += len(line) + 1


def _read_levels(content: bytes, length: int) -> Iterator[tuple[int, int]]:
    """Yield how many characters have which level, from the properties of paragraphs."""
    at = covered = 0
    while covered <= length and at + 10 <= len(content):
        count, level, mask = struct.unpack_from("<IHI", content, at)
        yield count, min(level, 8)
        covered += count
        at += 10 + sum(size for bits, size in _PROPERTIES if mask & bits)
        if mask & _TABS:
            at += 2 + 4 * int.from_bytes(content[at : at + 2], "little")
        at += sum(size for bits, size in _AFTER_TABS if mask & bits)
