"""What an OpenDocument file says of itself, and whether it is protected by a password."""

from __future__ import annotations

from bookwheel.formats.base import Unreadable
from bookwheel.formats.composing import About
from bookwheel.formats.package import Package
from bookwheel.model import Status

_MAX_PROPERTY = 2_048
_MANIFEST = "META-INF/manifest.xml"


def refuse_encrypted(package: Package) -> None:
    """Refuse a package whose parts can only be read with a password."""
    if package.has(_MANIFEST) and b"encryption-data" in package.read(_MANIFEST):
        raise Unreadable(Status.ENCRYPTED, "it is protected by a password")


def read_about(package: Package) -> About:
    """Return the properties that the author or program has set; damaged ones are none."""
    values: dict[str, list[str]] = {}
    try:
        elements = package.read_xml("meta.xml").iterfind("{*}meta/{*}*")
        for element in elements:
            if element.text:
                name = str(element.tag).rpartition("}")[2]
                values.setdefault(name, []).append(element.text.strip()[:_MAX_PROPERTY])
    except Unreadable:
        return About()
    first = {name: found[0] for name, found in values.items()}
    keywords = ",".join(values.get("keyword", [])).split(",")
    return About(
        title=first.get("title", ""),
        description=first.get("description") or first.get("subject", ""),
        author=first.get("initial-creator") or first.get("creator", ""),
        date=first.get("creation-date") or first.get("date", ""),
        language=first.get("language", ""),
        tags=tuple(word.strip() for word in keywords if word.strip())[:50],
    )
