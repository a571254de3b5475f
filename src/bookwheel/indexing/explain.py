"""Why a file is or is not indexed, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bookwheel.engines.base import Engine
from bookwheel.errors import NotFound
from bookwheel.formats.registry import SUPPORTED
from bookwheel.indexing.ignore import explain, rules_for
from bookwheel.model import Collection, Status
from bookwheel.safety.opener import Root


def explain_path(
    engine: Engine, collections: Sequence[Collection], path: str, *, own: Sequence[str]
) -> str:
    """Return the sentence for a path, absolute or relative to a folder of the library."""
    for collection, relative in _places(collections, path):
        with Root.open(collection.path) as root:
            verdict = explain(root, rules_for(collection, own=own), relative, SUPPORTED)
        if verdict.ignored:
            return f"{relative} is not indexed: {verdict.reason}."
        document = engine.document(collection.name, relative)
        if document is None:
            return f"{relative} would be indexed, but has not been yet: run `bookwheel index`."
        if document.status is Status.OK:
            return f"{relative} is indexed in {collection.name!r} as {document.title!r}."
        return f"{relative} could not be read: {document.status} ({document.reason})."
    raise NotFound(
        f"{path} lies in none of the folders of this library.",
        hint="Folders: " + ", ".join(each.path for each in collections),
    )


def _places(collections: Sequence[Collection], path: str) -> list[tuple[Collection, str]]:
    """Return where a path may lie: below a folder as it stands, or taken as relative to one."""
    absolute = Path(path).expanduser().absolute()
    normal = Path(absolute.parent.resolve(), absolute.name)
    places = [
        (each, spelling.relative_to(each.path).as_posix())
        for each in collections
        for spelling in (absolute, normal)
        if spelling.is_relative_to(each.path)
    ]
    if not Path(path).is_absolute() and not (places and absolute.exists()):
        places = [(each, Path(path).as_posix()) for each in collections] + places
    return places
