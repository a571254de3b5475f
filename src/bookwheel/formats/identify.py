"""What a file is by its bytes, whatever its name says."""

from __future__ import annotations

import re
import zlib
from io import BytesIO
from itertools import islice
from zipfile import ZIP_STORED, BadZipFile

from bookwheel.formats.base import Unreadable
from bookwheel.formats.directory import (
    Member,
    content_start,
    directory_start,
    inflate,
    read_directory,
)
from bookwheel.formats.ole import DAMAGE
from bookwheel.model import Status

ZIP, OLE = "a zip archive", "an OLE file"

_ZIP_ERRORS = (
    BadZipFile,
    OSError,
    ValueError,
    KeyError,
    NotImplementedError,
    EOFError,
    RuntimeError,
    zlib.error,
)
"""What zipfile raises over damaged and locked files."""

_MAGIC: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    (ZIP, re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)")),
    ("a PNG image", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("a JPEG image", re.compile(rb"\xff\xd8\xff")),
    ("a GIF image", re.compile(rb"GIF8[79]a")),
    ("a RIFF media file", re.compile(rb"RIFF....(?:WEBP|WAVE|AVI )", re.S)),
    ("pdf", re.compile(rb"%PDF-\d\.\d")),
    ("rtf", re.compile(rb"\{\\rtf")),
    (OLE, re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")),
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
_TEXT_STARTS = frozenset(range(256)) - frozenset(
    b"\x89\xffGR%{P\xd0\x1fB\xfd7\x28\x7fM\xcf\xce\xcaSI"
)
_MAX_TYPES = 1_000_000
_MAX_PACKED = 100_000
_LATE_PDF = 1_024
"""So many bytes may stand before a PDF's header."""
_MIME_KINDS = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
}
_PART_KINDS = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
_MAIN_PARTS = re.compile(
    rb"PK\x01\x02.{42}(?:(?P<docx>word/document)|(?P<pptx>ppt/presentation)|(?P<xlsx>xl/workbook))\.xml",
    re.S,
)
"""Where a directory tells of the part that holds a document, by its usual name."""
_CONTENT_KINDS = (
    (b"wordprocessingml.document.main", "docx"),
    (b"wordprocessingml.template.main", "docx"),
    (b"ms-word.document.macroEnabled.main", "docx"),
    (b"presentationml.presentation.main", "pptx"),
    (b"presentationml.slideshow.main", "pptx"),
    (b"presentationml.template.main", "pptx"),
    (b"powerpoint.presentation.macroEnabled.main", "pptx"),
    (b"spreadsheetml.sheet.main", "xlsx"),
    (b"spreadsheetml.template.main", "xlsx"),
    (b"ms-excel.sheet", "xlsx"),
)
_STREAM_KINDS = (
    ("worddocument", "doc"),
    ("powerpoint document", "ppt"),
    ("workbook", "xls"),
    ("book", "xls"),
    ("__properties_version1.0", "msg"),
)
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype html|html)\b", re.I | re.S
)


def identify(data: bytes) -> str:
    """Return `pdf`, `docx` and so on, words for what has no reader, nothing for text."""
    if data[0] in _TEXT_STARTS:  # all but what text may well begin with is told by the first byte
        return ""
    found = next((name for name, magic in _MAGIC if magic.match(data)), "")
    if found == ZIP:
        return _zip_kind(data)
    return _ole_kind(data) if found == OLE else found


def is_late_pdf(data: bytes) -> bool:
    """Tell a PDF with some bytes before its header, which readers accept."""
    return b"%PDF-" in data[:_LATE_PDF]


def is_html(data: bytes) -> bool:
    """Tell a text that declares itself a web page."""
    return _HTML.match(data) is not None


def _zip_kind(data: bytes) -> str:
    # By rule the first member says what an OpenDocument file or an e-book is, unpacked.
    start = 30 + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")
    if data[30:38] == b"mimetype":
        for mime, kind in _MIME_KINDS.items():
            if data.startswith(mime, start):
                return kind
    if kind := _main_kind(data):
        return kind
    if data[30:49] == b"[Content_Types].xml":
        # Office writes this member first: the directory at the end need not be read.
        kind = _content_kind(_unpack(data, start))
        if kind:
            return kind
    try:
        return _package_kind(data)
    except _ZIP_ERRORS:
        return ZIP


def _main_kind(data: bytes) -> str:
    """Return what a file is that has one main part of a usual name; nothing for others."""
    at = directory_start(data)
    if at is None:
        return ""
    kinds = {str(found.lastgroup) for found in _MAIN_PARTS.finditer(data, at)}
    return kinds.pop() if len(kinds) == 1 else ""


def _content_kind(types: bytes) -> str:
    return next((kind for mark, kind in _CONTENT_KINDS if mark in types), "")


def _unpack(data: bytes, start: int) -> bytes:
    """Return the member that begins here; nothing if it is packed otherwise or damaged."""
    if data[8:10] != b"\x08\0":
        return b""
    return inflate(memoryview(data)[start : start + _MAX_PACKED], _MAX_TYPES) or b""


def _package_kind(data: bytes) -> str:
    directory = read_directory(data)
    names = {name.lower().lstrip("/"): name for name in islice(directory.entries, 20_000)}

    def begin(name: str, size: int) -> bytes:
        return _begin(data, directory.find(names.get(name, "")), size)

    mime = begin("mimetype", 100).strip().removesuffix(b"-template")
    if mime in _MIME_KINDS:
        return _MIME_KINDS[mime]
    types = begin("[content_types].xml", _MAX_TYPES)
    if kind := _content_kind(types):
        return kind
    if "meta-inf/container.xml" in names:
        return "epub"
    return next(
        (k for part, k in _PART_KINDS.items() if any(n.startswith(part) for n in names)), ZIP
    )


def _begin(data: bytes, member: Member | None, size: int) -> bytes:
    """Return the beginning of a member, if there is one that can be read."""
    start = None if member is None or member.flags & 1 else content_start(data, member)
    if member is None or start is None:
        return b""
    packed = data[start : start + min(_MAX_PACKED, member.packed_size)]
    content = packed if member.method == ZIP_STORED else inflate(packed, size)
    if content is None:
        raise BadZipFile("a damaged member")
    return content[:size]


def _ole_kind(data: bytes) -> str:
    from olefile import OleFileIO

    try:
        with OleFileIO(BytesIO(data)) as ole:  # it would take few bytes for the name of a file
            streams = {str(entry[0]).lower() for entry in ole.listdir()}
    except (*DAMAGE, MemoryError):
        return OLE
    if streams & {"encryptedpackage", "encryptioninfo"}:
        raise Unreadable(Status.ENCRYPTED, "it is protected by a password")
    return next((kind for stream, kind in _STREAM_KINDS if stream in streams), OLE)
