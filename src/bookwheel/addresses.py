"""Every way to name a document: docs:// address, collection and path, path alone, absolute path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from bookwheel.model import Collection

SCHEME = "docs://"


def candidates(text: str, collections: Sequence[Collection]) -> list[tuple[str, str]]:
    """Return each (collection, document) that a text may name, the likeliest first."""
    spellings = [text]
    if text.startswith(SCHEME):
        rest = text[len(SCHEME) :]
        spellings = [unquote(rest), rest]
    elif Path(text).is_absolute():
        return _absolute(text, collections)
    found: list[tuple[str, str]] = []
    for spelling in spellings:
        name, _, path = spelling.strip("/").partition("/")
        found += [
            (each.name, path) for each in collections if name in (each.name, each.alias) and path
        ]
        found += [(each.name, spelling.strip("/")) for each in collections]
    return list(dict.fromkeys(found))


def _absolute(text: str, collections: Sequence[Collection]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path in dict.fromkeys((Path(text), Path(text).parent.resolve() / Path(text).name)):
        found += [
            (each.name, path.relative_to(each.path).as_posix())
            for each in collections
            if path.is_relative_to(each.path)
        ]
    return list(dict.fromkeys(found))


def uri(collection: str, path: str, *, alone: bool) -> str:
    """Return a document's docs:// address; with one collection its name is left out."""
    parts = path.split("/") if alone else [collection, *path.split("/")]
    return SCHEME + "/".join(quote(part, safe="") for part in parts)
