"""What stands beside the cells of an OpenDocument sheet: links and comments.

Its XML is walked through only where it has any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from lxml import etree

from bookwheel.formats.base import Unreadable
from bookwheel.formats.elements import integer, local_name, value
from bookwheel.formats.grid import Extras, Marks
from bookwheel.formats.package import Package, refuse_doctype
from bookwheel.formats.xlsx_parts import MAX_LINKED, MAX_NOTES, column_name, write_note

_MARKS = (b"<office:annotation", b"<text:a ")
_CELLS = frozenset({"table-cell", "covered-table-cell"})
_SPACES = frozenset({"s", "tab", "line-break"})


class _Words(NamedTuple):
    """What one sheet says beside its cells."""

    links: Marks
    notes: list[str]


class OpenWorkbook:
    """The links and comments of an OpenDocument file by the names of their sheets."""

    def __init__(self, package: Package) -> None:
        self._sheets: dict[str, _Words] = {}
        self._links = self._notes = 0
        content = package.read("content.xml")
        if any(mark in content for mark in _MARKS):
            try:
                refuse_doctype(content)
                self._walk(content)
            except (Unreadable, etree.XMLSyntaxError):  # that does not keep the cells out
                return

    def read_sheet(self, index: int, name: str) -> Extras:
        """Return what is beside the cells of a sheet."""
        sheet = self._sheets.get(name)
        return Extras(links=sheet.links) if sheet else Extras()

    def read_blocks(self, index: int, name: str) -> Iterator[str]:
        """Yield the comments of a sheet as Markdown."""
        sheet = self._sheets.get(name)
        if sheet and sheet.notes:
            yield "Comments:\n\n" + "\n".join(sheet.notes)

    def _walk(self, content: bytes) -> None:
        sheet, number = _Words({}, []), 0
        tags = ("{*}table", "{*}table-row")
        walk = etree.iterparse(
            BytesIO(content),
            events=("start", "end"),
            tag=tags,
            resolve_entities=False,
            no_network=True,
        )
        for event, element in walk:
            if local_name(element.tag) == "table":
                if event == "start":
                    sheet, number = _Words({}, []), 0
                    self._sheets[value(element, "name")] = sheet
            elif event == "end":
                self._read_row(sheet, number, element)
                number += integer(value(element, "number-rows-repeated")) or 1
                element.clear(keep_tail=True)

    def _read_row(self, sheet: _Words, number: int, row: etree._Element) -> None:
        at = 0
        for cell in row:
            if local_name(cell.tag) in _CELLS:
                if len(cell):
                    self._read_cell(sheet, number, at, cell)
                at += integer(value(cell, "number-columns-repeated")) or 1

    def _read_cell(self, sheet: _Words, number: int, at: int, cell: etree._Element) -> None:
        for anchor in cell.iterfind("{*}p//{*}a"):
            target = value(anchor, "href")
            if target and not target.startswith("#") and self._links < MAX_LINKED:
                self._links += 1
                sheet.links.setdefault(number, {}).setdefault(at, target)
        for note in cell.iterfind("{*}annotation"):
            words = " ".join(" ".join(map(_text, note.iterfind(".//{*}p"))).split())
            if words and self._notes < MAX_NOTES:
                self._notes += 1
                author = " ".join(note.findtext("{*}creator", "").split())
                sheet.notes.append(write_note(f"{column_name(at)}{number + 1}", author, words))


def _text(paragraph: etree._Element) -> str:
    pieces: list[str] = []
    for event, element in etree.iterwalk(paragraph, events=("start", "end")):
        if event == "start":
            pieces.append(" " if local_name(element.tag) in _SPACES else element.text or "")
        elif element is not paragraph:
            pieces.append(element.tail or "")
    return "".join(pieces)
