"""A stretch of text with paragraphs of its own: the document, a note, a header, a text box."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bookwheel.formats.fields import link_target
from bookwheel.formats.manuscript import (
    PAGE_BREAK,
    Block,
    Piece,
    Row,
    Table,
    turn_pages,
    whole_words,
    write_link,
)

_NUMBER = re.compile(r"\D?([0-9]{1,9})\W?")
_MAX_LINKS = 50
"""Links within links; more of them are never ended."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class Format(NamedTuple):
    """What holds for a paragraph."""

    level: int = 0
    """The level of a heading, from 1."""
    depth: int = 0
    in_table: bool = False
    breaks_page: bool = False


class Story:
    """The state of one stretch; `out` holds the letters of the paragraph that is open."""

    def __init__(self, page: int = 0) -> None:
        self.pieces: list[Piece] = []
        self.out: list[str] = []
        self.page = page
        self.label: str | None = None
        self.boxes: list[Piece] = []
        self._links: list[tuple[int, str]] = []
        self._rows: list[Row] = []
        self._cells: list[Sequence[Piece]] = []
        self._cell: list[Piece] = []

    def begin_link(self, instruction: str) -> None:
        """Say that the letters from here on are what a field shows."""
        target = link_target(instruction) if len(self._links) < _MAX_LINKS else ""
        self._links.append((len(self.out), target))

    def end_link(self) -> None:
        if self._links:
            self._settle(*self._links.pop())

    def end_paragraph(self, format: Format) -> None:
        if not format.in_table:
            self._end_table()
        self._write(format, self._cell if format.in_table else self.pieces)

    def end_cell(self, format: Format) -> None:
        self._write(format, self._cell)
        self._cells.append(self._cell)
        self._cell = []

    def end_row(self) -> None:
        if self._cells:
            self._rows.append(Row(self._cells, self.page))
            self._cells = []

    def end(self, format: Format) -> list[Piece]:
        """Return all there is."""
        self.end_paragraph(format)
        if self._cell:
            self._cells.append(self._cell)
            self._cell = []
        self.end_row()
        self._end_table()
        return self.pieces

    def _end_table(self) -> None:
        if self._rows:
            self.pieces.append(Table(self._rows))
            self._rows = []

    def _settle(self, start: int, target: str) -> None:
        if target:
            self.out[start:] = [write_link("".join(self.out[start:]), target)]

    def _write(self, format: Format, pieces: list[Piece]) -> None:
        links = self._links[:_MAX_LINKS]
        for start, target in reversed(links):
            self._settle(start, target)
        self._links[:_MAX_LINKS] = [(0, target) for _, target in links]
        text = _pair("".join(self.out))
        self.out.clear()
        if format.breaks_page and self.page and self.pieces:
            self.page += 1
        first, _, rest = text.partition(PAGE_BREAK)
        if first.strip() and rest.replace(PAGE_BREAK, "").strip():
            pieces.append(Block(whole_words(first).strip(), page=self.page))
            text = PAGE_BREAK + rest
        text, before, after = turn_pages(text)
        self.page += before if self.page else 0
        if text := whole_words(text).strip():
            pieces.append(self._block(text, format))
        self.page += after if self.page else 0
        pieces += self.boxes
        self.boxes = []

    def _block(self, text: str, format: Format) -> Block:
        label, self.label = self.label, None
        if label is None:
            return Block(text, format.level, page=self.page)
        number = _NUMBER.fullmatch(label.strip())
        return Block(text, format.level, format.depth, int(number[1]) if number else 0, self.page)


def _pair(text: str) -> str:
    """Return letters that were given as two halves as one each."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
