"""The compressed RTF in which Outlook keeps some bodies ([MS-OXRTFCP]), and its text."""

from __future__ import annotations

import struct

from bookwheel.formats import rtf
from bookwheel.formats.base import Unreadable

_COMPRESSED, _STORED = 0x75465A4C, 0x414C454D
_MAX_SIZE = 20_000_000
_WINDOW = 4_096
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""What every such text may refer to before it has said anything."""


def rtf_text(data: bytes) -> str:
    """Return the text of a compressed RTF body; nothing where it is damaged."""
    source = decompress(data)
    if not source:
        return ""
    try:
        return rtf.read(source, "").text
    except Unreadable:
        return ""


def decompress(data: bytes) -> bytes:
    """Return the RTF; as much of it as can be had where the data ends too early."""
    if len(data) < 16:
        return b""
    size, kind = struct.unpack_from("<4xII", data)
    size = min(size, _MAX_SIZE)
    if kind == _STORED:
        return data[16 : 16 + size]
    return _unpack(data, size) if kind == _COMPRESSED else b""


def _unpack(data: bytes, size: int) -> bytes:
    """Follow the control bytes: each bit says whether a letter or a reference comes next."""
    out = bytearray(_DICTIONARY)
    end, at = len(_DICTIONARY) + size, 16
    while at < len(data) and len(out) < end:
        control = data[at]
        at += 1
        for bit in range(8):
            if at >= len(data) or len(out) >= end:
                break
            if not control >> bit & 1:
                out.append(data[at])
                at += 1
                continue
            place = int.from_bytes(data[at : at + 2], "big")
            at += 2
            # A place in a ring of bytes; where it equals the next one to write, all is said.
            back = (len(out) - (place >> 4)) % _WINDOW
            if not back:
                return bytes(out[len(_DICTIONARY) :])
            for _ in range((place & 15) + 2):
                out.append(out[-back] if back <= len(out) else 32)
    return bytes(out[len(_DICTIONARY) : end])
