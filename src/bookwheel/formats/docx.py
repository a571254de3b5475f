"""Word files: one document with its notes, comments, headers and footers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from posixpath import basename

from lxml import etree

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About
from bookwheel.formats.docx_body import Context, Walk, note_mark
from bookwheel.formats.docx_format import Formats
from bookwheel.formats.docx_hidden import drop_hidden, may_hide
from bookwheel.formats.docx_numbering import Numbering
from bookwheel.formats.docx_sections import may_have_sections, write_section_breaks
from bookwheel.formats.docx_styles import Styles
from bookwheel.formats.elements import source_text, value
from bookwheel.formats.manuscript import FORMULAS, Manuscript, flatten
from bookwheel.formats.ooxml import Relation, find_main_part, read_about, read_relations
from bookwheel.formats.package import Package, parse_xml
from bookwheel.formats.templates import without_template
from bookwheel.model import Parsed, Status

_NOTES = (("footnote", "Footnotes"), ("endnote", "Endnotes"))
_WORDS = ("{*}t", "{*}docPr", "{*}textpath", "{*}shape")
_MAY_SAY = re.compile(rb"[<:](?:t|docPr|textpath|shape)[\s/>]")
_STYLES_HEAD = 60_000
"""Bytes at the beginning of the styles, which are looked at first."""
_LOOKS = re.compile(
    rb"<w:(rPr|pPr|tcPr|trPr|tblPr|tblGrid)>[^<]*+"
    rb"(?:<(?!!|/?w:(?:\1|pStyle|numPr|outlineLvl|pageBreakBefore|gridSpan|gridBefore|del"
    rb"|vanish|sectPr)[ />])"
    rb"[^<]*+)*+</w:\1>"
)
"""How runs, paragraphs, cells, rows or tables look, where that says nothing of what they are."""
_EMBEDDED = frozenset({"package", "aFChunk", "subDocument"})


def read(data: bytes, path: str) -> Parsed:
    """Read a Word file."""
    document = _Document(Package(data))
    return document.write().finish(path, document.read_about())


class _Document:
    """The parts of one file."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._outer = read_relations(package, "")
        self.main = find_main_part(package, self._outer)
        self.relations = read_relations(package, self.main)
        self._relations = {self.main: self.relations}
        self._drawn: set[str] = set()
        self._part = self.main
        self.styles = Styles(self._read_styles_head, self._read_styles)

    @cached_property
    def _aside(self) -> Walk:
        """The walk over what does not stand in the document itself."""
        return self._make_walk()

    def _read_styles_head(self) -> bytes:
        styles = next(self._parts("styles"), "")
        return self.package.read_head(styles, _STYLES_HEAD) if styles else b""

    def _read_styles(self) -> bytes:
        styles = next(self._parts("styles"), "")
        return self.package.read(styles) if styles else b""

    def read_about(self) -> About:
        return without_template(read_about(self.package, self._outer))

    def write(self) -> Manuscript:
        data = self.package.read(self.main)
        bare = _LOOKS.sub(b"", data)  # half of what a parser would go over says nothing
        breaks = "rendered" if b"lastRenderedPageBreak" in bare else "hard"
        walk = self._make_walk(breaks)
        root = _parse_main(bare, data)
        if may_hide(bare):
            drop_hidden(root)
        if breaks == "hard" and may_have_sections(bare):
            write_section_breaks(root)
        manuscript = Manuscript(walk.run(root), are_pages_stored=breaks == "rendered")
        for kind, title in _NOTES:
            manuscript.append(title, list(self._notes(kind, walk.notes.get(kind, {}))))
        manuscript.append("Comments", list(self._comments()))
        manuscript.append("", list(dict.fromkeys(self._margins())))
        embedded = [basename(each) for kind in _EMBEDDED for each in self._parts(kind)]
        embedded += dict.fromkeys(self._objects(root))
        manuscript.append("Embedded documents", sorted(embedded))
        return manuscript

    def _make_walk(self, breaks: str = "") -> Walk:
        formats = Formats(self.styles, self._numbering)
        return Walk(Context(formats, self._find_relation, self._graphic, breaks))

    def _find_relation(self, key: str) -> Relation | None:
        # Few notes and headers refer to anything, so theirs are read when one does.
        if self._part not in self._relations:
            self._relations[self._part] = read_relations(self.package, self._part)
        return self._relations[self._part].get(key)

    def _flatten(self, root: etree._Element, part: str) -> str:
        """Return the text of what does not stand in the document itself."""
        self._part = part
        return flatten(self._aside.run(root))

    def _parts(self, kind: str) -> Iterator[str]:
        for relation in self.relations.values():
            if relation.kind == kind and not relation.is_external:
                target = relation.target
                if self.package.has(target):
                    yield target

    def _root(self, part: str) -> etree._Element | None:
        """Return a part without which the document can be read, None when it is damaged."""
        return _parse(self._source(part))

    def _source(self, part: str) -> bytes:
        """Return the bytes of such a part, none when it is damaged."""
        try:
            return self.package.read(part)
        except Unreadable as refused:
            if refused.status is not Status.UNREADABLE:
                raise
            return b""

    def _numbering(self) -> Numbering:
        part = next(self._parts("numbering"), "")
        return Numbering(source_text(self._source(part)) if part else "")

    def _objects(self, root: etree._Element) -> Iterator[str]:
        """Yield the names of what other programs have put into the text, except for formulas."""
        for element in root.iter("{*}OLEObject"):
            program = value(element, "ProgID")
            relation = self.relations.get(value(element, "id"))
            is_inside = relation and relation.kind == "oleObject" and not relation.is_external
            if relation and is_inside and not program.startswith(FORMULAS):
                yield f"{basename(relation.target)} ({program or 'unknown'})"

    def _graphic(self, part: str) -> str:
        """Return the words in a chart or diagram, each once, and once in the document."""
        root = self._root(part) if part not in self._drawn else None
        self._drawn.add(part)
        if root is None:
            return ""
        found = [each.text for each in root.iter("{*}t")]
        found += [each.text for cache in root.iter("{*}strCache") for each in cache.iter("{*}v")]
        found += [each.text for each in root.iterfind(".//{*}txData/{*}v")]
        found += [each.text for words in root.iter("{*}strDim") for each in words.iter("{*}pt")]
        return " ".join(dict.fromkeys(text.strip() for text in found if text))

    def _notes(self, kind: str, wanted: dict[str, int]) -> Iterator[str]:
        for part in self._parts(kind + "s") if wanted else ():
            root = self._root(part)
            found = {value(each, "id"): each for each in root} if root is not None else {}
            for key, number in wanted.items():
                if key in found:
                    text = self._flatten(found[key], part)
                    yield f"{note_mark(kind, number)} {text}"

    def _comments(self) -> Iterator[str]:
        for part in self._parts("comments"):
            root = self._root(part)
            for comment in root if root is not None else ():
                text = self._flatten(comment, part)
                author = value(comment, "author")
                if text:
                    yield f"{author}: {text}" if author else text

    def _margins(self) -> Iterator[str]:
        """Yield the texts of headers and footers."""
        for kind in ("header", "footer"):
            for part in self._parts(kind):
                data = self._source(part)
                if b"\0" not in data and not _MAY_SAY.search(data):
                    continue  # many are there only to be empty
                root = _parse(data)
                if root is None or next(root.iter(*_WORDS), None) is None:
                    continue
                text = self._flatten(root, part)
                if text:
                    yield text


def _parse_main(bare: bytes, data: bytes) -> etree._Element:
    """Return the document, from its XML without looks where that can be read."""
    root = _parse(bare) if len(bare) < len(data) else None
    return parse_xml(data) if root is None else root


def _parse(data: bytes) -> etree._Element | None:
    try:
        return parse_xml(data)
    except Unreadable:
        return None
