"""The entries of the word index for one document: the page, and each of its chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bookwheel.model import Chunk, PageTerms, PassageTerms
from bookwheel.text.words import analyze

_YEAR = re.compile(rb"(?<![0-9])[12][0-9]{3}(?![0-9])")
_DAY = re.compile(rb"(?<![0-9])([12][0-9]{3})(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?![0-9])")


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
    years = find_years(title.encode("utf-8", "replace"), text)
    return PageTerms(name.stems, name.exact, name.names, under.stems, tuple(passages), years)


def find_years(*texts: bytes) -> tuple[str, ...]:
    """Return the years from 1000 to 2999 that stand in texts as numbers of their own."""
    found = {year for text in texts for year in _YEAR.findall(text)}
    return tuple(sorted(year.decode() for year in found))


def years_in_name(path: str) -> tuple[str, ...]:
    """Return the years in a file's name, also where a day is written without marks: 20210503."""
    name = path.rpartition("/")[2].encode("utf-8", "replace")
    days = {day.decode() for day in _DAY.findall(name)}
    return tuple(sorted({*find_years(name), *days}))
