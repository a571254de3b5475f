"""All that an index says, so that two of them can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bookwheel.library import Library
from bookwheel.query import SearchRequest
from bookwheel.settings import load

WORDS = [a + b + "ling" for a in ("ba", "du", "fe", "go", "ki", "mo", "na") for b in "bdfgkmnprst"]


def open_library(folder: Path, index: Path) -> Library:
    """Open the library of a folder; nothing is read for meaning, which needs its own time."""
    flags = {"index": str(index), "workers": 1, "embedder": "none"}
    return Library.open(load(flags, use_start_folder=False, environment={}), [str(folder)])


def everything(library: Library) -> dict[str, Any]:
    """Return all that an index says, but for the numbers that it gives by itself."""
    (state,) = library.states()
    name = state.collection.name
    said: dict[str, Any] = {"state": state._replace(scanned_at=None)}
    for document in library.list_documents(name, limit=1000).documents:
        # Who states no date has that of the day when its content was read, not when it was touched.
        known = document._replace(key=0, generation=0, date="")
        text = library.text(document).text if document.status == "ok" else ""
        about = (known, text, library.outline(document), library.links(document))
        said[f"/{document.path}"] = about
    said["failures"] = [each._replace(key=0, generation=0) for each in library.ledger(name)]
    for word in (*WORDS[::5], "title", "anchor", "part one"):
        hits = library.search(SearchRequest(word, limit=1000, fuzzy=False)).hits
        # How rare a word is counts what was removed until its part of the word index is merged.
        said[f"? {word}"] = sorted((hit.document, hit.snippet) for hit in hits)
    said["problems"] = library.check()
    return said
