"""Moving a library from a file on this machine to another engine, without reading any document."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol, TypeVar

from bookwheel.engines.base import CollectionState, Matrix, WritableEngine
from bookwheel.engines.sharing import readers_note, take_names
from bookwheel.model import Document, Draft, Known

_NOTES = ("embedder", "fingerprint", "former")
_STEP = 50
_Value = TypeVar("_Value")


class Movable(Protocol):
    """An engine that can hand over what was written into it."""

    def collections(self) -> list[CollectionState]: ...
    def known(self, collection: str, folder: str = "") -> dict[str, Known]: ...
    def documents_by_key(self, keys: Sequence[int]) -> dict[int, Document]: ...
    def skipped(self, collection: str) -> dict[tuple[str, str], int]: ...
    def drafts(self, collection: str) -> Iterator[Draft]: ...
    def models(self) -> Sequence[tuple[str, int]]: ...
    def vectors(self, fingerprint: str, keys: Sequence[int]) -> dict[int, Matrix]: ...
    def note(self, name: str) -> str | None: ...


def move(
    source: Movable,
    target: WritableEngine,
    *,
    stated: Container[str] = (),
    on_progress: Callable[[str, int], None] = lambda collection, done: None,
) -> int:
    """Write all that one engine holds into another; return how many files that were.

    It may be run again: what is there already is replaced, and what is gone is removed. Names that
    the operator has not stated must not stand for other folders there.
    """
    states = source.collections()
    names = [state.collection.name for state in states]
    target.begin_writing(names)
    try:
        folders = [state.collection for state in states]
        take_names(target, folders, stated)
        target.declare(folders)
        done = sum(_move_collection(source, target, name, on_progress) for name in names)
        for state in states:
            if state.scanned_at is not None:
                target.mark_scanned(
                    state.collection.name,
                    device=state.device or 0,
                    skipped=source.skipped(state.collection.name),
                    at=state.scanned_at,
                )
        _move_notes(source, target, names)
        target.commit()
    finally:
        target.end_writing()
    return done


def _move_collection(
    source: Movable, target: WritableEngine, name: str, on_progress: Callable[[str, int], None]
) -> int:
    done = 0
    for drafts in _batches(source.drafts(name)):
        target.write(drafts)
        done += len(drafts)
        on_progress(name, done)
    old, new = source.known(name), target.known(name)
    target.remove(name, [path for path in new if path not in old])
    pairs = [(old[path].key, new[path].key) for path in old if path in new]
    for fingerprint, dimensions in source.models():
        for some in _batches(pairs):
            found = source.vectors(fingerprint, [key for key, _ in some])
            rows = {there: found[here] for here, there in some if here in found}
            if rows:
                target.write_vectors(fingerprint, dimensions, rows)
    return done


def _move_notes(source: Movable, target: WritableEngine, collections: Sequence[str]) -> None:
    """Take over what is noted of the model, and of the readers of each collection."""
    for name in _NOTES:
        value = source.note(name)
        if value is not None:
            target.set_note(name, value)
    for collection in collections:
        readers = source.note(readers_note(collection, is_shared=False))
        if readers is not None:
            target.set_note(readers_note(collection, is_shared=target.is_shared), readers)


def _batches(values: Iterable[_Value]) -> Iterator[list[_Value]]:
    rest = iter(values)
    while some := list(islice(rest, _STEP)):
        yield some
