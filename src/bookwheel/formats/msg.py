"""Outlook mail: the same layout as other mail, out of the properties of an OLE file."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from olefile import OleFileIO

from bookwheel.formats.base import Unreadable
from bookwheel.formats.mail import (
    ENCRYPTED,
    MAX_FORWARDED,
    MAX_HEADER,
    Attachment,
    Mail,
    choose_body,
    compose,
    decode_as,
    decode_header,
    html_body,
    plain_body,
)
from bookwheel.formats.msg_rtf import rtf_text
from bookwheel.formats.ole import DAMAGE, damaged_ole
from bookwheel.model import Link, Parsed, Status

# Property numbers of [MS-OXPROPS].
_CLASS, _SUBJECT, _BODY, _RTF, _HTML = 0x001A, 0x0037, 0x1000, 0x1009, 0x1013
_SENDER, _SENDER_ADDRESS, _SENDER_SMTP, _FOR = 0x0C1A, 0x0C1F, 0x5D01, 0x0042
_SHOWN_TO, _SHOWN_CC = 0x0E04, 0x0E03
_SENT, _DELIVERED, _CREATED = 0x0039, 0x0E06, 0x3007
_CODEPAGE, _BODY_CODEPAGE, _LOCALE = 0x3FFD, 0x3FDE, 0x3FF1
_NAME, _ADDRESS, _SMTP, _KIND = 0x3001, 0x3003, 0x39FE, 0x0C15
_LONG_FILE, _SHORT_FILE, _MIME = 0x3707, 0x3704, 0x370E

_PROPERTIES = "__properties_version1.0"
_STREAM = "__substg1.0_"
_INNER = f"{_STREAM}3701000d"
_DATA = f"{_STREAM}37010102"
_Path = tuple[str, ...]
_ENTRY = struct.Struct("<HHI8s")
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_CODEPAGES = {65001: "utf-8", 65000: "utf-7", 1200: "utf-16-le", 20127: "", 20866: "koi8-r"} | {
    21866: "koi8-u",
    10000: "mac-roman",
    50220: "iso-2022-jp",
    50221: "iso-2022-jp",
    51932: "euc-jp",
    51949: "euc-kr",
    54936: "gb18030",
    **{28590 + number: f"iso-8859-{number}" for number in range(1, 16)},
}
_LANGUAGES = {0x01: 1256, 0x04: 936, 0x08: 1253, 0x0D: 1255, 0x11: 932, 0x12: 949, 0x1E: 874} | {
    0x1F: 1254,
    **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x24), 1250),
    **dict.fromkeys((0x02, 0x19, 0x22, 0x23), 1251),
    **dict.fromkeys((0x25, 0x26, 0x27), 1257),
}
"""Code pages of the languages whose numbers a message may name instead."""
_MAX_RECIPIENTS = 100
_MAX_ATTACHMENTS = 1_000
_LOCKED = re.compile(r"ipm\.note\.(?:secure|smime)(?!\.multipartsigned)", re.I)


def read(data: bytes, path: str) -> Parsed:
    """Read an Outlook message."""
    try:
        with OleFileIO(data) as ole:
            mail = _read_message(_Storage(_Tree(ole), (), 32), 1)
    except RecursionError:
        raise Unreadable(Status.UNREADABLE, "its parts are nested too deeply") from None
    except (*DAMAGE, MemoryError) as error:
        raise damaged_ole(error) from None
    return compose(mail, path)


class _Tree:
    """The streams and storages of an OLE file by their paths, listed once."""

    def __init__(self, ole: OleFileIO[bytes]) -> None:
        self.ole = ole
        self.streams = {_path(names): names for names in ole.listdir()}
        self.folders: dict[_Path, list[_Path]] = {}
        for names in ole.listdir(streams=False, storages=True):
            path = _path(names)
            self.folders.setdefault(path[:-1], []).append(path)

    def read(self, path: _Path) -> bytes:
        names = self.streams.get(path)
        if names is None:
            return b""
        with self.ole.openstream(names) as file:
            return bytes(file.read())


def _path(names: Iterable[object]) -> _Path:
    return tuple(str(name).lower() for name in names)


class _Storage:
    """The properties of a message, recipient or attachment."""

    def __init__(self, tree: _Tree, folder: _Path, header: int) -> None:
        self.tree = tree
        self.folder = folder
        self.fixed: dict[int, bytes] = {}
        entries = self.stream(_PROPERTIES)[header:]
        for at in range(0, len(entries) - 15, 16):
            _, number, _, value = _ENTRY.unpack_from(entries, at)
            self.fixed[number] = value

    def stream(self, name: str) -> bytes:
        return self.tree.read((*self.folder, name))

    def size(self, name: str) -> int:
        names = self.tree.streams.get((*self.folder, name))
        return int(self.tree.ole.get_size(names)) if names else 0

    def number(self, prop: int) -> int:
        return int.from_bytes(self.fixed.get(prop, b"")[:4], "little")

    def text(self, prop: int, codepage: int = 0) -> str:
        """Return a string, in Unicode or in whatever code page the message names."""
        if wide := self.stream(f"{_STREAM}{prop:04x}001f"):
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self.stream(f"{_STREAM}{prop:04x}001e").rstrip(b"\0")
        return decode_as(narrow, _charset(codepage)) if narrow else ""

    def binary(self, prop: int) -> bytes:
        return self.stream(f"{_STREAM}{prop:04x}0102")

    def date(self, *props: int) -> str:
        for prop in props:
            ticks = int.from_bytes(self.fixed.get(prop, b""), "little")
            try:
                if ticks:
                    return (_EPOCH + timedelta(seconds=ticks // 10**7)).isoformat()
            except OverflowError:
                continue
        return ""

    def folders(self, prefix: str, header: int) -> Iterator[_Storage]:
        """Yield the storages inside this one whose names begin like this."""
        for path in self.tree.folders.get(self.folder, []):
            if path[-1].startswith(prefix):
                yield _Storage(self.tree, path, header)


def _charset(codepage: int) -> str:
    return _CODEPAGES.get(codepage, f"cp{codepage}" if codepage else "")


def _read_message(storage: _Storage, depth: int) -> Mail:
    codepage = storage.number(_CODEPAGE) or storage.number(_BODY_CODEPAGE)
    codepage = codepage or _LANGUAGES.get(storage.number(_LOCALE) & 0x3FF, 1252)
    sender, author = _sender(storage, codepage)
    date = storage.date(_SENT, _DELIVERED, _CREATED)
    attachments, forwarded = _read_attachments(storage, codepage, depth)
    recipients = _recipients(storage, codepage)
    body, links = _body(storage, codepage)
    locked = any(file.mime == "application/pgp-encrypted" for file in attachments)
    return Mail(
        subject=decode_header(storage.text(_SUBJECT, codepage)),
        headers=(
            ("From", sender),
            ("To", recipients.get(1) or decode_header(storage.text(_SHOWN_TO, codepage))),
            ("Cc", recipients.get(2) or decode_header(storage.text(_SHOWN_CC, codepage))),
            ("Date", date),
        ),
        body=body or (ENCRYPTED if locked else ""),
        attachments=attachments,
        forwarded=forwarded,
        author=author or sender,
        date=date,
        links=links,
    )


def _sender(storage: _Storage, codepage: int) -> tuple[str, str]:
    """Return how the sender is shown, and the name alone."""
    name = decode_header(storage.text(_SENDER, codepage) or storage.text(_FOR, codepage))
    address = storage.text(_SENDER_SMTP, codepage) or storage.text(_SENDER_ADDRESS, codepage)
    return _shown(name, address), name


def _shown(name: str, address: str) -> str:
    address = decode_header(address)
    if "@" not in address or address == name or address.startswith("/"):
        return name or address
    return f"{name} <{address}>" if name else address


def _recipients(storage: _Storage, codepage: int) -> dict[int, str]:
    """Return recipients by kind: 1 is To, 2 is Cc."""
    found: dict[int, list[str]] = {}
    for count, person in enumerate(storage.folders("__recip_version1.0_", 8)):
        if count >= _MAX_RECIPIENTS:
            break
        address = person.text(_SMTP, codepage) or person.text(_ADDRESS, codepage)
        shown = _shown(decode_header(person.text(_NAME, codepage)), address)
        found.setdefault(person.number(_KIND) & 3, []).append(shown)
    return {kind: ", ".join(filter(None, names))[:MAX_HEADER] for kind, names in found.items()}


def _body(storage: _Storage, codepage: int) -> tuple[str, tuple[Link, ...]]:
    """Return the body from the form that needs least conversion and says enough, and its links."""
    if _LOCKED.match(storage.text(_CLASS)):
        return ENCRYPTED, ()
    pages = storage.number(_BODY_CODEPAGE) or codepage
    plain = storage.text(_BODY, pages)
    if not plain.strip():
        rich = _rich_body(storage, pages)
        return rich or plain_body(rtf_text(storage.binary(_RTF))), ()
    shown = plain_body(plain)
    try:
        return choose_body(shown, _rich_body(storage, pages))
    except Unreadable:  # too long: the plain form is not
        return shown, ()


def _rich_body(storage: _Storage, codepage: int) -> str:
    if html := storage.binary(_HTML):
        return html_body(html, _charset(storage.number(_BODY_CODEPAGE)))
    source = storage.text(_HTML, codepage)
    return html_body(source.encode("utf-8", "replace"), "utf-8") if source else ""


def _read_attachments(
    storage: _Storage, codepage: int, depth: int
) -> tuple[tuple[Attachment, ...], tuple[Mail, ...]]:
    files: list[Attachment] = []
    messages: list[Mail] = []
    for count, item in enumerate(storage.folders("__attach_version1.0_", 8)):
        if count >= _MAX_ATTACHMENTS:
            break
        inner = _Storage(item.tree, (*item.folder, _INNER), 24)
        if depth < MAX_FORWARDED and (*inner.folder, _PROPERTIES) in item.tree.streams:
            messages.append(_read_message(inner, depth + 1))
        else:
            files.append(_attachment(item, codepage))
    return tuple(files), tuple(messages)


def _attachment(item: _Storage, codepage: int) -> Attachment:
    names = (item.text(prop, codepage) for prop in (_LONG_FILE, _SHORT_FILE, _NAME))
    name = next((name for name in names if name.strip()), "")
    mime = item.text(_MIME, codepage) or "application/octet-stream"
    return Attachment(decode_header(name), decode_header(mime), item.size(_DATA))
