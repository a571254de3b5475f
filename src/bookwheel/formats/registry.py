"""The table of formats, and the one function that reads a file's bytes with the right one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from bookwheel.formats.base import Unreadable, title_from_path
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
_BY_KIND = {kind: row for row in FORMATS for kind in row.kinds}
_HTML = _BY_EXTENSION[".html"]

SUPPORTED: frozenset[str] = frozenset(_BY_EXTENSION)

_CODE = "bookwheel.formats.code"
_LFS_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v\d+\n(?:ext-|oid )")
_LFS_LARGEST = 1_024


def read(data: bytes, path: str) -> Parsed:
    """Read a file's bytes by its content first and the extension of its path second."""
    if not data:
        return Parsed(title=title_from_path(path), description="", text="")
    if len(data) <= _LFS_LARGEST and _LFS_POINTER.match(data):
        raise Unreadable(Status.NO_TEXT, "a Git LFS pointer; run `git lfs pull` to get the file")
    reader = _choose(data, extension_of(path))
    return cast(_Reader, import_module(reader)).read(data, path)


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
    raise Unreadable(Status.UNREADABLE, f"text {named}, not {row.name}")
