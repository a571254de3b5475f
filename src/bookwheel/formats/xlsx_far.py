"""Excel sheets with cells too far apart to be built in memory: the same without those cells.

Most often one blank cell at the very end of a sheet is what makes it so large.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from bookwheel.formats.grid import MAX_COLUMNS

_CELL = re.compile(
    rb'<(?:\w+:)?c\s[^<>]*?\br="([A-Za-z]{1,3})([0-9]{1,7})"[^<>]*?(?:/>|>'
    rb"([^<]*+(?:<(?!/?(?:\w+:)?c[\s>/])[^<]*+)*+)</(?:\w+:)?c>)"
)
"""One cell: what begins another, or ends one, ends it, so that each byte is looked at once."""
_SHARED = re.compile(rb'\st="s"')
_WORDS = re.compile(rb"<(?:\w+:)?(?:v|t)(?:\s[^>]*)?>([^<]*[^<\s][^<]*)<")
_STRING = re.compile(
    rb"<(?:\w+:)?si(?:\s[^<>]*)?(?:/>|>([^<]*+(?:<(?!/?(?:\w+:)?si[\s>/])[^<]*+)*+)</(?:\w+:)?si>)"
)


class Near(NamedTuple):
    """A workbook that has only the sheets which lay too far apart, without their far cells."""

    data: bytes
    left: Mapping[str, int]
    """How many cells with words each sheet lost."""


def find_blanks(strings: bytes) -> frozenset[bytes]:
    """Return the numbers of the shared strings that hold nothing but blanks."""
    found = enumerate(_STRING.finditer(strings))
    return frozenset(b"%d" % number for number, each in found if not _WORDS.search(each[1] or b""))


def trim_sheet(data: bytes, blanks: frozenset[bytes], limit: int) -> tuple[bytes, int]:
    """Return a sheet whose rectangle has so many cells at most, and how many with words it lost."""
    places = [place for cell in _CELL.finditer(data) if (place := _filled_place(cell, blanks))]
    if not places:
        return _CELL.sub(b"", data), 0
    top, bottom = min(row for row, _ in places), max(row for row, _ in places)
    first, last = min(at for _, at in places), max(at for _, at in places)
    if (bottom - top + 1) * (last - first + 1) > limit:
        last = max(at for _, at in places if at < first + MAX_COLUMNS)
        bottom = top + max(1, limit // (last - first + 1)) - 1
    left = sum(row > bottom or at > last for row, at in places)

    def keep(cell: re.Match[bytes]) -> bytes:
        place = _filled_place(cell, blanks)
        return cell[0] if place and place[0] <= bottom and place[1] <= last else b""

    return _CELL.sub(keep, data), left


def _filled_place(cell: re.Match[bytes], blanks: frozenset[bytes]) -> tuple[int, int] | None:
    """Return the row and column of a cell that says something."""
    words = _WORDS.search(cell[3]) if cell[3] else None
    if words is None:
        return None
    head = cell[0][: cell.start(3) - cell.start()]
    if words[1] in blanks and _SHARED.search(head):
        return None
    at = 0
    for letter in cell[1].upper():
        at = at * 26 + letter - 64
    return int(cell[2]), at
