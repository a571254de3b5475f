"""The table of formats, and the one function that reads a file's bytes with the right one."""

from __future__ import annotations

import gc
import re
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from bookwheel.formats.base import Unreadable, title_from_path
from bookwheel.formats.decoding import decode
from bookwheel.formats.identify import identify, is_html, is_late_pdf
from bookwheel.model import Parsed, Status


class Format(NamedTuple):
    """One row of the table: a module that reads, imported when its first file comes."""

    name: str
    mime_types: Mapping[str, str]
    """Extension to mime type."""
    reader: str
    """The module whose `read(data, path)` gives a Parsed."""
    is_text: bool = True
    """Any text may be of this format; others are known by their bytes."""
    kinds: tuple[str, ...] = ()
    """What `identify` calls its files, where they are known by their bytes."""

    @property
    def extensions(self) -> tuple[str, ...]:
        return tuple(self.mime_types)


class _Reader(Protocol):
    def read(self, data: bytes, path: str) -> Parsed: ...


_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"

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
    Format(
        name="PDF",
        mime_types={".pdf": "application/pdf"},
        reader="bookwheel.formats.pdf",
        is_text=False,
        kinds=("pdf",),
    ),
    Format(
        name="Word",
        mime_types={
            ".docx": f"{_OPEN_XML}.wordprocessingml.document",
            ".docm": "application/vnd.ms-word.document.macroenabled.12",
            ".dotx": f"{_OPEN_XML}.wordprocessingml.template",
        },
        reader="bookwheel.formats.docx",
        is_text=False,
        kinds=("docx",),
    ),
    Format(
        name="PowerPoint",
        mime_types={
            ".pptx": f"{_OPEN_XML}.presentationml.presentation",
            ".pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
            ".ppsx": f"{_OPEN_XML}.presentationml.slideshow",
        },
        reader="bookwheel.formats.pptx",
        is_text=False,
        kinds=("pptx",),
    ),
    Format(
        name="Excel",
        mime_types={
            ".xlsx": f"{_OPEN_XML}.spreadsheetml.sheet",
            ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
            ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
            ".xls": "application/vnd.ms-excel",
            ".ods": f"{_OPEN_DOCUMENT}.spreadsheet",
        },
        reader="bookwheel.formats.spreadsheet",
        is_text=False,
        kinds=("xlsx", "xls", "ods"),
    ),
    Format(
        name="table",
        mime_types={".csv": "text/csv", ".tsv": "text/tab-separated-values"},
        reader="bookwheel.formats.csv",
    ),
    Format(
        name="OpenDocument text",
        mime_types={".odt": f"{_OPEN_DOCUMENT}.text"},
        reader="bookwheel.formats.odt",
        is_text=False,
        kinds=("odt",),
    ),
    Format(
        name="OpenDocument slides",
        mime_types={".odp": f"{_OPEN_DOCUMENT}.presentation"},
        reader="bookwheel.formats.odp",
        is_text=False,
        kinds=("odp",),
    ),
    Format(
        name="RTF",
        mime_types={".rtf": "application/rtf"},
        reader="bookwheel.formats.rtf",
        is_text=False,
        kinds=("rtf",),
    ),
    Format(
        name="old Word",
        mime_types={".doc": "application/msword"},
        reader="bookwheel.formats.doc",
        is_text=False,
        kinds=("doc",),
    ),
    Format(
        name="old PowerPoint",
        mime_types={".ppt": "application/vnd.ms-powerpoint"},
        reader="bookwheel.formats.ppt",
        is_text=False,
        kinds=("ppt",),
    ),
    Format(
        name="e-book",
        mime_types={".epub": "application/epub+zip"},
        reader="bookwheel.formats.epub",
        is_text=False,
        kinds=("epub",),
    ),
    Format(
        name="notebook",
        mime_types={".ipynb": "application/x-ipynb+json"},
        reader="bookwheel.formats.ipynb",
    ),
    Format(
        name="mail",
        mime_types={".eml": "message/rfc822"},
        reader="bookwheel.formats.eml",
    ),
    Format(
        name="Outlook mail",
        mime_types={".msg": "application/vnd.ms-outlook"},
        reader="bookwheel.formats.msg",
        is_text=False,
        kinds=("msg",),
    ),
    Format(
        name="reStructuredText",
        mime_types={".rst": "text/x-rst"},
        reader="bookwheel.formats.rst",
    ),
    Format(
        name="Org",
        mime_types={".org": "text/org"},
        reader="bookwheel.formats.org",
    ),
    Format(
        name="AsciiDoc",
        mime_types=dict.fromkeys((".adoc", ".asciidoc"), "text/asciidoc"),
        reader="bookwheel.formats.adoc",
    ),
)

