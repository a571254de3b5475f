"""A row of a Word table while its cells are read, and the pages that it turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bookwheel.formats.manuscript import MAX_COLUMNS, Block, Piece


class OpenRow:
    """A row and its cells so far.

    Where a page ends within a cell, Word marks that again where later cells of the row begin,
    and where the next row does.
    """

    __slots__ = ("cell", "cells", "is_deleted", "is_split", "is_turned", "latest", "start")

    def __init__(self, page: int, *, is_turned: bool) -> None:
        self.cells: list[Sequence[Piece]] = []
        self.cell: list[Piece] = []
        """What the open cell holds so far."""
        self.start = self.latest = page
        self.is_deleted = False
        self.is_split = False
        """Whether a page ends within one of its cells."""
        self.is_turned = is_turned
        """Whether such a cell, of it or of the row before, has turned the page already."""

    def open_cell(self) -> list[Piece]:
        """Return where to put what stands in the next cell."""
        self.cell = []
        self.cells.append(self.cell)
        return self.cell

    def close_cell(self, page: int) -> None:
        """Say on which page a cell ends; a row on two of them is turned only once."""
        self.latest = max(self.latest, page)
        if page > self.start and page > next(_pages(self.cell), page):
            self.is_split = self.is_turned = True

    def skip(self, columns: int) -> None:
        """Leave columns empty, those that a cell spans."""
        self.cells += [()] * min(columns, MAX_COLUMNS - len(self.cells))

    def first_page(self) -> int:
        """Return the page on which its text begins."""
        return next((page for each in self.cells for page in _pages(each)), self.start)


def _pages(pieces: Sequence[Piece]) -> Iterator[int]:
    for piece in pieces:
        yield piece.page if isinstance(piece, Block) else piece.rows[0].page
