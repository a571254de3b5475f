"""Who a collection belongs to where several machines keep theirs in one library."""

from __future__ import annotations

import platform
from collections.abc import Container, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bookwheel.engines.base import CollectionState
from bookwheel.errors import BadRequest, BookwheelError
from bookwheel.model import Collection, Known

if TYPE_CHECKING:
    from bookwheel.safety.opener import Root

_COMPARED = 50
"""So many files are looked at to tell whether a folder is the one that was indexed."""


class Shared(Protocol):
    """What of an engine tells which folders it holds."""

    def collections(self) -> list[CollectionState]: ...
    def known(self, collection: str, folder: str = "") -> dict[str, Known]: ...


def this_host() -> str:
    """Return what this machine is called."""
    return platform.node()


def is_from_here(state: CollectionState) -> bool:
    """Tell whether this machine was the last to index a collection."""
    return state.host == this_host()


def lies_here(state: CollectionState) -> bool:
    """Tell whether a collection was indexed from a folder of this machine that is still there."""
    return is_from_here(state) and Path(state.collection.path).is_dir()


def readers_note(collection: str, *, is_shared: bool) -> str:
    """Return under which name it is noted what read the documents of a collection."""
    return f"readers of {collection}" if is_shared else "readers"


def as_known(given: Collection, known: Collection | None, *, is_shared: bool) -> Collection:
    """Return a folder that was named and no more with what is known that its operator stated.

    Who names a folder without its configuration must not open what that keeps shut.
    """
    bare = Collection("", given.path, language=given.language, root=given.root)
    if known is None or given != bare:
        return given
    given = given._replace(access=known.access, redact=known.redact)
    if not is_shared:
        return given
    include, exclude = known.stated
    return given._replace(
        name=known.name,
        alias=known.alias,
        source=known.source,
        language=given.language or known.language,
        include=include,
        exclude=exclude,
    )


def take_names(engine: Shared, wanted: Iterable[Collection], stated: Container[str]) -> None:
    """Refuse a name that stands for another folder in an index that is shared.

    A folder has the name that its operator states, wherever it lies: `stated` are such names. One
    that goes by another name is the same as before if it was moved, or if another machine sees the
    same files in it.
    """
    old = {state.collection.name: state for state in engine.collections()}
    for each in wanted:
        state = old.get(each.name)
        if state is None or each.name in stated or _is_same(engine, state, each.path):
            continue
        raise BadRequest(
            f"The library has another folder that is called {each.name!r}: "
            f"{state.collection.path} on {state.host}.",
            hint="Give this one a `name` of its own in bookwheel.toml, or state that name "
            "there if it is the same folder.",
        )


def _is_same(engine: Shared, state: CollectionState, path: str) -> bool:
    """Tell whether a folder of this machine is the one that a collection was indexed from."""
    if is_from_here(state):
        return state.collection.path == path or not Path(state.collection.path).is_dir()
    return _holds(path, engine.known(state.collection.name))


def _holds(path: str, known: Mapping[str, Known]) -> bool:
    """Tell whether most of some files are in a folder, each as long as it was."""
    from bookwheel.safety.opener import Root

    # What stands for a folder that could not be listed has no size to compare.
    files = ((name, file) for name, file in known.items() if file.size >= 0)
    compared = list(islice(files, _COMPARED))
    same = 0
    try:
        with Root.open(path) as root:
            for name, file in compared:
                same += _size(root, name) == file.size
    except BookwheelError:
        return False
    return 2 * same >= len(compared)


def _size(root: Root, name: str) -> int | None:
    try:
        return root.stat_file(name).size
    except BookwheelError:  # it is not there, or nothing that may be read
        return None
