"""Writes what a word processor knows as Markdown: paragraphs, headings, lists, tables, pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bookwheel.formats.blocks import read_outline
from bookwheel.formats.composing import About, Composer, cell, link, parsed, plain, table_row
from bookwheel.formats.links import MAX_TARGET
from bookwheel.formats.prose import choose_prose
from bookwheel.model import Parsed

MAX_COLUMNS = 64
"""Word itself stops at 63; what stands beyond goes into the last column."""
PAGE_BREAK = "\f"
"""Stands for a page break while a paragraph is put together; XML itself cannot hold it."""
FORMULAS = ("Equation", "MathType")
"""Programs whose objects within a text are formulas and no documents."""
_MAX_LEVEL = 6
_DESCRIBED = 40
"""Paragraphs among which one is looked for that describes the document."""
_MAX_NUMBER = 999_999_999
_FULLEST_PAGE = 6_000
"""Characters of a page in small print."""
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\x01-\x08\x0e-\x1f\x7f]")


class Block(NamedTuple):
    """A paragraph, a heading or an item of a list."""

    text: str
    level: int = 0
    """The level of a heading, from 1."""
    depth: int = -1
    """How deep an item of a list lies, from 0."""
    number: int = 0
    """The number of an item; one without has a bullet."""
    page: int = 0
    """The page on which it begins, where pages are known."""
    label: str = ""
    """The number of a heading as it is shown, where it is not part of its text."""


class Row(NamedTuple):
    """A row of a table; each cell is a list of what stands in it."""

    cells: Sequence[Sequence[Piece]]
    page: int = 0


class Table(NamedTuple):
    """Rows of cells."""

    rows: list[Row]


Piece = Block | Table


def whole_words(text: str) -> str:
    """Return the text without invisible characters that would part its words."""
    return text if text.isprintable() else _INVISIBLE.sub("", text)


def flatten(pieces: Sequence[Piece]) -> str:
    """Return the text of pieces on one line, tables cell by cell."""
    if len(pieces) == 1 and isinstance(pieces[0], Block):
        return pieces[0].text
    return " ".join(filter(None, (_line(piece) for piece in pieces)))


def _line(piece: Piece) -> str:
    if isinstance(piece, Block):
        return piece.text
    return " ".join(filter(None, (flatten(each) for row in piece.rows for each in row.cells)))


def write_link(shown: str, target: str) -> str:
    """Return a link; blanks and page breaks around its text stay outside of it."""
    text = shown.strip()
    if not text or len(target) > MAX_TARGET:
        return shown
    head, tail = shown[: len(shown) - len(shown.lstrip())], shown[len(shown.rstrip()) :]
    breaks = PAGE_BREAK * text.count(PAGE_BREAK)
    return f"{head}{breaks}{link(text, target)}{tail}"


def turn_pages(text: str) -> tuple[str, int, int]:
    """Return a paragraph without its page breaks, and the pages turned before and after it.

    It lies on the page where it begins: a page that ends within it counts after it.
    """
    if PAGE_BREAK not in text:
        return text, 0, 0
    joined = text.replace(PAGE_BREAK, "")
    turns = text.count(PAGE_BREAK)
    before = text[: len(text) - len(text.lstrip())].count(PAGE_BREAK) if joined.strip() else 0
    return joined, before, turns - before


def is_paged(pieces: Iterable[Piece]) -> bool:
    """Tell whether anything lies past the first page."""
    for piece in pieces:
        if isinstance(piece, Block):
            if piece.page > 1:
                return True
        elif any(row.page > 1 or any(map(is_paged, row.cells)) for row in piece.rows):
            return True
    return False


def fits_pages(pieces: Iterable[Piece]) -> bool:
    """Tell whether pages that were counted by hard breaks alone can be those of a reader.

    They cannot where more stands on one than a page can hold: then it goes on over several.
    """
    sizes: dict[int, int] = defaultdict(int)
    page = 0
    for piece in pieces:
        rows = [Row([[piece]], piece.page)] if isinstance(piece, Block) else piece.rows
        for row in rows:
            page = max(page, row.page)
            sizes[page] += sum(len(flatten(cell)) for cell in row.cells)
    return max(sizes.values(), default=0) <= _FULLEST_PAGE


class Manuscript:
    """One document: its pieces in their order, then what is appended to them.

    Pages are stored in it, or counted by hard breaks alone.
    """

    def __init__(self, pieces: Sequence[Piece] = (), *, are_pages_stored: bool = False) -> None:
        self._composer = Composer()
        self._has_pages = is_paged(pieces) and (are_pages_stored or fits_pages(pieces))
        self._page = 0
        self._items: list[str] = []
        self._levels: list[tuple[int, int]] = []
        self._paragraphs: list[str] = []
        self._headed: tuple[str, str] = ("", "")
        """The first heading: its number and its text."""
        for piece in pieces:
            self._add(piece)

    def _add(self, piece: Piece) -> None:
        if isinstance(piece, Table):
            self._add_table(piece)
            return
        text, level, depth, number, page, label = piece
        if page > self._page and self._has_pages:
            self._turn(page)
        if depth >= 0 and not level:
            self._add_item(text, depth, number)
            return
        self._close_list()
        if level:
            self._headed = self._headed if self._headed[1] else (label, text)
            shown = " ".join(f"{label} {text}".split())
            self._composer.add(f"{'#' * min(level, _MAX_LEVEL)} {plain(shown)}")
        else:
            block = plain(text)
            self._composer.add(block)
            if len(self._paragraphs) < _DESCRIBED:
                self._paragraphs.append(block)

    def append(self, title: str, paragraphs: Sequence[str]) -> None:
        """Add what lies outside of the document's pages, such as its notes."""
        if not paragraphs:
            return
        self._close_list()
        if self._has_pages:
            self._composer.begin("")
        if title:
            self._composer.add(title)
        for paragraph in paragraphs:
            self._composer.add(plain(paragraph))

    def finish(self, path: str, about: About) -> Parsed:
        """Return the document."""
        self._close_list()
        label, headed = self._headed
        if label and not about.title:
            shown = read_outline(f"# {plain(' '.join(headed.split()))}").title
            about = about._replace(title=shown)
        if not about.description:
            described = choose_prose(self._paragraphs, about.title or headed)
            about = about._replace(description=described)
        return parsed(self._composer, path, about, is_blockwise=True)

    def _turn(self, page: int) -> None:
        if self._items:
            self._composer.add_lines("\n".join(self._items))
            self._items.clear()
        self._page = page
        self._composer.begin(f"page {page}")

    def _add_item(self, text: str, depth: int, number: int) -> None:
        while self._levels and self._levels[-1][0] >= depth:
            self._levels.pop()
        outer = self._levels[-1][1] if self._levels else 0
        mark = f"{min(number, _MAX_NUMBER)}. " if number > 0 else "- "
        inner = outer + len(mark)
        self._levels.append((depth, inner))
        self._items.append(" " * outer + mark + plain(text).replace("\n", "\n" + " " * inner))

    def _close_list(self) -> None:
        if self._levels:
            self._composer.add("\n".join(self._items) or "\n")
            self._items.clear()
            self._levels.clear()

    def _add_table(self, table: Table) -> None:
        self._close_list()
        if _is_layout(table):
            self._unfold(table)
            return
        rows = [(row.page, _cells(row)) for row in table.rows]
        rows = [(page, cells) for page, cells in rows if any(cells)]
        width = max((len(cells) for _, cells in rows), default=0)
        lines: list[str] = []
        for index, (page, cells) in enumerate(rows):
            if page > self._page and self._has_pages:
                self._composer.add_lines("\n".join(lines))
                lines.clear()
                self._turn(page)
            if index:
                lines.append(table_row(cells))
            else:
                lines.append(table_row(cells + [""] * (width - len(cells))))
                lines.append(table_row(["---"] * width))
        self._composer.add("\n".join(lines))

    def _unfold(self, table: Table) -> None:
        for row in table.rows:
            for pieces in row.cells:
                for piece in pieces:
                    self._add(piece)
        self._close_list()


def _is_layout(table: Table) -> bool:
    """Tell a table that frames or places text, such as one with headings in it."""
    if all(len(row.cells) <= 1 for row in table.rows):
        return True
    return any(
        isinstance(piece, Block) and piece.level
        for row in table.rows
        for pieces in row.cells
        for piece in pieces
    )


def _cells(row: Row) -> list[str]:
    cells = [plain(cell(flatten(pieces))) if pieces else "" for pieces in row.cells]
    if len(cells) > MAX_COLUMNS:
        last = " ".join(filter(None, cells[MAX_COLUMNS - 1 :]))
        cells[MAX_COLUMNS - 1 :] = [last]
    return cells
