"""The entries of the word index for one document: the page, and each of its chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from bookwheel.model import Chunk, PageTerms, PassageTerms
from bookwheel.text.targets import FRONT_PAGES
from bookwheel.text.words import Terms, analyze

MOST_WHOLE = 2_000_000
"""So many characters of a document's words stand in its entry as they follow each other."""
BORDER = " \x02 "
"""A term that no query holds: no phrase goes beyond it."""
_FIELDS = ("body", "exact", "names")
_YEAR = re.compile(rb"[12](?<![0-9].)[0-9]{3}(?![0-9])", re.S)
"""What stands before is asked behind the first digit: that is looked for three times as fast."""
_DAY = re.compile(rb"(?<![0-9])([12][0-9]{3})(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?![0-9])")
_BETWEEN_WORDS = re.compile(r"[-_.\s]+|(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=[12]\d{3}(?!\d))")
"""Where one word of a file's name ends: at marks, within camelCase, in front of a year."""


def page_terms(
    title: str,
    text: bytes,
    chunks: Iterable[Chunk],
    headings: Iterable[str],
    language: str,
    *,
    name: str = "",
) -> PageTerms:
    """Return the terms of a document; the same for the worker and for a rebuild.

    The words of its file's name are found as those of a heading are, unless its title has them all.
    """
    called = analyze(title, language)
    also = name_terms(name, language, title=called)
    passages = []
    for chunk in chunks:
        body = analyze(text[chunk.start : chunk.end].decode("utf-8", "replace"), language)
        trail = analyze(" ".join(chunk.trail), language)
        passages.append(PassageTerms(trail.stems, body.stems, body.exact, body.names))
    under = analyze(" \n".join(headings), language)
    years = find_years(title.encode("utf-8", "replace"), text)
    terms = PageTerms(
        called.stems,
        called.exact + also.exact,
        called.names + also.names,
        under.stems + also.stems,
        tuple(passages),
        years,
    )
    return terms._replace(text=_shorten(terms.passages))


def _shorten(passages: Sequence[PassageTerms]) -> PassageTerms | None:
    """Return what the entry of a long document holds of its text; None for one that is not long.

    An entry is handed over whole, so it is kept from growing with the text: from some length on
    a word counts only where it is new. A border keeps such words from being read as phrases.
    """
    end = next((n for n, size in enumerate(_sizes(passages)) if size > MOST_WHOLE), None)
    if end is None:
        return None
    body, exact, names = (_once_beyond(field, passages, end) for field in _FIELDS)
    return PassageTerms("", " ".join(body), BORDER.join(exact), " ".join(names))


def _sizes(passages: Sequence[PassageTerms]) -> Iterator[int]:
    return accumulate(len(passage.exact) for passage in passages)


def _once_beyond(field: str, passages: Sequence[PassageTerms], end: int) -> list[str]:
    """Return a field of the passages up to one, and each word that is new in those beyond."""
    whole = [getattr(passage, field) for passage in passages[:end]]
    seen = {word for text in whole for word in text.split()}
    new: dict[str, None] = {}
    room = MOST_WHOLE
    for passage in passages[end:]:
        for word in getattr(passage, field).split():
            if word not in seen and word not in new and room > len(word):
                new[word] = None
                room -= len(word) + len(BORDER)
    return ["".join(whole), *new]


def name_words(path: str) -> str:
    """Return the words of a file's name without its extension; a front page has its folder's."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if stem.lower() in FRONT_PAGES:
        stem = folder.rpartition("/")[2]
    words = " ".join(_BETWEEN_WORDS.split(stem))
    # As written too: whoever knows the name may ask for `Budget2024` as well.
    return words if " " not in words or not stem.isalnum() else f"{stem} {words}"


def file_name(path: str) -> str:
    """Return the name of a file with its extension; nothing where it has none."""
    name = path.rpartition("/")[2]
    return name if "." in name.strip(".") else ""


def name_terms(words: str, language: str, *, title: Terms) -> Terms:
    """Return the terms of the words of a file's name; none where the title has each of them."""
    terms = analyze(words, language)
    said = set(title.stems.split())
    return Terms("", "", "") if said.issuperset(terms.stems.split()) else terms


def find_years(*texts: bytes) -> tuple[str, ...]:
    """Return the years from 1000 to 2999 that stand in texts as numbers of their own."""
    found = {year for text in texts for year in _YEAR.findall(text)}
    return tuple(sorted(year.decode() for year in found))


def years_in_name(path: str) -> tuple[str, ...]:
    """Return the years in a file's name, also where a day is written without marks: 20210503."""
    name = path.rpartition("/")[2].encode("utf-8", "replace")
    days = {day.decode() for day in _DAY.findall(name)}
    return tuple(sorted({*find_years(name), *days}))
