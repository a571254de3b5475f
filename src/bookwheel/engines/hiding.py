"""Words that a document holds only where it is redacted, marked so that nobody can ask for them.

What is hidden from a caller could be asked for word by word: a hit tells that it is there. So each
entry of the word index has a mark for every word, and every two words in a row, that stand in it
nowhere but within something hidden. For whoever that is hidden from, an entry with the mark does
not hold the word. For all others nothing is different.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.model import Chunk, Document, PageTerms, PassageTerms, Redact, Span
from bookwheel.safety.redact import cover
from bookwheel.text.entries import file_name, find_years, name_words, page_terms
from bookwheel.text.words import analyze, normal_title

if TYPE_CHECKING:
    from bookwheel.safety.finding import Rules

_LEVELS = (Redact.SECRETS, Redact.ALL)
_MAY_HIDE = re.compile(r"[@\d=:]| at |\[at\]|\(at\)")
"""What stands in nearly every title or tag that hides something; looking for more costs time."""

_COVER = re.compile(r"\[redacted:[^\]]*\]")


class Page(NamedTuple):
    """A document as far as its words go."""

    collection: str
    title: str
    tags: tuple[str, ...]
    text: bytes
    chunks: tuple[Chunk, ...]
    headings: tuple[str, ...]
    language: str
    spans: tuple[Span, ...] = ()
    """What must not be seen of its text, in bytes."""
    path: str = ""


def stored_terms(
    document: Document,
    text: bytes,
    *,
    chunks: Sequence[Chunk],
    headings: Iterable[str],
    spans: tuple[Span, ...],
) -> PageTerms:
    """Return the terms of a document that is in the catalogue."""
    about = (document.collection, document.title, document.tags)
    words = (*about, text, tuple(chunks), tuple(headings), document.language)
    return document_terms(Page(*words, spans, path=document.path))


def hidden_mark(words: str, collection: str = "", level: Redact | None = None) -> str:
    """Return the mark of a word, or of two in a row, that some level hides in a collection.

    Without either: the mark of what any document hides somewhere.
    """
    said = f"{level or ''}\0{collection}\0{words}"
    digest = blake2b(said.encode("utf-8", "replace"), digest_size=6).digest()
    return urlsafe_b64encode(digest).decode()


def document_terms(page: Page, rules: Rules | None = None) -> PageTerms:
    """Return the terms of a document, with marks; the same for the worker and for a rebuild."""
    path = _shown_path(page.path, rules)
    name = name_words(_COVER.sub(" ", path))
    own, shown = file_name(page.path), file_name(path)
    unnamed = [own] * (own != shown)
    words = (page.title, page.text, page.chunks, page.headings, page.language)
    terms = page_terms(*words, name=name)
    if not page.spans and not any(map(_MAY_HIDE.search, (page.title, *page.tags))):
        return terms._replace(private=tuple(map(normal_title, unnamed)))
    views = [_View(page, terms, name, level=level, rules=rules) for level in _LEVELS]
    strictest = views[-1]
    passages = tuple(
        passage._replace(hidden="".join(view.marks(view.passages[number]) for view in views))
        for number, passage in enumerate(terms.passages)
    )
    anywhere = strictest.hidden.union(*strictest.passages)
    private = [text for text in (page.title, *page.tags) if strictest.shown(text) != text]
    return terms._replace(
        passages=passages,
        years=find_years(strictest.shown(page.title).encode("utf-8", "replace"), strictest.text),
        hidden="".join(view.marks(view.hidden) for view in views)
        + " ".join(map(hidden_mark, sorted(anywhere))),
        private=tuple(map(normal_title, (*private, *unnamed))),
    )


def _shown_path(path: str, rules: Rules | None) -> str:
    """Return a path as everybody may see it: for the rest of it nobody asks."""
    from bookwheel.safety.finding import redact_path

    return redact_path(path, Redact.ALL, rules) if _MAY_HIDE.search(path) else path


class _Said(NamedTuple):
    """The words of an entry, and every two that follow each other."""

    words: set[str]
    pairs: set[tuple[str, str]]

    def hidden_by(self, shown: _Said) -> set[str]:
        """Return what is not shown; of two words in a row one of which is not, only that one."""
        words = self.words - shown.words
        pairs = (pair for pair in self.pairs - shown.pairs if words.isdisjoint(pair))
        return words.union(map(" ".join, pairs))


class _View:
    """What one level hides of a document."""

    def __init__(
        self, page: Page, terms: PageTerms, name: str, *, level: Redact, rules: Rules | None
    ) -> None:
        self._page = page
        self._name = name
        self._level = level
        self._rules = rules
        spans = [span for span in page.spans if level is Redact.ALL or _is_secret(span)]
        self.text = cover(page.text, spans)
        stems = analyze(name, page.language).stems
        every = [PassageTerms(stems, terms.title, terms.title_exact, terms.title_names)]
        every += terms.passages
        seen = [self._read_title(every[0]), *self._read(terms, spans)]
        changed = [
            (_said(own), _said(shown)) if shown is not own else None
            for own, shown in zip(every, seen, strict=True)
        ]
        hidden = [pair[0].hidden_by(pair[1]) if pair else set[str]() for pair in changed]
        self.passages = hidden[1:]
        """What each chunk holds only where it is hidden."""
        self.hidden = _on_the_page([pair for pair in changed if pair], seen)
        """And what the whole document does."""

    def marks(self, hidden: set[str]) -> str:
        """Return the marks of what this level hides."""
        name, level = self._page.collection, self._level
        return "".join(f"{hidden_mark(words, name, level)} " for words in sorted(hidden))

    def shown(self, text: str) -> str:
        """Return a short text as it is shown."""
        from bookwheel.safety.finding import redact_text

        return redact_text(text, self._level, self._rules)

    def _read_title(self, terms: PassageTerms) -> PassageTerms:
        title = self.shown(self._page.title)
        if title == self._page.title:
            return terms
        return PassageTerms("", *analyze(f"{title} {self._name}", self._page.language))

    def _read(self, terms: PageTerms, spans: Sequence[Span]) -> Iterator[PassageTerms]:
        """Yield the terms of each chunk as it is shown: the same where nothing of it is hidden."""
        starts, ends = [span.start for span in spans], [span.end for span in spans]
        language = self._page.language
        for chunk, passage in zip(self._page.chunks, terms.passages, strict=True):
            inside = spans[bisect_right(ends, chunk.start) : bisect_left(starts, chunk.end)]
            trail = " ".join(map(self.shown, chunk.trail)) if spans else " ".join(chunk.trail)
            if not inside and trail == " ".join(chunk.trail):
                yield passage
                continue
            data = cover(self._page.text[chunk.start : chunk.end], inside, start=chunk.start)
            body = analyze(data.decode("utf-8", "replace"), language)
            yield PassageTerms(analyze(trail, language).stems, *body)


def _on_the_page(changed: Sequence[tuple[_Said, _Said]], seen: Iterable[PassageTerms]) -> set[str]:
    """Return what is hidden wherever it stands on a page, of whose entries some hide something."""
    words = set[str]().union(*(own.words - shown.words for own, shown in changed))
    pairs = set[tuple[str, str]]().union(*(own.pairs - shown.pairs for own, shown in changed))
    for each in seen if words or pairs else ():
        shown = _said(each)
        words -= shown.words
        pairs -= shown.pairs
    return _Said(words, pairs).hidden_by(_Said(set(), set()))


def _is_secret(span: Span) -> bool:
    from bookwheel.safety.finding import is_secret

    return is_secret(span.kind)


def _said(terms: PassageTerms) -> _Said:
    exact = terms.exact.split()
    words = {*terms.heading.split(), *terms.body.split(), *exact, *terms.names.split()}
    return _Said(words, set(pairwise(exact)))


def marks_in(words: Sequence[str]) -> tuple[str, ...]:
    """Return what may be marked of words in a row: each of them, and every two."""
    return (*words, *map(" ".join, pairwise(words)))
