"""Tables of a web page: those that only place things unfold, the others get rows of one length.

A table with rows of many lengths or spanning cells would be left in HTML, tags and all.
"""

from __future__ import annotations

from turbohtml import Document, Element

_LAYOUT = "table[role=presentation i], table:has(table, h1, h2, h3)"
_ROWS = frozenset({"thead", "tbody", "tfoot", "tr"})
_CELLS = frozenset({"td", "th"})
_MAX_LAYOUT = 1_000
_MAX_WIDTH = 100
_MAX_HEIGHT = 10_000
_MAX_BLANK = 500_000
"""Blank cells that a page gets."""


def unfold_layout(document: Document) -> None:
    """Turn tables that only place things on the page into plain blocks."""
    for table in document.select(_LAYOUT)[:_MAX_LAYOUT]:
        _unfold(table)


def simplify_tables(document: Document) -> None:
    """Unfold tables of one row or column, and make the rows of others equal."""
    spans = _take_spans(document)
    room = _MAX_BLANK
    for table in document.select("table"):
        rows = _rows(table)
        width = max((len(elements(row)) for row in rows), default=0)
        if len(rows) < 2 or width < 2:
            _unfold(table)
            continue
        if spans:
            room -= _fill_spans(rows, spans, room)
        lengths = [len(elements(row)) for row in rows]
        width = max(lengths)
        blank = width * len(rows) - sum(lengths)
        if blank and (width > _MAX_WIDTH or blank > room):
            _unfold(table)
            continue
        room -= blank
        for row, length in zip(rows, lengths, strict=True):
            for _ in range(width - length):
                row.append(Element("td"))


def elements(parent: Element) -> list[Element]:
    """Return the children that are elements."""
    return [child for child in parent.children if isinstance(child, Element)]


def _unfold(table: Element) -> None:
    parts = elements(table)
    table.tag = "div"
    while parts:
        part = parts.pop()
        if part.tag in _ROWS:
            parts += elements(part)
        if part.tag in _ROWS or part.tag in _CELLS:
            part.tag = "div"


def _rows(table: Element) -> list[Element]:
    """Return the rows of a table without those of tables in its cells."""
    found: list[Element] = []
    for part in elements(table):
        if part.tag in _ROWS:
            found += [part] if part.tag == "tr" else elements(part)
    return [row for row in found if row.tag == "tr"]


def _take_spans(document: Document) -> dict[Element, tuple[int, int]]:
    """Return how many columns and rows cells span, which they no longer do."""
    found: dict[Element, tuple[int, int]] = {}
    for cell in document.select("[colspan], [rowspan]"):
        wide, high = _number(cell, "colspan"), _number(cell, "rowspan")
        if wide > 1 or high > 1:
            found[cell] = min(wide, _MAX_WIDTH), min(high, _MAX_HEIGHT)
        for name in ("colspan", "rowspan"):
            cell.attrs.pop(name, None)
    return found


def _number(cell: Element, name: str) -> int:
    value = (cell.attr(name) or "").strip()
    return int(value) if value.isdecimal() and len(value) < 6 else 1


def _fill_spans(rows: list[Element], spans: dict[Element, tuple[int, int]], room: int) -> int:
    """Put blank cells where others reach, so that the columns stay; return how many."""
    filled = 0
    below: dict[int, int] = {}
    for row in rows:
        column = 0
        for cell in elements(row):
            while below.get(column, 0) > 0 and filled < room:
                below[column] -= 1
                cell.insert_before(Element("td"))
                column, filled = column + 1, filled + 1
            wide, high = spans.get(cell, (1, 1))
            for _ in range(wide - 1 if filled < room else 0):
                cell.insert_after(Element("td"))
                filled += 1
            if high > 1 or below:
                below.update(dict.fromkeys(range(column, column + wide), high - 1))
            column += wide
        below = {at: left - (at >= column) for at, left in below.items() if left}
    return filled
