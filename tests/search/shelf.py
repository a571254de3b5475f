"""A small index made in process, without workers, from a table of paths and texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.formats.registry import read
from bookwheel.indexing.prepare import draft
from bookwheel.model import Collection, FileState
from bookwheel.query import SearchRequest, SearchResults
from bookwheel.safety.opener import FileBytes
from bookwheel.search.run import search

_MODIFIED_NS = 1_700_000_000_000_000_000


class Shelf:
    """An engine with documents on it, and short ways to ask it."""

    def __init__(self, folder: Path) -> None:
        self.engine = EmbeddedEngine(folder / "catalog.db")

    def put(self, texts: Mapping[str, str | bytes], *, collection: str = "shelf") -> None:
        """Write documents into a collection and make them searchable."""
        owner = Collection(name=collection, path="/nowhere")
        self.engine.begin_writing()
        self.engine.declare([owner])
        drafts = []
        for path, text in texts.items():
            data = text.encode() if isinstance(text, str) else text
            state = FileState(len(data), _MODIFIED_NS, b"digest")
            file = FileBytes(data, len(data), _MODIFIED_NS)
            drafts.append(draft(owner, path, file, state, read(data, path)))
        self.engine.write(drafts)
        self.engine.commit()
        self.engine.end_writing()

    def ask(self, request: str | SearchRequest) -> SearchResults:
        """Search."""
        asked = SearchRequest(request) if isinstance(request, str) else request
        return search(self.engine, asked)

    def find(self, request: str | SearchRequest) -> list[str]:
        """Search, and return the documents in order."""
        return [hit.document for hit in self.ask(request).hits]

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()
