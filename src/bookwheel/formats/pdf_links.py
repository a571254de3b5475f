"""What is laid over a PDF's page: links to addresses, values of form fields, notes."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import pypdfium2.raw as pdfium

from bookwheel.formats.links import MAX_CONTEXT, MAX_LINK_TEXT, MAX_TARGET, sentence_around
from bookwheel.formats.pdf_file import Handle, Page, read_bounded, read_string
from bookwheel.formats.pdf_text import clean
from bookwheel.model import Link
from bookwheel.text.cut import cut, squeeze

_MAX_LAID_OVER = 5_000
_MOST_LINES = 4
_NOTES = frozenset(
    {
        pdfium.FPDF_ANNOT_TEXT,
        pdfium.FPDF_ANNOT_FREETEXT,
        pdfium.FPDF_ANNOT_HIGHLIGHT,
        pdfium.FPDF_ANNOT_UNDERLINE,
        pdfium.FPDF_ANNOT_SQUIGGLY,
        pdfium.FPDF_ANNOT_STRIKEOUT,
        pdfium.FPDF_ANNOT_CARET,
    }
)
_TEXT_FIELDS = frozenset({"", "Tx", "Ch"})


class Annotation(NamedTuple):
    """A link laid over the page: its address, the text under it, and about where that stands."""

    target: str
    text: str
    at: int


def count_annotations(page: Page) -> int:
    """Return how many things are laid over a page."""
    return int(pdfium.FPDFPage_GetAnnotCount(page.handle))


def read_links(document: Handle, page: Page) -> list[Annotation]:
    """Return the links to addresses; none of them twice."""
    found: dict[str, Annotation] = {}
    last, lines = "", 0
    position, handle = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(_MAX_LAID_OVER):
        if not pdfium.FPDFLink_Enumerate(page.handle, position, handle):
            break
        target = _address(document, handle)
        if not target:
            continue
        # A link that is broken over lines is laid over each of them.
        lines = lines + 1 if target == last else 1
        if target not in found:
            found[target] = Annotation(target, *_text_under(page, handle))
        elif 1 < lines <= _MOST_LINES:
            more, _ = _text_under(page, handle)
            found[target] = _join(found[target], more)
        last = target
    return list(found.values())


def _join(before: Annotation, more: str) -> Annotation:
    return before if more in before.text else before._replace(text=f"{before.text} {more}".strip())


def _address(document: Handle, handle: Handle) -> str:
    action = pdfium.FPDFLink_GetAction(handle)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= 4 * MAX_TARGET:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, size)
    target = "".join(clean(buffer.raw[: size - 1].decode("utf-8", "replace")).split())
    return "" if target.startswith("data:") or len(target) > MAX_TARGET else target


def _text_under(page: Page, handle: Handle) -> tuple[str, int]:
    """Return the text under a link, and where on the page it begins among PDFium's letters."""
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFLink_GetAnnotRect(handle, box):
        return "", 0
    text = squeeze(clean(read_bounded(page.letters, box, 2 * MAX_LINK_TEXT)))
    middle, half = (box.top + box.bottom) / 2, abs(box.top - box.bottom) / 2
    letter = pdfium.FPDFText_GetCharIndexAtPos(page.letters, box.left, middle, half, half)
    at = pdfium.FPDFText_GetTextIndexFromCharIndex(page.letters, letter) if letter >= 0 else 0
    return text, max(0, at)


def as_links(annotations: list[Annotation], block: str, *, length: int, line: int) -> list[Link]:
    """Return the links of a page: `block` is its text, from a line on, made of so many letters."""
    flat = block.replace("\n", " ")
    links: list[Link] = []
    for target, text, at in annotations:
        about = at * len(flat) // max(1, length)
        start = _find(flat, text, about)
        shown = cut(text, limit=MAX_LINK_TEXT) or target
        context = _context(block, flat, start, start + len(text)) if start >= 0 else text
        on_line = line + block.count("\n", 0, start if start >= 0 else about)
        links.append(Link("annotation", target, shown, cut(context, limit=MAX_CONTEXT), on_line))
    return links


def _context(block: str, flat: str, start: int, end: int) -> str:
    """Return the sentence of a link's paragraph in which it stands."""
    first = block.rfind("\n\n", 0, start) + 1
    last = block.find("\n\n", end)
    paragraph = flat[first : last if last >= 0 else None]
    sentence = sentence_around(paragraph, start - first, end - first)
    return sentence.replace("\\<", "<").removeprefix("\\")


def _find(flat: str, text: str, about: int) -> int:
    """Return where the text stands nearest to a place, or where its first word does."""
    if text not in flat:
        text = text.partition(" ")[0]
    if not text:
        return -1
    before, after = flat.rfind(text, 0, about + len(text)), flat.find(text, about)
    if before < 0 or after < 0:
        return max(before, after)
    return before if about - before < after - about else after


def read_notes(page: Page) -> list[str]:
    """Return the values of form fields, and the notes that were written on the page."""
    found: list[str] = []
    for index in range(min(count_annotations(page), _MAX_LAID_OVER)):
        note = pdfium.FPDFPage_GetAnnot(page.handle, index)
        if not note:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(note)
        if kind == pdfium.FPDF_ANNOT_WIDGET:
            found.append(_field(note))
        elif kind in _NOTES:
            found.append(_value(note, b"Contents"))
        pdfium.FPDFPage_CloseAnnot(note)
    return [note for note in found if note]


def _field(note: Handle) -> str:
    if _value(note, b"FT") not in _TEXT_FIELDS:
        return ""
    value = _value(note, b"V")
    label = _value(note, b"TU") if value else ""
    return f"{label}: {value}" if label else value


def _value(note: Handle, key: bytes) -> str:
    return clean(read_string(pdfium.FPDFAnnot_GetStringValue, note, key)).strip()
