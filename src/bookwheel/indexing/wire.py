"""Drafts as plain values and back: what crosses from the worker to the parent.

The parent checks the shape by rebuilding each value; it never unpickles a class.
"""

from __future__ import annotations

from typing import Any

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


def pack(result: Draft | FileState) -> tuple[Any, ...]:
    """Return a draft or a bare state as nested tuples."""
    if isinstance(result, FileState):
        return (_state(result),)
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


def unpack(values: tuple[Any, ...]) -> Draft | FileState:
    """Return what was packed."""
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
        (terms.years, terms.hidden, terms.private),
        tuple((p.heading, p.body, p.exact, p.names, p.hidden) for p in terms.passages),
    )


def _unpack_terms(values: tuple[Any, ...]) -> PageTerms:
    (title, exact, names, headings), (years, hidden, private), passages = values
    rows = tuple(PassageTerms(*row) for row in passages)
    return PageTerms(title, exact, names, headings, rows, tuple(years), hidden, tuple(private))
