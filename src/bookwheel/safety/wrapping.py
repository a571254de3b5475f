"""Secrets in pieces: broken into lines by mail or print, or put together from several literals."""

from __future__ import annotations

import re

SHORTEST = 40
"""Only what is as long as this is broken at the edge of a page."""
_WIDE = 56
"""As long is a line that was broken for its length."""
_NEXT = re.compile(rb"[=\\]?\r?\n[ \t>|#*]{0,8}([A-Za-z0-9+/=_.~-]{2,})(?=\s|[\"'`,;)|]|$)")
_ENDS = frozenset(b"\r\n=\\")
JOINT = re.compile(rb"([\"'])(?:\s{0,40}[+.&]\s{0,40}|[ \t]{0,4}\\?\r?\n[ \t]{1,60})\1")
"""What stands between two literals that are one text."""
_LITERAL = re.compile(rb"[^\s\"'`]{1,200}(?=[\"'])")
_MOST_LITERALS = 50
_ITEM = re.compile(
    rb"[`*_\"']{0,2}[ \t]{0,9}[,;|]?(?:[ \t]*\r?\n){0,2}[ \t]{0,9}(?:[-*] |\d{1,2}[.)] )?"
    rb"[`*_\"']{0,2}([A-Za-z0-9][A-Za-z0-9-]{3,40})"
)
_LETTER = re.compile(rb"[A-Za-z0-9]")


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


def end_of_list(data: bytes, start: int, end: int) -> int:
    """Return where a list of codes ends, each of which looks as the first does."""
    shape = _shape(data[start:end])
    while item := _ITEM.match(data, end):
        if _shape(item[1]) != shape or not (
            b"-" in shape or any(48 <= each < 58 for each in item[1])
        ):
            break
        end = item.end(1)
    return end


def _shape(code: bytes) -> bytes:
    return _LETTER.sub(b"a", code)


def end_of_joined(data: bytes, end: int) -> int:
    """Return where a secret in quotes ends that goes on in the next literal."""
    if data[end : end + 1] not in (b'"', b"'"):
        return end
    for _ in range(_MOST_LITERALS):
        joint = JOINT.match(data, end)
        literal = _LITERAL.match(data, joint.end()) if joint else None
        if literal is None:
            break
        end = literal.end()
    return end


def _is_random(run: bytes) -> bool:
    """Tell whether a run of characters goes on with a secret rather than with words."""
    if len(run) >= 40:
        return True
    plain = run.strip(b".=-_")
    mixed = any(65 <= byte <= 90 for byte in plain[1:]) and plain != plain.upper()
    return any(48 <= byte <= 57 for byte in plain) or mixed
