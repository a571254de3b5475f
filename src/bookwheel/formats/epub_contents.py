"""What an e-book says of itself: its properties, the order of its chapters and their titles."""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple
from urllib.parse import unquote

from lxml import etree
from turbohtml import parse

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About
from bookwheel.formats.html import decode_page, open_page
from bookwheel.formats.package import Package, refuse_doctype
from bookwheel.model import Status
from bookwheel.text.cut import squeeze

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>", re.I)
_HARMLESS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways to disguise fonts; what else is encrypted needs a key."""
_READABLE = frozenset(
    {
        "application/xhtml+xml",
        "text/html",
        "text/x-oeb1-document",
        "application/x-dtbook+xml",
        "application/xml",
        "text/xml",
        "image/svg+xml",
    }
)
_MAX_FALLBACKS = 10
_MAX_PROPERTY = 2_048
_MAX_TAGS = 50
_MAX_ITEMS = 20_000
_EMPTY_TAG = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([A-Za-z][\w:.-]*+)([^<>]*+)(?<=/)>"
)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.S)


class Item(NamedTuple):
    """A file of the book."""

    path: str
    mime: str
    is_navigation: bool = False
    fallback: str = ""


class Contents(NamedTuple):
    """What the package document tells."""

    about: About
    chapters: tuple[Item, ...]
    titles: dict[str, str]
    """The title of a chapter's file in the table of contents."""


def read_contents(package: Package) -> Contents:
    """Return what the book says of itself; Unreadable when it needs a key."""
    path = _find_package_document(package)
    root = _parse_xml(package.read(path))
    items = _read_items(root, posixpath.dirname(path))
    spine = [_readable(items, ref.get("idref", "")) for ref in root.iter("{*}itemref")]
    chapters = list(dict.fromkeys(item for item in spine if item is not None))
    if not chapters:
        chapters = [item for item in items.values() if item.mime in _READABLE]
    _refuse_locked(package, {item.path for item in chapters})
    return Contents(_read_about(root), tuple(chapters[:_MAX_ITEMS]), _read_titles(package, items))


def as_html(source: str) -> str:
    """Return XHTML so that a reader of HTML sees the same: no empty tags, no CDATA."""
    if "<![CDATA[" in source:
        source = _CDATA.sub(
            lambda found: found[1].replace("&", "&amp;").replace("<", "&lt;"), source
        )
    return _EMPTY_TAG.sub(r"<\1\2></\1>", source)


def resolve(folder: str, href: str) -> str:
    """Return the path within the package of what a link without a scheme leads to."""
    path = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def _find_package_document(package: Package) -> str:
    if package.has(_CONTAINER):
        paths = [str(e.get("full-path", "")) for e in _read_xml(package, _CONTAINER, "{*}rootfile")]
        if found := next((path for path in paths if package.has(path)), ""):
            return found
    found = next((name for name in package.names if name.endswith(".opf")), "")
    if not found:
        raise Unreadable(Status.UNREADABLE, "an e-book without a package document")
    return found


def _read_xml(package: Package, name: str, tag: str) -> list[etree._Element]:
    return list(_parse_xml(package.read(name)).iter(tag))


def _parse_xml(data: bytes) -> etree._Element:
    """Parse XML of books, which is often slightly wrong and declares its document type."""
    data = _DOCTYPE.sub(b"", data, count=1)
    refuse_doctype(data)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    try:
        root = etree.fromstring(data.strip(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(Status.UNREADABLE, f"damaged XML ({str(error)[:80]})") from None
    if root is None:  # what a forgiving parser gives for nothing at all
        raise Unreadable(Status.UNREADABLE, "damaged XML")
    return root


def _read_items(root: etree._Element, folder: str) -> dict[str, Item]:
    items: dict[str, Item] = {}
    for element in root.iter("{*}item"):
        href = str(element.get("href", ""))
        if href:
            items[str(element.get("id", ""))] = Item(
                resolve(folder, href),
                str(element.get("media-type", "")).strip().lower(),
                "nav" in str(element.get("properties", "")).split(),
                str(element.get("fallback", "")),
            )
    return items


def _readable(items: dict[str, Item], name: str | None) -> Item | None:
    """Return the item, or what the book offers in its place where it is no text."""
    item = items.get(name or "")
    for _ in range(_MAX_FALLBACKS):
        if item is None or item.mime in _READABLE:
            return item
        item = items.get(item.fallback)
    return None


def _refuse_locked(package: Package, chapters: set[str]) -> None:
    if not package.has(_ENCRYPTION):
        return
    for data in _read_xml(package, _ENCRYPTION, "{*}EncryptedData"):
        method = next(data.iter("{*}EncryptionMethod"), None)
        if method is not None and method.get("Algorithm") in _HARMLESS:
            continue
        for reference in data.iter("{*}CipherReference"):
            if resolve("", str(reference.get("URI", ""))) in chapters:
                raise Unreadable(Status.ENCRYPTED, "it is protected against copying")


def _read_about(root: etree._Element) -> About:
    found: dict[str, list[str]] = {}
    for element in root.iter(etree.Element):
        if "purl.org/dc/" in str(element.tag):
            _note(found, element)
    return About(
        title=_first(found, "title"),
        description=_without_tags(_first(found, "description")),
        author=", ".join(found.get("creator", [])[:10]),
        date=_first(found, "date"),
        language=_first(found, "language"),
        tags=tuple(dict.fromkeys(found.get("subject", [])))[:_MAX_TAGS],
    )


def _note(found: dict[str, list[str]], element: etree._Element) -> None:
    text = squeeze("".join(element.itertext())[:_MAX_PROPERTY])
    if text:
        found.setdefault(etree.QName(element).localname.lower(), []).append(text)


def _first(found: dict[str, list[str]], name: str) -> str:
    return found.get(name, [""])[0]


def _without_tags(text: str) -> str:
    return squeeze(parse(text, positions=False).text) if "<" in text else text


def _read_titles(package: Package, items: dict[str, Item]) -> dict[str, str]:
    """Return titles by chapter, from the navigation document first, then from the NCX."""
    titles: dict[str, str] = {}
    for item in sorted(items.values(), key=lambda item: not item.is_navigation):
        try:
            pairs = _titles_in(package, item)
        except Unreadable:  # a book can be read without its table of contents
            continue
        for href, title in pairs:
            titles.setdefault(resolve(posixpath.dirname(item.path), href), title)
    return titles


def _titles_in(package: Package, item: Item) -> list[tuple[str, str]]:
    if item.is_navigation:
        return _navigation_titles(package.read(item.path))
    if item.mime == "application/x-dtbncx+xml":
        return _ncx_titles(package, item.path)
    return []


def _navigation_titles(data: bytes) -> list[tuple[str, str]]:
    document = open_page(as_html(decode_page(data)))
    links = document.select('nav[epub\\:type~="toc"] a[href]') or document.select("nav a[href]")
    return [(link.attr("href") or "", squeeze(link.text)) for link in links]


def _ncx_titles(package: Package, path: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for point in _read_xml(package, path, "{*}navPoint"):
        label = next(point.iter("{*}text"), None)
        content = next(point.iter("{*}content"), None)
        if label is not None and content is not None:
            title = squeeze("".join(label.itertext()))
            found.append((str(content.get("src", "")), title))
    return found
