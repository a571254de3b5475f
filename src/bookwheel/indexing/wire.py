"""Drafts as plain values and back: what crosses from the worker to the parent.

The parent checks the shape by rebuilding each value; it never unpickles a class.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from typing import Any

from bookwheel.indexing.pieces import InPieces, Pieces
from bookwheel.model import (
    Chunk,
    Draft,
    FileState,
    Link,
    PageTerms,
    Parsed,
    PassageTerms,
    Place,
    Section,
    Span,
    Status,
)

LONG = 1_000_000
"""Characters of a text that is sent in pieces."""
_PIECE_BYTES = 1 << 20
_PIECE_PASSAGES = 500


def pack(result: Draft | FileState) -> tuple[Any, ...] | InPieces:
    """Return a draft or a bare state as nested tuples; a long draft as several of them."""
    if isinstance(result, FileState):
        return (_state(result),)
    if result.characters > LONG and result.parsed and result.terms:
        return InPieces(_cut(result, result.parsed, result.terms))
    return _pack_draft(result)


def _cut(draft: Draft, parsed: Parsed, terms: PageTerms) -> list[object]:
    """Return a draft without what is long of it, how long that is, and the pieces of it."""
    rest = draft._replace(parsed=parsed._replace(text=""), terms=terms._replace(passages=()))
    data = parsed.text.encode()
    texts = [data[n : n + _PIECE_BYTES] for n in range(0, len(data), _PIECE_BYTES)]
    rows = _pack_passages(terms.passages)
    passages = [rows[n : n + _PIECE_PASSAGES] for n in range(0, len(rows), _PIECE_PASSAGES)]
    return [(_pack_draft(rest), len(parsed.text), len(texts)), *texts, *passages]


def _pack_draft(result: Draft) -> tuple[Any, ...]:
    return (
        _state(result.state),
        (result.collection, result.path, result.extension, result.mime),
        (str(result.status), result.reason),
        _pack_parsed(result.parsed) if result.parsed else None,
        (result.date, result.source, result.language, result.words),
        tuple(
            (c.ordinal, c.start, c.end, c.start_line, c.end_line, c.trail, c.pointer)
            for c in result.chunks
        ),
        _pack_terms(result.terms) if result.terms else None,
        (result.rules, tuple((s.start, s.end, s.kind) for s in result.spans)),
        result.names,
    )


def unpack(values: tuple[Any, ...] | Pieces) -> Draft | FileState:
    """Return what was packed; of a long draft all is looked at, and the rest read when needed."""
    if isinstance(values, tuple):
        return _unpack(values)
    head, characters, texts = next(values.part(0, 1))
    draft, rest = _unpack(head), PiecedRest(values, characters, texts)
    if not isinstance(draft, Draft):
        raise TypeError("a long state")
    rest.check(len(draft.chunks))
    return draft._replace(rest=rest)


class PiecedRest:
    """The text and the terms of a long draft, in the pieces that it was sent in."""

    def __init__(self, pieces: Pieces, characters: int, texts: int) -> None:
        self._pieces = pieces
        self._texts = texts
        self.characters = characters

    def texts(self) -> Iterator[bytes]:
        """Yield the text; a piece may end amid a character."""
        yield from self._pieces.part(1, 1 + self._texts)

    def passages(self) -> Iterator[PassageTerms]:
        """Yield the terms of the chunks."""
        for rows in self._pieces.part(1 + self._texts):
            yield from (PassageTerms(*row) for row in rows)

    def check(self, chunks: int) -> None:
        """Raise what tells that it is not as it says: nobody can do so in the midst of writing."""
        decoder = getincrementaldecoder("utf-8")()
        found = sum(len(decoder.decode(piece)) for piece in self.texts())
        found += len(decoder.decode(b"", final=True))
        if found != self.characters:
            raise ValueError("a text that is not as long as it says")
        count = 0
        for passage in self.passages():
            if not all(isinstance(field, str) for field in passage):
                raise TypeError("terms that are no text")
            count += 1
        if count != chunks:
            raise ValueError("not as many terms as chunks")


def _unpack(values: tuple[Any, ...]) -> Draft | FileState:
    state = FileState(*values[0])
    if len(values) == 1:
        return state
    _, (collection, path, extension, mime), (status, reason), parsed, about, *more = values
    date, source, language, words = about
    chunks, terms, (rules, spans), names = more
    return Draft(
        collection=collection,
        path=path,
        extension=extension,
        mime=mime,
        state=state,
        status=Status(status),
        reason=reason,
        parsed=_unpack_parsed(parsed) if parsed else None,
        date=date,
        source=source,
        language=language,
        words=words,
        chunks=tuple(Chunk(*row) for row in chunks),
        terms=_unpack_terms(terms) if terms else None,
        spans=tuple(Span(*row) for row in spans),
        rules=rules,
        names=names,
    )


def _state(state: FileState) -> tuple[Any, ...]:
    return (state.size, state.modified_ns, state.digest, state.racy)


def _pack_parsed(parsed: Parsed) -> tuple[Any, ...]:
    return (
        (parsed.title, parsed.description, parsed.text, parsed.tags, parsed.author, parsed.date),
        (parsed.language, parsed.source, parsed.url, parsed.aliases),
        tuple(
            (s.level, s.heading, s.start, s.end, s.start_line, s.end_line) for s in parsed.sections
        ),
        tuple((k.kind, k.target, k.text, k.context, k.line, k.keys) for k in parsed.links),
        tuple((p.start, p.label, p.row) for p in parsed.places),
        parsed.quiet,
    )


def _unpack_parsed(values: tuple[Any, ...]) -> Parsed:
    (title, description, text, tags, author, date), more, sections, links, places, quiet = values
    language, source, url, aliases = more
    return Parsed(
        title=title,
        description=description,
        text=text,
        tags=tags,
        author=author,
        date=date,
        language=language,
        source=source,
        url=url,
        aliases=aliases,
        sections=tuple(Section(*row) for row in sections),
        links=tuple(Link(*row) for row in links),
        places=tuple(Place(*row) for row in places),
        quiet=quiet,
    )


def _pack_terms(terms: PageTerms) -> tuple[Any, ...]:
    return (
        (terms.title, terms.title_exact, terms.title_names, terms.headings),
        (terms.years, terms.hidden, terms.private, tuple(terms.text) if terms.text else None),
        _pack_passages(terms.passages),
    )


def _pack_passages(passages: Iterable[PassageTerms]) -> tuple[tuple[str, ...], ...]:
    return tuple((p.heading, p.body, p.exact, p.names, p.hidden) for p in passages)


def _unpack_terms(values: tuple[Any, ...]) -> PageTerms:
    (title, exact, names, headings), (years, hidden, private, text), passages = values
    rows = tuple(PassageTerms(*row) for row in passages)
    whole = PassageTerms(*text) if text else None
    about = (tuple(years), hidden, tuple(private), whole)
    return PageTerms(title, exact, names, headings, rows, *about)
