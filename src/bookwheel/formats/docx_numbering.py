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

_UNSHOWN = "none"
_CHILD = re.compile(r"<(?:\w+:)?(abstractNum|num)\s([^<>]*)>")
_ATTRIBUTE = re.compile(r"(?:^|[\s:])(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LEVEL = re.compile(r"<(?:\w+:)?lvl\s([^<>]*)>")
_OVERRIDE = re.compile(r"<(?:\w+:)?lvlOverride\s([^<>]*)>")
_VALUES = {
    name: re.compile(rf"<(?:\w+:)?{name}\s([^<>]*)>")
    for name in ("abstractNumId", "numFmt", "numStyleLink", "start", "startOverride", "styleLink")
}


class _Level(NamedTuple):
    format: str
    start: int


_Levels = dict[int, _Level]


class Numbering:
    """The lists that a document may use, and how far each of them has been counted."""

    def __init__(self, text: str) -> None:
        self._shapes: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._lists: dict[str, tuple[str, _Levels]] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = {}
        for child, source in _split(_CHILD, text):
            if child[1] == "num":
                self._sources[_attribute(child[2], "numId")] = source
            else:
                self._shapes[_attribute(child[2], "abstractNumId")] = source

    def count(self, list_id: str, level: int) -> int | None:
        """Return the number of the next item, 0 for a bullet, None for what shows neither."""
        if list_id not in self._lists:
            self._lists[list_id] = self._read(list_id)
        abstract, levels = self._lists[list_id]
        shape = levels.get(level)
        if shape is None or shape.format == _UNSHOWN:
            return None
        if shape.format == "bullet":
            return 0
        counts = self._counts.setdefault(abstract, {})
        restart = self._restarts.pop((list_id, level), None)
        number = restart if restart is not None else counts.get(level, shape.start - 1) + 1
        counts[level] = number
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        return max(1, number)

    def _read(self, list_id: str) -> tuple[str, _Levels]:
        """Return what a list is counted with, and its levels."""
        source = self._sources.get(list_id)
        if source is None:
            return "", {}
        key = _value(source, "abstractNumId")
        levels = dict(_read_levels(self._find_shape(key)))
        for override, inner in _split(_OVERRIDE, source):
            level = integer(_attribute(override[1], "ilvl"))
            if start := _value(inner, "startOverride"):
                self._restarts[list_id, level] = integer(start)
            levels |= dict(_read_levels(inner))
        return key, levels

    def _find_shape(self, key: str) -> str:
        """Return what describes a list, which may do so by way of a style."""
        shape = self._shapes.get(key, "")
        style = _value(shape, "numStyleLink")
        linked = (each for each in self._shapes.values() if _value(each, "styleLink") == style)
        return next(linked, shape) if style else shape


def _read_levels(source: str) -> Iterator[tuple[int, _Level]]:
    for level, inner in _split(_LEVEL, source):
        shown = _value(inner, "numFmt") or "decimal"
        start = integer(_value(inner, "start") or "1")
        yield integer(_attribute(level[1], "ilvl")), _Level(shown, start)


def _split(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield elements that are not within each other, each with what follows its tag."""
    found = list(pattern.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    for each, end in zip(found, ends, strict=False):
        yield each, text[each.end() : end]


def _value(source: str, name: str) -> str:
    found = _VALUES[name].search(source)
    return _attribute(found[1], "val") if found else ""


def _attribute(tag: str, name: str) -> str:
    for key, one, two in _ATTRIBUTE.findall(tag):
        if key == name:
            return unescape(one or two)
    return ""
