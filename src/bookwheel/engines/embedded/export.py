"""Documents as they were written, for another engine: nothing has to be read from files again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw

from bookwheel.engines.embedded import catalog, contents
from bookwheel.engines.hiding import stored_terms
from bookwheel.model import Document, Draft, FileState, Known, Parsed, Status

_STEP = 100


def read_drafts(connection: apsw.Connection, collection: str) -> Iterator[Draft]:
    """Yield every file of a collection as the worker handed it over, or would now."""
    known = catalog.read_known(connection, collection)
    paths = sorted(known)
    for first in range(0, len(paths), _STEP):
        some = paths[first : first + _STEP]
        documents = catalog.read_documents(connection, [known[path].key for path in some])
        for path in some:
            document = documents.get(known[path].key)
            if document is not None:
                yield _draft(connection, document, known[path])


def _draft(connection: apsw.Connection, document: Document, known: Known) -> Draft:
    state = FileState(known.size, known.modified_ns, known.digest, known.racy)
    draft = Draft(
        document.collection,
        document.path,
        document.extension,
        document.mime,
        state,
        document.status,
        document.reason,
        date=document.date,
        source=document.source,
        language=document.language,
        words=document.words,
    )
    return _with_text(connection, document, draft) if document.status is Status.OK else draft


def _with_text(connection: apsw.Connection, document: Document, draft: Draft) -> Draft:
    key = document.key
    data = contents.read_text(connection, key)
    sections = contents.read_sections(connection, key)
    chunks = contents.read_chunks(connection, key)
    headings = [section.heading for section in sections]
    redactions = contents.read_redactions(connection, [key])[key]
    parsed = Parsed(
        document.title,
        document.description,
        data.decode("utf-8", "replace"),
        document.tags,
        document.author or None,
        url=_url(connection, key),
        sections=tuple(sections),
        links=tuple(contents.read_links(connection, key)),
        places=tuple(contents.read_places(connection, key)),
    )
    return draft._replace(
        parsed=parsed,
        chunks=tuple(chunks),
        terms=stored_terms(
            document, data, chunks=chunks, headings=headings, spans=redactions.spans
        ),
        spans=redactions.spans,
        rules=redactions.rules,
        names=_names(connection, key),
    )


def _url(connection: apsw.Connection, key: int) -> str | None:
    url: str | None = connection.execute("SELECT url FROM documents WHERE id = ?", (key,)).get
    return url


def _names(connection: apsw.Connection, key: int) -> tuple[int, ...]:
    rows = connection.execute("SELECT key FROM names WHERE document = ? ORDER BY ordinal", (key,))
    return tuple(int(row[0]) for row in rows)


def list_models(connection: apsw.Connection) -> Sequence[tuple[str, int]]:
    """Return the models that vectors were written of, with their dimensions."""
    rows = connection.execute("SELECT fingerprint, dimensions FROM models ORDER BY id")
    return [(str(fingerprint), int(dimensions)) for fingerprint, dimensions in rows]
