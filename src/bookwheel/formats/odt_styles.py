"""Styles of an OpenDocument text: which paragraphs begin a page, which lists are numbered."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from lxml import etree

from bookwheel.formats.base import Unreadable
from bookwheel.formats.elements import local_name, value
from bookwheel.formats.package import parse_xml

_LEVEL = "list-level-style-"
_TITLE = "Title"


class Styles:
    """The styles of a document; those it shares with others are parsed when a list needs them."""

    def __init__(self, content: etree._Element, common: bytes) -> None:
        self._common = common
        self._lists: dict[str, etree._Element] = {}
        self._levels: dict[str, dict[int, bool]] = {}
        self.titles = {_TITLE}
        self.page_breaks: set[str] = set()
        for element in content.iterchildren("{*}automatic-styles"):
            self._read(element)

    @cached_property
    def common(self) -> etree._Element:
        """The part that holds the shared styles, and the headers and footers."""
        try:
            root = parse_xml(self._common)
        except Unreadable:
            return etree.Element("none")
        for element in root.iterchildren("{*}styles", "{*}automatic-styles"):
            self._read_lists(element)
        return root

    def is_numbered(self, name: str, level: int) -> bool:
        """Tell whether items on this level (from 1) of a list have numbers."""
        if name not in self._lists and self._common:
            _ = self.common
        if name not in self._levels:
            self._levels[name] = dict(_read_levels(self._lists.get(name)))
        return self._levels[name].get(level, False)

    def _read(self, styles: etree._Element) -> None:
        self._read_lists(styles)
        for style in styles.iterchildren("{*}style"):
            if value(style, "family") != "paragraph":
                continue
            name = value(style, "name")
            if value(style, "parent-style-name") == _TITLE:
                self.titles.add(name)
            if value(style, "master-page-name") or any(
                value(each, "break-before") == "page"
                for each in style.iterchildren("{*}paragraph-properties")
            ):
                self.page_breaks.add(name)

    def _read_lists(self, styles: etree._Element) -> None:
        for style in styles.iterchildren("{*}list-style"):
            self._lists.setdefault(value(style, "name"), style)


def _read_levels(style: etree._Element | None) -> Iterator[tuple[int, bool]]:
    """Yield the levels of a list, and whether each has numbers."""
    for element in style if style is not None else ():
        kind, level = local_name(element.tag), value(element, "level")
        if kind.startswith(_LEVEL) and level.isdecimal():
            # A level with no format shows no number.
            yield int(level), kind == _LEVEL + "number" and bool(value(element, "num-format"))
