"""A result that is too long to be held in one piece, on both sides of the pipe.

The worker has it whole. The parent keeps it on disk as it came, and reads a piece at a time, as
often as it likes: what a long document takes of its memory is one piece.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate, pairwise
from typing import IO, Any, Protocol


class InPieces:
    """What a handler returns to have its result sent in pieces, each of them a plain value."""

    def __init__(self, pieces: Sequence[object]) -> None:
        self._pieces = pieces

    def part(self, start: int, end: int | None = None) -> Iterator[Any]:
        """Yield some of them."""
        yield from self._pieces[start:end]


class Pieces(Protocol):
    """A result in pieces."""

    def part(self, start: int, end: int | None = None) -> Iterator[Any]: ...


class KeptFile:
    """The file of a reply, closed when nothing of it is wanted any more."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        weakref.finalize(self, file.close)

    def read(self, start: int, size: int) -> BytesIO:
        self._file.seek(start)
        return BytesIO(self._file.read(size))


class KeptPieces:
    """The same as it arrived: pieces in a file, one after the other."""

    def __init__(
        self, file: KeptFile, start: int, sizes: Sequence[int], decode: Callable[[BytesIO], Any]
    ) -> None:
        self._file = file
        self._starts = list(accumulate(sizes, initial=start))
        self._decode = decode

    def part(self, start: int, end: int | None = None) -> Iterator[Any]:
        """Yield some of them; ValueError for one that is no plain value."""
        for first, last in pairwise(self._starts[start : None if end is None else end + 1]):
            try:
                piece = self._decode(self._file.read(first, last - first))
            except Exception as error:  # noqa: BLE001 - hostile pickles raise anything
                raise ValueError(f"a piece that is no plain value: {error}") from None
            yield piece
