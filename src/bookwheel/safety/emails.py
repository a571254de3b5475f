"""E-mail addresses, also written so that machines should not see them."""

from __future__ import annotations

from collections.abc import Iterator

from bookwheel.safety.patterns import compiled

Found = tuple[int, int, str]

_LOCAL = r"[\pL\pN\pM._%+\-!#$&'*/=?^{|}~]"
_LABEL = r"[\pL\pN](?:[\pL\pN\pM_-]*[\pL\pN\pM])?"
_ADDRESS = rf"{_LOCAL}+@(?:{_LABEL}\.)+(?:\pL[\pL\pM]+|xn--[a-z0-9-]+)"


def find_emails(data: bytes) -> Iterator[Found]:
    """Yield the e-mail addresses of a text."""
    if b"@" not in data:
        return
    for match in compiled(_ADDRESS).finditer(data):
        yield *match.span(), "email"
