"""E-books: the chapters in the order of reading, each a place of its own."""

from __future__ import annotations

import posixpath
import re

from turbohtml import Document

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import Composer, parsed, plain
from bookwheel.formats.epub_contents import Contents, Item, as_html, read_contents, resolve
from bookwheel.formats.html import decode_page, inner_markdown, open_page
from bookwheel.formats.package import Package
from bookwheel.model import Parsed, Status

_HEADINGS = "h1, h2, h3, h4, h5, h6"
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")
_MAX_MISSING = 10
_FIRST = 3
"""Headings among which a chapter's title is looked for: a number may stand above it."""
_COVER_WORDS = 2
"""A page of nothing but images that tell no more than "Cover Image" is no chapter."""


def read(data: bytes, path: str) -> Parsed:
    """Read an e-book."""
    package = Package(data)
    contents = read_contents(package)
    pages, missing = _open_chapters(package, contents.chapters)
    numbers = {item.path: number for number, (item, _) in enumerate(pages, 1)}
    composer = Composer()
    for item, page in pages:
        composer.begin(f"chapter {numbers[item.path]}")
        composer.add(_heading(page, contents, item))
        composer.add(_convert(page, item, numbers))
    if missing and not pages:
        raise Unreadable(Status.UNREADABLE, "none of its chapters can be read")
    if missing:
        names = ", ".join(missing[:_MAX_MISSING])
        composer.add(f"({len(missing)} of its files cannot be read: {plain(names)})")
    return parsed(composer, path, contents.about)


def _open_chapters(
    package: Package, items: tuple[Item, ...]
) -> tuple[list[tuple[Item, Document]], list[str]]:
    """Return the pages with text, and the names of those that are missing or damaged."""
    pages: list[tuple[Item, Document]] = []
    missing: list[str] = []
    for item in items:
        try:
            page = open_page(as_html(decode_page(package.read(item.path))))
        except Unreadable as error:
            if error.status is not Status.UNREADABLE:
                raise
            missing.append(item.path)
            continue
        if _has_text(page):
            pages.append((item, page))
    told = [(item, page) for item, page in pages if not item.is_navigation]
    return told or pages, missing


def _has_text(page: Document) -> bool:
    body = page.select_one("body")
    if body is None:
        return False
    if body.text.strip():
        return True
    shown = " ".join(image.attr("alt") or "" for image in body.select("img[alt]"))
    return len(shown.split()) > _COVER_WORDS


def _heading(page: Document, contents: Contents, item: Item) -> str:
    """Return a heading from the table of contents for a chapter that begins without its own."""
    title = contents.titles.get(item.path, "")
    if not title or _begins_with_heading(page, title):
        return ""
    return f"## {plain(title)}"


def _begins_with_heading(page: Document, title: str) -> bool:
    """Tell a chapter with no text before its first heading, or with its title as a heading."""
    headings = [heading for heading in page.select(_HEADINGS) if heading.text.strip()]
    body = page.select_one("body")
    if not headings or body is None:
        return False
    first, text = headings[0].text.strip(), body.text.lstrip()
    shown = {" ".join(heading.text.split()).casefold() for heading in headings[:_FIRST]}
    return text.startswith(first) or " ".join(title.split()).casefold() in shown


def _convert(page: Document, item: Item, numbers: dict[str, int]) -> str:
    folder = posixpath.dirname(item.path)

    def retarget(link: str) -> str | None:
        """Lead to a chapter of this text where the link led to a file of the book."""
        if _ELSEWHERE.match(link):
            return None
        target = resolve(folder, link)
        return f"#chapter-{numbers[target]}" if target in numbers else None

    page.rewrite_links(retarget)
    return inner_markdown(page)
