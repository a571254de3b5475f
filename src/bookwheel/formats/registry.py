"""The table of formats, and the one function that reads a file's bytes with the right one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from bookwheel.formats.base import Unreadable, title_from_path
from bookwheel.model import Parsed, Status


class Format(NamedTuple):
    """One row of the table: a module that reads, imported when its first file comes."""

    name: str
    mime_types: Mapping[str, str]
    """Extension to mime type."""
    reader: str
    """The module whose `read(data, path)` gives a Parsed."""
    container: str = ""
    """What the first bytes must show, by its name in the table of magic; empty for text."""

    @property
    def extensions(self) -> tuple[str, ...]:
        return tuple(self.mime_types)


class _Reader(Protocol):
    def read(self, data: bytes, path: str) -> Parsed: ...


FORMATS: tuple[Format, ...] = (
    Format(
        name="Markdown",
        mime_types=dict.fromkeys((".md", ".markdown", ".mdx"), "text/markdown"),
        reader="bookwheel.formats.markdown",
    ),
    Format(
        name="HTML",
        mime_types=dict.fromkeys((".html", ".htm"), "text/html"),
        reader="bookwheel.formats.html",
    ),
    Format(
        name="text",
        mime_types={".txt": "text/plain"},
        reader="bookwheel.formats.text",
    ),
)

_BY_EXTENSION = {extension: row for row in FORMATS for extension in row.mime_types}

SUPPORTED: frozenset[str] = frozenset(_BY_EXTENSION)

_MAGIC: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("a PNG image", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("a JPEG image", re.compile(rb"\xff\xd8\xff")),
    ("a GIF image", re.compile(rb"GIF8[79]a")),
    ("a RIFF media file", re.compile(rb"RIFF....(?:WEBP|WAVE|AVI )", re.S)),
    ("a PDF file", re.compile(rb"%PDF-\d\.\d")),
    ("a zip archive", re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)")),
    ("an OLE file", re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")),
    ("a gzip archive", re.compile(rb"\x1f\x8b\x08")),
    ("a bzip2 archive", re.compile(rb"BZh[1-9]1AY&SY")),
    ("an xz archive", re.compile(rb"\xfd7zXZ\0")),
    ("a 7-Zip archive", re.compile(rb"7z\xbc\xaf\x27\x1c")),
    ("a RAR archive", re.compile(rb"Rar!\x1a\x07")),
    ("a zstd archive", re.compile(rb"\x28\xb5\x2f\xfd")),
    ("a program", re.compile(rb"\x7fELF|MZ.{60}|[\xcf\xce]\xfa\xed\xfe|\xca\xfe\xba\xbe", re.S)),
    ("an SQLite database", re.compile(rb"SQLite format 3\0")),
    ("an MP3 file", re.compile(rb"ID3[\x02-\x04]\0")),
)
_LFS_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v\d+\n(?:ext-|oid )")
_LFS_LARGEST = 1_024


def read(data: bytes, path: str) -> Parsed:
    """Read a file's bytes by its content first and the extension of its path second."""
    extension = extension_of(path)
    row = _BY_EXTENSION.get(extension)
    if row is None:
        raise Unreadable(
            Status.UNSUPPORTED, f"no reader for {extension or 'a file without extension'}"
        )
    if not data:
        return Parsed(title=title_from_path(path), description="", text="")
    _check_content(data, row, extension)
    return cast(_Reader, import_module(row.reader)).read(data, path)


def mime_type(extension: str) -> str:
    """Return the mime type of files with this extension."""
    row = _BY_EXTENSION.get(extension.lower())
    return row.mime_types[extension.lower()] if row else "application/octet-stream"


def extension_of(path: str) -> str:
    """Return the extension in lower case with its dot, or nothing."""
    name = path.rsplit("/", 1)[-1]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def sniff(data: bytes) -> str:
    """Return what the first bytes say the file is, or nothing when they could be text."""
    # All but letters that text may well begin with are told apart by one look at the first byte.
    if data[0] in _TEXT_STARTS:
        return ""
    return next((name for name, magic in _MAGIC if magic.match(data)), "")


_TEXT_STARTS = frozenset(range(256)) - frozenset(
    b"\x89\xffGR%P\xd0\x1fB\xfd7\x28\x7fM\xcf\xce\xcaSI"
)


def _check_content(data: bytes, row: Format, extension: str) -> None:
    if len(data) <= _LFS_LARGEST and _LFS_POINTER.match(data):
        raise Unreadable(Status.NO_TEXT, "a Git LFS pointer; run `git lfs pull` to get the file")
    found = sniff(data)
    if found == row.container:
        return
    if not row.container:
        raise Unreadable(Status.BINARY, f"{found} named {extension}")
    raise Unreadable(Status.UNREADABLE, f"{found or 'text'} named {extension}, not {row.container}")
