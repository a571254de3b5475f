"""One walk over the XML of an OpenDocument text: paragraphs, lists, tables, notes, page breaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lxml import etree

from bookwheel.formats.elements import Handler, Handlers, integer, local_name, value
from bookwheel.formats.manuscript import (
    MAX_COLUMNS,
    PAGE_BREAK,
    Block,
    Piece,
    Row,
    Table,
    flatten,
    turn_pages,
    whole_words,
    write_link,
)
from bookwheel.formats.odt_styles import Styles

_MAX_SPACES = 100
_SPACES = re.compile(r"[ \t\n]{2,}|[\t\n]")
_SKIPPED = frozenset(
    {
        "tracked-changes",
        "sequence-decls",
        "variable-decls",
        "user-field-decls",
        "forms",
        "event-listeners",
        "ruby-text",
        "binary-data",
        "note-citation",
        "dde-connection-decls",
        "alphabetical-index-mark",
    }
)


class _List:
    """A list that is open: its style, how deep it lies and how far it is counted."""

    __slots__ = ("depth", "is_new_item", "number", "style")

    def __init__(self, style: str, depth: int) -> None:
        self.style = style
        self.depth = depth
        self.number = 0
        self.is_new_item = False


class Walk:
    """The state of one walk; what it finds goes to its sink piece by piece."""

    def __init__(
        self, styles: Styles, sink: Callable[[Piece], None], read_object: Callable[[str], str]
    ) -> None:
        self.styles = styles
        self.sink = sink
        self.read_object = read_object
        self.footnotes: list[str] = []
        self.endnotes: list[str] = []
        self.comments: list[str] = []
        self.page = 1
        self.out: list[str] = []
        self.boxes: list[etree._Element] = []
        self.lists: list[_List] = []
        self.counted: dict[tuple[str, int], int] = {}
        self.rows: list[Row] = []
        self.cells: list[Sequence[Piece]] = []
        self.row_start = 1
        self.in_paragraph = False
        self.has_begun = False
        self._kinds = Handlers(self._handlers(), self._other)

    def _handlers(self) -> dict[str, Handler]:
        return {
            "p": self.paragraph,
            "h": self.paragraph,
            "list": self.open_list,
            "list-item": self.list_item,
            "table": self.table,
            "table-row": self.row,
            "table-cell": self.cell,
            "covered-table-cell": self.cell,
            "text-box": self.text_box,
            "a": self.link,
            "s": self.spaces,
            "tab": lambda _: self.out.append("\t"),
            "line-break": lambda _: self.out.append("\n"),
            "soft-page-break": self.page_break,
            "note": self.note,
            "annotation": self.comment,
            "title": self.alternative,
            "desc": self.alternative,
            "object": self.embedded,
            "object-ole": self.embedded,
        }

    def _other(self, name: str) -> Handler | None:
        return None if name in _SKIPPED or name.endswith("-source") else self.enter

    def enter(self, element: etree._Element) -> None:
        """Walk over the text and the children of an element."""
        kinds, writes = self._kinds, self.in_paragraph
        if writes and element.text:
            self.write(element.text)
        for child in element:
            handler = kinds[child.tag]
            if handler is not None:
                handler(child)
            if writes and child.tail:
                self.write(child.tail)

    def embedded(self, element: etree._Element) -> None:
        """Write the words of what another program shows within the text."""
        if words := self.read_object(value(element, "href")):
            self.out.append(f" {words} ")

    def write(self, text: str) -> None:
        self.out.append(_SPACES.sub(" ", text))

    def paragraph(self, element: etree._Element) -> None:
        if self.in_paragraph:
            self.boxes.append(element)
            return
        style = value(element, "style-name")
        if style in self.styles.page_breaks and self.has_begun:
            self.page += 1
        self.in_paragraph = True
        self.enter(element)
        self.in_paragraph = False
        text = "".join(self.out)
        self.out.clear()
        self.finish_paragraph(text, self.level(element, style))
        boxes, self.boxes = self.boxes, []
        for box in boxes:
            handler = self._kinds[box.tag]
            if handler is not None:
                handler(box)

    def level(self, element: etree._Element, style: str) -> int:
        if local_name(element.tag) == "h":
            return max(1, integer(value(element, "outline-level") or "1"))
        return 1 if style in self.styles.titles else 0

    def finish_paragraph(self, text: str, level: int) -> None:
        text, before, after = turn_pages(text)
        self.page += before
        text = whole_words(text).strip()
        if text:
            depth, number = self.item()
            self.sink(Block(text, level, depth, number, self.page))
            self.has_begun = True
        self.page += after

    def item(self) -> tuple[int, int]:
        """Return depth and number of the item that begins here, if one does."""
        if not self.lists or not self.lists[-1].is_new_item:
            return -1, 0
        current = self.lists[-1]
        current.is_new_item = False
        if not self.styles.is_numbered(current.style, current.depth + 1):
            return current.depth, 0
        current.number += 1
        return current.depth, current.number

    def open_list(self, element: etree._Element) -> None:
        if self.in_paragraph:
            self.boxes.append(element)
            return
        outer = self.lists[-1].style if self.lists else ""
        current = _List(value(element, "style-name") or outer, len(self.lists))
        key = current.style, current.depth
        if value(element, "continue-numbering") == "true" or value(element, "continue-list"):
            current.number = self.counted.get(key, 0)
        self.lists.append(current)
        self.enter(element)
        self.lists.pop()
        self.counted[key] = current.number

    def list_item(self, element: etree._Element) -> None:
        if self.lists:
            self.lists[-1].is_new_item = True
            start = integer(value(element, "start-value"))
            self.lists[-1].number = start - 1 if start else self.lists[-1].number
        self.enter(element)

    def text_box(self, element: etree._Element) -> None:
        """Keep a text box for after the paragraph that it is anchored to."""
        if self.in_paragraph:
            self.boxes.append(element)
        else:
            self.enter(element)

    def link(self, element: etree._Element) -> None:
        start = len(self.out)
        self.enter(element)
        if target := value(element, "href"):
            self.out[start:] = [write_link("".join(self.out[start:]), target)]

    def spaces(self, element: etree._Element) -> None:
        self.out.append(" " * min(max(1, integer(value(element, "c"))), _MAX_SPACES))

    def page_break(self, _: etree._Element) -> None:
        if self.in_paragraph:
            self.out.append(PAGE_BREAK)
        else:
            self.page += 1

    def alternative(self, element: etree._Element) -> None:
        """Write what a picture is said to show."""
        if self.in_paragraph and element.text:
            self.out.append(f" {element.text} ")

    def note(self, element: etree._Element) -> None:
        is_endnote = value(element, "note-class") == "endnote"
        notes = self.endnotes if is_endnote else self.footnotes
        mark = f"[^{'e' if is_endnote else ''}{len(notes) + 1}]"
        self.out.append(mark)
        notes.append(f"{mark} {self.apart(element)}")

    def comment(self, element: etree._Element) -> None:
        authors = [each.text for each in element.iterchildren("{*}creator") if each.text]
        if text := self.apart(element, skipped=("creator", "date", "creator-initials")):
            self.comments.append(f"{authors[0]}: {text}" if authors else text)

    def apart(self, element: etree._Element, skipped: tuple[str, ...] = ()) -> str:
        """Return the text of what stands within a paragraph but does not belong to it."""
        pieces: list[Piece] = []
        walk = Walk(self.styles, pieces.append, self.read_object)
        for child in element:
            handler = walk._kinds[child.tag]
            if handler is not None and local_name(child.tag) not in skipped:
                handler(child)
        return flatten(pieces)

    def table(self, element: etree._Element) -> None:
        if self.in_paragraph:
            self.boxes.append(element)
            return
        outer = self.sink, self.rows, self.cells, self.lists
        self.rows, self.lists = [], []
        self.enter(element)
        rows = self.rows
        self.sink, self.rows, self.cells, self.lists = outer
        if rows:
            self.sink(Table(rows))

    def row(self, element: etree._Element) -> None:
        outer = self.cells, self.row_start
        cells: list[Sequence[Piece]] = []
        self.cells, self.row_start = cells, self.page
        page = self.page
        self.enter(element)
        self.cells, self.row_start = outer
        if any(cells):  # one that is repeated is written once: more of the same helps nobody
            self.rows.append(Row(cells, page))

    def cell(self, element: etree._Element) -> None:
        cells, latest = self.cells, self.page
        pieces: list[Piece] = []
        # A row on two pages holds the break in each of its cells, and is turned only once.
        self.sink, self.page = pieces.append, self.row_start
        self.enter(element)
        self.page = max(latest, self.page)
        repeated = integer(value(element, "number-columns-repeated"))
        cells.append(pieces)
        cells += [()] * (min(repeated, MAX_COLUMNS - len(cells) + 1) - 1)
