"""Old PowerPoint: the text of each slide in the order of the show, with notes and comments.

Headers, footers and slide numbers stay out.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from olefile import OleFileIO

from bookwheel.formats import ole_properties
from bookwheel.formats.base import Unreadable, title_from_path
from bookwheel.formats.composing import Composer, parsed, plain
from bookwheel.formats.drawing import markdown
from bookwheel.formats.ole import read_stream
from bookwheel.formats.ppt_records import (
    STRING,
    Outline,
    Record,
    Text,
    read_directory,
    read_texts,
    record_at,
    records,
)
from bookwheel.formats.slide_titles import with_title
from bookwheel.model import Parsed, Status

MAX_SLIDES = 5_000
_MAX_DEPTH = 60
_DOCUMENT, _SLIDE, _NOTES = 0x03E8, 0x03EE, 0x03F0
_NOTES_ATOM, _SHOW_INFO, _PERSIST = 0x03F1, 0x03F9, 0x03F3
_LIST, _OBJECTS, _HYPERLINK, _HYPERLINK_ATOM = 0x0FF0, 0x0409, 0x0FD7, 0x0FD3
_SHAPE, _TEXT_BOX, _CLIENT_DATA, _PLACEHOLDER, _COMMENT = 0xF004, 0xF00D, 0xF011, 0x0BC3, 0x2EE0
_CRYPT_SESSION = 0x2F14
_GROUPS = {
    _SHAPE: frozenset({0x040C, 0xF002, 0xF003}),
    _COMMENT: frozenset({0x1388, 0x138A, 0x138B}),
}
"""Records to look into on the way to shapes and to comments."""
_LEFT_OUT = frozenset({7, 8, 9, 10})
"""Placeholders for date, slide number, footer and header."""
_TITLES = frozenset({0, 6})
_NOTES_TEXT = 2
_HIDDEN = 4
_ENCRYPTED_TOKEN = b"\xdf\xc4\xd1\xf3"


class _Listed(NamedTuple):
    """A slide or page of notes as the document lists it, with its text of the outline."""

    place: int
    number: int
    outline: Outline


def read(data: bytes, path: str) -> Parsed:
    """Read an old PowerPoint file."""
    with OleFileIO(BytesIO(data)) as ole:
        document = read_stream(ole, "PowerPoint Document")
        current = read_stream(ole, "Current User") if ole.exists("Current User") else b""
        about = ole_properties.read_about(ole)
    if current[12:16] == _ENCRYPTED_TOKEN:
        raise Unreadable(Status.ENCRYPTED, "it is protected by a password")
    deck = _Deck(document, int.from_bytes(current[16:20], "little"))
    composer = Composer()
    for number, slide in enumerate(deck.slides[:MAX_SLIDES], 1):
        composer.begin(f"slide {number}")
        deck.add_slide(composer, number, slide)
    if not deck.has_text:
        raise Unreadable(Status.NO_TEXT, "its slides hold no text")
    return parsed(composer, path, with_title(about, deck.title or title_from_path(path)))


class _Deck:
    """One document: where its slides and their notes lie, and what they share."""

    def __init__(self, data: bytes, edit: int) -> None:
        self.data = data
        self.title = ""
        self.has_text = False
        self.links: dict[int, str] = {}
        self.slides: list[_Listed] = []
        self.notes: dict[int, Record] = {}
        places, number = read_directory(data, edit)
        document = record_at(data, places.get(number, -1))
        if document is not None and document.kind == _DOCUMENT:
            self.read_document(document, places)
        if not self.slides:
            self.find_slides()

    def read_document(self, document: Record, places: dict[int, int]) -> None:
        for record in records(self.data, document.start, document.end):
            if record.kind == _OBJECTS:
                self.read_links(record)
            elif record.kind == _LIST and record.instance == 0:
                self.slides = list(self.read_list(record, places))
            elif record.kind == _LIST and record.instance == 2:
                for page in self.read_list(record, places):
                    self.add_notes(record_at(self.data, page.place))

    def find_slides(self) -> None:
        """Take slides and notes as they follow each other, for want of a sound list."""
        for record in records(self.data, 0, len(self.data)):
            if record.kind == _CRYPT_SESSION:
                raise Unreadable(Status.ENCRYPTED, "it is protected by a password")
            if record.kind == _SLIDE:
                self.slides.append(_Listed(record.start - 8, 0, Outline([])))
            elif record.kind == _NOTES:
                self.add_notes(record)

    def read_links(self, objects: Record) -> None:
        for record in records(self.data, objects.start, objects.end):
            if record.kind == _HYPERLINK:
                number = 0
                for atom in records(self.data, record.start, record.end):
                    content = self.data[atom.start : atom.end]
                    if atom.kind == _HYPERLINK_ATOM:
                        number = int.from_bytes(content[:4], "little")
                    elif atom.kind == STRING and atom.instance == 1:
                        self.links[number] = _words(content)

    def read_list(self, listing: Record, places: dict[int, int]) -> Iterator[_Listed]:
        """Yield what a list names, each with the text that stands in the list itself."""
        starts = [r for r in records(self.data, listing.start, listing.end) if r.kind == _PERSIST]
        ends = [*(record.start - 8 for record in starts[1:]), listing.end]
        for record, end in zip(starts, ends, strict=False):
            content = self.data[record.start : record.end]
            reference = int.from_bytes(content[:4], "little")
            stretch = Record(_LIST, 0, record.end, end)
            texts = list(read_texts(self.data, stretch, Outline([]), self.links))
            number = int.from_bytes(content[12:16], "little")
            yield _Listed(places.get(reference, -1), number, Outline(texts))

    def add_notes(self, page: Record | None) -> None:
        if page is None or page.kind != _NOTES:
            return
        for record in records(self.data, page.start, page.end):
            if record.kind == _NOTES_ATOM:
                number = int.from_bytes(self.data[record.start : record.start + 4], "little")
                self.notes.setdefault(number, page)

    def add_slide(self, composer: Composer, number: int, listed: _Listed) -> None:
        record = record_at(self.data, listed.place)
        texts, comments, hidden = list[Text](), list[str](), False
        if record is not None and record.kind == _SLIDE:
            texts = list(self.texts(record, listed.outline))
            hidden = self.is_hidden(record)
            comments = list(self.comments(record))
        title, blocks = _compose([*listed.outline.unused(), *texts])
        mark = " (hidden)" if hidden else ""
        composer.add(f"## {plain(title) or f'Slide {number}'}{mark}")
        notes = self.notes.get(listed.number)
        if notes is not None:
            blocks += self.read_notes(notes)
        if comments:
            blocks.append("Comments:\n\n" + "\n".join(comments))
        for block in blocks:
            composer.add(block)
        self.title = self.title or title
        self.has_text = self.has_text or bool(title or any(blocks))

    def read_notes(self, page: Record) -> Iterator[str]:
        found = [
            p
            for t in self.texts(page, Outline([]))
            if t.kind == _NOTES_TEXT
            for p in t.paragraphs()
        ]
        if found:
            yield f"Notes: {markdown(found)}"

    def is_hidden(self, slide: Record) -> bool:
        return any(
            record.end - record.start > 10 and bool(self.data[record.start + 10] & _HIDDEN)
            for record in records(self.data, slide.start, slide.end)
            if record.kind == _SHOW_INFO
        )

    def texts(self, page: Record, outline: Outline) -> Iterator[Text]:
        for shape in self.walk(page, _SHAPE):
            boxes: list[Record] = []
            left_out = False
            for record in records(self.data, shape.start, shape.end):
                if record.kind == _TEXT_BOX:
                    boxes.append(record)
                elif record.kind == _CLIENT_DATA:
                    left_out = left_out or self.placeholder(record) in _LEFT_OUT
            for box in () if left_out else boxes:
                yield from read_texts(self.data, box, outline, self.links)

    def placeholder(self, client: Record) -> int:
        for record in records(self.data, client.start, client.end):
            if record.kind == _PLACEHOLDER and record.end - record.start >= 5:
                return self.data[record.start + 4]
        return 0

    def comments(self, slide: Record) -> Iterator[str]:
        for comment in self.walk(slide, _COMMENT):
            words = {
                record.instance: _words(self.data[record.start : record.end])
                for record in records(self.data, comment.start, comment.end)
                if record.kind == STRING
            }
            author, text = words.get(0, ""), words.get(1, "")
            if text:
                yield f"- {author}: {plain(text)}" if author else f"- {plain(text)}"

    def walk(self, page: Record, wanted: int, depth: int = 0) -> Iterator[Record]:
        """Yield the records of a kind below a page, those of groups in their place."""
        groups = _GROUPS[wanted]
        for record in records(self.data, page.start, page.end):
            if record.kind == wanted:
                yield record
            elif record.kind in groups and depth < _MAX_DEPTH:
                yield from self.walk(record, wanted, depth + 1)


def _words(content: bytes) -> str:
    return " ".join(content.decode("utf-16-le", "replace").replace("\0", "").split())


def _compose(texts: list[Text]) -> tuple[str, list[str]]:
    """Return the title of a slide, and its other texts as blocks."""
    title, blocks = "", list[str]()
    for text in texts:
        found = text.paragraphs()
        if text.kind in _TITLES and not title:
            title = " ".join(" ".join(p.text for p in found).split())
        elif found:
            if len(found) == 1:
                found = [found[0]._replace(level=-1)]
            blocks.append(markdown(found))
    return title, blocks
