"""Drafts as plain values and back: what crosses from the worker to the parent.

The parent checks the shape by rebuilding each value; it never unpickles a class.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, TypeVar

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
_PIECE_ROWS = 500
_KINDS = (Section, Link, Place, Chunk, Span, PassageTerms)
_Row = TypeVar("_Row")


def pack(result: Draft | FileState) -> tuple[Any, ...] | InPieces:
    """Return a draft or a bare state as nested tuples; a long draft as several of them."""
    if isinstance(result, FileState):
        return (_state(result),)
    if result.characters > LONG and result.parsed and result.terms:
        return InPieces(_cut(result, result.parsed, result.terms))
    return _pack_draft(result)


def _cut(draft: Draft, parsed: Parsed, terms: PageTerms) -> list[object]:
    """Return a draft without all that may be long of it, and that in pieces.

    After the draft comes how long the text is, and of how many pieces and rows each part is.
    """
    data = parsed.text.encode()
    texts = [data[n : n + _PIECE_BYTES] for n in range(0, len(data), _PIECE_BYTES)]
    parts = (
        *(parsed.sections, parsed.links, parsed.places),
        *(draft.chunks, draft.spans, terms.passages),
    )
    rows = [_in_pieces(part) for part in parts]
    bare = draft._replace(
        parsed=parsed._replace(text="", sections=(), links=(), places=()),
        chunks=(),
        spans=(),
        terms=terms._replace(passages=()),
    )
    sizes = ((len(texts), len(texts)), *zip(map(len, rows), map(len, parts), strict=True))
    return [(_pack_draft(bare), len(parsed.text), sizes), *texts, *chain(*rows)]


def _in_pieces(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(map(tuple, rows[n : n + _PIECE_ROWS])) for n in range(0, len(rows), _PIECE_ROWS)]


def _pack_draft(result: Draft) -> tuple[Any, ...]:
    return (
        _state(result.state),
        (result.collection, result.path, result.extension, result.mime),
        (str(result.status), result.reason),
        _pack_parsed(result.parsed) if result.parsed else None,
        (result.date, result.source, result.language, result.words),
        tuple(map(tuple, result.chunks)),
        _pack_terms(result.terms) if result.terms else None,
        (result.rules, tuple(map(tuple, result.spans))),
        result.names,
    )


def unpack(values: tuple[Any, ...] | Pieces) -> Draft | FileState:
    """Return what was packed; of a long draft all is looked at, and most read when needed."""
    if isinstance(values, tuple):
        return _unpack(values)
    head, characters, sizes = next(values.part(0, 1))
    draft = _unpack(head)
    if not isinstance(draft, Draft) or draft.parsed is None or draft.terms is None:
        raise TypeError("a long file that is no document")
    (start, end), *bounds = pairwise(accumulate((pieces for pieces, _ in sizes), initial=1))
    long = PiecedText(values, start, end, characters)
    sections, links, places, chunks, spans, passages = (
        PiecedRows(values, *bound, length, kind)
        for bound, (_, length), kind in zip(bounds, sizes[1:], _KINDS, strict=True)
    )
    if len(passages) != len(chunks):
        raise ValueError("not as many terms as chunks")
    if any(True for _ in values.part(bounds[-1][1])):
        raise ValueError("more pieces than it says")
    if not all(isinstance(field, str) for passage in passages for field in passage):
        raise TypeError("terms that are no text")
    return draft._replace(
        parsed=draft.parsed._replace(sections=sections, links=links, places=places),
        chunks=chunks,
        spans=spans,
        terms=draft.terms._replace(passages=passages),
        long=long,
    )


class PiecedText:
    """The text of a long draft, in the pieces that it was sent in."""

    def __init__(self, pieces: Pieces, start: int, end: int, characters: int) -> None:
        self._pieces = pieces
        self._bounds = start, end
        self.characters = characters
        self._check()

    def pieces(self) -> Iterator[bytes]:
        """Yield the text; a piece may end amid a character."""
        return self._pieces.part(*self._bounds)

    def _check(self) -> None:
        """Raise what tells that it is not as it says: nobody can do so in the midst of writing."""
        decoder = getincrementaldecoder("utf-8")()
        found = sum(len(decoder.decode(piece)) for piece in self.pieces())
        found += len(decoder.decode(b"", final=True))
        if found != self.characters:
            raise ValueError("a text that is not as long as it says")


class PiecedRows(Sequence[_Row]):
    """Rows of a long draft, in the pieces that they were sent in: read anew whenever asked for."""

    def __init__(
        self, pieces: Pieces, start: int, end: int, length: int, kind: Callable[..., _Row]
    ) -> None:
        self._pieces = pieces
        self._bounds = start, end
        self._length = length
        self._kind = kind
        if sum(1 for _ in self) != length:
            raise ValueError("not as many rows as it says")

    def __iter__(self) -> Iterator[_Row]:
        for rows in self._pieces.part(*self._bounds):
            yield from (self._kind(*row) for row in rows)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index]


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
        (parsed.language, parsed.source, parsed.url, parsed.aliases, parsed.remark),
        tuple(map(tuple, parsed.sections)),
        tuple(map(tuple, parsed.links)),
        tuple(map(tuple, parsed.places)),
        parsed.quiet,
    )


def _unpack_parsed(values: tuple[Any, ...]) -> Parsed:
    (title, description, text, tags, author, date), more, sections, links, places, quiet = values
    language, source, url, aliases, remark = more
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
        remark=remark,
    )


def _pack_terms(terms: PageTerms) -> tuple[Any, ...]:
    return (
        (terms.title, terms.title_exact, terms.title_names, terms.headings),
        (terms.years, terms.hidden, terms.private, tuple(terms.text) if terms.text else None),
        tuple(map(tuple, terms.passages)),
    )


def _unpack_terms(values: tuple[Any, ...]) -> PageTerms:
    (title, exact, names, headings), (years, hidden, private, text), passages = values
    rows = tuple(PassageTerms(*row) for row in passages)
    whole = PassageTerms(*text) if text else None
    about = (tuple(years), hidden, tuple(private), whole)
    return PageTerms(title, exact, names, headings, rows, *about)
