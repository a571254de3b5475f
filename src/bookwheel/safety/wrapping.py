"""Long secrets that mail or print has broken into lines: they go to their last line."""

from __future__ import annotations

import re

SHORTEST = 40
"""Only what is as long as this is broken at the edge of a page."""
_WIDE = 56
"""As long is a line that was broken for its length."""
_NEXT = re.compile(rb"[=\\]?\r?\n[ \t>|#*]{0,8}([A-Za-z0-9+/=_.~-]{2,})(?=\s|[\"'`,;)|]|$)")
_ENDS = frozenset(b"\r\n=\\")


def end_of_wrapped(data: bytes, start: int, end: int) -> int:
    """Return where a secret really ends that reaches the end of its line."""
    if end - start < SHORTEST or end >= len(data) or data[end] not in _ENDS:
        return end
    line = data.rfind(b"\n", max(0, end - 1000), end) + 1
    while end - line >= _WIDE:
        following = _NEXT.match(data, end)
        if following is None or not _is_random(following[1]):
            return end
        line, end = following.start(1), following.end(1)
    return end


def _is_random(run: bytes) -> bool:
    """Tell whether a run of characters goes on with a secret rather than with words."""
    if len(run) >= 40:
        return True
    plain = run.strip(b".=-_")
    mixed = any(65 <= byte <= 90 for byte in plain[1:]) and plain != plain.upper()
    return any(48 <= byte <= 57 for byte in plain) or mixed
