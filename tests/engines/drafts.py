"""Drafts for the tests of engines, made the way the indexing worker makes them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from bookwheel.engines.base import Field, Match, Term
from bookwheel.engines.base import WritableEngine as Engine
from bookwheel.engines.hiding import Page, document_terms
from bookwheel.formats.registry import extension_of, mime_type, read
from bookwheel.model import Collection, Draft, FileState, Status
from bookwheel.safety.finding import OWN_RULES, find_spans
from bookwheel.safety.redact import in_bytes
from bookwheel.text.chunking import chunk
from bookwheel.text.targets import Origin, document_names, link_keys

NOTES = Collection(name="notes", path="/srv/notes")
PAPERS = Collection(
    name="papers",
    path="/srv/papers",
    alias="p",
    description="What was printed",
    version="3",
    source="the press",
    language="en",
    include=("*.md",),
    exclude=("drafts/",),
)


def draft(
    path: str,
    text: str,
    *,
    collection: str = "notes",
    language: str = "en",
    date: str = "2024-05-06",
    modified_ns: int = 1_700_000_000_000_000_000,
) -> Draft:
    """Return a readable file as a draft."""
    data = text.encode()
    parsed = read(data, path)
    origin = Origin(collection, path, parsed.url)
    links = [each._replace(keys=link_keys(each.kind, each.target, origin)) for each in parsed.links]
    parsed = parsed._replace(links=tuple(links))
    chunks = tuple(chunk(parsed))
    headings = tuple(section.heading for section in parsed.sections)
    spans = in_bytes(parsed.text, find_spans(parsed.text))
    words = parsed.text.encode()
    about = (collection, parsed.title, parsed.tags, words, chunks, headings, language, spans)
    terms = document_terms(Page(*about, path=path))
    return Draft(
        collection=collection,
        path=path,
        extension=extension_of(path),
        mime=mime_type(extension_of(path)),
        state=FileState(len(data), modified_ns, blake2b(data, digest_size=16).digest()),
        status=Status.OK,
        parsed=parsed,
        date=date,
        source="the shelf",
        language=language,
        words=len(text.split()),
        chunks=chunks,
        terms=terms,
        spans=spans,
        rules=OWN_RULES.version,
        names=document_names(origin, parsed.title, parsed.aliases),
    )


def refusal(
    path: str, status: Status = Status.BINARY, *, collection: str = "notes", reason: str = "no text"
) -> Draft:
    """Return a file that gives no document."""
    return Draft(
        collection=collection,
        path=path,
        extension=extension_of(path),
        mime=mime_type(extension_of(path)),
        state=FileState(9, 8, b"digest"),
        status=status,
        reason=reason,
    )


def fill(engine: Engine, *drafts: Draft) -> None:
    """Write drafts and make them searchable."""
    engine.begin_writing()
    engine.declare([NOTES, PAPERS])
    engine.write(drafts)
    engine.commit()
    engine.end_writing()


def body(*words: str, weight: float = 1.0) -> tuple[tuple[Term, ...], ...]:
    """Return a clause for each stem, looked for in the text."""
    return tuple((Term(Field.BODY, word, weight),) for word in words)


def paths_of(engine: Engine, match: Match, limit: int = 100) -> list[str]:
    """Return the paths of the pages that match, in alphabetical order."""
    keys = [key for key, _, _ in engine.match_pages(match, limit).entries]
    return sorted(document.path for document in engine.documents_by_key(keys).values())


def found(engine: Engine, *words: str) -> list[str]:
    """Return the paths of the pages that hold every one of the stems."""
    return paths_of(engine, Match(body(*words), all_clauses=True))


def ranking(engine: Engine, match: Match) -> list[str]:
    """Return the paths of the pages that match, best first."""
    keys = [key for key, _, _ in engine.match_pages(match, 100).entries]
    documents = engine.documents_by_key(keys)
    return [documents[key].path for key in keys]


def key_of(engine: Engine, path: str, collection: str = "notes") -> int:
    """Return the key of a document that must be there."""
    document = engine.document(collection, path)
    assert document is not None
    return document.key


def problems(engine: Engine) -> Sequence[str]:
    """Return what a check of the whole engine finds."""
    return list(engine.check())
