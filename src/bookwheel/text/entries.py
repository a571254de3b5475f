"""The entries of the word index for one document: the page, and each of its chunks."""

from __future__ import annotations

from collections.abc import Iterable

from bookwheel.model import Chunk, PageTerms, PassageTerms
from bookwheel.text.words import analyze


def page_terms(
    title: str, text: bytes, chunks: Iterable[Chunk], headings: Iterable[str], language: str
) -> PageTerms:
    """Return the terms of a document; the same for the worker and for a rebuild."""
    name = analyze(title, language)
    passages = []
    for chunk in chunks:
        body = analyze(text[chunk.start : chunk.end].decode("utf-8", "replace"), language)
        trail = analyze(" ".join(chunk.trail), language)
        passages.append(PassageTerms(trail.stems, body.stems, body.exact, body.names))
    under = analyze(" \n".join(headings), language)
    return PageTerms(name.stems, name.exact, name.names, under.stems, tuple(passages))
