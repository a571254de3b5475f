"""Which documents links mean, and which of several links to one document counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from bookwheel.model import Citation, Link
from bookwheel.text.choosing import Candidate, likeliest
from bookwheel.text.targets import Origin, confidence

LinkRow = tuple[Any, ...]
"""A document's key and one of its links: kind, target, text, context, line, key, other key."""
ReadNames = Callable[[Iterable[int]], Iterable[tuple[int, Candidate]]]
ReadOrigins = Callable[[Iterable[int]], Iterable[tuple[int, Origin]]]


class Meanings:
    """Tells which documents links mean; what was looked up once is remembered."""

    def __init__(self, read_names: ReadNames, read_origins: ReadOrigins) -> None:
        self._read_names = read_names
        self._read_origins = read_origins
        self._named: dict[int, list[Candidate]] = {}
        self._origins: dict[int, Origin] = {}

    def learn(self, rows: Sequence[LinkRow]) -> None:
        """Look up at once all that the links of some rows may mean."""
        keys = {key for row in rows for key in row[6:8] if key is not None}
        new = keys.difference(self._named)
        self._named |= {key: [] for key in new}
        for key, candidate in self._read_names(new):
            self._named[key].append(candidate)
        unsure = {row[0] for row in rows if len(self._candidates(row)) > 1}
        self._origins |= self._read_origins(unsure.difference(self._origins))

    def _candidates(self, row: LinkRow) -> Sequence[Candidate]:
        return self._named[row[6]] or self._named.get(row[7], ())

    def target_of(self, row: LinkRow) -> int | None:
        """Return the document that a link means."""
        candidates = self._candidates(row)
        if len(candidates) > 1:
            return likeliest(row[1], row[2], self._origins[row[0]], candidates).document
        return candidates[0].document if candidates else None

    def resolve(self, rows: Iterable[LinkRow]) -> Iterator[Citation]:
        """Yield links with the documents that they mean, those of a document to itself left out."""
        for row in rows:
            target = self.target_of(row)
            if target != row[0]:
                yield Citation(row[0], target, Link._make((*row[1:6], row[6:7])))


def distinct(citations: Iterable[Citation]) -> Iterable[Citation]:
    """Return the surest link of each document to each other one, or to each address."""
    found: dict[tuple[int, int | None, tuple[int, ...]], Citation] = {}
    for each in citations:
        what = (each.source, each.target, () if each.target else each.link.keys)
        other = found.setdefault(what, each)
        if other is not each and confidence(each.link.kind) > confidence(other.link.kind):
            found[what] = each
    return found.values()
