"""Paragraph styles of Word 97 to 2003: which are headings, by their kind, name, level or base."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from bookwheel.formats.docx_styles import level_by_name

HEADINGS = range(1, 10)
"""The numbers that headings always have, as styles and as kinds of style."""
OUTLINE = 0x2640
_TITLE = 62
_PARAGRAPH = 1
_NO_BASE = 0xFFF
_SMALLEST_BASE = 10
_MAX_STYLES = 5_000
_MAX_BASES = 12
_LONGEST_NAME = 255
_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)
"""Bytes that follow a property, by the three bits that tell its kind."""


class _Style(NamedTuple):
    level: int | None
    base: int


def read_levels(table: bytes, span: tuple[int, int]) -> dict[int, int]:
    """Return the levels of headings by the numbers of styles, 0 for those that are none."""
    styles: dict[int, _Style] = {}
    try:
        for number, data, base_size in _entries(table[span[0] : span[0] + span[1]]):
            styles[number] = _read_style(data, base_size)
    except struct.error:
        pass  # the text can be read without what is damaged here
    return {number: _find_level(styles, number) for number in styles}


def outline_level(value: int) -> int:
    """Return the level of a heading from its place in the outline, 0 for what is none."""
    return (value + 1) % 10 if value < 10 else 0


def _find_level(styles: dict[int, _Style], number: int) -> int:
    for _ in range(_MAX_BASES):
        style = styles.get(number)
        if style is None:
            return 0
        if style.level is not None:
            return style.level
        number = style.base
    return 0


def _entries(sheet: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield the number of each style, what is said of it, and the size of the fixed part."""
    size, count, base_size = struct.unpack_from("<HHH", sheet, 0)
    at = 2 + size
    for number in range(min(count, _MAX_STYLES)):
        length = struct.unpack_from("<H", sheet, at)[0]
        if length >= base_size >= _SMALLEST_BASE:
            yield number, sheet[at + 2 : at + 2 + length], base_size
        at += 2 + length + length % 2


def _read_style(data: bytes, base_size: int) -> _Style:
    kind, base = struct.unpack_from("<HH", data, 0)
    if base & 0xF != _PARAGRAPH:
        return _Style(0, _NO_BASE)
    length = min(struct.unpack_from("<H", data, base_size)[0], _LONGEST_NAME)
    name_end = base_size + 2 + 2 * length
    name = data[base_size + 2 : name_end].decode("utf-16-le", "replace")
    level = kind & 0xFFF if kind & 0xFFF in HEADINGS else None
    if kind & 0xFFF == _TITLE:
        level = 1
    if level is None:
        level = level_by_name(name.partition(",")[0])
    outline = _find_outline(data, name_end + 2)
    return _Style(level if outline is None else outline, base >> 4)


def _find_outline(data: bytes, at: int) -> int | None:
    """Return the level that the properties of a style's paragraphs give them."""
    at += at % 2
    if at + 4 > len(data):
        return None
    size = struct.unpack_from("<H", data, at)[0]
    values = dict(read_properties(data[at + 4 : at + 2 + size]))
    return outline_level(values[OUTLINE]) if OUTLINE in values else None


def read_properties(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the code of each property with the first byte of its value."""
    at = 0
    while at + 3 <= len(data):
        code = data[at] | data[at + 1] << 8
        yield code, data[at + 2]
        size = _SIZES[code >> 13]
        if code == 0xD608:  # the definition of a table, whose length has two bytes
            size = 1 + int.from_bytes(data[at + 2 : at + 4], "little")
        at += 2 + (size or 1 + data[at + 2])
