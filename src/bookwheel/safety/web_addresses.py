"""Passwords in addresses such as scheme://name:password@host."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookwheel.safety.density import Found, Stretches, places
from bookwheel.safety.judges import is_likely_password
from bookwheel.safety.values import is_random, is_stand_in

_AUTHORITY = r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@\"'<>`]*[:@]"
_REST = re.compile(rb"[^\s\"'<>`]*")
_PORT = re.compile(rb"\d{1,5}(?:[/?#]|$)")


def find_in_addresses(data: bytes, dense: Stretches) -> Iterator[Found]:
    """Yield the passwords in addresses such as scheme://name:password@host."""
    done = 0
    for match in places(_AUTHORITY, data, dense):
        start, end = match.span()
        if start < done:
            continue
        user = data.find(b"://", start) + 3
        rest = _REST.match(data, user, user + 2000)
        done = rest.end() if rest else end
        yield from _in_address(data, user, done)


def _in_address(data: bytes, user: int, end: int) -> Iterator[Found]:
    stops = [at for at in (data.find(mark, user, end) for mark in (b"/", b"?", b"#")) if at >= 0]
    authority = min(stops, default=end)
    at = data.rfind(b"@", user, authority)
    colon = data.find(b":", user, authority if at < 0 else at)
    if at < 0:  # perhaps a password with a slash in it
        at = data.find(b"@", user, end)
        if colon < 0 or at < 0 or _PORT.match(data, colon + 1, end):
            return
    if colon >= 0 and is_likely_password(_text(data, colon + 1, at)):
        yield colon + 1, at, "password"
    name = _text(data, user, colon if colon >= 0 else at)
    if is_random(name, 16) and not is_stand_in(name):
        yield user, user + len(name.encode()), "token"


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")
