"""PowerPoint: slides in the order of the show, with tables, charts, diagrams, notes and comments.

Headers, footers and slide numbers stay out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from lxml import etree

from bookwheel.formats import ooxml
from bookwheel.formats.base import Unreadable, title_from_path
from bookwheel.formats.blocks import read_outline
from bookwheel.formats.charts import read_chart, read_diagram
from bookwheel.formats.composing import Composer, link, parsed, plain
from bookwheel.formats.drawing import (
    Relations,
    child,
    click_target,
    local_name,
    markdown,
    read_paragraphs,
    read_table,
    relation_id,
)
from bookwheel.formats.package import Package
from bookwheel.formats.slide_titles import with_title
from bookwheel.formats.templates import without_template
from bookwheel.model import Parsed, Status

MAX_SLIDES = 5_000
_TITLES = frozenset({"title", "ctrTitle"})
_LISTED = frozenset({"body", "obj", ""})
_LEFT_OUT = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
_EMBEDDED = frozenset({"package", "oleObject"})


def read(data: bytes, path: str) -> Parsed:
    """Read a PowerPoint file."""
    package = Package(data)
    relations = ooxml.read_relations(package, "")
    main = ooxml.find_main_part(package, relations)
    deck = _Deck(package, main)
    composer = Composer()
    for number, part in enumerate(_slide_parts(package, main, deck.relations), 1):
        composer.begin(f"slide {number}")
        deck.add_slide(composer, number, part)
    if deck.broken and not deck.read:
        raise deck.broken
    if not deck.has_text:
        raise Unreadable(Status.NO_TEXT, "its slides hold no text")
    own = without_template(ooxml.read_about(package, relations))
    about = with_title(own, deck.title or title_from_path(path))
    return parsed(composer, path, about._replace(description=about.description or deck.describe()))


def _slide_parts(package: Package, main: str, relations: Relations) -> list[str]:
    """Return the names of the slides in the order of the show."""
    order = package.read_xml(main).iterfind("{*}sldIdLst/{*}sldId")
    found = (relations.get(relation_id(element)) for element in order)
    parts = [relation.target for relation in found if relation is not None]
    if len(parts) > MAX_SLIDES:
        raise Unreadable(Status.TOO_LARGE, f"more than {MAX_SLIDES:,} slides")
    return parts


class _Deck:
    """What the slides of one file share while they are read."""

    def __init__(self, package: Package, main: str) -> None:
        self.package = package
        self.relations = ooxml.read_relations(package, main)
        self.title = ""
        self.words = ""
        """The first prose of a slide."""
        self.points = ""
        """The first list of one."""
        self.read = 0
        self.has_text = False
        self.broken: Unreadable | None = None
        self._authors: dict[str, str] | None = None

    def add_slide(self, composer: Composer, number: int, part: str) -> None:
        """Add one slide; a damaged one is named and does not keep the others out."""
        try:
            root = self.package.read_xml(part)
            relations = ooxml.read_relations(self.package, part)
        except Unreadable as error:
            if error.status is not Status.UNREADABLE:
                raise
            self.broken = error
            composer.add(f"## Slide {number}\n\n(This slide is damaged.)")
            return
        self.read += 1
        slide = _Slide(self.package, relations)
        slide.walk(child(child(root, "cSld"), "spTree"))
        mark = " (hidden)" if root.get("show") in ("0", "false") else ""
        composer.add(f"## {plain(slide.title) or f'Slide {number}'}{mark}")
        blocks = [*slide.blocks, *slide.embedded(), *self.notes(relations)]
        blocks += self.comments(relations)
        for block in blocks:
            composer.add(block)
        self.title = self.title or slide.title
        self.words = self.words or next(filter(_is_prose, slide.blocks), "")
        self.points = self.points or next((b for b in slide.blocks if b.startswith("- ")), "")
        self.has_text = self.has_text or bool(slide.title or any(blocks))

    def describe(self) -> str:
        """Return what the slides themselves say first, before any notes on them."""
        return self.words or read_outline(self.points).description

    def notes(self, relations: Relations) -> Iterator[str]:
        for part, root in self.parts(relations, "notesSlide"):
            clicks = next(root.iter("{*}hlinkClick"), None) is not None
            targets = ooxml.read_relations(self.package, part) if clicks else {}
            for shape in root.iter("{*}sp"):
                body = child(shape, "txBody")
                if body is not None and _placeholder(_about(shape)) == "body":
                    text = markdown(read_paragraphs(body, targets))
                    if text:
                        yield f"Notes: {text}"

    def comments(self, relations: Relations) -> list[str]:
        found: list[str] = []
        for _, root in self.parts(relations, "comments"):
            for comment in root.iter("{*}cm", "{*}reply"):
                author = self.authors().get(comment.get("authorId", ""), "")
                words = [str(e.text) for e in _own_text(comment) if e.text]
                if text := " ".join(" ".join(words).split()):
                    found.append(f"- {author}: {text}" if author else f"- {text}")
        return ["Comments:\n\n" + "\n".join(found)] if found else []

    def authors(self) -> dict[str, str]:
        if self._authors is None:
            self._authors = {
                str(element.get("id", "")): str(element.get("name", "")).strip()
                for kind in ("commentAuthors", "authors")
                for _, root in self.parts(self.relations, kind)
                for element in root
                if isinstance(element.tag, str)
            }
        return self._authors

    def parts(self, relations: Relations, kind: str) -> Iterator[tuple[str, etree._Element]]:
        """Yield the parts that have this relation; a damaged one is passed over."""
        for relation in relations.values():
            if relation.kind == kind and self.package.has(relation.target):
                try:
                    root = self.package.read_xml(relation.target)
                except Unreadable:
                    continue
                yield relation.target, root


def _is_prose(block: str) -> bool:
    return not block.startswith(("Image:", "|", "[", "- "))


def _own_text(comment: etree._Element) -> Iterator[etree._Element]:
    """Yield where the words of a comment stand, in either generation of comments."""
    for element in comment:
        if local_name(element) == "text":
            yield element
        elif local_name(element) == "txBody":
            yield from element.iter("{*}t")


def _placeholder(about: etree._Element | None) -> str | None:
    """Return the kind of placeholder that a shape is by what it says; None for other shapes."""
    mark = child(child(about, "nvPr"), "ph")
    return None if mark is None else str(mark.get("type", ""))


def _about(shape: etree._Element) -> etree._Element | None:
    """Return what says a shape's name, alternative text and place in the layout: its first child.

    It has another name in each kind of shape.
    """
    return next(shape.iterchildren("{*}*"), None)


class _Slide:
    """The words of one slide as its shapes are walked: the title, and blocks of Markdown."""

    def __init__(self, package: Package, relations: Relations) -> None:
        self.package = package
        self.relations = relations
        self.title = ""
        self.blocks: list[str] = []

    def walk(self, tree: etree._Element | None) -> None:
        """Take in the shapes in the order of the file, those of groups in their place."""
        for element in () if tree is None else tree:
            name = local_name(element)
            if name in ("sp", "cxnSp"):
                self.take_shape(element)
            elif name == "grpSp":
                self.take_alt_text(element)
                self.walk(element)
            elif name == "graphicFrame":
                self.take_frame(element)
            elif name == "pic":
                self.take_alt_text(element)
            elif name == "AlternateContent":
                self.take_alternative(element)

    def take_alternative(self, element: etree._Element) -> None:
        before = len(self.blocks), self.title
        for name in ("Choice", "Fallback"):
            self.walk(child(element, name))
            if (len(self.blocks), self.title) != before:
                return

    def take_shape(self, shape: etree._Element) -> None:
        about = _about(shape)
        kind = _placeholder(about)
        if kind in _LEFT_OUT:
            return
        body = child(shape, "txBody")
        listed = kind in _LISTED
        url = click_target(child(about, "cNvPr"), self.relations)
        found = (
            read_paragraphs(body, self.relations, listed=listed, url=url)
            if body is not None
            else []
        )
        if not found:
            self.take_alt_text(shape)
        elif kind in _TITLES and not self.title:
            self.title = " ".join(" ".join(p.text for p in found).split())
        else:
            if listed and len(found) == 1:
                found = [found[0]._replace(level=-1)]
            self.blocks.append(markdown(found))

    def take_alt_text(self, shape: etree._Element) -> None:
        properties = child(_about(shape), "cNvPr")
        if properties is None:
            return
        words = " ".join(str(properties.get("descr", "")).split())
        url = click_target(properties, self.relations)
        if words or url:
            self.blocks.append(link(words, url) if url else f"Image: {plain(words)}")

    def take_frame(self, frame: etree._Element) -> None:
        before = len(self.blocks)
        for data in frame.iterfind("{*}graphic/{*}graphicData"):
            for element in data:
                self.take_graphic(element)
        if len(self.blocks) == before:
            self.take_alt_text(frame)

    def take_graphic(self, element: etree._Element) -> None:
        name = local_name(element)
        if name == "tbl":
            self.blocks.append(read_table(element, self.relations))
        elif name == "chart":
            root = self.related(relation_id(element))
            self.blocks += [] if root is None else read_chart(root)
        elif name == "relIds":
            root = self.related(relation_id(element, "dm"))
            self.blocks += [] if root is None else [read_diagram(root)]
        elif name == "AlternateContent":
            for choice in element.iterchildren("{*}Choice"):
                for inner in choice:
                    self.take_graphic(inner)

    def related(self, name: str) -> etree._Element | None:
        relation = self.relations.get(name)
        if relation is None or not self.package.has(relation.target):
            return None
        try:
            return self.package.read_xml(relation.target)
        except Unreadable:
            return None  # a broken chart does not keep the slide out

    def embedded(self) -> list[str]:
        names = [
            posixpath.basename(relation.target)
            for relation in self.relations.values()
            if relation.kind in _EMBEDDED and not relation.is_external
        ]
        return [f"Embedded: {plain(', '.join(names))}"] if names else []
