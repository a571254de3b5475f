"""Indexing the documents of a test set as if each were a Markdown file; no file is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from bookwheel.engines.place import DATABASE
from bookwheel.evaluation.dataset import Dataset, Row
from bookwheel.evaluation.questions import Listener
from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.indexing.pipeline import Progress
from bookwheel.indexing.prepare import draft, refused
from bookwheel.library import Library
from bookwheel.model import Collection, Draft, FileState
from bookwheel.safety.opener import FileBytes
from bookwheel.settings import Settings

_BATCH = 64
_MARKDOWN = ".md"


def open_rows(dataset: Dataset, settings: Settings, place: Path) -> Library:
    """Return the library, still empty, that will hold a test set in a folder of its own."""
    # No folder lies at this path, so a later update of a kept index never takes its rows as gone.
    path = str(dataset.folder.resolve() / "corpus.jsonl")
    collection = Collection(
        dataset.folder.resolve().name or "set", path, language=settings["language"] or None
    )
    return Library(settings, [collection], place / DATABASE)


def index_rows(library: Library, rows: Sequence[Row], on_progress: Listener, doing: str) -> None:
    """Read, cut and write the rows by the code that indexes files."""
    (collection,) = library.collections
    paths = row_paths(rows)
    with library.writing() as engine:
        engine.declare(library.collections)
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            engine.write([make_draft(collection, paths[row.name], row) for row in batch])
            on_progress(Progress(doing, start + len(batch), len(rows)))
        engine.mark_scanned(collection.name, device=0, skipped={}, at=time.time())
        engine.commit()


def row_paths(rows: Sequence[Row]) -> dict[str, str]:
    """Return a path for each id: the id itself if all are Markdown files, else with an ending."""
    ending = "" if all(row.name.endswith(_MARKDOWN) for row in rows) else _MARKDOWN
    return {row.name: row.name + ending for row in rows}


def make_draft(collection: Collection, path: str, row: Row) -> Draft:
    """Return a row as the worker would return a file with this title and text."""
    title = " ".join(row.title.split())
    data = (f"# {title}\n\n{row.text}" if title else row.text).encode()
    state = FileState(len(data), 0, blake2b(data, digest_size=16).digest())
    try:
        parsed = read(data, path)
    except Unreadable as trouble:
        return refused(collection.name, path, trouble.status, trouble.reason, state)
    return draft(collection, path, FileBytes(data, len(data), 0), state, parsed)
