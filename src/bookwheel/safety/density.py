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

Stretches = list[tuple[int, int]]

_FREE = 2000
"""Places that are looked at in any text."""
_EVERY = 200
"""Bytes of text for each place more."""
_STRETCH = 4096
_BREAK = re.compile(rb"[^\s]{0,4000}")


def places(pattern: str, data: bytes, dense: Stretches, back: int = 0) -> Iterator[Any]:
    """Yield the matches of a pattern; where there are too many, note a stretch and leave it out.

    `back`: bytes at the end of a match that only say what follows, and may begin another.
    """
    search = compiled(pattern).search
    at = looked = 0
    while (match := search(data, at)) is not None:
        start, end = match.span()
        looked += 1
        if looked > _FREE + start // _EVERY:
            at = _end_of_stretch(data, start)
            dense.append((start, at))
        else:
            yield match
            at = max(start + 1, end - back)


def _end_of_stretch(data: bytes, start: int) -> int:
    """Return where a stretch ends: not in the midst of a word, which may be a secret."""
    return _BREAK.match(data, min(len(data), start + _STRETCH)).end()  # type: ignore[union-attr]
