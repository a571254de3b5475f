"""OpenDocument slides: pages in order, with lists, tables, charts, notes and comments.

Headers, footers, dates and page numbers stay out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from lxml import etree

from bookwheel.formats import odf_meta
from bookwheel.formats.base import Unreadable, title_from_path
from bookwheel.formats.composing import Composer, cell, link, parsed, plain
from bookwheel.formats.drawing import (
    MAX_COLUMNS,
    MAX_ROWS,
    Paragraph,
    capped_table,
    local_name,
    markdown,
)
from bookwheel.formats.package import Package
from bookwheel.formats.slide_titles import with_title
from bookwheel.model import Parsed, Status

MAX_SLIDES = 5_000
_MAX_BLANKS = 100
_LEFT_OUT = frozenset({"header", "footer", "date-time", "page-number", "page"})
_NO_WORDS = frozenset({"annotation", "note-citation", "tracked-changes", "tab-stop"})


def read(data: bytes, path: str) -> Parsed:
    """Read a file of OpenDocument slides."""
    package = Package(data)
    odf_meta.refuse_encrypted(package)
    root = package.read_xml("content.xml")
    pages = list(root.iter("{*}page"))
    if len(pages) > MAX_SLIDES:
        raise Unreadable(Status.TOO_LARGE, f"more than {MAX_SLIDES:,} slides")
    hidden = _hidden_styles(root)
    composer = Composer()
    slides = [_Slide(package, page) for page in pages]
    for number, (slide, page) in enumerate(zip(slides, pages, strict=True), 1):
        mark = " (hidden)" if _get(page, "style-name") in hidden else ""
        composer.begin(f"slide {number}")
        composer.add(f"## {plain(slide.title) or f'Slide {number}'}{mark}")
        for block in slide.blocks:
            composer.add(block)
    if not any(slide.title or any(slide.blocks) for slide in slides):
        raise Unreadable(Status.NO_TEXT, "its slides hold no text")
    about = odf_meta.read_about(package)
    title = next((slide.title for slide in slides if slide.title), "")
    return parsed(composer, path, with_title(about, title or title_from_path(path)))


def _get(element: etree._Element, name: str) -> str:
    """Return an attribute by its name without namespace."""
    return next((str(v) for k, v in element.items() if str(k).endswith("}" + name)), "")


def _hidden_styles(root: etree._Element) -> set[str]:
    """Return the names of the styles of pages that the show passes over."""
    return {
        _get(style, "name")
        for style in root.iterfind("{*}automatic-styles/{*}style")
        for properties in style.iterchildren("{*}drawing-page-properties")
        if _get(properties, "visibility") == "hidden"
    }


class _Slide:
    """The words of one page: the title, and blocks of Markdown."""

    def __init__(self, package: Package, page: etree._Element) -> None:
        self.package = package
        self.title = ""
        self.blocks: list[str] = []
        notes: list[str] = []
        comments: list[str] = []
        for element in page:
            name = local_name(element)
            if name == "notes":
                notes += self.read_notes(element)
            elif name == "annotation":
                comments.append(_comment(element))
            else:
                self.take(element)
        self.blocks += notes
        if any(comments):
            self.blocks.append("Comments:\n\n" + "\n".join(filter(None, comments)))

    def take(self, element: etree._Element) -> None:
        """Take in a shape, and those of a group in their place."""
        if _get(element, "class") in _LEFT_OUT or local_name(element) in ("forms", "animations"):
            return
        if local_name(element) in ("g", "a"):
            for inner in element:
                self.take(inner)
            return
        if _get(element, "class") == "title" and not self.title:
            self.title = " ".join(" ".join(p.text for p in read_paragraphs(element)).split())
            return
        before = len(self.blocks)
        self.take_frame(element)
        words = [" ".join("".join(e.itertext()).split()) for e in _described(element)]
        if any(words) and len(self.blocks) == before:
            self.blocks.append(f"Image: {plain(' '.join(filter(None, words)))}")

    def take_frame(self, element: etree._Element) -> None:
        if paragraphs := read_paragraphs(element):
            self.blocks.append(markdown(paragraphs))
        for inner in element.iter("{*}table"):
            self.blocks.append(_table(inner))
        for inner in element.iterchildren("{*}object", "{*}object-ole"):
            self.blocks += self.read_object(unquote(_get(inner, "href")))

    def read_object(self, target: str) -> list[str]:
        """Return the words of a chart, or the name of any other document inside."""
        folder = posixpath.normpath(target)
        content = f"{folder}/content.xml"
        if not self.package.has(content):
            return [f"Embedded: {plain(folder)}"] if self.package.has(folder) else []
        try:
            root = self.package.read_xml(content)
        except Unreadable:
            return []
        if next(root.iter("{*}chart"), None) is None:
            return [f"Embedded: {plain(folder)}"]
        titles = (
            " ".join(p.text for p in read_paragraphs(e))
            for e in root.iter("{*}title", "{*}subtitle")
        )
        return [*map(plain, titles), *map(_table, root.iter("{*}table"))]

    def read_notes(self, notes: etree._Element) -> Iterator[str]:
        for frame in notes:
            if _get(frame, "class") not in _LEFT_OUT:
                text = markdown(read_paragraphs(frame))
                if text:
                    yield f"Notes: {text}"


def _described(element: etree._Element) -> Iterator[etree._Element]:
    return element.iterchildren("{*}title", "{*}desc")


def _comment(element: etree._Element) -> str:
    author = " ".join((element.findtext("{*}creator") or "").split())
    words = " ".join(" ".join(p.text for p in read_paragraphs(element)).split())
    return f"- {author}: {words}" if author and words else f"- {words}" if words else ""


def read_paragraphs(element: etree._Element, level: int = -1) -> list[Paragraph]:
    """Return the paragraphs of a shape, and of lists with their levels; tables are apart."""
    found: list[Paragraph] = []
    for inner in element:
        name = local_name(inner)
        if name in ("p", "h"):
            text = read_text(inner).strip()
            if text:
                found.append(Paragraph(text, level))
        elif name == "list":
            found += read_paragraphs(inner, level + 1)
        elif name not in ("table", "annotation", "desc", "title", "object"):
            found += read_paragraphs(inner, level)
    return found


def read_text(element: etree._Element) -> str:
    """Return the text of a paragraph with its links."""
    parts = [element.text or ""]
    for inner in element:
        name = local_name(inner)
        if name == "s":
            count = _get(inner, "c")
            parts.append(" " * min(int(count), _MAX_BLANKS) if count.isdecimal() else " ")
        elif name == "tab":
            parts.append("\t")
        elif name == "line-break":
            parts.append("\n")
        elif name == "a":
            text, target = read_text(inner), _get(inner, "href")
            parts.append(link(text, target) if _is_outside(target) and text.strip() else text)
        elif name not in _NO_WORDS and name not in _LEFT_OUT and name:
            parts.append(read_text(inner))
        parts.append(inner.tail or "")
    return "".join(parts)


def _is_outside(target: str) -> bool:
    return bool(target) and not target.startswith("#")


def _table(element: etree._Element) -> str:
    rows = [
        [_cell(part) for part in row.iterchildren("{*}table-cell", "{*}covered-table-cell")][
            : MAX_COLUMNS + 1
        ]
        for row in element.iter("{*}table-row")
    ]
    rows = [row for row in rows[: MAX_ROWS + 1] if any(row)]
    return capped_table(rows) if rows else ""


def _cell(element: etree._Element) -> str:
    return cell(" ".join(p.text for p in read_paragraphs(element)))
