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
from bookwheel.formats.links import (
    MAX_CONTEXT,
    find_bare_urls,
    find_references,
    has_doi,
    sentence_around,
)
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
_LINK_MARKS = (("/", "://"), ("[", "]("), ("w", "www."), ("[", "[["))
"""What a link has, each after a sign of it that is found many times faster."""
_OTHER_MARKS = (("[", "]("), ("[", "[["), ("v", "iv:"))
"""The same for links that are no written URLs."""


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
        self._following = -_MAX_GAP

    def gather(
        self,
        rows: Iterable[list[_V]],
        join: Callable[[list[_V]], str],
    ) -> None:
        """Take in rows, which are numbered from 1; those without a word are passed over.

        `join` writes the words of a row with ` | ` between them.
        """
        every, first = iter(rows), 1
        while chunk := list(islice(every, _CHUNK)):
            if self.room <= 0:
                self.rows_left += sum(map(_has_words, chunk))
            else:
                joined = list(map(join, chunk))
                widths = [len(cells) for cells, line in zip(chunk, joined, strict=True) if line]
                plain = not widths or _are_plain(joined, widths)
                if not (plain and self._gather_plain(first, joined, max(widths, default=0))):
                    self._gather_each(first, chunk, joined, join)
            first += len(chunk)

    def _gather_plain(self, first: int, joined: list[str], width: int) -> bool:
        """Take in lines that need no care all at once; False when there may be no room."""
        lines = [line.rstrip(" |") for line in joined]
        length = sum(map(len, lines))
        if length >= self.room:
            return False
        if self.width < width and length:
            self.width = max(self.width, max([line.count("|") for line in lines]) + 1)
        self.room -= length
        if first == self._following and all(lines):
            self.runs[-1][1].extend([f"| {line} |" for line in lines])
            self._following = first + len(lines)
            return True
        for number, line in enumerate(lines, first):
            if line:
                if number != self._following:
                    self._begin_run(number)
                self.runs[-1][1].append(f"| {line} |")
                self._following = number + 1
        return True

    def _gather_each(
        self,
        first: int,
        chunk: list[list[_V]],
        joined: list[str],
        join: Callable[[list[_V]], str],
    ) -> None:
        """Take in lines one by one."""
        for number, (cells, line) in enumerate(zip(chunk, joined, strict=True), first):
            if _is_plain(line, len(cells)):
                line = line.rstrip(" |")
                width = line.count("|") + 1 if self.width < len(cells) else 0
            else:
                line, width = self._escape(cells, join)
            if not line:
                continue
            if self.room <= 0:
                self.rows_left += 1
                continue
            if width > self.width:
                self.width = width
            if number != self._following:
                self._begin_run(number)
            self.runs[-1][1].append(f"| {line} |")
            self._following = number + 1
            self.room -= len(line)

    def _begin_run(self, number: int) -> None:
        """Say that rows are left out before this one."""
        gap = number - self._following
        if len(self.runs) < _MAX_RUNS or gap > _MAX_GAP:
            self.runs.append((number, []))
        else:
            self.runs[-1][1].extend(["| |"] * gap)

    def _escape(self, cells: list[_V], join: Callable[[list[_V]], str]) -> tuple[str, int]:
        """Return a row that needs care as a line of a table, and its width."""
        shown: list[_V] = [
            cell(value.replace("\0", "")) if value and isinstance(value, str) else value  # type: ignore[misc] # words stay words
            for value in cells[:MAX_COLUMNS]
        ]
        while shown and shown[-1] == "":
            shown.pop()
        width = len(cells)
        while width > MAX_COLUMNS and cells[width - 1] == "":
            width -= 1
        self.columns_left = max(self.columns_left, width - MAX_COLUMNS)
        return join(shown), len(shown)

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


def _has_words(cells: list[_V]) -> bool:
    """Tell a row that is not blank; a count takes long, and 0 is no blank."""
    return any(cells) or cells.count("") < len(cells)  # type: ignore[arg-type] # of another kind


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
    if not (dois or any(sign in text and mark in text for sign, mark in _LINK_MARKS)):
        return found
    if not (dois or any(sign in text and mark in text for sign, mark in _OTHER_MARKS)):
        return list(islice(_written_links(text), MAX_LINKS))
    linked: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if "](" in line or "[[" in line:
            linked.append((number, line))
        elif "://" in line or "www." in line or (dois and "10." in line):
            found += _bare_links(line, number)
    found += _marked_links(linked[:_MAX_LINKED_LINES])
    found.sort(key=lambda each: each.line)
    return found[:MAX_LINKS]


def _written_links(text: str) -> Iterator[Link]:
    """Yield the URLs of rows that have no other kind of link, found in one search."""
    number, start, end = 1, 0, -1
    line = row = ""
    for at, url in find_bare_urls(text):
        if at > end:  # in another row than the one before
            number += text.count("\n", start, at)
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            line = text[start : end if end >= 0 else None]
            row = _row(line)
        if "://" in url or "://" in line or "www." in line:
            yield Link("bare", url, url, row or _around(line, at - start, url), number)


def _marked_links(lines: list[tuple[int, str]]) -> Iterator[Link]:
    """Yield the links of rows that have marks of them, which are read as paragraphs in one walk."""
    for found in read_outline("\n\n".join(line for _, line in lines)).links:
        yield found._replace(line=lines[found.line // 2][0])


def _bare_links(line: str, number: int) -> Iterator[Link]:
    """Yield the links of a row that are only written out; their sentence is the row or the cell."""
    row = _row(line)
    for at, kind, target in find_references(line):
        yield Link(kind, target, target, row or _around(line, at, target), number)


def _row(line: str) -> str:
    """Return a row that is short enough to stand for the sentence around a link."""
    return line.strip("| ") if len(line) <= MAX_CONTEXT else ""


def _around(line: str, at: int, target: str) -> str:
    """Return the cell of a long row in which a link stands, or as much of it as is kept."""
    cell = line[line.rfind(" | ", 0, at) + 3 : line.find(" | ", at)]
    return cell if len(cell) <= MAX_CONTEXT else sentence_around(line, at, at + len(target))
