"""The chunks of one document with their texts, made while they are gone through.

Whoever goes through a long document would otherwise hold all of its text, several times over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bookwheel.engines.base import Passage


class Passages:
    """As many passages as are said, from a function that yields them anew each time."""

    def __init__(self, document: int, count: int, read: Callable[[], Iterator[Passage]]) -> None:
        self.document = document
        self._count = count
        self._read = read

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Passage]:
        return self._read()

    def change(self, function: Callable[[Passage], Passage]) -> Passages:
        """Return them as a function makes each, when its turn comes."""
        return Passages(self.document, self._count, lambda: map(function, self._read()))
