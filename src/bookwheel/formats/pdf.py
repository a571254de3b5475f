"""PDF: pages are places, the outline gives the sections, what is laid over pages gives links."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

import pypdfium2.raw as pdfium

from bookwheel.formats.base import MAX_LINKS, MAX_TEXT, Unreadable, too_long
from bookwheel.formats.blocks import nest
from bookwheel.formats.composing import Composer, parsed, plain
from bookwheel.formats.pdf_file import (
    Handle,
    Page,
    open_document,
    open_page,
    read_letters,
    read_string,
)
from bookwheel.formats.pdf_links import as_links, count_annotations, read_links, read_notes
from bookwheel.formats.pdf_outline import Bookmark, mark_headings, read_bookmarks
from bookwheel.formats.pdf_properties import read_about
from bookwheel.formats.pdf_spaces import Spaces
from bookwheel.formats.pdf_text import clean, tidy_lines
from bookwheel.formats.pdf_title import guess_description, guess_title
from bookwheel.model import Link, Parsed, Section, Status
from bookwheel.text.cut import squeeze

MAX_PAGES = 20_000
MAX_PAGE_TEXT = 2_000_000
_MAX_ATTACHMENTS = 1_000


def read(data: bytes, path: str) -> Parsed:
    """Read a PDF."""
    with open_document(data) as document:
        count = pdfium.FPDF_GetPageCount(document)
        if count < 1:
            raise Unreadable(Status.UNREADABLE, "it has no pages")
        pages = _Pages(document)
        for index in range(min(count, MAX_PAGES)):
            pages.add(index)
        pages.require_text()
        if count > MAX_PAGES:
            pages.write(f"(only the first {MAX_PAGES:,} of {count:,} pages were read)")
        sections = pages.sections()
        pages.list_attachments()
    found = parsed(pages.composer, path, pages.about, sections=sections, links=pages.links)
    return found._replace(links=pages.without_repeats(found.links))


class _Pages:
    """The text of a PDF as it grows page by page, with where its sections and links lie."""

    def __init__(self, document: Handle) -> None:
        self.document = document
        self.composer = Composer()
        self.about = read_about(document)
        self.bookmarks = read_bookmarks(document)
        self.spaces = Spaces()
        self.headings: list[tuple[int, str, int, int]] = []
        self.links: list[Link] = []
        self.page_lines: list[int] = []
        self.broken = 0
        self.has_text = False
        self.size = 0
        self.line = 1

    def add(self, index: int) -> None:
        """Add one page; a page that cannot be read says so."""
        with open_page(self.document, index) as page:
            if page is None:
                self.broken += 1
                self.begin(f"page {index + 1}")
                self.write(f"(page {index + 1} could not be read)")
            else:
                self.add_page(index, page)

    def add_page(self, index: int, page: Page) -> None:
        raw, beyond = read_letters(page.letters, MAX_PAGE_TEXT)
        spaced = self.spaces.part_words(page, raw)
        lines = tidy_lines(plain(clean(spaced)))
        marked = count_annotations(page) > 0
        notes = read_notes(page) if marked else []
        if lines or notes:
            if not self.has_text:
                self.read_first(page, (raw, spaced), lines)
            self.has_text = True
            self.begin(f"page {index + 1}")
        if index in self.bookmarks:
            lines = self.set_headings(lines, self.bookmarks[index])
        block = "\n".join(lines)
        if marked and len(self.links) < MAX_LINKS:
            over = read_links(self.document, page)
            self.links += as_links(over, block, length=len(raw), line=self.line)
        self.write(block)
        if beyond:
            self.write(f"(the last {beyond:,} characters of page {index + 1} are left out)")
        for note in notes:
            self.write(plain(note))

    def read_first(self, page: Page, texts: tuple[str, str], lines: list[str]) -> None:
        """Complete what the document says of itself by what its first page shows."""
        about = self.about
        title = about.title or guess_title(page, *texts)
        description = about.description or guess_description(lines, title)
        self.about = about._replace(title=title, description=description)

    def set_headings(self, lines: list[str], bookmarks: list[Bookmark]) -> list[str]:
        marked = mark_headings(lines, bookmarks)
        starts = list(accumulate((len(line.encode()) + 1 for line in marked.lines), initial=0))
        for index, mark in marked.headings:
            place = (self.size + starts[index], self.line + index)
            self.headings.append((mark.level, mark.title, *place))
        return marked.lines

    def begin(self, label: str) -> None:
        self.composer.begin(label)
        self.page_lines.append(self.line)

    def write(self, block: str) -> None:
        """Add a block and count what the next one stands behind."""
        if not block:
            return
        self.composer.add(block)
        self.size += len(block.encode()) + 2
        self.line += block.count("\n") + 2
        if self.size > 4 * MAX_TEXT:
            raise too_long(MAX_TEXT)

    def require_text(self) -> None:
        """Refuse a document without a word on any page."""
        if not self.has_text:
            if self.broken:
                raise Unreadable(Status.UNREADABLE, "no page of it can be read")
            raise Unreadable(Status.NO_TEXT, "no text layer: a scan?")

    def list_attachments(self) -> None:
        count = pdfium.FPDFDoc_GetAttachmentCount(self.document)
        for index in range(min(count, _MAX_ATTACHMENTS)):
            handle = pdfium.FPDFDoc_GetAttachment(self.document, index)
            if not handle:
                continue
            name = squeeze(clean(read_string(pdfium.FPDFAttachment_GetName, handle)))
            if name:
                self.begin(f"attachment '{name}'")
                self.write(f"Attachment: {plain(name)}")

    def sections(self) -> tuple[Section, ...]:
        """Return the outline as sections in the order of the text, without those that are empty."""
        ordered = sorted(self.headings, key=lambda heading: (heading[2], heading[0]))
        nested = nest(ordered, max(0, self.size - 1), self.line - 2)
        return tuple(section for section in nested if section.start < section.end)

    def without_repeats(self, links: Sequence[Link]) -> tuple[Link, ...]:
        """Return the links by line; an address both printed on and laid over a page counts once."""
        laid: dict[int, list[str]] = defaultdict(list)
        for link in self.links:
            laid[self._page(link)].append(_address(link))
        kept = [link for link in links if link.kind == "annotation" or self._is_new(link, laid)]
        return tuple(sorted(kept, key=lambda link: link.line))

    def _page(self, link: Link) -> int:
        return bisect_right(self.page_lines, link.line)

    def _is_new(self, link: Link, laid: dict[int, list[str]]) -> bool:
        """Tell an address in the text from text that only looks like a link, and from repeats.

        What is printed may be the beginning of an address that goes on in the next line.
        """
        address = _address(link)
        others = laid.get(self._page(link), ())
        return link.kind == "bare" and not any(other.startswith(address) for other in others)


def _address(link: Link) -> str:
    target = link.target.lower()
    return (target.partition("://")[2] or target).removeprefix("www.").rstrip("/")
