"""Paragraph styles of a Word file: which are headings, which are lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple
from xml.sax.saxutils import unescape

from bookwheel.formats.elements import OFF, source_text

BODY_TEXT = 9
"""The outline level of what is no heading."""
_MAX_BASES = 12
_NAME = re.compile(r"<(?:\w+:)?name\s[^<>]*?val=[\"']([^\"'>]*)")
_BASE = re.compile(r"<(?:\w+:)?basedOn\s[^<>]*?val=[\"']([^\"'>]*)")
_OUTLINE = re.compile(r"<(?:\w+:)?outlineLvl\s[^<>]*?val=[\"'](\d)")
_NUM_ID = re.compile(r"<(?:\w+:)?numId\s[^<>]*?val=[\"'](\d{1,9})")
_NUM_LEVEL = re.compile(r"<(?:\w+:)?ilvl\s[^<>]*?val=[\"'](\d)")
_BREAK = re.compile(r"pageBreakBefore(?:\s+\w+:val=[\"'](?:1|true|on)[\"'])?\s*/>")
_HIDDEN = re.compile(r"<(?:\w+:)?vanish(?:\s+\w+:val=[\"'](\w+)[\"'])?\s*/>")
_HEADING = re.compile(
    r"(?:heading|überschrift|berschrift|titre|titolo|t[íi]?tulo|kop|rubrik|overskrift|otsikko"
    r"|nag[łl]?[óo]?wek|nadpis|balk|заголовок|标题|標題|見出し|제목) ?([1-9])",
    re.I,
)
_TITLE = frozenset({"title", "titel", "titre", "titolo", "título", "ttulo"})
_LIST = re.compile(r"list (bullet|number)(?: ([2-5]))?", re.I)


class Style(NamedTuple):
    """What a style says of its paragraphs; None where the style it is based on decides."""

    level: int | None = None
    """The level of a heading from 1, 0 for what is none."""
    numbering: str | None = None
    """The list that its paragraphs belong to, by the id of its numbering."""
    numbering_level: int = 0
    is_bullet: bool = False
    depth: int = 0
    breaks_page: bool = False
    is_hidden: bool | None = None


class Styles:
    """Styles by their id, looked up when a paragraph names them.

    The part is not parsed: it is often larger than the document, and of its hundreds of styles
    a document uses ten. Of a long one the beginning is often enough.
    """

    def __init__(self, read_head: Callable[[], bytes], read_part: Callable[[], bytes]) -> None:
        self._read_head = read_head
        self._read_part = read_part
        self._known: dict[str, Style] = {}
        self._own: dict[str, tuple[Style, str | None]] = {}
        """What each style says itself, and the id of the one that it is based on."""

    @cached_property
    def _head(self) -> str:
        return source_text(self._read_head())

    @cached_property
    def _text(self) -> str:
        return source_text(self._read_part())

    @cached_property
    def _sources(self) -> dict[str, str]:
        return {
            unescape(source[1 : source.find(source[0], 1)]): source
            for source in self._text.split("styleId=")[1:]
            if source
        }

    def _find(self, style_id: str) -> str:
        """Return what is said of a style: of two with one id, the latter."""
        if not style_id.isalnum():  # a letter may be written otherwise
            return self._sources.get(style_id, "")
        source, is_whole = _find(self._head, style_id)
        if not is_whole:
            source, _ = _find(self._text, style_id)
        return source or self._sources.get(style_id, "")  # there may be another quote

    def __getitem__(self, style_id: str) -> Style:
        found = self._known.get(style_id)
        if found is None:
            found = self._known[style_id] = self._resolve(style_id)
        return found

    def _resolve(self, style_id: str) -> Style:
        found, base = self._read(style_id)
        for _ in range(_MAX_BASES):
            if base is None:
                break
            style, base = self._read(base)
            found = _inherit(found, style)
        return found

    def _read(self, style_id: str) -> tuple[Style, str | None]:
        own = self._own.get(style_id)
        if own is None:
            source = self._find(style_id)
            base = _BASE.search(source)
            own = _read(source, style_id), unescape(base[1]) if base else None
            self._own[style_id] = own
        return own


def _find(text: str, style_id: str) -> tuple[str, bool]:
    """Return what is said of a style, and whether the text goes on to the end of that."""
    at = text.rfind(f'styleId="{style_id}"')
    if at < 0:
        return "", False
    start = at + len("styleId=")
    end = text.find("styleId=", start)
    source = text[start:end] if end >= 0 else text[start:]
    return source, end >= 0 or "styles>" in source


def _read(source: str, style_id: str) -> Style:
    named = _NAME.search(source)
    name = unescape(named[1]) if named else style_id
    listed = _LIST.fullmatch(name)
    is_numbered = "numPr" in source
    number = _NUM_ID.search(source) if is_numbered else None
    level = _NUM_LEVEL.search(source) if is_numbered else None
    return Style(
        level=_level(source, name),
        numbering=number[1] if number else None,
        numbering_level=int(level[1]) if level else 0,
        is_bullet=listed is not None and listed[1].lower() == "bullet",
        depth=int(listed[2] or 1) - 1 if listed else 0,
        breaks_page="pageBreakBefore" in source and _BREAK.search(source) is not None,
        is_hidden=_is_hidden(source) if "vanish" in source else None,
    )


def _is_hidden(source: str) -> bool | None:
    found = _HIDDEN.search(source)
    return found[1] not in OFF if found else None


def _level(source: str, name: str) -> int | None:
    outline = _OUTLINE.search(source) if "outlineLvl" in source else None
    if outline:
        return (int(outline[1]) + 1) % (BODY_TEXT + 1)
    return level_by_name(name)


def level_by_name(name: str) -> int | None:
    """Return the level of a heading or title whose style has a name that programs give it."""
    heading = _HEADING.fullmatch(name)
    if heading:
        return int(heading[1])
    return 1 if name.lower() in _TITLE else None


def _inherit(style: Style, base: Style) -> Style:
    numbered = style if style.numbering is not None else base
    return Style(
        level=base.level if style.level is None else style.level,
        numbering=numbered.numbering,
        numbering_level=numbered.numbering_level,
        is_bullet=style.is_bullet or base.is_bullet,
        depth=style.depth or base.depth,
        breaks_page=style.breaks_page or base.breaks_page,
        is_hidden=base.is_hidden if style.is_hidden is None else style.is_hidden,
    )
