"""Rows of a sheet or a text table as a Markdown table whose lines point back to their rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from bookwheel.formats.base import (
    MAX_LINKS,
    require_length,
    shorten_description,
    shorten_title,
    title_from_path,
)
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.composing import About, Composer, cell, place_sections, table_row
from bookwheel.formats.decoding import clean
from bookwheel.formats.links import MAX_CONTEXT, find_references, has_doi, sentence_around
from bookwheel.model import Link, Parsed, Section

MAX_TEXT = 5_000_000
"""Characters of all tables of a document; the rows beyond are counted and left out."""
MAX_COLUMNS = 1_000
_MAX_LINKED_LINES = 20_000
_MAX_RUNS, _MAX_GAP = 10_000, 20
"""After so many runs a small gap of empty rows is shown, since each run is a place to keep."""
_CHUNK = 64
"""Rows that are looked at together: one that needs care makes the others be looked at alone."""
_BORDER = re.compile(r"(?<!\\)(?:\\\\)*\|")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_V = TypeVar("_V")
_LINK_MARKS = ("://", "](", "www.", "[[")


Marks = dict[int, dict[int, str]]
"""Words by row and column, both from 0."""


class Extras(NamedTuple):
    """What a sheet has beside the values of its cells."""

    area: int
    """Cells of the rectangle around all cells, where it may be large."""
    links: Marks
    errors: Marks


class Grid:
    """The rows of one table as they are gathered: lines of Markdown in runs without a gap."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.runs: list[tuple[int, list[str]]] = []
        self.width = 0
        self.columns_left = 0
        self.rows_left = 0

    def gather(
        self,
        rows: Iterable[tuple[int, list[_V]]],
        join: Callable[[list[_V]], str],
        words: Callable[[list[_V]], list[str]],
    ) -> None:
        """Take in numbered rows; those without a word are passed over.

        `join` writes the words of a row with ` | ` between them.
        """
        following = -_MAX_GAP
        lines: list[str] = []
        every = iter(rows)
        while chunk := list(islice(every, _CHUNK)):
            joined = [join(cells) for _, cells in chunk]
            plain = _are_plain(joined, [len(cells) for _, cells in chunk])
            for (number, cells), line in zip(chunk, joined, strict=True):
                if plain or _is_plain(line, len(cells)):
                    line = line.rstrip(" |")
                    width = line.count("|") + 1 if self.width < len(cells) else 0
                else:
                    line, width = self._escape(words(cells))
                if not line:
                    continue
                if self.room <= 0:
                    self.rows_left += 1
                    continue
                if width > self.width:
                    self.width = width
                if number != following:
                    gap = number - following
                    if len(self.runs) < _MAX_RUNS or gap > _MAX_GAP:
                        lines = []
                        self.runs.append((number, lines))
                    else:
                        lines += ["| |"] * gap
                lines.append(f"| {line} |")
                following = number + 1
                self.room -= len(line)

    def _escape(self, cells: list[str]) -> tuple[str, int]:
        """Return a row that needs care as a line of a table, and its width."""
        shown = [
            text if not text or text.isalnum() else cell(text.replace("\0", ""))
            for text in cells[:MAX_COLUMNS]
        ]
        while shown and not shown[-1]:
            shown.pop()
        width = len(cells)
        while width > MAX_COLUMNS and not cells[width - 1]:
            width -= 1
        self.columns_left = max(self.columns_left, width - MAX_COLUMNS)
        return " | ".join(shown), len(shown)

    @property
    def head(self) -> str:
        """Return the first line, which names the columns."""
        return self.runs[0][1][0] if self.runs else ""

    def add_to(self, composer: Composer, label: str) -> None:
        """Add the table to a document, each line with its row, then what was left out."""
        if self.runs:
            first, lines = self.runs[0]
            composer.begin(label, row=first)
            blank = self.width - len(_BORDER.findall(lines[0])) + 1
            composer.add_lines(lines[0] + "  |" * blank)
            composer.begin(label)
            composer.add_lines(table_row(["---"] * self.width))
            runs = [(first + 1, lines[1:]), *self.runs[1:]]
            for start, rows in runs:
                if rows:
                    composer.begin(label, row=start)
                    composer.add_lines("\n".join(rows))
            composer.end_lines()
        left = ((self.rows_left, "rows"), (self.columns_left, "columns"))
        said = [f"{count:,} more {what}" for count, what in left if count > 0]
        if said:
            composer.begin(label)
            composer.add(f"({' and '.join(said)} left out.)")


def _is_plain(line: str, width: int) -> bool:
    """Tell a line of so many cells that need no care."""
    return width <= MAX_COLUMNS and _has_plain(line, width)


def _has_plain(text: str, width: int) -> bool:
    # Four searches are faster than one for any of the four.
    return not (
        text.count("|") >= width or "\\" in text or "\n" in text or "\r" in text or "\0" in text
    )


def _are_plain(lines: list[str], widths: list[int]) -> bool:
    """Tell whether all lines are plain, in one look at them together."""
    return max(widths) <= MAX_COLUMNS and _has_plain("".join(lines), sum(widths) - len(widths) + 1)


def name_columns(head: str) -> str:
    """Return the names in the first line of a table as a description."""
    cells = (part.strip() for part in _BORDER.split(_LINK.sub(r"\1", head)))
    return ", ".join(filter(None, cells))


def finish_tables(
    composer: Composer, path: str, about: About, headings: Iterable[str] = ()
) -> Parsed:
    """Return a document of tables, one heading per place.

    Only lines that may hold a link are read as Markdown: a walk over every cell costs more than
    all the rest.
    """
    text, places = composer.finish()
    require_length(text)
    sections = tuple(
        Section(2, heading, *section[2:])
        for heading, section in zip(headings, place_sections(text, places), strict=False)
    )
    return Parsed(
        title=shorten_title(clean(about.title)) or title_from_path(path),
        description=shorten_description(clean(about.description)),
        text=text,
        tags=about.tags,
        author=shorten_title(clean(about.author)) or None,
        date=about.date or None,
        language=about.language or None,
        sections=sections,
        links=tuple(_links(text)),
        places=places,
    )


def _links(text: str) -> list[Link]:
    found: list[Link] = []
    dois = has_doi(text)
    if not (dois or any(mark in text for mark in _LINK_MARKS)):
        return found
    read = 0
    for number, line in enumerate(text.split("\n"), 1):
        if "](" in line or "[[" in line:
            if read < _MAX_LINKED_LINES:
                found += read_outline(line, line=number).links
                read += 1
        elif "://" in line or "www." in line or (dois and "10." in line):
            found += _bare_links(line, number)
    return found[:MAX_LINKS]


def _bare_links(line: str, number: int) -> Iterator[Link]:
    """Yield the links of a row that are only written out; their sentence is the row or the cell."""
    row = line.strip("| ") if len(line) <= MAX_CONTEXT else ""
    for at, kind, target in find_references(line):
        context = row or line[line.rfind(" | ", 0, at) + 3 : line.find(" | ", at)]
        if len(context) > MAX_CONTEXT:
            context = sentence_around(line, at, at + len(target))
        yield Link(kind, target, target, context, number)
