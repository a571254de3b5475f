"""One writer of many: copies of the documents of an index, written into an engine.

python -m bench.cluster_writer ADDRESS INDEX COLLECTION CHUNKS FIRST SECONDS
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bookwheel.engines.base import WritableEngine
from bookwheel.engines.choice import open_cluster
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.model import Collection, Draft

_STEP_CHUNKS = 1_000
"""So many chunks are handed over at a time, as the indexer does it."""


def copies(base: EmbeddedEngine, collection: str, chunks: int, first: int) -> Iterator[Draft]:
    """Yield documents of an index, one copy of all after another, up to so many chunks."""
    names = [state.collection.name for state in base.collections()]
    made: list[Draft] = []
    for name in names:
        for draft in base.drafts(name):
            if chunks <= 0:
                return
            if draft.parsed is not None:
                made.append(draft)
                chunks -= len(draft.chunks)
                yield _copy(draft, collection, first)
    number = first
    while chunks > 0 and made:
        number += 1
        for draft in made:
            if chunks <= 0:
                return
            chunks -= len(draft.chunks)
            yield _copy(draft, collection, number)


def _copy(draft: Draft, collection: str, number: int) -> Draft:
    return draft._replace(collection=collection, path=f"{number}/{draft.collection}/{draft.path}")


def steps(drafts: Iterator[Draft]) -> Iterator[list[Draft]]:
    """Yield drafts in batches of some thousand chunks."""
    batch: list[Draft] = []
    size = 0
    for draft in drafts:
        batch.append(draft)
        size += len(draft.chunks)
        if size >= _STEP_CHUNKS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def fill(
    engine: WritableEngine, drafts: Iterator[Draft], collection: str, seconds: float = math.inf
) -> tuple[int, int]:
    """Write drafts into one collection, for so long; return how many documents and chunks."""
    until = time.monotonic() + seconds
    engine.begin_writing([collection])
    engine.declare([Collection(name=collection, path=f"/srv/{collection}")])
    documents = chunks = 0
    for batch in steps(drafts):
        engine.write(batch)
        documents += len(batch)
        chunks += sum(len(draft.chunks) for draft in batch)
        if time.monotonic() > until:
            break
    engine.commit()
    engine.end_writing()
    return documents, chunks


def main(address: str, index: str, collection: str, chunks: str, first: str, seconds: str) -> None:
    """Write, and say how much and what CPU that took here."""
    base = EmbeddedEngine(Path(index))
    engine = open_cluster(address, Path(index), None)
    began = time.process_time()
    drafts = copies(base, collection, int(chunks), int(first))
    written = fill(engine, drafts, collection, float(seconds))
    print(json.dumps([*written, time.process_time() - began]))
    engine.close()
    base.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
