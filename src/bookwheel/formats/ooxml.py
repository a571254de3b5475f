"""What Word, PowerPoint and Excel files share: relations between parts, and properties."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About
from bookwheel.formats.package import Package
from bookwheel.model import Status

_MAX_PROPERTY = 2_048
_PLAIN_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*")
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "description": "description",
    "subject": "subject",
    "created": "date",
    "language": "language",
    "keywords": "keywords",
}


class Relation(NamedTuple):
    """A tie from one part to another part, or to a URL outside the file."""

    kind: str
    """The last word of its type: `slide`, `hyperlink`, `notesSlide`."""
    target: str
    """The name of a part, or a URL."""
    is_external: bool


def read_relations(package: Package, part: str) -> dict[str, Relation]:
    """Return the relations of a part by their id; those of the package for an empty name."""
    folder, name = posixpath.split(part)
    member = posixpath.join(folder, "_rels", name + ".rels")
    if not package.has(member):
        return {}
    found: dict[str, Relation] = {}
    for element in package.read_xml(member).iterchildren("{*}Relationship"):
        target = str(element.get("Target", "")).strip()
        external = element.get("TargetMode", "").lower() == "external"
        if not external:
            target = _resolve(folder, target)
        kind = str(element.get("Type", "")).rpartition("/")[2]
        found[str(element.get("Id", ""))] = Relation(kind, target, external)
    return found


def _resolve(folder: str, target: str) -> str:
    """Return the name of a part that stands relative to a folder."""
    if _PLAIN_NAME.fullmatch(target):
        return f"{folder}/{target}" if folder else target
    path = posixpath.join("/", folder, target.replace("\\", "/"))
    return unquote(posixpath.normpath(path)).lstrip("/")


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
    try:
        root = package.read_xml(part)
    except Unreadable:  # the text is there all the same
        return {}
    values: dict[str, str] = {}
    for element in root:
        if isinstance(element.tag, str):
            name = _PROPERTIES.get(element.tag.rpartition("}")[2])
            if name and element.text:
                values[name] = element.text.strip()[:_MAX_PROPERTY]
    return values
