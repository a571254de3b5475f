"""Zip packages such as Office files and e-books, read within limits that are checked beforehand."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from lxml import etree

from bookwheel.formats.base import Unreadable
from bookwheel.formats.directory import (
    Member,
    content_start,
    inflate,
    prepend,
    read_directory,
    unpack,
)
from bookwheel.model import Status

MAX_MEMBERS = 20_000
MAX_MEMBER = 200_000_000
MAX_TOTAL = 1_000_000_000
_FREE = 50_000_000
"""Packages that unpack to no more than this may be packed as tightly as they like."""
_MAX_RATIO = 100
_PARSER = etree.XMLParser(  # one for all: setting it up takes longer than parsing a small part
    resolve_entities=False,
    no_network=True,
    load_dtd=False,
    huge_tree=False,
    recover=False,
    collect_ids=False,
)
_DAMAGE = (BadZipFile, ValueError, OSError, EOFError, RuntimeError, zlib.error)
"""What zipfile raises over damaged members; ways of packing it does not know are among them."""
_DOCTYPES = (b"<!DOCTYPE", "<!DOCTYPE".encode("utf-16-le"), "<!DOCTYPE".encode("utf-16-be"))


class Package:
    """The members of a zip file by name; names are compared as Office does, without case."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            self._directory = read_directory(data)
        except (BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise _damaged(error) from None
        _refuse_bombs(self._directory.sizes, len(data))

    @cached_property
    def _names(self) -> dict[str, str]:
        return {_normal(name): name for name in self._directory.entries}

    @property
    def names(self) -> list[str]:
        """Return the names of the members in the order of the package, in lower case."""
        return list(self._names)

    def has(self, name: str) -> bool:
        """Tell whether there is a member of this name."""
        return name in self._directory.entries or _normal(name) in self._names

    def _find(self, name: str) -> Member | None:
        if name in self._directory.entries:  # most are named as they are written
            return self._directory.find(name)
        written = self._names.get(_normal(name))
        return None if written is None else self._directory.find(written)

    def prepend(self, names: Iterable[str], words: bytes) -> bytes:
        """Return the package with words of the checksum 0 before the content of its members."""
        entries = self._directory.entries
        found = (name if name in entries else self._names[_normal(name)] for name in names)
        return prepend(self._directory, set(found), words)

    def read(self, name: str) -> bytes:
        """Return a member's bytes; Unreadable when there is none or it is damaged."""
        member = self._find(name)
        if member is None:
            raise Unreadable(Status.UNREADABLE, f"its part {name[:100]} is missing")
        if member.flags & 1:
            raise Unreadable(Status.ENCRYPTED, "it is protected by a password")
        if member.method not in (ZIP_STORED, ZIP_DEFLATED):
            raise Unreadable(Status.UNREADABLE, "a zip package that is not packed by deflate")
        content = unpack(self._data, member)
        return self._read_odd(member) if content is None else content

    def _read_odd(self, member: Member) -> bytes:
        """Return the bytes of a member that zipfile may read, or say what is wrong with it."""
        try:
            with ZipFile(BytesIO(self._data)) as odd:
                info = next(each for each in odd.infolist() if each.header_offset == member.start)
                with odd.open(info) as file:
                    return file.read(MAX_MEMBER + 1)
        except _DAMAGE as error:
            raise _damaged(error) from None

    def read_head(self, name: str, size: int) -> bytes:
        """Return the first bytes of a member; nothing when there is none or it is damaged."""
        member = self._find(name)
        start = None if member is None else content_start(self._data, member)
        if member is None or start is None:
            return b""
        packed = self._data[start : start + min(size, member.packed_size)]
        return inflate(packed, size) or b"" if member.method == ZIP_DEFLATED else packed

    def repack(self, parts: Mapping[str, bytes], without: Iterable[str]) -> bytes:
        """Return a package of the XML in this one, with some parts replaced and without others."""
        changed = {_normal(name): content for name, content in parts.items()}
        dropped = {_normal(name) for name in without} - changed.keys()
        file = BytesIO()
        try:
            with ZipFile(BytesIO(self._data)) as old, ZipFile(file, "w", ZIP_DEFLATED) as new:
                for name in dict.fromkeys(old.namelist()):
                    known = _normal(name)
                    if known.endswith((".xml", ".rels")) and known not in dropped:
                        content = changed[known] if known in changed else old.read(name)
                        new.writestr(name, content, compresslevel=1)
        except _DAMAGE as error:
            raise _damaged(error) from None
        return file.getvalue()

    def size(self, name: str) -> int:
        """Return how long a member says it is, unpacked."""
        member = self._find(name)
        return member.size if member is not None else 0

    def read_xml(self, name: str) -> etree._Element:
        """Return the root of an XML member."""
        return parse_xml(self.read(name))


def parse_xml(data: bytes) -> etree._Element:
    """Parse XML that may be hostile; one with a document type is refused, as Office refuses it."""
    refuse_doctype(data)
    try:
        return etree.fromstring(data, _PARSER)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(Status.UNREADABLE, f"damaged XML ({str(error)[:80]})") from None


def refuse_doctype(data: bytes) -> None:
    """Refuse XML that declares a document type: its entities could grow without bounds."""
    marks = _DOCTYPES if b"\0" in data else _DOCTYPES[:1]  # the others are of wide letters
    if any(mark in data for mark in marks):
        raise Unreadable(Status.UNREADABLE, "its XML declares a document type")


def _normal(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _refuse_bombs(sizes: list[int], size: int) -> None:
    total = sum(sizes)
    if len(sizes) > MAX_MEMBERS:
        raise Unreadable(Status.TOO_LARGE, f"packs more than {MAX_MEMBERS:,} files")
    if total > MAX_TOTAL or (total > _FREE and total > size * _MAX_RATIO):
        raise Unreadable(Status.TOO_LARGE, f"unpacks to {total:,} bytes from {size:,}")
    if max(sizes, default=0) > MAX_MEMBER:
        raise Unreadable(Status.TOO_LARGE, f"has a part of more than {MAX_MEMBER:,} bytes")


def _damaged(error: Exception) -> Unreadable:
    return Unreadable(Status.UNREADABLE, f"a damaged zip package ({str(error)[:80]})")
