"""What Word, PowerPoint and Excel files share: relations between parts, and properties."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About
from bookwheel.formats.package import Package, parse_xml
from bookwheel.model import Status

_MAX_PROPERTY = 2_048
_CORE = "docProps/core.xml"
_PLAIN = re.compile(
    rb"(?:\xef\xbb\xbf)?"
    rb"""(?:<\?xml version=['"]1.0['"] encoding=['"](?:UTF-8|utf-8)['"][^<>?]{0,40}\?>\s*)?"""
    rb'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">\s*'
    rb'(?:<Relationship(?: [A-Z][A-Za-z]{1,9}="[ !#-%\'-;=?-~]*")+ ?/>\s*)*+</Relationships>\s*'
)
"""Relations as programs write them, without a letter that could mean something else."""
_ATTRIBUTES = ("Id", "Type", "Target", "TargetMode")
_RELATION = re.compile(
    rf"""<Relationship(?: {'="([^"]*)"| '.join(_ATTRIBUTES)}="([^"]*)"| \w+="[^"]*")+"""
)
"""One of such relations: its attributes in whatever order, many times faster than by a parser."""
_ORDINARY = re.compile(r"(?:\.\./|/)?\w[\w-]*(?:/\w[\w-]*)*\.\w+", re.ASCII)
"""A target that needs no more than its folder."""
_PLAIN_PROPERTIES = re.compile(
    rb"""<\?xml version=['"]1.0['"] encoding=['"](?:UTF-8|utf-8)['"][^<>?]{0,40}\?>\s*"""
    rb'<(?:\w+:)?coreProperties(?: [\w:]+="[^"<>&]*")*>(?:\s*'
    rb'<([\w:]+)(?: [\w:]+="[^"<>&]*")*(?:/>|>[^<&\x00-\x08\x0b-\x1f]*+</\1>))*+\s*'
    rb"</(?:\w+:)?coreProperties>\s*"
)
"""Properties as programs write them, to be read without a parser too."""
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "description": "description",
    "subject": "subject",
    "created": "date",
    "language": "language",
    "keywords": "keywords",
}
_PROPERTY = re.compile(rf">([^<]++)</(?:\w+:)?({'|'.join(_PROPERTIES)})>", re.ASCII)


class Relation(NamedTuple):
    """A tie from one part to another part, or to a URL outside the file."""

    kind: str
    """The last word of its type: `slide`, `hyperlink`, `notesSlide`."""
    address: str
    """Where it leads, as it is written."""
    is_external: bool
    folder: str
    """That of the part whose relation it is."""

    @property
    def target(self) -> str:
        """The name of a part, or a URL."""
        return self.address if self.is_external else _resolve(self.folder, self.address)


def read_relations(package: Package, part: str) -> dict[str, Relation]:
    """Return the relations of a part by their id; those of the package for an empty name."""
    folder, _, name = part.rpartition("/")
    member = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
    if not package.has(member):
        return {}
    data = package.read(member)
    found: dict[str, Relation] = {}
    relations = _RELATION.findall(data.decode()) if _PLAIN.fullmatch(data) else _parse(data)
    for key, kind, target, mode in relations:
        external = mode.lower() == "external"
        found[key] = Relation(kind.rpartition("/")[2], target.strip(), external, folder)
    return found


def _parse(data: bytes) -> Iterator[tuple[str, ...]]:
    for element in parse_xml(data).iterchildren("{*}Relationship"):
        yield tuple(str(element.get(name, "")) for name in _ATTRIBUTES)


def _resolve(folder: str, target: str) -> str:
    """Return the name of the part that a relation of a part in this folder names."""
    if _ORDINARY.fullmatch(target):
        if target.startswith("../"):
            folder, target = folder.rpartition("/")[0], target[3:]
        elif target[0] == "/":
            return target[1:]
        return f"{folder}/{target}" if folder else target
    target = posixpath.join("/", folder, target.replace("\\", "/"))
    return unquote(posixpath.normpath(target)).lstrip("/")


def read_outer_relations(package: Package, main: str) -> dict[str, Relation]:
    """Return the relations of the package, unread where all is where programs put it."""
    if package.has(main) and package.has(_CORE):
        return {
            "main": Relation("officeDocument", main, False, ""),
            "core": Relation("core-properties", _CORE, False, ""),
        }
    return read_relations(package, "")


def find_main_part(package: Package, relations: Mapping[str, Relation] | None = None) -> str:
    """Return the name of the part that holds the document, whatever it is called.

    The relations of the package may be given where they are known already.
    """
    for relation in (relations or read_relations(package, "")).values():
        if relation.kind == "officeDocument" and package.has(relation.target):
            return relation.target
    raise Unreadable(Status.UNREADABLE, "it has no main part")


def read_about(package: Package, relations: Mapping[str, Relation] | None = None) -> About:
    """Return the properties that the author or program has set."""
    values: dict[str, str] = {}
    for relation in (relations or read_relations(package, "")).values():
        if relation.kind == "core-properties" and package.has(relation.target):
            values |= _read_properties(package, relation.target)
    keywords = values.get("keywords", "").replace(";", ",").split(",")
    return About(
        title=values.get("title", ""),
        description=values.get("description") or values.get("subject", ""),
        author=values.get("author", ""),
        date=values.get("date", ""),
        language=values.get("language", ""),
        tags=tuple(word.strip() for word in keywords if word.strip())[:50],
    )


def _read_properties(package: Package, part: str) -> dict[str, str]:
    values: dict[str, str] = {}
    try:
        found = _find_properties(package.read(part))
    except (Unreadable, UnicodeDecodeError):  # the text is there all the same
        return values
    for tag, text in found:
        name = _PROPERTIES.get(tag)
        if name and text:
            values[name] = text.strip()[:_MAX_PROPERTY]
    return values


def _find_properties(data: bytes) -> list[tuple[str, str]]:
    """Return the names and texts of all properties."""
    if _PLAIN_PROPERTIES.fullmatch(data):
        return [(tag, text) for text, tag in _PROPERTY.findall(data.decode())]
    return [
        (element.tag.rpartition("}")[2], element.text or "")
        for element in parse_xml(data)
        if isinstance(element.tag, str)
    ]
