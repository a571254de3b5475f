"""Paragraphs of a Word document that hold nothing but text, found without a walk through them.

Most are such, and the XML library passes over what is of no interest many times faster than a
walk does, which sees each run and all that is said of its looks.
"""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from bookwheel.formats.elements import integer, local_name, value

_FORMATS = ("pStyle", "numPr", "outlineLvl", "pageBreakBefore")
_AROUND_OTHERS = ("drawing", "pict", "object", "pPrChange")
"""What may hold paragraphs of its own, or what a paragraph was before a revision."""
_MAX_TAGS = 1_000
_TEXT, _PARAGRAPH, _FORMAT, _TAB, _SPAN, _TABLE, _SPECIAL = range(7)


class Kinds(dict[object, int]):
    """What an element is, by its tag; those of special names make their paragraphs special."""

    def __init__(self, special: Iterable[str]) -> None:
        super().__init__()
        self._by_name = dict.fromkeys((*special, *_AROUND_OTHERS), _SPECIAL)
        self._by_name |= dict.fromkeys(_FORMATS, _FORMAT)
        self._by_name |= {"t": _TEXT, "p": _PARAGRAPH, "tab": _TAB, "gridSpan": _SPAN}
        self._by_name["tbl"] = _TABLE
        self.tags = tuple(f"{{*}}{name}" for name in self._by_name)

    def __missing__(self, tag: object) -> int:
        if len(self) >= _MAX_TAGS:
            self.clear()
        kind = self[tag] = self._by_name[local_name(tag)]
        return kind


class Plain:
    """What one pass has found, each by the element that it belongs to."""

    def __init__(self) -> None:
        self.texts: dict[etree._Element, str] = {}
        """The letters of paragraphs."""
        self.formats: dict[etree._Element, list[etree._Element]] = {}
        """The elements that say what a paragraph is, where there are any."""
        self.spans: dict[etree._Element, int] = {}
        """The columns of cells that span more than one."""

    def find(self, root: etree._Element, kinds: Kinds) -> None:
        """Find the paragraphs in which nothing special stands."""
        paragraph, letters, is_plain = root, [""], False
        for element in root.iter(*kinds.tags):
            kind = kinds[element.tag]
            if kind == _TEXT:
                if text := element.text:
                    letters.append(text)
            elif kind == _PARAGRAPH:
                if is_plain:
                    self.texts[paragraph] = "".join(letters)
                paragraph, is_plain = element, True
                letters.clear()
            elif kind == _TAB:
                if not element.keys():  # else a position for tabs
                    letters.append("\t")
            elif kind == _SPECIAL or not self._note(kind, element, paragraph):
                is_plain = False
        if is_plain:
            self.texts[paragraph] = "".join(letters)

    def _note(self, kind: int, element: etree._Element, paragraph: etree._Element) -> bool:
        """Note what is rare; False for a table within text, which makes its paragraph special."""
        if kind == _FORMAT:
            self.formats.setdefault(paragraph, []).append(element)
            return True
        parent = element.getparent()
        if kind == _SPAN:
            cell = parent.getparent() if parent is not None else None
            if cell is not None:
                self.spans[cell] = integer(value(element))
            return True
        return parent is None or local_name(parent.tag) not in ("r", "p")
