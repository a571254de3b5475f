"""Why a file is or is not indexed, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bookwheel.engines.base import Engine
from bookwheel.errors import BookwheelError, NotFound
from bookwheel.formats.registry import SUPPORTED
from bookwheel.indexing.ignore import explain, rules_for
from bookwheel.model import Collection, Status
from bookwheel.safety.opener import Root


def explain_path(
    engine: Engine | None, collections: Sequence[Collection], path: str, *, own: Sequence[str]
) -> str:
    """Return the sentence for a path, absolute or relative to a folder of the library.

    Without an engine, since there is no index yet, it says what would become of the file.
    """
    places = _places(collections, path)
    if not places:
        raise NotFound(
            f"{path} lies in none of the folders of this library.",
            hint="Folders: " + ", ".join(each.path for each in collections),
        )
    there = [place for place in places if _kind(*place)]
    collection, relative = (there or places)[0]
    if relative == ".":
        return f"{collection.path} is the folder of {collection.name!r} itself."
    return _explain(engine, collection, relative, own)


def _explain(
    engine: Engine | None, collection: Collection, relative: str, own: Sequence[str]
) -> str:
    with Root.open(collection.path) as root:
        verdict = explain(root, rules_for(collection, own=own), relative, SUPPORTED)
    if verdict.ignored:
        return f"{relative} is not indexed: {verdict.reason}."
    if _kind(collection, relative) == "folder":
        return f"{relative} is a folder that is looked into."
    document = engine.document(collection.name, relative) if engine else None
    if document is None:
        return f"{relative} would be indexed, but has not been yet: run `bookwheel index`."
    if document.status is Status.OK:
        part = f", but not all of it: {document.reason}" if document.reason else ""
        return f"{relative} is indexed in {collection.name!r} as {document.title!r}{part}."
    return f"{relative} could not be read: {document.status} ({document.reason})."


def explain_absence(collection: Collection, relative: str, *, own: Sequence[str]) -> str | None:
    """Say why what stands at a path is no document; None where nothing stands there."""
    kind = _kind(collection, relative or ".")
    if kind is None:
        return None
    if kind == "folder":
        return "It is a folder: search in it, or name a file."
    with Root.open(collection.path) as root:
        verdict = explain(root, rules_for(collection, own=own), relative, SUPPORTED)
    if verdict.ignored:
        return f"It is not indexed: {verdict.reason}."
    return "It has not been indexed yet."


def _kind(collection: Collection, relative: str) -> str | None:
    """Return what stands at a path, or nothing."""
    try:
        with Root.open(collection.path) as root:
            return root.stat_file("" if relative == "." else relative).kind
    except BookwheelError:
        return None


def _places(collections: Sequence[Collection], path: str) -> list[tuple[Collection, str]]:
    """Return where a path may lie: below a folder as it stands, or taken as relative to one."""
    given = Path(path)
    spellings = [given.absolute()]
    try:
        spellings = [given.expanduser().absolute()]
        spellings.append(Path(spellings[0].parent.resolve(), given.name))
    except (OSError, RuntimeError, ValueError):  # links in a loop, an unknown user's home, NUL
        pass
    below = [
        (each, spelling.relative_to(each.path).as_posix())
        for each in collections
        for spelling in spellings
        if spelling.is_relative_to(each.path)
    ]
    relative = [] if given.is_absolute() else [(each, given.as_posix()) for each in collections]
    return list(dict.fromkeys(below + relative))
