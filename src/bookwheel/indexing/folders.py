"""Which folders make up the library, and under which names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bookwheel.indexing.manifest import read_manifest
from bookwheel.model import Collection
from bookwheel.safety.opener import Root

_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\\ud800-\udfff]+")


def from_paths(paths: Iterable[str]) -> list[Collection]:
    """Return a nameless collection for each folder given, each folder once."""
    unique = dict.fromkeys(str(Path(path).expanduser().resolve()) for path in paths)
    return [Collection(name="", path=path) for path in unique]


def complete(collections: Iterable[Collection]) -> tuple[list[Collection], list[str]]:
    """Fill in what the manifests say and give distinct names; return them with remarks."""
    done: list[Collection] = []
    remarks: list[str] = []
    for given in collections:
        with Root.open(given.path) as root:
            manifest = read_manifest(root)
        if manifest.problem:
            remarks.append(f"{given.path}: {manifest.problem}.")
        # What the operator stated wins over what the folder says of itself.
        collection = replace(
            given,
            path=str(Path(given.path).resolve()),
            name=given.name or manifest.name or Path(given.path).resolve().name or "root",
            version=given.version or manifest.version,
            description=given.description or manifest.description,
            include=given.include or manifest.include,
            exclude=given.exclude + manifest.exclude,
        )
        done.append(_with_free_name(collection, done, remarks))
    return done, remarks


def _with_free_name(
    collection: Collection, taken: list[Collection], remarks: list[str]
) -> Collection:
    wanted = _UNFIT.sub("-", collection.name).strip()[:100] or "folder"
    names = {other.name for other in taken}
    name, number = wanted, 2
    while name in names:
        name, number = f"{wanted}-{number}", number + 1
    if name != wanted:
        remarks.append(f"{collection.path} is called {name!r}, since {wanted!r} is taken.")
    return replace(collection, name=name)
