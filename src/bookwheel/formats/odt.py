"""OpenDocument texts: one document with its notes, comments, headers and footers."""

from __future__ import annotations

import re

from lxml import etree

from bookwheel.formats.elements import local_name
from bookwheel.formats.manuscript import Manuscript, Piece, flatten
from bookwheel.formats.odf_meta import read_about, refuse_encrypted
from bookwheel.formats.odt_body import Walk
from bookwheel.formats.odt_objects import Objects
from bookwheel.formats.odt_styles import Styles
from bookwheel.formats.package import Package, parse_xml
from bookwheel.model import Parsed

_CONTENT, _STYLES = "content.xml", "styles.xml"
_MARGIN = re.compile(rb":(?:header|footer)(?:-left|-first)?[\s>]")
_MARGINS = frozenset({"header", "footer"})


def read(data: bytes, path: str) -> Parsed:
    """Read an OpenDocument text."""
    package = Package(data)
    refuse_encrypted(package)
    content = package.read(_CONTENT)
    root = parse_xml(content)
    common = package.read(_STYLES) if package.has(_STYLES) else b""
    styles = Styles(root, common)
    objects = Objects(package)
    pieces, walk = _walk(root, styles, objects)
    manuscript = Manuscript(pieces, are_pages_stored=b"soft-page-break" in content)
    manuscript.append("Footnotes", walk.footnotes)
    manuscript.append("Endnotes", walk.endnotes)
    manuscript.append("Comments", walk.comments)
    manuscript.append("", _margins(styles, common, objects))
    manuscript.append("Embedded documents", objects.embedded)
    return manuscript.finish(path, read_about(package))


def _walk(element: etree._Element, styles: Styles, objects: Objects) -> tuple[list[Piece], Walk]:
    pieces: list[Piece] = []
    walk = Walk(styles, pieces.append, objects.read)
    for body in element.iter("{*}body"):
        walk.enter(body)
    return pieces, walk


def _margins(styles: Styles, common: bytes, objects: Objects) -> list[str]:
    """Return the texts of headers and footers, each once."""
    if not _MARGIN.search(common):  # most have none, and the part is large
        return []
    found: dict[str, None] = {}
    for master in styles.common.iter("{*}master-page"):
        for element in master:
            if local_name(element.tag).partition("-")[0] in _MARGINS:
                pieces: list[Piece] = []
                Walk(styles, pieces.append, objects.read).enter(element)
                found[flatten(pieces)] = None
    return list(filter(None, found))
