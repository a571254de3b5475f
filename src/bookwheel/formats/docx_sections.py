"""Sections of a Word file, most of which begin on a new page."""

from __future__ import annotations

from lxml import etree

from bookwheel.formats.elements import local_name, value

_SAME_PAGE = frozenset({"continuous", "nextColumn"})


def may_have_sections(data: bytes) -> bool:
    """Tell a document in which a paragraph ends a section; the last one is ended by none."""
    first = data.find(b"sectPr")
    return first >= 0 and data.find(b"pPr>", first) >= 0


def write_section_breaks(root: etree._Element) -> None:
    """Put a page break wherever the next section begins on a page of its own.

    How a section begins stands at its end, with all that is said of it.
    """
    turns = True
    for section in reversed(list(root.iter("{*}sectPr"))):
        parent = section.getparent()
        name = local_name(parent.tag) if parent is not None else ""
        paragraph = parent.getparent() if parent is not None and name == "pPr" else None
        if paragraph is not None and turns:
            _add_break(paragraph)
        if name != "sectPrChange":  # else what it was before a revision
            turns = _begins_page(section)


def _begins_page(section: etree._Element) -> bool:
    kinds = (value(child) for child in section if local_name(child.tag) == "type")
    return next(kinds, "") not in _SAME_PAGE


def _add_break(paragraph: etree._Element) -> None:
    """Put a break behind a paragraph, and behind the text boxes that are anchored to it."""
    space = str(paragraph.tag).removesuffix("p")
    added = etree.Element(paragraph.tag)
    etree.SubElement(added, f"{space}br", {f"{space}type": "page"})
    paragraph.addnext(added)