_BY_EXTENSION = {extension: row for row in FORMATS for extension in row.mime_types}
_BY_KIND = {kind: row for row in FORMATS for kind in row.kinds}
_HTML = _BY_EXTENSION[".html"]
_AS_TEXT = {".xls": ".csv", ".doc": ".txt", ".msg": ".eml"}
"""What programs write as text under the names of Office files, since Office opens it so."""

SUPPORTED: frozenset[str] = frozenset(_BY_EXTENSION)

_CODE = "bookwheel.formats.code"
_LFS_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v\d+\n(?:ext-|oid )")
_LFS_LARGEST = 1_024
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT = 100_000


def read(data: bytes, path: str) -> Parsed:
    """Read a file's bytes by its content first and the extension of its path second."""
    if not data:
        row = _BY_EXTENSION.get(extension_of(path))
        if row is not None and not row.is_text:
            raise Unreadable(Status.NO_TEXT, "it is empty (0 bytes): a copy that failed?")
        return Parsed(title=title_from_path(path), description="", text="")
    if len(data) <= _LFS_LARGEST and _LFS_POINTER.match(data):
        raise Unreadable(Status.NO_TEXT, "a Git LFS pointer; run `git lfs pull` to get the file")
    reader = _choose(data, extension_of(path))
    module = cast(_Reader, import_module(reader))
    was_enabled = gc.isenabled()
    gc.disable()  # readers leave no cycles behind, and looking for them among rows takes time
    try:
        return module.read(data, path)
    finally:
        if was_enabled:
            gc.enable()


def mime_type(extension: str) -> str:
    """Return the mime type of files with this extension."""
    row = _BY_EXTENSION.get(extension.lower())
    return row.mime_types[extension.lower()] if row else "text/plain"


def extension_of(path: str) -> str:
    """Return the extension in lower case with its dot, or nothing."""
    name = path.rsplit("/", 1)[-1]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def _choose(data: bytes, extension: str) -> str:
    """Return the module that reads these bytes."""
    named = f"named {extension}" if extension else "without an extension"
    row, kind = _BY_EXTENSION.get(extension), identify(data)
    if kind in _BY_KIND:
        return _BY_KIND[kind].reader
    if kind:
        status = Status.BINARY if row is None or row.is_text else Status.UNREADABLE
        raise Unreadable(status, f"{kind} {named}")
    if row is None:
        return _CODE
    if row.is_text:
        return row.reader
    if extension == ".pdf" and is_late_pdf(data):
        return row.reader
    if is_html(data):
        return _HTML.reader
    if extension in _AS_TEXT and _is_text(data):
        return _BY_EXTENSION[_AS_TEXT[extension]].reader
    what = "binary data" if _is_binary(data[:_LOOKED_AT]) else "text"
    raise Unreadable(Status.UNREADABLE, f"{what} {named}, not {row.name}")


def _is_binary(data: bytes) -> bool:
    try:
        decode(data)
    except Unreadable:
        return True
    return False


def _is_text(data: bytes) -> bool:
    """Tell words from blanks, from XML that an old program wrote, and from damaged files."""
    if not data.strip() or data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return False
    if not data.startswith(_WIDE_MARKS) and _CONTROLS.search(data, 0, _LOOKED_AT):
        return False
    try:
        return bool(decode(data).strip())
    except Unreadable:
        return False
