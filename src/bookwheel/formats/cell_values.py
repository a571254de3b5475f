"""Values of cells as words: as they are stored, not as a spreadsheet is told to show them."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

_LONG, _WHOLE = 1e15, 1e21
"""Numbers between these are whole, and written in full."""
_SIMPLE: dict[type, str] = {
    str: "%s",
    float: "%.15g",
    int: "%s",
    date: "%s",
    datetime: "%.19s",
    time: "%.8s",
}
"""How values are written; times without what is less than a second."""
_MAX_FORMATS, _MAX_KINDS = 500, 200


class _Formats(dict[tuple[type, ...], "str | None"]):
    """How rows are written by the kinds of their cells: nothing for words alone, None for others.

    One format for a row is faster than one for each cell, even where most of them are words.
    """

    def __missing__(self, kinds: tuple[type, ...]) -> str | None:
        if len(self) >= _MAX_FORMATS:
            self.clear()
        self[kinds] = found = _make_format(kinds)
        return found


def _make_format(kinds: tuple[type, ...]) -> str | None:
    every = set(kinds)
    if every <= {str}:
        return ""
    is_simple = len(kinds) <= _MAX_KINDS and _SIMPLE.keys() >= every
    return " | ".join(_SIMPLE[kind] for kind in kinds) if is_simple else None


_FORMATS = _Formats()


def join_rows(rows: list[list[Any]]) -> list[str]:
    """Return the words of rows with borders between them, each at once where it can be."""
    lines: list[str] = []
    shape: str | None = ""
    last: list[type] | None = None
    for row in rows:
        kinds = list(map(type, row))
        if kinds != last:  # as a rule a row is like the one before
            shape, last = _FORMATS[tuple(kinds)], kinds
        if shape:
            line = shape % tuple(row)
            lines.append(" | ".join(write_values(row)) if "e+" in line else line)
        elif shape is None:
            lines.append(" | ".join(write_values(row)))
        else:
            lines.append(" | ".join(row) if any(row) else "")
    return lines


def write_values(row: list[Any]) -> list[str]:
    """Return the words of a row's cells."""
    return [
        value
        if (kind := value.__class__) is str
        else "%.15g" % value  # noqa: UP031 - the fastest way
        if kind is float and -_LONG < value < _LONG
        else _shown(value)
        for value in row
    ]


def _shown(value: Any) -> str:
    """Return a value as a person would write it, dates by ISO 8601."""
    kind = value.__class__
    if kind is float:
        return str(int(value)) if _LONG <= abs(value) < _WHOLE else f"{value:.15g}"
    if kind is bool:
        return "TRUE" if value else "FALSE"
    if kind is datetime:
        return str(value.isoformat(" ", "seconds"))
    if kind is time:
        return str(value.isoformat("seconds"))
    if kind is date:
        return str(value.isoformat())
    return _duration(value) if kind is timedelta else str(value)


def _duration(value: timedelta) -> str:
    seconds = round(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
