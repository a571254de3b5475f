"""Who cites whom: the links of documents followed for some levels, to and from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from bookwheel.addresses import document_id
from bookwheel.engines.base import Engine
from bookwheel.model import Citation, Document, SafeText
from bookwheel.reading.documents import make_presentable
from bookwheel.safety.redact import make_safe
from bookwheel.text.targets import Origin, confidence, place_of, same_anchor, web_address


class Cited(NamedTuple):
    """One citation as it may be shown; an address that is no document's has no target."""

    source: Document
    target: Document | None
    kind: str
    address: SafeText
    text: SafeText
    context: SafeText
    line: int
    key: int
    """The same for addresses that mean the same, however they are written."""

    @property
    def confidence(self) -> float:
        """How sure it is that this cites, from 0 to 1."""
        return confidence(self.kind)

    @property
    def target_id(self) -> str:
        """What the target is called in a graph; for a path that leads nowhere, its place."""
        if self.target is None:
            origin = Origin(self.source.collection, self.source.path)
            place = place_of(self.kind, self.address, origin)  # decoded, so of any letters
            return make_safe(place) if place else self.url
        return document_id(self.target.collection, self.target.path)

    @property
    def url(self) -> str:
        """The address as written; that on the web of a DOI or an arXiv id."""
        return web_address(self.kind, self.address)


class Citations(NamedTuple):
    """What a document cites and what it is cited by, nearest first."""

    citing: tuple[Cited, ...]
    cited: tuple[Cited, ...]
    is_cut: bool
    """There are more than were asked for."""


class _Walk:
    """Follows links in one direction; what was read once is remembered."""

    def __init__(
        self,
        read: Callable[[Sequence[int], int], dict[int, list[Citation]]],
        *,
        forward: bool,
        most: int,
    ) -> None:
        self._read = read
        self._forward = forward
        self._most = most
        self._known: dict[int, list[Citation]] = {}

    def follow(self, starts: Sequence[int], depth: int) -> list[list[Citation]]:
        """Return for each start citations level by level, one more than wanted if there are more.

        No document is left twice, so that circles end and nothing is repeated. All starts take
        their steps together: what they need next is read at once.
        """
        found: list[list[Citation]] = [[] for _ in starts]
        going = [self._go(*each, depth) for each in zip(starts, found, strict=True)]
        while going:
            asked = [(each, next(each, None)) for each in going]
            going = [each for each, keys in asked if keys is not None]
            self._learn(key for _, keys in asked if keys is not None for key in keys)
        return [own[: self._most + 1] for own in found]

    def _go(self, start: int, found: list[Citation], depth: int) -> Iterator[Sequence[int]]:
        """Add the citations from one start; yield the documents that must be known to go on."""
        seen, level = {start}, [start]
        for _ in range(depth):
            following: list[int] = []
            for some in _growing(level):
                yield some
                for own in (self._known[each] for each in some):
                    found += own
                    ends = (each.target if self._forward else each.source for each in own)
                    new = [
                        end for end in dict.fromkeys(ends) if end is not None and end not in seen
                    ]
                    seen.update(new)
                    following += new
                    if len(found) > self._most:
                        return
            level = following

    def _learn(self, documents: Iterable[int]) -> None:
        """Read the citations of some documents at once."""
        unknown = [each for each in dict.fromkeys(documents) if each not in self._known]
        if unknown:
            self._known |= self._read(unknown, self._most + 1)


def _growing(level: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield parts of a level, each larger than the one before: a few may be enough."""
    at, size = 0, 1
    while at < len(level):
        yield level[at : at + size]
        at, size = at + size, size * 4


def read_citations(
    engine: Engine, documents: Sequence[Document], *, depth: int = 1, most: int = 50
) -> list[Citations]:
    """Return what documents cite and are cited by, followed so many levels, in their order.

    Each list holds at most `most`.
    """
    starts = [each.key for each in documents]
    walks = (
        _Walk(engine.outgoing, forward=True, most=most),
        _Walk(engine.incoming, forward=False, most=most),
    )
    found = [walk.follow(starts, depth) for walk in walks]
    shown = Showing(engine, (each for lists in found for own in lists for each in own[:most]))
    return [
        Citations(
            shown.all(citing[:most]), shown.all(cited[:most]), max(len(citing), len(cited)) > most
        )
        for citing, cited in zip(*found, strict=True)
    ]


class Showing:
    """Turns citations into what may be shown of them."""

    def __init__(
        self, engine: Engine, citations: Iterable[Citation], *, others: Iterable[int] = ()
    ) -> None:
        keys = {key for each in citations for key in (each.source, each.target) if key is not None}
        keys.update(others)
        documents = engine.documents_by_key(sorted(keys)) if keys else {}
        self.documents = {key: make_presentable(each) for key, each in documents.items()}

    def all(self, citations: Iterable[Citation]) -> tuple[Cited, ...]:
        """Return citations as they may be shown; those from documents gone meanwhile are not."""
        return tuple(self._show(each) for each in citations if each.source in self.documents)

    def _show(self, citation: Citation) -> Cited:
        link = citation.link
        return Cited(
            self.documents[citation.source],
            self.documents.get(citation.target) if citation.target is not None else None,
            link.kind,
            make_safe(link.target),
            make_safe(link.text),
            make_safe(link.context),
            link.line,
            link.keys[0],
        )


def find_section(engine: Engine, cited: Cited) -> SafeText | None:
    """Return the heading in its target that a citation leads to by its anchor."""
    anchor = cited.address.partition("#")[2]
    if cited.target is None or not anchor:
        return None
    headings = (section.heading for section in engine.sections(cited.target.key))
    found = next((each for each in headings if same_anchor(each, anchor)), None)
    return make_safe(found) if found else None
