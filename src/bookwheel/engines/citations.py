"""Which documents links mean, and which of several links to one document counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from bookwheel.model import Citation, Link
from bookwheel.text.choosing import Candidate, likeliest
from bookwheel.text.targets import Origin, confidence

Cited = tuple[int, Link]
"""A document and one of its links."""
ReadNames = Callable[[Iterable[int]], Iterable[tuple[int, Candidate]]]
ReadOrigins = Callable[[Iterable[int]], Iterable[tuple[int, Origin]]]


class Meanings:
    """Tells which documents links mean; what was looked up once is remembered."""

    def __init__(self, read_names: ReadNames, read_origins: ReadOrigins) -> None:
        self._read_names = read_names
        self._read_origins = read_origins
        self._named: dict[int, list[Candidate]] = {}
        self._origins: dict[int, Origin] = {}

    def learn(self, links: Sequence[Cited]) -> None:
        """Look up at once all that some links may mean."""
        keys = {key for _, link in links for key in link.keys}
        new = keys.difference(self._named)
        self._named |= {key: [] for key in new}
        for key, candidate in self._read_names(new):
            self._named[key].append(candidate)
        unsure = {source for source, link in links if len(self._candidates(link)) > 1}
        self._origins |= dict(self._read_origins(unsure.difference(self._origins)))

    def _candidates(self, link: Link) -> Sequence[Candidate]:
        return next((self._named[key] for key in link.keys if self._named.get(key)), ())

    def target_of(self, source: int, link: Link) -> int | None:
        """Return the document that a link means."""
        candidates = self._candidates(link)
        origin = self._origins.get(source)
        if len(candidates) > 1 and origin is not None:
            return likeliest(link.kind, link.target, origin, candidates).document
        return candidates[0].document if candidates else None

    def resolve(self, links: Iterable[Cited]) -> Iterator[Citation]:
        """Yield links with the documents that they mean, those of a document to itself left out."""
        for source, link in links:
            target = self.target_of(source, link)
            if target != source:
                yield Citation(source, target, link._replace(keys=link.keys[:1]))


def distinct(citations: Iterable[Citation]) -> Iterable[Citation]:
    """Return the surest link of each document to each other one, or to each address."""
    found: dict[tuple[int, int | None, tuple[int, ...]], Citation] = {}
    for each in citations:
        what = (each.source, each.target, () if each.target else each.link.keys)
        other = found.setdefault(what, each)
        if other is not each and confidence(each.link.kind) > confidence(other.link.kind):
            found[what] = each
    return found.values()
