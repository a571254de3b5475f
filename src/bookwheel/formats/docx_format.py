"""The format of Word paragraphs: headings, items of lists and what begins a new page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from lxml import etree

from bookwheel.formats.docx_numbering import Numbering
from bookwheel.formats.docx_styles import BODY_TEXT, Style, Styles
from bookwheel.formats.elements import OFF, LocalNames, integer, value

_NO_STYLE = Style()


class Format(NamedTuple):
    """What a paragraph is."""

    level: int = 0
    """The level of a heading, from 1."""
    depth: int = -1
    """How deep an item of a list lies, from 0."""
    number: int = 0
    breaks_page: bool = False
    is_hidden: bool = False
    label: str = ""
    """The number of a heading as it is shown: `1.2`."""


PLAIN = Format()


class Formats:
    """Reads what a paragraph is from its properties, its style and the document's lists."""

    def __init__(self, styles: Styles, read_numbering: Callable[[], Numbering]) -> None:
        self._styles = styles
        self._read_numbering = read_numbering
        self._numbering: Numbering | None = None
        self._names = LocalNames()

    def restart(self) -> None:
        """Count the items of lists from the beginning."""
        self._numbering = None

    def read(self, properties: Iterable[etree._Element], *, is_shown: bool = False) -> Format:
        """Return the format of a paragraph with these properties; one may be shown in any case."""
        style, numbered = _NO_STYLE, None
        outline, breaks_page = "", ""
        for child in properties:
            name = self._names[child.tag]
            if name == "pStyle":
                style = self._styles[value(child)]
            elif name == "numPr":
                numbered = child
            elif name == "outlineLvl":
                outline = value(child)
            elif name == "pageBreakBefore":
                breaks_page = value(child) or "1"
        if style is _NO_STYLE and numbered is None and not outline and not breaks_page:
            return PLAIN
        level = (integer(outline) + 1) % (BODY_TEXT + 1) if outline else style.level or 0
        breaks = breaks_page not in OFF if breaks_page else style.breaks_page
        if style.is_hidden and not is_shown:
            return Format(breaks_page=breaks, is_hidden=True)
        list_id, list_level = self._find_list(style, numbered)
        if level:
            label = self._lists.label(list_id, list_level) if list_id else ""
            return Format(level, breaks_page=breaks, label=label)
        depth, number = self._item(style, list_id, list_level)
        return Format(level, depth, number, breaks)

    def _find_list(self, style: Style, numbered: etree._Element | None) -> tuple[str, int]:
        """Return the list to which a paragraph belongs, and at which level."""
        list_id, level = style.numbering or "", style.numbering_level
        for child in numbered if numbered is not None else ():
            name = self._names[child.tag]
            if name == "numId":
                list_id = value(child) or list_id
            elif name == "ilvl":
                level = integer(value(child) or str(level))
        return list_id, level

    @property
    def _lists(self) -> Numbering:
        if self._numbering is None:
            self._numbering = self._read_numbering()
        return self._numbering

    def _item(self, style: Style, list_id: str, level: int) -> tuple[int, int]:
        """Return depth and number of an item of a list."""
        if not list_id:
            return (style.depth, 0) if style.is_bullet else (-1, 0)
        number = self._lists.count(list_id, level)
        if number is None:
            return (style.depth, 0) if style.is_bullet and list_id != "0" else (-1, 0)
        return max(level, style.depth), number
