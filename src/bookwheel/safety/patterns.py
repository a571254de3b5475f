"""Patterns in RE2, which needs time in proportion to the text whatever the text may be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_MEMORY = 32 << 20
"""Bytes that one pattern may use; past them RE2 gets slower, never wrong."""


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
