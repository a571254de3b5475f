"""Pointers that a person can follow: `page 3`, `sheet 'Q2' rows 4-9`, else lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from bookwheel.model import Place

_RANGE = r"([1-9][0-9]{0,8})(?: ?[-\u2013] ?([1-9][0-9]{0,8}))?"
_LINES = re.compile(f"lines? {_RANGE}")
_ROWS = re.compile(f"(?:(.*) )?rows? {_RANGE}")
_COUNTED = re.compile(f"(page|slide|cell|chapter)s? {_RANGE}")
_NO_WORDS = re.compile(rb"[|\s-]*(?:\([^()]*\)\s*)?")
"""The line below a table's head, and a remark on what is left out of it."""
_QUOTES = re.compile("[\"'\u2018\u2019\u201c\u201d`]")


class Pointers:
    """Names stretches of one document by its places."""

    def __init__(self, data: bytes, places: Iterable[Place]) -> None:
        self._places = sorted(places)
        self._starts = [place.start for place in self._places]
        self._lines: list[int] = []
        self._heights: list[int] = []
        self._data = data
        if any(place.row for place in self._places):
            self._lines = _count_lines(data, self._starts)
            self._heights = [_count_rows(data, *span) for span in _spans(self._places, data)]

    def name(self, start: int, end: int, first_line: int, last_line: int) -> str:
        """Return the pointer to a stretch that lies within one place."""
        at = bisect_right(self._starts, start) - 1
        label = self._places[at].label if at >= 0 else ""
        rows = self._rows(at, end, first_line, last_line)
        if rows is not None:
            numbers = _numbers("row", *rows)
            return f"{label} {numbers}" if label else numbers
        return label or _numbers("line", first_line, last_line)

    def _rows(self, at: int, end: int, first_line: int, last_line: int) -> tuple[int, int] | None:
        """Return the rows from the first to the last line, if they tell of all that stands there.

        They do not where comments or the like follow the table.
        """
        stop = bisect_right(self._starts, end - 1)
        if not self._lines or stop <= 0:
            return None
        inside = [i for i in range(max(0, at), stop) if self._places[i].row]
        if not inside:
            return None
        first, last = inside[0], inside[-1]
        if last + 1 < stop and has_words(self._data[self._starts[last + 1] : end]):
            return None
        begin = self._places[first].row + max(0, first_line - self._lines[first])
        # What follows a table, a blank line or a remark, is none of its rows.
        beyond = min(last_line - self._lines[last], self._heights[last] - 1)
        return begin, max(begin, self._places[last].row + beyond)


def has_words(beyond_rows: bytes) -> bool:
    """Tell comments and the like from what belongs to a table though it is none of its rows."""
    return _NO_WORDS.fullmatch(beyond_rows) is None


def _count_lines(data: bytes, starts: list[int]) -> list[int]:
    lines: list[int] = []
    line, counted = 1, 0
    for start in starts:
        line += data.count(b"\n", counted, start)
        counted = start
        lines.append(line)
    return lines


def _count_rows(data: bytes, start: int, end: int) -> int:
    return 1 + data[start:end].rstrip(b"\n").count(b"\n")


def _numbers(unit: str, first: int, last: int) -> str:
    return f"{unit}s {first}-{last}" if last > first else f"{unit} {first}"


class Stretch(NamedTuple):
    """What a pointer names: a span of bytes, or a range of lines when the text has no places."""

    start: int
    end: int
    lines: tuple[int, int] | None = None


def find_stretch(data: bytes, places: list[Place], pointer: str) -> Stretch | None:
    """Return what a pointer names, or None when the document has no such place."""
    wanted = _normal(pointer)
    if found := _LINES.fullmatch(wanted):
        return Stretch(0, 0, (int(found[1]), int(found[2] or found[1])))
    if stretch := _find_labels(data, places, {wanted}):
        return stretch
    if found := _ROWS.fullmatch(wanted):
        return _find_rows(data, places, found[1] or "", int(found[2]), int(found[3] or found[2]))
    if found := _COUNTED.fullmatch(wanted):
        first, last = int(found[2]), int(found[3] or found[2])
        numbers = range(first, min(last, first + 9_999) + 1)
        return _find_labels(data, places, {f"{found[1]} {number}" for number in numbers})
    return None


def find_before(places: Iterable[Place], pointer: str) -> str | None:
    """Return the place before a page or the like at which no text begins, though it does later.

    That is nothing where it lies before all others, and None for what is no such place.
    """
    wanted = _COUNTED.fullmatch(_normal(pointer))
    named = ((_COUNTED.fullmatch(_normal(place.label)), place.label) for place in places)
    known = {int(at[2]): label for at, label in named if wanted and at and at[1] == wanted[1]}
    number = int(wanted[2]) if wanted else 0
    if number >= max(known, default=0):
        return None
    return known.get(max((each for each in known if each < number), default=0), "")


def _normal(pointer: str) -> str:
    return " ".join(_QUOTES.sub("", pointer).casefold().split())


def _spans(places: list[Place], data: bytes) -> list[tuple[int, int]]:
    """Return where each place begins and ends."""
    starts = [place.start for place in places]
    return list(zip(starts, [*starts[1:], len(data)], strict=False))


def _find_labels(data: bytes, places: list[Place], wanted: set[str]) -> Stretch | None:
    """Return what lies from the first to the last of the places with these labels."""
    spans = [
        span
        for place, span in zip(places, _spans(places, data), strict=True)
        if _normal(place.label) in wanted
    ]
    return Stretch(spans[0][0], spans[-1][1]) if spans and wanted != {""} else None


def _find_rows(
    data: bytes, places: list[Place], label: str, first: int, last: int
) -> Stretch | None:
    found: list[tuple[int, int]] = []
    for place, (start, end) in zip(places, _spans(places, data), strict=True):
        if place.row and _normal(place.label) == label:
            rows = _rows_of(data, start, end)
            below, beyond = max(0, first - place.row), last + 1 - place.row
            if below < min(beyond, len(rows)):
                begin = start + sum(len(row) + 1 for row in rows[:below])
                size = sum(len(row) + 1 for row in rows[below:beyond])
                found.append((begin, min(end, begin + size)))
    return Stretch(found[0][0], found[-1][1]) if found else None


def last_row(data: bytes, places: list[Place]) -> int:
    """Return the number of the last row of the tables; 0 where there are none."""
    spans = zip(places, _spans(places, data), strict=True)
    return max(
        (place.row + _count_rows(data, *span) - 1 for place, span in spans if place.row), default=0
    )


def _rows_of(data: bytes, start: int, end: int) -> list[bytes]:
    """Return the lines of a place, without the blank ones at its end."""
    return data[start:end].rstrip(b"\n").split(b"\n")
