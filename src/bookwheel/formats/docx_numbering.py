"""Lists of a Word file: whether an item has a bullet or a number, and which number it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from bookwheel.formats.elements import child_value, integer, local_name, value

_UNSHOWN = "none"


class _Level(NamedTuple):
    format: str
    start: int


_Levels = dict[int, _Level]


class Numbering:
    """The lists that a document may use, and how far each of them has been counted."""

    def __init__(self, root: etree._Element | None) -> None:
        self._shapes: dict[str, etree._Element] = {}
        self._elements: dict[str, etree._Element] = {}
        self._lists: dict[str, tuple[str, _Levels]] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = {}
        for element in root if root is not None else ():
            name = local_name(element.tag)
            if name == "abstractNum":
                self._shapes[value(element, "abstractNumId")] = element
            elif name == "num":
                self._elements[value(element, "numId")] = element

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
        element = self._elements.get(list_id)
        if element is None:
            return "", {}
        key = child_value(element, "abstractNumId")
        levels = dict(_read_levels(self._find_shape(key)))
        for override in element.iterchildren("{*}lvlOverride"):
            level = integer(value(override, "ilvl"))
            if start := child_value(override, "startOverride"):
                self._restarts[list_id, level] = integer(start)
            levels |= dict(_read_levels(override))
        return key, levels

    def _find_shape(self, key: str) -> etree._Element | None:
        """Return what describes a list, which may do so by way of a style."""
        shape = self._shapes.get(key)
        style = child_value(shape, "numStyleLink") if shape is not None else ""
        linked = (each for each in self._shapes.values() if child_value(each, "styleLink") == style)
        return next(linked, shape) if style else shape


def _read_levels(element: etree._Element | None) -> Iterator[tuple[int, _Level]]:
    for level in element.iterchildren("{*}lvl") if element is not None else ():
        shown = child_value(level, "numFmt") or "decimal"
        start = integer(child_value(level, "start") or "1")
        yield integer(value(level, "ilvl")), _Level(shown, start)
