"""Absolute paths: in which allowed folder one lies, and which document it names.

Every path is followed through its links first, and must then lie in a root. Nothing is opened:
texts come from the index. What lies outside is refused in the same words whether it exists or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.model import Collection, Document, Status
from bookwheel.reading.documents import make_presentable, nearest_documents, quoted
from bookwheel.safety.opener import follow_links

_MARK = "[redacted:"


class Root(NamedTuple):
    """An allowed folder: the place that it is, and its path as it is shown."""

    collection: Collection
    folder: str
    shown: str


class Place(NamedTuple):
    """Where a path lies: a collection and the rest of the path, empty for the collection itself."""

    collection: Collection
    path: str


def find_places(text: str, roots: Sequence[Root]) -> list[Place]:
    """Return where an absolute path lies, in the innermost root first; Forbidden if in none."""
    if not text.startswith("/"):
        raise BadRequest(
            f"{quoted(text)} is not an absolute path.", hint="Paths begin with / and a root."
        )
    resolved = follow_links(_uncover(text, roots))
    places: dict[Place, int] = {}
    for root in roots if resolved else ():
        top = PurePosixPath(follow_links(root.collection.path) or root.collection.path)
        whole = PurePosixPath(str(resolved))
        if whole.is_relative_to(top / root.folder):
            path = whole.relative_to(top).as_posix()
            places[Place(root.collection, "" if path == "." else path)] = -len(top.parts)
    if not places:
        raise Forbidden(
            "The path lies in none of the allowed roots.",
            hint="Only what lies in a root, or in a folder of one, can be named.",
        )
    return sorted(places, key=lambda place: places[place])


def _uncover(text: str, roots: Sequence[Root]) -> str:
    """Return a path that begins with a root as it is shown with the root's own."""
    for root in roots if _MARK in text else ():
        if text == root.shown or text.startswith(root.shown.rstrip("/") + "/"):
            own = PurePosixPath(root.collection.path, root.folder)
            return str(own) + text[len(root.shown.rstrip("/")) :]
    return text


def find_file(
    engine: Engine, places: Sequence[Place], text: str, *, why: Callable[[Place], str | None]
) -> Document:
    """Return the document at a path; NotFound says why there is none, or what is near."""
    for place in places:
        document = engine.document(place.collection.name, place.path) if place.path else None
        if document is not None and document.status is Status.OK:
            return make_presentable(document)
        if document is not None:
            raise NotFound(
                f"{quoted(text)} has no text to show.",
                hint=f"It could not be read: {document.status} ({document.reason}).",
            )
    reason = next(filter(None, map(why, places)), None)
    if reason is not None:
        raise NotFound(f"{quoted(text)} cannot be shown.", hint=reason)
    near = nearest_documents(engine, places[0].path, [places[0].collection])
    top = places[0].collection.root or places[0].collection.path
    named = ", ".join(quoted(str(PurePosixPath(top, path))) for path in near)
    raise NotFound(
        f"There is no file {quoted(text)}.",
        hint=f"Near are {named}." if named else "Search finds files by their words.",
    )
