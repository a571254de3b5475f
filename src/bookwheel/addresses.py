"""Every way to name a document: docs:// address, collection and path, path, absolute path, id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from bookwheel.model import Collection
from bookwheel.text.targets import document_key

SCHEME = "docs://"
_ID = "doc-"
_IDS = re.compile(r"doc-[0-9a-f]{16}")
_MASK = (1 << 64) - 1
_KEPT = 20_000


Candidate = tuple[str, str]
"""A collection's name and a document's path in it."""


def candidates(text: str, collections: Sequence[Collection]) -> list[list[Candidate]]:
    """Return the documents that a text may name, group by group, the likeliest group first.

    With one collection a path is meant as it stands; with several, the collection's name leads it.
    """
    if not _is_encodable(text) or "\0" in text:
        return []
    if text.startswith(SCHEME):
        rest = text[len(SCHEME) :]
        decoded = unquote(rest, errors="surrogateescape")
        spellings = [decoded, rest] if _is_encodable(decoded) else [rest]
    elif Path(text).is_absolute():
        return [_absolute(text, collections)]
    else:
        spellings = [text]
    found: list[list[Candidate]] = []
    for spelling in spellings:
        name, _, path = spelling.strip("/").partition("/")
        led = [(each.name, path) for each in collections if name in (each.name, each.alias)]
        plain = [(each.name, spelling.strip("/")) for each in collections]
        found += [plain, led] if len(collections) == 1 else [led, plain]
    return found


def _is_encodable(text: str) -> bool:
    """Tell whether a text can be a document's path: those are UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _absolute(text: str, collections: Sequence[Collection]) -> list[Candidate]:
    spellings = [Path(text)]
    try:
        spellings.append(Path(text).parent.resolve() / Path(text).name)
    except (OSError, RuntimeError):  # links in a loop
        pass
    found = [
        (each.name, path.relative_to(each.path).as_posix())
        for path in spellings
        for each in collections
        if path.is_relative_to(each.path)
    ]
    return list(dict.fromkeys(found))


@lru_cache(maxsize=_KEPT)
def document_id(collection: str, path: str) -> str:
    """Return a name of a document that is the same wherever its collection is indexed."""
    return f"{_ID}{document_key(collection, path) & _MASK:016x}"


def key_in_id(text: str) -> int | None:
    """Return the key of the document that such a name stands for; None for any other text."""
    if not _IDS.fullmatch(text):
        return None
    number = int(text.removeprefix(_ID), 16)
    return number if number <= _MASK >> 1 else number - _MASK - 1


def uri(collection: str, path: str, *, alone: bool) -> str:
    """Return a document's docs:// address; with one collection its name is left out."""
    parts = path.split("/") if alone else [collection, *path.split("/")]
    return SCHEME + "/".join(quote(part, safe="") for part in parts)
