"""Rows of a sheet or a text table as a Markdown table whose lines point back to their rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import NamedTuple, TypeVar

from bookwheel.formats.base import (
    require_length,
    shorten_description,
    shorten_title,
    title_from_path,
)
from bookwheel.formats.composing import About, Composer, cell, place_sections, table_row
from bookwheel.formats.decoding import clean
from bookwheel.formats.grid_links import find_row_links
from bookwheel.model import Parsed, Section

MAX_TEXT = 5_000_000
"""Characters of all tables of a document; the rows beyond are counted and left out."""
MAX_COLUMNS = 1_000
_MAX_RUNS, _MAX_GAP = 10_000, 20
"""After so many runs a small gap of empty rows is shown, since each run is a place to keep."""
_CHUNK = 64
"""Rows that are looked at together: one that needs care makes the others be looked at alone."""
_ROW_END = " |\n| "
_BLANK_END = "  |\n"
"""What follows a row that ends in a blank cell, or in a blank."""
_BORDER = re.compile(r"(?<!\\)(?:\\\\)*\|")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_V = TypeVar("_V")
_Join = Callable[[list[list[_V]]], list[str]]
"""Writes the words of rows, each with ` | ` between them."""


Marks = dict[int, dict[int, str]]
"""Words by row and column, both from 0."""


class Extras(NamedTuple):
    """What a sheet has beside the values of its cells."""

    area: int = 0
    """Cells of the rectangle around all cells, where it may be large."""
    links: Marks | None = None
    errors: Marks | None = None
    is_blank: bool = False
    """There are no cells at all."""


class Grid:
    """The rows of one table as they are gathered: lines of Markdown in runs without a gap."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.runs: list[tuple[int, list[str]]] = []
        """Where each run begins, and its lines, of which several may stand together."""
        self.width = 0
        self.columns_left = 0
        self.rows_left = 0
        self._following = -_MAX_GAP

    def gather(
        self,
        rows: Iterable[list[_V]],
        join: _Join[_V],
    ) -> None:
        """Take in rows, which are numbered from 1; those without a word are passed over."""
        every, first = iter(rows), 1
        while chunk := list(islice(every, _CHUNK)):
            if self.room <= 0:
                self.rows_left += sum(map(_has_words, chunk))
            else:
                joined = join(chunk)
                if any(joined) and not self._gather_plain(first, chunk, joined):
                    self._gather_each(first, chunk, joined, join)
            first += len(chunk)

    def _gather_plain(self, first: int, chunk: list[list[_V]], joined: list[str]) -> bool:
        """Take in lines that need no care all at once; False when one does, or finds no room."""
        widths = [len(cells) for cells, line in zip(chunk, joined, strict=True) if line]
        width, text, ends = max(widths), _ROW_END.join(joined), len(joined) - 1
        borders = sum(widths) - len(widths) + ends * _ROW_END.count("|")
        if width > MAX_COLUMNS or not _has_plain(text, borders, ends):
            return False
        if len(widths) <= ends or text[-1] in " |" or _BLANK_END in text:
            joined = [line.rstrip(" |") for line in joined]
            width = max([line.count("|") for line in joined]) + 1 if self.width < width else 0
            text = _ROW_END.join(joined)
        length = len(text) - ends * len(_ROW_END)
        if length >= self.room:
            return False
        self.width = max(self.width, width)
        self.room -= length
        if all(joined):
            self._add(first, f"| {text} |", len(joined))
        else:
            for number, line in enumerate(joined, first):
                if line:
                    self._add(number, f"| {line} |")
        return True

    def _add(self, number: int, lines: str, count: int = 1) -> None:
        """Add the lines of rows that begin with this one and follow each other."""
        if number != self._following:
            self._begin_run(number)
        self.runs[-1][1].append(lines)
        self._following = number + count

    def _gather_each(
        self,
        first: int,
        chunk: list[list[_V]],
        joined: list[str],
        join: _Join[_V],
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
            self._add(number, f"| {line} |")
            self.room -= len(line)

    def _begin_run(self, number: int) -> None:
        """Say that rows are left out before this one."""
        gap = number - self._following
        if len(self.runs) < _MAX_RUNS or gap > _MAX_GAP:
            self.runs.append((number, []))
        else:
            self.runs[-1][1].extend(["| |"] * gap)

    def _escape(self, cells: list[_V], join: _Join[_V]) -> tuple[str, int]:
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
        return join([shown])[0], len(shown)

    @property
    def head(self) -> str:
        """Return the first line, which names the columns."""
        return self.runs[0][1][0].partition("\n")[0] if self.runs else ""

    @property
    def left(self) -> dict[str, int]:
        """Return how many rows and columns are left out."""
        return {"rows": self.rows_left, "columns": self.columns_left}

    def add_to(self, composer: Composer, label: str) -> None:
        """Add the table to a document, each line with its row, then what was left out."""
        if self.runs:
            first, lines = self.runs[0]
            head, _, rest = "\n".join(lines).partition("\n")
            composer.begin(label, row=first)
            blank = self.width - len(_BORDER.findall(head)) + 1
            composer.add_lines(head + "  |" * blank)
            composer.begin(label)
            composer.add_lines(table_row(["---"] * self.width))
            following = ((start, "\n".join(rows)) for start, rows in self.runs[1:])
            for start, text in ((first + 1, rest), *following):
                if text:
                    composer.begin(label, row=start)
                    composer.add_lines(text)
            composer.end_lines()
        said = [f"{count:,} more {what}" for what, count in self.left.items() if count > 0]
        if said:
            composer.begin(label)
            composer.add(f"({' and '.join(said)} left out.)")


def _has_words(cells: list[_V]) -> bool:
    """Tell a row that is not blank; a count takes long, and 0 is no blank."""
    return any(cells) or cells.count("") < len(cells)  # type: ignore[arg-type] # of another kind


def _is_plain(line: str, width: int) -> bool:
    """Tell a line of so many cells that need no care."""
    return width <= MAX_COLUMNS and _has_plain(line, width - 1, 0)


def _has_plain(text: str, borders: int, ends: int) -> bool:
    """Tell lines in which nothing but so many borders between cells and ends of lines is special.

    Each search is so much faster than one for any of several that they are faster together.
    """
    return (
        text.count("|") <= borders
        and "\\" not in text
        and text.count("\n") <= ends
        and "\r" not in text
        and "\0" not in text
    )


def name_columns(head: str) -> str:
    """Return the names in the first line of a table as a description."""
    cells = (part.strip() for part in _BORDER.split(_LINK.sub(r"\1", head)))
    return ", ".join(filter(None, cells))


def say_left(left: Mapping[str, int]) -> str:
    """Say how many rows and the like are left out of a text; nothing where it has all."""
    found = ((what, count) for what, count in left.items() if count > 0)
    said = [f"{count:,} {what if count > 1 else what[:-1]}" for what, count in found]
    return f"{', '.join(said)} left out" if said else ""


def finish_tables(
    composer: Composer,
    path: str,
    about: About,
    *,
    headings: Iterable[str] = (),
    left: Mapping[str, int],
) -> Parsed:
    """Return a document of tables, one heading per place."""
    text, places, pieces = composer.finish()
    require_length(text)
    sections = tuple(
        Section(2, heading, *section[2:])
        for heading, section in zip(headings, place_sections(pieces, places), strict=False)
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
        links=tuple(find_row_links(text)),
        places=places,
        remark=say_left(left),
    )
