"""A document as a row of the catalogue, to and from what the cluster keeps of it."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Any

from bookwheel.engines.asking import folder_terms
from bookwheel.engines.base import CollectionState, Passage
from bookwheel.model import (
    Chunk,
    Collection,
    Document,
    Draft,
    FileState,
    Known,
    Link,
    Place,
    Section,
    Span,
    Status,
)

Source = dict[str, Any]
PIECE_BYTES = 1_000_000
"""A text is kept in pieces of so many bytes."""


def to_row(key: int, draft: Draft, generation: int) -> Source:
    """Return the row of a draft."""
    parsed = draft.parsed
    links = parsed.links if parsed else ()
    return {
        "key": key,
        "collection": draft.collection,
        "path": draft.path,
        "folder": folder_terms(draft.path),
        "extension": draft.extension,
        "language": draft.language,
        "status": str(draft.status),
        "chunks": len(draft.chunks) if parsed else 0,
        "generation": generation,
        "names": list(draft.names) if parsed else [],
        "cites": sorted({link.keys[0] for link in links if link.keys}),
        "anchors": any(has_anchor(link) for link in links),
        "may_cite": sorted({key for link in links for key in link.keys}),
        "kept": {
            **to_state(draft.state),
            "digest": base64.b64encode(draft.state.digest).decode(),
            "mime": draft.mime,
            "reason": draft.reason,
            "title": parsed.title if parsed else "",
            "description": parsed.description if parsed else "",
            "tags": list(parsed.tags) if parsed else [],
            "author": parsed.author or "" if parsed else "",
            "date": draft.date,
            "source": draft.source,
            "url": parsed.url if parsed else None,
            "words": draft.words,
            "characters": len(parsed.text) if parsed else 0,
            "rules": draft.rules,
            "pieces": len(pieces_of(parsed.text)) if parsed else 0,
        },
    }


def has_anchor(link: Link) -> bool:
    """Tell a link to a place inside of a document."""
    return bool(link.target.partition("#")[2])


def to_state(state: FileState) -> Source:
    """Return what a rescan may note anew of a file."""
    return {"size": state.size, "modified_ns": state.modified_ns, "racy": state.racy}


def pieces_of(text: str) -> list[str]:
    """Return a text in pieces that one request can hold."""
    data = text.encode()
    cuts = [0]
    while cuts[-1] < len(data):
        end = min(cuts[-1] + PIECE_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # not within a character
            end -= 1
        cuts.append(end)
    return [data[start:end].decode() for start, end in pairwise(cuts)]


def to_document(row: Source) -> Document:
    """Return what the catalogue tells of a row."""
    kept = row["kept"]
    return Document(
        key=row["key"],
        collection=row["collection"],
        path=row["path"],
        title=kept["title"],
        description=kept["description"],
        tags=tuple(kept["tags"]),
        extension=row["extension"],
        mime=kept["mime"],
        size=kept["size"],
        modified_ns=kept["modified_ns"],
        author=kept["author"],
        date=kept["date"],
        source=kept["source"],
        language=row["language"],
        words=kept["words"],
        characters=kept["characters"],
        chunks=row["chunks"],
        status=Status(row["status"]),
        reason=kept["reason"],
        generation=row["generation"],
    )


def to_known(row: Source) -> Known:
    """Return what is remembered of a file for telling what changed."""
    kept = row["kept"]
    return Known(
        row["key"],
        kept["size"],
        kept["modified_ns"],
        bool(kept["racy"]),
        base64.b64decode(kept["digest"]),
        Status(row["status"]),
    )


def to_details(draft: Draft) -> Source:
    """Return the parts of a draft that are read with its document and never searched."""
    parsed = draft.parsed
    assert parsed is not None
    return {
        "collection": draft.collection,
        "sections": [list(each) for each in parsed.sections],
        "links": [list(each) for each in parsed.links],
        "places": [list(each) for each in parsed.places],
        "spans": [list(each) for each in draft.spans],
    }


def to_sections(details: Source) -> list[Section]:
    return [Section(*each) for each in details.get("sections", ())]


def to_links(details: Source) -> list[Link]:
    return [Link._make([*each[:5], tuple(each[5])]) for each in details.get("links", ())]


def to_places(details: Source) -> list[Place]:
    return [Place(*each) for each in details.get("places", ())]


def to_spans(details: Source) -> tuple[Span, ...]:
    return tuple(Span(*each) for each in details.get("spans", ()))


def from_chunk(chunk: Chunk, data: bytes) -> Source:
    """Return a chunk with its own text as it is kept."""
    text = data[chunk.start : chunk.end].decode("utf-8", "replace")
    return {"chunk": [*chunk[:5], list(chunk.trail), chunk.pointer], "text": text}


def to_passage(key: int, kept: Source) -> Passage:
    *numbers, trail, pointer = kept["chunk"]
    return Passage(key, Chunk._make([*numbers, tuple(trail), pointer]), kept["text"])


def from_collection(collection: Collection) -> Source:
    """Return what is kept of a collection; its root is not."""
    values = collection._asdict()
    del values["root"]
    return values


def to_collection(name: str, kept: Source, documents: int) -> CollectionState:
    values = {**kept["collection"], "name": name}
    for patterns in ("include", "exclude"):
        values[patterns] = tuple(values[patterns])
    include, exclude = values.get("stated", ((), ()))
    values["stated"] = (tuple(include), tuple(exclude))
    return CollectionState(
        Collection(**values),
        documents,
        kept.get("scanned_at"),
        kept.get("device"),
        kept.get("host", ""),
    )
