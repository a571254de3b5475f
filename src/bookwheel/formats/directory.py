"""The directory of a zip file: what members it has and where they lie.

An ordinary directory is read here, at a quarter of what zipfile takes; any other is left to it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from io import BytesIO
from typing import NamedTuple
from zipfile import MAX_EXTRACT_VERSION, ZIP_DEFLATED, ZIP_STORED, ZipFile

from deflate import DeflateError, crc32, deflate_decompress

_END = struct.Struct("<4s4H2LH")
_ENTRY = struct.Struct("<4sxxBxH14xL3H")
_DETAILS = struct.Struct("<8x2H4x3L14xL")
_LENGTHS = struct.Struct("<26x2H")
_NUMBER, _NUMBERS = struct.Struct("<L"), struct.Struct("<LL")
_SIZES_AT, _START_AT, _DIRECTORY_AT = 20, 42, 16
"""Where an entry tells a member's lengths and start, and the end of the file its directory's."""
_EXTRA = struct.Struct("<HH")
_BLOCK = struct.Struct("<xHH")
"""What begins a block of deflate that is not packed and not the last: its length, twice."""
_UTF8 = 0x800
_MOST_GROWTH = 1_032
"""How many bytes deflate makes of one at most."""
_SHORT = 4_000
"""Packed bytes up to which zlib is the faster, whose objects are made sooner."""
_MEANT = frozenset({1, 0x7075})
"""Extra fields that say other sizes, places or names than the entry itself."""


class Member(NamedTuple):
    """One member of a zip file, as the directory tells of it."""

    flags: int
    method: int
    checksum: int
    packed_size: int
    size: int
    start: int
    """Where its own header lies."""


class Directory(NamedTuple):
    """The members of a zip file; of most little more is looked at than their names."""

    data: bytes
    sizes: list[int]
    """How long they are unpacked, those among them that others of the same name hide."""
    entries: dict[str, int | Member]
    """Where the directory tells of a member, or what it tells where zipfile has read it."""

    def find(self, name: str) -> Member | None:
        """Return the member of this name."""
        entry = self.entries.get(name)
        return Member(*_DETAILS.unpack_from(self.data, entry)) if isinstance(entry, int) else entry


def read_directory(data: bytes) -> Directory:
    """Return the members of a zip file; what zipfile raises when it is damaged."""
    found = _read_ordinary(data)
    if found is not None:
        return found
    with ZipFile(BytesIO(data)) as package:
        infos = package.infolist()
    members: dict[str, int | Member] = {
        info.filename: Member(
            flags=info.flag_bits,
            method=info.compress_type,
            checksum=info.CRC,
            packed_size=info.compress_size,
            size=info.file_size,
            start=info.header_offset,
        )
        for info in infos
    }
    return Directory(data, [info.file_size for info in infos], members)


def directory_start(data: bytes) -> int | None:
    """Return where the directory of a file begins that ends in a plain one, as nearly all do."""
    end = len(data) - _END.size
    if end < 0 or not data.startswith(b"PK\5\6", end) or data.startswith(b"PK\6\7", end - 20):
        return None
    _, disk, first, here, count, length, at, comment = _END.unpack_from(data, end)
    return None if disk or first or comment or here != count or at + length != end else int(at)


def _read_ordinary(data: bytes) -> Directory | None:
    """Return the members of such a file, unless any of them needs care."""
    at, end = directory_start(data), len(data) - _END.size
    if at is None:
        return None
    sizes: list[int] = []
    entries: dict[str, int | Member] = {}
    last = end - _DETAILS.size
    while at <= last:
        mark, version, flags, size, named, extra, noted = _ENTRY.unpack_from(data, at)
        begin = at + _DETAILS.size
        after = begin + named
        name = data[begin:after]
        if mark != b"PK\1\2" or version > MAX_EXTRACT_VERSION:
            return None
        if not (name.isascii() or flags & _UTF8):
            return None
        try:
            entries[name.decode()] = at
        except UnicodeDecodeError:
            return None
        sizes.append(size)
        if extra and not _is_plain(data[after : after + extra]):
            return None
        at = after + extra + noted
    return Directory(data, sizes, entries) if at == end and "\0" not in "".join(entries) else None


def _is_plain(extra: bytes) -> bool:
    """Tell extra fields that are sound and change nothing."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = _EXTRA.unpack_from(extra, at)
        at += 4 + length
        if kind in _MEANT or at > len(extra):
            return False
    return True


def prepend(directory: Directory, names: Iterable[str], words: bytes) -> bytes:
    """Return the zip file with words before the content of members, which stays packed.

    The checksum of the words must be 0, so that those of the members stay right; the new lengths
    stand in the directory alone. Where a member needs care, or members overlap, nothing is changed.
    """
    data, at = directory.data, directory_start(directory.data)
    if at is None:
        return data
    tail, pieces, end, room = bytearray(data[at:]), [data[:at]], at, at
    block = _BLOCK.pack(len(words), len(words) ^ 0xFFFF) + words
    for name in names:
        entry, member = directory.entries[name], directory.find(name)
        start = None if member is None else content_start(data, member)
        if start is None or member is None or not isinstance(entry, int):
            return data
        room -= member.packed_size
        if room < 0:
            return data
        before = block if member.method == ZIP_DEFLATED else words
        piece = data[member.start : start] + before + data[start : start + member.packed_size]
        sizes = len(before) + member.packed_size, len(words) + member.size
        _NUMBERS.pack_into(tail, entry - at + _SIZES_AT, *sizes)
        _NUMBER.pack_into(tail, entry - at + _START_AT, end)
        pieces.append(piece)
        end += len(piece)
    _NUMBER.pack_into(tail, len(tail) - _END.size + _DIRECTORY_AT, end)
    return b"".join([*pieces, tail])


def content_start(data: bytes, member: Member) -> int | None:
    """Return where the content of a member begins, if it is packed in one of the usual ways."""
    start = member.start
    if member.method not in (ZIP_DEFLATED, ZIP_STORED) or not data.startswith(b"PK\3\4", start):
        return None
    if not 0 <= start <= len(data) - _LENGTHS.size:
        return None
    named, extra = _LENGTHS.unpack_from(data, start)
    return start + _LENGTHS.size + int(named) + int(extra)


def unpack(data: bytes, member: Member) -> bytes | None:
    """Return a member that is sound, at twice the speed of zipfile; None for an odd one."""
    start = content_start(data, member)
    if start is None:
        return None
    end = start + member.packed_size
    content: bytes | None
    if member.method == ZIP_DEFLATED and member.packed_size:
        content = _inflate_all(data[start:end], member.size)
    else:
        content = data[start:end]
    if content is None or len(content) != member.size:
        return None
    return content if crc32(content) == member.checksum else None


def _inflate_all(packed: bytes, size: int) -> bytes | None:
    """Unpack what should be so many bytes, into room that fits."""
    if not 0 < size <= len(packed) * _MOST_GROWTH:
        return inflate(packed, size + 1)
    try:
        if len(packed) <= _SHORT:
            return zlib.decompress(packed, -15, size)
        return bytes(deflate_decompress(packed, size))
    except (zlib.error, DeflateError):
        return None


def inflate(packed: bytes | memoryview, size: int) -> bytes | None:
    """Unpack no more than so many bytes; None where they are damaged."""
    try:
        return zlib.decompressobj(-15).decompress(packed, size)
    except zlib.error:
        return None
