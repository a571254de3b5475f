"""Files of Word 6 to 2003: the text by its table of pieces, with headings, tables and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from olefile import OleFileIO

from bookwheel.formats.base import MAX_TEXT, Unreadable
from bookwheel.formats.doc_binary import (
    Header,
    Paragraph,
    Paragraphs,
    read_paragraphs,
    read_pieces,
)
from bookwheel.formats.doc_old import OldHeader, is_old, read_old_paragraphs
from bookwheel.formats.docx_fields import Fields
from bookwheel.formats.manuscript import PAGE_BREAK, Manuscript, Piece, whole_words
from bookwheel.formats.ole import DAMAGE, damaged_ole, read_stream
from bookwheel.formats.ole_properties import read_about
from bookwheel.formats.story import Format, Story
from bookwheel.model import Parsed, Status

_MARKS = re.compile("([\x01-\x08\x0a-\x1f])")
_PARAGRAPH, _CELL, _PAGE, _NOTE, _COMMENT = "\r", "\x07", "\x0c", "\x02", "\x05"
_FIELDS = {"\x13": "begin", "\x14": "separate", "\x15": "end"}
_LETTERS = {"\x0b": "\n", "\x0e": "\n", "\x1e": "-"}
_ENDS = frozenset({_PARAGRAPH, _CELL, _PAGE})


def read(data: bytes, path: str) -> Parsed:
    """Read a file of Word 6 to 2003."""
    try:
        ole = OleFileIO(data)
    except DAMAGE as error:
        raise damaged_ole(error) from None
    with ole:
        return _Document(ole).write().finish(path, read_about(ole))


class _Document:
    """The text of one file and what it knows of its paragraphs."""

    def __init__(self, ole: OleFileIO[Any]) -> None:
        self._data = read_stream(ole, "WordDocument")
        self._codec = "cp1252"
        if is_old(self._data):
            old = OldHeader(self._data)
            self._lengths = old.lengths
            self._pieces = old.read_pieces(self._data)
            self._codec = old.find_codec(self._data, self._pieces)
            self._paragraphs = Paragraphs(read_old_paragraphs(self._data, old.paragraphs))
            return
        header = Header(self._data)
        table = read_stream(ole, header.table)
        self._lengths = header.lengths
        self._pieces = read_pieces(table, header.pieces)
        self._paragraphs = Paragraphs(read_paragraphs(self._data, table, header))

    def write(self) -> Manuscript:
        lengths = self._lengths
        footnotes, margins, _, comments, endnotes, boxes, margin_boxes = (
            "".join(text for _, _, text in self._texts(sum(lengths[:index]), lengths[index]))
            for index in range(1, len(lengths))
        )
        mark = "[^e{}]" if endnotes else "[^{}]"
        # The text refers to notes of both kinds by the same mark.
        manuscript = Manuscript(self._read_body("" if footnotes and endnotes else mark))
        manuscript.append("", _paragraphs(boxes))
        manuscript.append("Footnotes", _notes(footnotes, "[^{}] "))
        manuscript.append("Endnotes", _notes(endnotes, "[^e{}] "))
        manuscript.append(
            "Comments", [text for part in comments.split(_COMMENT) if (text := _line(part))]
        )
        manuscript.append("", list(dict.fromkeys(_paragraphs(margins + "\r" + margin_boxes))))
        return manuscript

    def _texts(self, start: int, length: int) -> Iterator[tuple[int, int, str]]:
        """Yield the pieces of a stretch of text: place in the file, bytes per letter, letters."""
        total = 0
        for piece in self._pieces:
            first, last = max(piece.first, start), min(piece.last, start + length)
            if first < last:
                offset = piece.offset + (first - piece.first) * piece.width
                data = self._data[offset : offset + (last - first) * piece.width]
                codec = self._codec if piece.width == 1 else "utf-16-le"
                total += len(data)
                if total > 2 * MAX_TEXT:  # pieces may share their bytes
                    raise Unreadable(Status.TOO_LARGE, f"more than {MAX_TEXT:,} letters of text")
                yield offset, piece.width, data.decode(codec, "replace")

    def _read_body(self, note: str, *, has_fields: bool = True) -> list[Piece]:
        story = Story(page=1)
        fields = Fields(story.out, is_used=has_fields)
        notes = 0
        for offset, width, text in self._texts(0, self._lengths.body):
            at = 0
            for part in _MARKS.split(text):
                if part == _NOTE:
                    notes += 1
                    story.out.append(note.format(notes))
                elif part in _ENDS:
                    if fields.are_open:
                        fields.pause()
                    self._end(story, part, self._paragraphs.find(offset + at * width))
                else:
                    _write(part, story.out, fields)
                at += len(part)
        return self._read_body(note, has_fields=False) if fields.are_broken else story.end(Format())

    @staticmethod
    def _end(story: Story, mark: str, paragraph: Paragraph) -> None:
        if mark == _CELL and paragraph.ends_row:
            story.end_row()
        elif mark == _CELL:
            story.end_cell(paragraph.format)
        else:
            if mark == _PAGE:
                story.out.append(PAGE_BREAK)
            story.end_paragraph(paragraph.format)


def _write(part: str, out: list[str], fields: Fields) -> None:
    """Add letters, or do what a mark within a paragraph says."""
    if part in _FIELDS:
        fields.mark(_FIELDS[part])
    elif part in _LETTERS:
        out.append(_LETTERS[part])
    elif not _MARKS.fullmatch(part):
        out.append(part)


def _line(text: str) -> str:
    """Return a text on one line, of its fields the results."""
    out: list[str] = []
    fields = Fields(out)
    for part in _MARKS.split(text):
        if part in _ENDS:
            out.append(" ")
        else:
            _write(part, out, fields)
    fields.pause()
    return " ".join(whole_words("".join(out)).split())


def _paragraphs(text: str) -> list[str]:
    return list(filter(None, map(_line, text.split(_PARAGRAPH))))


def _notes(text: str, mark: str) -> list[str]:
    parts = text.split(_NOTE)[1:]
    return [mark.format(number) + _line(part) for number, part in enumerate(parts, 1)]
