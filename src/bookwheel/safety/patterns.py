"""Patterns in RE2, which needs time in proportion to the text whatever the text may be."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from functools import lru_cache
from typing import Any

_MEMORY = 32 << 20
"""Bytes that one pattern may use; past them RE2 gets slower, never wrong."""
_WINDOW = 2048
_OFTEN = 56
"""Finds in a window from which on the twin of a pattern is quicker."""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """Return a pattern made ready; the library is loaded with the first one."""
    import re2

    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)


def starts_and_ends(pattern: str, data: bytes, group: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where a pattern, or one group of it, stands in the bytes of a text."""
    for match in compiled(pattern).finditer(data):
        start, end = match.span(group)
        if start < end:
            yield start, end


def spans_of(
    pattern: str, twin: re.Pattern[bytes], data: bytes, at: int = 0, end: int | None = None
) -> Iterator[list[tuple[int, int]]]:
    """Yield where a pattern stands, some places at a time; by its twin in `re` where it is often.

    RE2 costs more for each find, `re` more for each byte: each reads what it reads quickly.
    """
    end = len(data) if end is None else end
    search = compiled(pattern).search
    edge, found = at + _WINDOW, 0
    while (match := search(data, at, end)) is not None:
        start, at = match.span()
        yield [(start, at)]
        found += 1
        if at > edge:
            if found >= _OFTEN:
                at = yield from _windows(twin, data, at, end)
            edge, found = at + _WINDOW, 0


def _windows(
    twin: re.Pattern[bytes], data: bytes, at: int, end: int
) -> Generator[list[tuple[int, int]], None, int]:
    """Yield the finds of window after window while there are many; return where it ends."""
    found = _OFTEN
    while found >= _OFTEN:
        edge = min(end, at + _WINDOW)
        spans = [match.span() for match in twin.finditer(data, at, edge)]
        if spans and spans[-1][1] == edge < end:  # it may go on
            spans.pop()
        found = len(spans)
        if found:
            yield spans
            at = spans[-1][1]
    return at
