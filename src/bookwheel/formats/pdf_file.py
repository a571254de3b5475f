"""A PDF held open: PDFium's handles and the strings it gives, each closed by whoever opened it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from bookwheel.formats.base import Unreadable
from bookwheel.model import Status

Handle = Any
"""A pointer of PDFium's: a document, page, text page, bookmark or annotation."""

MAX_STRING = 100_000
"""Bytes of a property, a title or an address; a longer one is taken for none."""

_DAMAGED = Unreadable(Status.UNREADABLE, "a damaged PDF")
_REFUSALS = {
    pdfium.FPDF_ERR_PASSWORD: Unreadable(Status.ENCRYPTED, "it is protected by a password"),
    pdfium.FPDF_ERR_SECURITY: Unreadable(
        Status.ENCRYPTED, "it is protected in a way that only some programs know"
    ),
}


@contextmanager
def open_document(data: bytes) -> Iterator[Handle]:
    """Hold a document open; `data` must live as long."""
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        refusal = _REFUSALS.get(pdfium.FPDF_GetLastError(), _DAMAGED)
        raise Unreadable(refusal.status, refusal.reason)
    try:
        yield document
    finally:
        pdfium.FPDF_CloseDocument(document)


class Page(NamedTuple):
    """One page and what PDFium has made out of its letters."""

    handle: Handle
    letters: Handle


@contextmanager
def open_page(document: Handle, index: int) -> Iterator[Page | None]:
    """Hold a page open; None is one that cannot be read."""
    handle = pdfium.FPDF_LoadPage(document, index)
    letters = pdfium.FPDFText_LoadPage(handle) if handle else None
    try:
        yield Page(handle, letters) if letters else None
    finally:
        if letters:
            pdfium.FPDFText_ClosePage(letters)
        if handle:
            pdfium.FPDF_ClosePage(handle)


def read_string(function: Callable[..., int], *arguments: object) -> str:
    """Return what a function gives that fills a buffer with UTF-16 and tells its size in bytes."""
    size = function(*arguments, None, 0)
    if not 2 < size <= MAX_STRING:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    function(*arguments, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")


def read_letters(letters: Handle, limit: int) -> tuple[str, int]:
    """Return a page's text as PDFium orders it, and how many characters lie beyond the limit."""
    count = pdfium.FPDFText_CountChars(letters)
    if count <= 0:
        return "", 0
    taken = min(count, limit)
    buffer = (ctypes.c_ushort * (2 * taken + 2))()
    got = pdfium.FPDFText_GetText(letters, 0, taken, buffer)
    text = ctypes.string_at(buffer, 2 * max(0, got - 1)).decode("utf-16-le", "replace")
    return text, count - taken


def read_bounded(letters: Handle, box: Any, limit: int) -> str:
    """Return the text that lies within a rectangle of the page, as far as the limit."""
    buffer = (ctypes.c_ushort * limit)()
    edges = (box.left, box.top, box.right, box.bottom)
    got = pdfium.FPDFText_GetBoundedText(letters, *edges, buffer, limit)
    text = ctypes.string_at(buffer, 2 * min(max(0, got), limit)).decode("utf-16-le", "replace")
    return text.rstrip("\0")
