"""OLE files for tests, the containers of old Office files: streams by name, all large enough."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTOR = 512
_LEAST = 4_096
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_NONE = 0xFFFFFFFF


def make_ole(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE file; short streams are filled up with zeros."""
    padded = {name: _pad(data, _LEAST) for name, data in streams.items()}
    directory_sectors = -(-(len(padded) + 1) * 128 // _SECTOR)
    fat = [_FAT, *_chain(1, directory_sectors)]
    entries = [_entry("Root Entry", kind=5, child=1 if padded else _NONE, start=_END, size=0)]
    body = b""
    for number, (name, data) in enumerate(padded.items(), start=1):
        right = number + 1 if number < len(padded) else _NONE
        entries.append(_entry(name, kind=2, right=right, start=len(fat), size=len(data)))
        fat += _chain(len(fat), len(data) // _SECTOR)
        body += data
    assert len(fat) <= _SECTOR // 4, "one sector of the table must do"
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(_SECTOR, b"\xff")
    return _header() + table + _pad(b"".join(entries), _SECTOR) + body


def _header() -> bytes:
    head = struct.pack(
        "<8s16xHHHHH6xIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        *(0x3E, 3, 0xFFFE, 9, 6),
        *(0, 1, 1, 0, _LEAST, _END, 0, _END, 0, 0),
    )
    return head.ljust(_SECTOR, b"\xff")


def _chain(first: int, count: int) -> list[int]:
    return [*range(first + 1, first + count), _END]


def _entry(
    name: str, *, kind: int, start: int, size: int, right: int = _NONE, child: int = _NONE
) -> bytes:
    text = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16xI16xIQ",
        *(text, len(text) + 2, kind, 1, _NONE, right, child, 0, start, size),
    )


def _pad(data: bytes, step: int) -> bytes:
    whole = max(step, -(-len(data) // _SECTOR) * _SECTOR)
    return data.ljust(-(-whole // _SECTOR) * _SECTOR, b"\0")
