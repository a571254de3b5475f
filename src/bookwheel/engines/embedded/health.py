"""Checks of the stores that are able to fail: pages, texts against their digests, entry counts."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from bookwheel.engines.embedded.lexical import WordIndex


def check_catalog(connection: apsw.Connection) -> Iterator[str]:
    """Say what is wrong with the database itself and with what it holds."""
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield f"the database is damaged: {message}"
    orphans = connection.execute(
        "SELECT count(*) FROM documents d LEFT JOIN texts t ON t.document = d.id "
        "WHERE d.status = 'ok' AND t.document IS NULL"
    ).get
    if orphans:
        yield f"{orphans} documents have lost their text"
    short = connection.execute(
        "SELECT count(*) FROM documents d WHERE d.status = 'ok' AND d.chunks <> "
        "(SELECT count(*) FROM chunks k WHERE k.document = d.id)"
    ).get
    if short:
        yield f"{short} documents have lost passages"


def check_words(connection: apsw.Connection, words: WordIndex) -> Iterator[str]:
    """Say where the word index does not hold what the catalogue has."""
    pages, passages = connection.execute(
        "SELECT count(*), coalesce(sum(chunks), 0) FROM documents WHERE status = 'ok'"
    ).get
    if words.page_count() != pages:
        yield f"the word index holds {words.page_count()} pages, the catalogue {pages}"
    if words.passage_count() != passages:
        yield f"the word index holds {words.passage_count()} passages, the catalogue {passages}"
