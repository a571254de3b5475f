"""Lists of a Word file: whether an item has a bullet or a number, and which number it is.

The part is not parsed: it describes nine levels of each of dozens of lists, of which a document
uses a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import unescape

from bookwheel.formats.elements import integer
from bookwheel.formats.numerals import write_number

_UNSHOWN = "none"
_LONGEST_TEXT = 60
_LEVEL = re.compile(r"<(?:\w+:)?lvl\s[^<>]*?\bilvl=[\"'](\d{1,9})")
_OVERRIDE = re.compile(r"<(?:\w+:)?lvlOverride\s[^<>]*?\bilvl=[\"'](\d{1,9})")
_VALUES = {
    name: re.compile(rf"<(?:\w+:)?{name}\s[^<>]*?\bval=[\"']([^\"'>]*)")
    for name in (
        *("abstractNumId", "lvlText", "numFmt", "numStyleLink", "start", "startOverride"),
        "styleLink",
    )
}
_IS_LEGAL = re.compile(r"<(?:\w+:)?isLgl\s*(?:\w+:val=[\"'](?:1|true|on)[\"'])?\s*/>")
_PLACE = re.compile(r"%([1-9])")
_SHAPE = re.compile(r"<(?:\w+:)?abstractNum\s.*?abstractNum>", re.S)


class _Level(NamedTuple):
    format: str
    start: int
    text: str = ""
    """How its number is written: `%1.%2` for those of two levels."""
    is_legal: bool = False
    """Numbers of other levels are written in digits here."""


class _List(NamedTuple):
    """A list of the document: what it is counted with, and its levels."""

    key: str
    shape: str
    levels: dict[int, _Level | None]
    """Those that are known so far; None where there is none."""

    def find_level(self, level: int) -> _Level | None:
        if level not in self.levels:
            self.levels[level] = _read_level(self.shape, level)
        return self.levels[level]


class Numbering:
    """The lists that a document may use, and how far each of them has been counted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lists: dict[str, _List] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = {}

    def count(self, list_id: str, level: int) -> int | None:
        """Return the number of the next item, 0 for a bullet, None for what shows neither."""
        found = self._find_list(list_id)
        shape = found.find_level(level)
        if shape is None or shape.format == _UNSHOWN:
            return None
        if shape.format == "bullet":
            return 0
        counts = self._counts.setdefault(found.key, {})
        restart = self._restarts.pop((list_id, level), None)
        number = restart if restart is not None else counts.get(level, shape.start - 1) + 1
        counts[level] = number
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        return max(1, number)

    def label(self, list_id: str, level: int) -> str:
        """Count the next item and return its number as it is shown: `1.2`, `IV.`, `Article 3`."""
        found = self._find_list(list_id)
        shape = found.find_level(level)
        if shape is None or not self.count(list_id, level):
            return ""
        counts = self._counts[found.key]

        def write(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            other = found.find_level(at) or shape
            return write_number(
                counts.get(at, other.start), "decimal" if shape.is_legal else other.format
            )

        return " ".join(_PLACE.sub(write, shape.text).split())

    def _find_list(self, list_id: str) -> _List:
        found = self._lists.get(list_id)
        if found is None:
            found = self._lists[list_id] = self._read(list_id)
        return found

    def _read(self, list_id: str) -> _List:
        """Return what is said of a list, with the levels in which it differs from its shape."""
        source = self._find("num", "numId=", list_id)
        key = _value(source, "abstractNumId")
        levels: dict[int, _Level | None] = {}
        for override in _split(_OVERRIDE, source) if "lvlOverride" in source else ():
            level, inner = override
            if start := _value(inner, "startOverride"):
                self._restarts[list_id, level] = integer(start)
            levels |= {each: _describe(words) for each, words in _split(_LEVEL, inner)}
        return _List(key, self._find_shape(key) if key else "", levels)

    def _find_shape(self, key: str) -> str:
        """Return what describes a list, which may do so by way of a style."""
        shape = self._find("abstractNum", "abstractNumId=", key)
        style = _value(shape, "numStyleLink")
        shapes = _SHAPE.finditer(self._text) if style else ()
        linked = (each[0] for each in shapes if _value(each[0], "styleLink") == style)
        return next(linked, shape)

    def _find(self, name: str, attribute: str, key: str) -> str:
        """Return the element of this name and attribute: of two the latter."""
        at = max(self._text.rfind(f"{attribute}{quote}{key}{quote}") for quote in "\"'")
        if at < 0 or not re.match(
            rf"<(?:\w+:)?{name}\s", self._text[self._text.rfind("<", 0, at) : at]
        ):
            return ""
        end = self._text.find(f"{name}>", at)
        return self._text[at:end] if end >= 0 else self._text[at:]


def _read_level(shape: str, level: int) -> _Level | None:
    """Return a level of a list: of two the latter."""
    found = [words for each, words in _split(_LEVEL, shape) if each == level]
    return _describe(found[-1]) if found else None


def _describe(words: str) -> _Level:
    return _Level(
        _value(words, "numFmt") or "decimal",
        integer(_value(words, "start") or "1"),
        unescape(_value(words, "lvlText"))[:_LONGEST_TEXT],
        "isLgl" in words and _IS_LEGAL.search(words) is not None,
    )


def _split(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """Yield the levels of elements that are not within each other, and what follows each."""
    found = list(pattern.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    for each, end in zip(found, ends, strict=False):
        yield int(each[1]), text[each.end() : end]


def _value(source: str, name: str) -> str:
    found = _VALUES[name].search(source)
    return found[1] if found else ""
