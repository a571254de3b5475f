"""What the author or program has set in an old Office file: its summary information.

Read here and not by the OLE library, which follows any number that a damaged file holds.
"""

from __future__ import annotations

import struct
from datetime import datetime, timedelta
from typing import Any

from olefile import OleFileIO

from bookwheel.formats.composing import About, split_keywords
from bookwheel.formats.ole import DAMAGE

_STREAM = "\x05SummaryInformation"
_CODE_PAGE, _TITLE, _SUBJECT, _AUTHOR, _KEYWORDS, _COMMENTS, _CREATED = 1, 2, 3, 4, 5, 6, 12
_SHORT, _BYTES, _WIDE, _TIME = 2, 30, 31, 64
"""Types of values."""
_MAX_PROPERTIES = 1_000
_MAX_PROPERTY = 2_048
_EPOCH = datetime(1601, 1, 1)
_FIRST_YEAR = 1980
"""Earlier dates are zeros that a program wrote."""
_UTF_8 = 65001
_MACINTOSH = 10000


def read_about(ole: OleFileIO[Any]) -> About:
    """Return the properties; damaged ones are as good as none."""
    try:
        with ole.openstream(_STREAM) as stream:
            found = _read(stream.read())
    except DAMAGE:
        return About()
    codec = _codec(found.get(_CODE_PAGE))
    title, subject, author, words, comments = (
        _decode(found.get(key), codec) for key in (_TITLE, _SUBJECT, _AUTHOR, _KEYWORDS, _COMMENTS)
    )
    return About(
        title=title,
        description=comments or subject,
        author=author,
        date=_date(found.get(_CREATED)),
        tags=split_keywords(words),
    )


def _read(data: bytes) -> dict[int, int | bytes | str]:
    """Return the values of a set of properties by their numbers."""
    start = struct.unpack_from("<I", data, 44)[0]
    count = min(struct.unpack_from("<I", data, start + 4)[0], _MAX_PROPERTIES)
    found: dict[int, int | bytes | str] = {}
    for index in range(count):
        key, offset = struct.unpack_from("<II", data, start + 8 + 8 * index)
        try:
            value = _read_value(data, start + offset)
        except struct.error:
            continue
        if value is not None:
            found.setdefault(key, value)
    return found


def _read_value(data: bytes, at: int) -> int | bytes | str | None:
    kind = struct.unpack_from("<H", data, at)[0]
    if kind == _SHORT:
        return int(struct.unpack_from("<H", data, at + 4)[0])
    if kind == _TIME:
        return int(struct.unpack_from("<Q", data, at + 4)[0])
    if kind not in (_BYTES, _WIDE):
        return None
    size = min(struct.unpack_from("<I", data, at + 4)[0], _MAX_PROPERTY)
    if kind == _WIDE:
        return data[at + 8 : at + 8 + 2 * size].decode("utf-16-le", "replace")
    return data[at + 8 : at + 8 + size]


def _date(created: object) -> str:
    if not isinstance(created, int):
        return ""
    try:
        date = _EPOCH + timedelta(microseconds=created // 10)
    except OverflowError:
        return ""
    return date.isoformat(timespec="seconds") if date.year >= _FIRST_YEAR else ""


def _codec(codepage: object) -> str:
    if not isinstance(codepage, int) or codepage == _UTF_8:
        return "utf-8"
    return {_MACINTOSH: "mac_roman", 1200: "utf-16-le"}.get(codepage, f"cp{codepage}")


def _decode(value: object, codec: str) -> str:
    if not isinstance(value, bytes):
        return value.partition("\0")[0].strip() if isinstance(value, str) else ""
    try:
        text = value.decode(codec, "replace")
    except LookupError:
        text = value.decode("cp1252", "replace")
    return text.partition("\0")[0].strip()
