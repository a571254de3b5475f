"""What the author or program has set in an old Office file: its summary information."""

from __future__ import annotations

import struct
from datetime import datetime
from typing import Any

from olefile import OleFileIO

from bookwheel.formats.composing import About

_MAX_PROPERTY = 2_048
_FIRST_YEAR = 1980
"""Earlier dates are zeros that a program wrote."""
_DAMAGE = (
    OSError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    struct.error,
)
_STREAM = "\x05SummaryInformation"
_CODEPAGE, _CREATED = 1, 12
_UTF_8 = (65001, -535)
_MACINTOSH = 10000


def read_about(ole: OleFileIO[Any]) -> About:
    """Return the properties; damaged ones are as good as none."""
    if not ole.exists(_STREAM):
        return About()
    try:
        # 10 is the total time of editing: a duration, not a date.
        found = ole.getproperties(_STREAM, convert_time=True, no_conversion=[10])
    except _DAMAGE:
        return About()
    codec = _codec(found.get(_CODEPAGE))
    title, subject, author, words, comments = (_decode(found.get(n), codec) for n in range(2, 7))
    created = found.get(_CREATED)
    return About(
        title=title,
        description=comments or subject,
        author=author,
        date=_date(created),
        tags=tuple(w.strip() for w in words.replace(";", ",").split(",") if w.strip())[:50],
    )


def _date(created: object) -> str:
    if not isinstance(created, datetime) or created.year < _FIRST_YEAR:
        return ""
    return created.isoformat(timespec="seconds")


def _codec(codepage: object) -> str:
    if not isinstance(codepage, int) or codepage in _UTF_8:
        return "utf-8"
    return "mac_roman" if codepage == _MACINTOSH else f"cp{codepage % 65_536}"


def _decode(value: object, codec: str) -> str:
    if not isinstance(value, bytes):
        return str(value or "").strip()
    try:
        text = value[:_MAX_PROPERTY].decode(codec, "replace")
    except LookupError:
        text = value[:_MAX_PROPERTY].decode("cp1252", "replace")
    return text.replace("\0", "").strip()
