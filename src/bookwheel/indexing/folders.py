"""Which folders make up the library, and under which names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bookwheel.engines.sharing import as_known, is_from_here, lies_here
from bookwheel.errors import BadRequest, BookwheelError, IndexUnreachable
from bookwheel.model import Collection

if TYPE_CHECKING:
    from bookwheel.engines.base import CollectionState, WritableEngine

_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\\ud800-\udfff]+")


class Folders:
    """The folders that are meant: those that were given, else those of the index."""

    def __init__(self, store: WritableEngine, collections: Iterable[Collection] = ()) -> None:
        self._store = store
        self._collections = tuple(collections)
        self._given: tuple[Collection, ...] = ()
        self._recalled: Sequence[CollectionState] = ()
        self._is_recalled = False
        """Whether nobody named folders, and those of the index are meant."""

    def take(self, given: Iterable[Collection]) -> list[str]:
        """Mean the folders given, as the index knows them or as they are; return remarks."""
        self._given = tuple(given)
        try:
            return [] if self._recall() else self.look()
        except IndexUnreachable:  # whoever asks it is told; a server waits for it to come back
            collections, remarks = complete(self._given)
            self._collections = tuple(collections)
            return remarks

    def take_indexed(self) -> None:
        """Mean the folders of the index, whichever they are."""
        self._is_recalled = True
        if not self._store.is_shared:  # else they may change, and it may be away for a while
            self._collections = tuple(state.collection for state in self._states())

    def _recall(self) -> bool:
        """Take the folders as the index knows them, without looking at them; tell if it does."""
        if self._store.is_shared:  # others may have taken their names meanwhile
            return False
        known = {state.collection.path: state.collection for state in self._remembered()}
        recalled = [
            known[each.path]._replace(root=each.root) for each in self._given if each.path in known
        ]
        if not len(recalled) == len(known) == len(self._given):
            return False
        if not all(map(_agrees, self._given, recalled)):
            return False
        self._collections = tuple(recalled)
        return True

    def current(self) -> Sequence[Collection]:
        """Return the folders; where those of a shared index are meant, as others add to them."""
        if self._is_recalled and self._store.is_shared:
            try:
                states = self._states()
            except IndexUnreachable:
                return self._collections  # as it was; whoever asks for documents is told
            if states is not self._recalled:
                self._recalled = states
                self._collections = tuple(state.collection for state in states)
        return self._collections

    @property
    def last_seen(self) -> tuple[Collection, ...]:
        """The folders as they were when somebody asked last: the index is not."""
        return self._collections

    @property
    def own(self) -> tuple[Collection, ...]:
        """The folders that are this process's to index.

        A server that was given none serves what others index; only what was indexed on this
        machine is its.
        """
        if not (self._is_recalled and self._store.is_shared):
            return tuple(self.current())
        return tuple(state.collection for state in self._states() if lies_here(state))

    @property
    def stated(self) -> set[str]:
        """The names that the operator gave to folders."""
        return {each.name for each in self._given}

    def look(self) -> list[str]:
        """Take the folders as they are now, manifests included; return what is worth saying."""
        is_shared = self._store.is_shared
        states = self._remembered()
        if not self._given:
            own = [each for each in states if not is_shared or is_from_here(each)]
            gone = [each.collection.path for each in own if not Path(each.collection.path).is_dir()]
            return [f"There is no folder {path}. Its documents are kept." for path in gone]
        known = {state.collection.path: state.collection for state in states}
        collections, remarks = complete(
            [as_known(each, known.get(each.path), is_shared=is_shared) for each in self._given],
            remembered=lambda: [*known.values()],
        )
        self._collections = tuple(collections)
        return remarks

    def _states(self) -> Sequence[CollectionState]:
        return self._store.collections() if self._store.exists else ()

    def _remembered(self) -> Sequence[CollectionState]:
        """Return the collections as the index knows them; none of one that cannot be read."""
        try:
            return self._states()
        except IndexUnreachable:
            raise  # it knows, and can tell later
        except BookwheelError:
            return ()


def _agrees(given: Collection, known: Collection) -> bool:
    """Tell whether all that the operator states of a folder is what the index knows of it."""
    return all(not stated or stated == old for stated, old in zip(given, known, strict=True))


def from_paths(paths: Iterable[str]) -> list[Collection]:
    """Return a nameless collection for each folder given, each folder once."""
    unique: dict[str, Collection] = {}
    for path in paths:
        resolved = _resolve(path)
        unique.setdefault(resolved, Collection("", resolved, root=_spell(path, resolved)))
    return [*unique.values()]


def _spell(path: str, resolved: str) -> str:
    """Return a path as it was written, made absolute; empty where that is the resolved one."""
    written = os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - without following links
    return written if written != resolved and os.path.realpath(written) == resolved else ""


def _resolve(path: str) -> str:
    try:
        resolved = str(Path(path).expanduser().resolve())
        resolved.encode()
    except UnicodeEncodeError:
        raise BadRequest(
            f"The path {path!r} is not UTF-8.", hint="Rename the folder, or name a link to it."
        ) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise BadRequest(f"{path!r} is not a folder: {error}") from None
    return resolved


def complete(
    collections: Iterable[Collection], *, remembered: Callable[[], Sequence[Collection]] = tuple
) -> tuple[list[Collection], list[str]]:
    """Fill in what the manifests say and give distinct names; return them with remarks.

    A folder that is gone is taken as the index remembers it: a share may be away for a while.
    """
    remarks: list[str] = []
    filled: list[Collection] = []
    gone: list[Collection] = []
    for each in collections:
        path = _resolve(each.path)
        given = each._replace(path=path, root=each.root or _spell(each.path, path))
        try:
            filled.append(_fill_in(given, remarks))
        except BookwheelError as error:
            known = next((old for old in remembered() if old.path == given.path), None)
            if known is None:
                raise
            remarks.append(f"{error.message} Its documents are kept as they were.")
            gone.append(known._replace(root=given.root))
            filled.append(gone[-1])
    done: list[Collection] = []
    for each in filled:
        done.append(each if each in gone else _with_free_name(each, [*gone, *done], remarks))
    done = _with_free_aliases(done, remarks)
    remarks += [
        f"{inner.path} lies inside {outer.path}: its documents are found twice."
        for outer in done
        for inner in done
        if inner is not outer and Path(inner.path).is_relative_to(outer.path)
    ]
    return done, remarks


def _fill_in(given: Collection, remarks: list[str]) -> Collection:
    """Add what the folder says of itself; what the operator stated wins."""
    from bookwheel.indexing.manifest import read_manifest
    from bookwheel.safety.opener import Root

    with Root.open(given.path) as root:
        manifest = read_manifest(root)
    if manifest.problem:
        remarks.append(f"{given.path}: {manifest.problem}.")
    return given._replace(
        name=given.name or manifest.name or Path(given.path).name or "root",
        version=given.version or manifest.version,
        description=given.description or manifest.description,
        include=given.include or manifest.include,
        exclude=given.exclude + manifest.exclude,
        stated=(given.include, given.exclude),
    )


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
    return collection._replace(name=name)


def _with_free_aliases(collections: list[Collection], remarks: list[str]) -> list[Collection]:
    """Drop an alias that another collection goes by, since it could mean either."""
    names = {each.name for each in collections}
    done = []
    for each in collections:
        if each.alias and each.alias != each.name and each.alias in names:
            remarks.append(f"{each.name!r} goes without its alias {each.alias!r}, which is taken.")
            each = each._replace(alias=None)
        names.add(each.alias or each.name)
        done.append(each)
    return done
