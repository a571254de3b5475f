"""Lists of a Word file: whether an item has a bullet or a number, and which number it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from bookwheel.formats.elements import child_value, integer, value

_UNSHOWN = "none"
_LEVELS = 9


class _Level(NamedTuple):
    format: str
    start: int


_Levels = dict[int, _Level]


class Numbering:
    """The lists that a document may use, and how far each of them has been counted."""

    def __init__(self, root: etree._Element | None) -> None:
        self._lists: dict[str, tuple[str, _Levels]] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = {}
        if root is not None:
            self._read(root)

    def count(self, list_id: str, level: int) -> int | None:
        """Return the number of the next item, 0 for a bullet, None for what shows neither."""
        abstract, levels = self._lists.get(list_id, ("", {}))
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

    def _read(self, root: etree._Element) -> None:
        shapes: dict[str, _Levels] = {}
        by_style: dict[str, _Levels] = {}
        linked: dict[str, str] = {}
        for shape in root.iterchildren("{*}abstractNum"):
            key = value(shape, "abstractNumId")
            shapes[key] = levels = dict(_read_levels(shape))
            if style := child_value(shape, "styleLink"):
                by_style[style] = levels
            if style := child_value(shape, "numStyleLink"):
                linked[key] = style
        for each in root.iterchildren("{*}num"):
            key = child_value(each, "abstractNumId")
            levels = by_style.get(linked.get(key, ""), shapes.get(key, {}))
            list_id = value(each, "numId")
            self._lists[list_id] = key, {**levels, **dict(self._read_overrides(each, list_id))}

    def _read_overrides(
        self, element: etree._Element, list_id: str
    ) -> Iterator[tuple[int, _Level]]:
        for override in element.iterchildren("{*}lvlOverride"):
            level = integer(value(override, "ilvl"))
            if start := child_value(override, "startOverride"):
                self._restarts[list_id, level] = integer(start)
            yield from _read_levels(override)


def _read_levels(element: etree._Element) -> Iterator[tuple[int, _Level]]:
    for level in element.iterchildren("{*}lvl"):
        shown = child_value(level, "numFmt") or "decimal"
        start = integer(child_value(level, "start") or "1")
        yield integer(value(level, "ilvl")), _Level(shown, start)
