"""Looking at each place where a rule may hold, and what is done where there are too many of them.

Each place costs some microseconds of plain code. A text that is made of nothing but beginnings of
secrets has a hundred thousand in a megabyte: past an allowance, which grows with the text, a whole
stretch of it is taken out unread, and the look goes on after it. Nothing is shown for the hurry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bookwheel.safety.patterns import compiled

Found = tuple[int, int, str]
"""Where something that must not be seen begins and ends, in bytes, and its kind."""
_FREE = 2000
"""Places that each rule looks at in any text."""
_EVERY = 200
"""Bytes of text for each place more."""
_FREE_IN_ALL = 4000
_EVERY_IN_ALL = 250
"""And so for all rules together."""
_ASKS = 150
"""Times that one text asks the numbering plans."""
_STRETCH = 4096
_HEAD, _TAIL = 300, 1000
"""Bytes at the ends of a stretch that are read nevertheless."""
_BREAK = re.compile(rb"[^\s]{0,4000}")


class Allowance:
    """How many places may still be looked at in one text, and numbers asked about."""

    def __init__(self, size: int) -> None:
        self.asks = _ASKS
        self.left = _FREE_IN_ALL + size // _EVERY_IN_ALL
        self.taken: list[tuple[int, int]] = []
        """Stretches that go as a whole, for any reader."""

    def rest_of(self, data: bytes) -> bytes:
        """Return a text with blanks in the midst of what goes anyway.

        Both ends of a stretch stay, so that what reaches over them is found.
        """
        if not self.taken:
            return data
        parts: list[bytes] = []
        at = 0
        for start, end in _joined(self.taken):
            if end - start > _HEAD + _TAIL:
                parts += data[at : start + _HEAD], b" " * (end - start - _HEAD - _TAIL)
                at = end - _TAIL
        return b"".join((*parts, data[at:]))


def _joined(stretches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for start, end in sorted(stretches):
        if start > last:
            if first >= 0:
                yield first, last
            first = start
        last = max(last, end)
    yield first, last


class Stretches(list[tuple[int, int]]):
    """What is taken out unread, once the allowance of a text is used up."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__()
        self.allowance = allowance

    def let_go(self, kind: str = "secret") -> Iterator[Found]:
        """Take them out of the text for every rule that comes after, and yield them as finds."""
        self.allowance.taken += self
        for start, end in self:
            yield start, end, kind


def places(pattern: str, data: bytes, dense: Stretches, back: int = 0) -> Iterator[Any]:
    """Yield the matches of a pattern; where there are too many, note a stretch and leave it out.

    `back`: bytes at the end of a match that only say what follows, and may begin another.
    """
    search = compiled(pattern).search
    allowance = dense.allowance
    at = looked = 0
    while (match := search(data, at)) is not None:
        start, end = match.span()
        looked += 1
        allowance.left -= 1
        if allowance.left < 0 or looked > _FREE + start // _EVERY:
            end = _end_of_stretch(data, start)
            dense.append((start, end))
            # A name within the end of it may have its value behind it: that is read once more.
            at = end - _TAIL if end < len(data) else end
        else:
            yield match
            at = max(start + 1, end - back)


def _end_of_stretch(data: bytes, start: int) -> int:
    """Return where a stretch ends: not in the midst of a word, which may be a secret."""
    return _BREAK.match(data, min(len(data), start + _STRETCH)).end()  # type: ignore[union-attr]
