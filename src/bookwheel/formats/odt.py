"""OpenDocument texts: one document with its notes, comments, headers and footers."""

from __future__ import annotations

from lxml import etree

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About
from bookwheel.formats.elements import local_name
from bookwheel.formats.manuscript import Manuscript, Piece, flatten
from bookwheel.formats.odt_body import Walk
from bookwheel.formats.odt_styles import Styles
from bookwheel.formats.package import Package, parse_xml
from bookwheel.model import Parsed, Status

_CONTENT, _STYLES, _META = "content.xml", "styles.xml", "meta.xml"
_MANIFEST = "META-INF/manifest.xml"
_MARGINS = frozenset({"header", "footer"})
_MAX_PROPERTY = 2_048


def read(data: bytes, path: str) -> Parsed:
    """Read an OpenDocument text."""
    package = Package(data)
    if package.has(_MANIFEST) and b"encryption-data" in package.read(_MANIFEST):
        raise Unreadable(Status.ENCRYPTED, "it is protected by a password")
    root = parse_xml(package.read(_CONTENT))
    common = package.read(_STYLES) if package.has(_STYLES) else b""
    styles = Styles(root, common)
    pieces, walk = _walk(root, styles)
    manuscript = Manuscript(pieces)
    manuscript.append("Footnotes", walk.footnotes)
    manuscript.append("Endnotes", walk.endnotes)
    manuscript.append("Comments", walk.comments)
    manuscript.append("", _margins(styles, common))
    return manuscript.finish(path, _read_about(package))


def _walk(element: etree._Element, styles: Styles) -> tuple[list[Piece], Walk]:
    pieces: list[Piece] = []
    walk = Walk(styles, pieces.append)
    for body in element.iter("{*}body"):
        walk.enter(body)
    return pieces, walk


def _margins(styles: Styles, common: bytes) -> list[str]:
    """Return the texts of headers and footers, each once."""
    if b":header" not in common and b":footer" not in common:
        return []
    found: dict[str, None] = {}
    for master in styles.common.iter("{*}master-page"):
        for element in master:
            if local_name(element.tag).partition("-")[0] in _MARGINS:
                pieces: list[Piece] = []
                Walk(styles, pieces.append).enter(element)
                found[flatten(pieces)] = None
    return list(filter(None, found))


def _read_about(package: Package) -> About:
    values: dict[str, list[str]] = {}
    if package.has(_META):
        for element in package.read_xml(_META).iter("{*}*"):
            if text := (element.text or "").strip():
                values.setdefault(local_name(element.tag), []).append(text[:_MAX_PROPERTY])

    def first(*names: str) -> str:
        return next((values[name][0] for name in names if name in values), "")

    return About(
        title=first("title"),
        description=first("description", "subject"),
        author=first("initial-creator", "creator"),
        date=first("creation-date", "date"),
        language=first("language"),
        tags=tuple(values.get("keyword", ()))[:50],
    )
