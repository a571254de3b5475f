"""The store as one caller may see it: nothing outside their scope, every text redacted.

All that search and reading show of documents comes through here, so that no tool, page or command
above can forget to hide what must be hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.engines.among import nearest_among
from bookwheel.engines.base import (
    CollectionState,
    Engine,
    Field,
    Found,
    Match,
    Matrix,
    Passage,
    Redactions,
    Term,
    Vector,
    Vocabulary,
    rarity,
)
from bookwheel.engines.hiding import hidden_mark
from bookwheel.engines.unseen import Unseen
from bookwheel.model import Access, Citation, Document, Link, Place, Redact, Section, Span
from bookwheel.query import Filters, Places, Scope
from bookwheel.safety.redact import Moves, cover, in_bytes

if TYPE_CHECKING:
    from bookwheel.safety.finding import Rules

_LOOKED_AT = 1000
"""So many citations are looked at for those that are in sight."""


class Policy(NamedTuple):
    """What the operator wants of a collection."""

    redact: Redact = Redact.OFF
    access: Access = Access.FULL


def guard(
    store: Engine, scope: Scope, policies: Mapping[str, Policy], rules: Callable[[], Rules]
) -> Engine:
    """Return the store as a caller may see it: the store itself where nothing is to be hidden."""
    open_to_all = scope.within is None and scope.redact is Redact.OFF
    if open_to_all and all(policy.redact is Redact.OFF for policy in policies.values()):
        return store
    return GuardedEngine(store, scope, policies, rules())


class GuardedEngine:
    """An engine for reading that hides what its caller must not see; made for one question."""

    def __init__(
        self, store: Engine, scope: Scope, policies: Mapping[str, Policy], rules: Rules
    ) -> None:
        self._store = store
        self._within = scope.within
        self._least = scope.redact
        self._policies = policies
        self._rules = rules
        self._frequencies: dict[tuple[Field, str], int] = {}
        self._unseen = Unseen(store, self._level)
        self._pages: int | None = None
        self._expected: tuple[str, ...] = ()

    # What is open, and how much of it

    def _level(self, collection: str) -> Redact:
        return self._policies.get(collection, Policy()).redact.or_more(self._least)

    def _is_open(self, collection: str, path: str) -> bool:
        if self._within is None:
            return True
        return any(
            name == collection and (not folder or path.startswith(folder + "/"))
            for name, folder in self._within
        )

    def _has_all(self, collection: str) -> bool:
        """Tell whether every document of a collection is open."""
        return self._within is None or (collection, "") in self._within

    def _narrow(self, filters: Filters | None) -> Filters:
        """Return filters that hold only in what is open."""
        filters = self._plainly(filters or Filters())
        if self._within is None:
            return filters
        within = common_places(self._within, filters.within) if filters.within else self._within
        return filters._replace(within=within or (("", ""),))  # no collection has an empty name

    def _plainly(self, filters: Filters) -> Filters:
        """Return filters that ask for no folder whose name hides something."""
        if not filters.folders or not self.hides:
            return filters
        levels = {self._least, *(policy.redact for policy in self._policies.values())}
        hidden = {
            folder
            for folder in filters.folders
            if any(self._plain(folder, level) != folder for level in levels)
        }
        if not hidden:
            return filters
        left = tuple(folder for folder in filters.folders if folder not in hidden)
        return filters._replace(folders=left or ("\0",))  # which no folder is called

    def _plain(self, text: str, level: Redact) -> str:
        from bookwheel.safety.finding import redact_text

        return redact_text(text, level, self._rules) if text and level is not Redact.OFF else text

    # Documents by name

    @property
    def hides(self) -> bool:
        """Tell whether texts may hold words that are not shown."""
        levels = [self._least, *(policy.redact for policy in self._policies.values())]
        return any(level is not Redact.OFF for level in levels)

    @property
    def generation(self) -> int:
        return self._store.generation

    def refresh(self) -> bool:
        return self._store.refresh()

    def note(self, name: str) -> str | None:
        return self._store.note(name)

    def collections(self) -> list[CollectionState]:
        states = self._store.collections()
        if self._within is None:
            return states
        names = {name for name, _ in self._within}
        return [
            state._replace(documents=sum(self._count("extension", state.collection.name).values()))
            for state in states
            if state.collection.name in names
        ]

    def _count(self, column: str, collection: str) -> dict[str, int]:
        return self._store.count_by(column, self._narrow(Filters(collections=(collection,))))

    def document(self, collection: str, path: str) -> Document | None:
        found = self._store.document(collection, path) or self._by_shown_path(collection, path)
        is_open = found is not None and self._is_open(collection, found.path)
        return self._show(found) if found is not None and is_open else None

    def _by_shown_path(self, collection: str, path: str) -> Document | None:
        key = _key_in(path)
        found = self._store.documents_by_key([key]).get(key) if key else None
        return found if found and found.collection == collection else None

    def _show(self, document: Document) -> Document:
        level = self._level(document.collection)
        if level is Redact.OFF:
            return document
        return document._replace(
            path=self._shown_path(document, level),
            title=self._plain(document.title, level),
            description=self._plain(document.description, level),
            tags=tuple(self._plain(tag, level) for tag in document.tags),
            author=self._plain(document.author, level),
            source=self._plain(document.source, level),
            reason=self._plain(document.reason, level),
        )

    def _shown_path(self, document: Document, level: Redact) -> str:
        """Return a path as it is shown; one that hides something ends in the document's key."""
        from bookwheel.safety.finding import redact_path

        shown = redact_path(document.path, level, self._rules)
        if shown == document.path:
            return shown
        stem = shown.removesuffix(document.extension)
        return f"{stem}~{document.key}{document.extension}"

    def documents_by_key(self, keys: Sequence[int]) -> dict[int, Document]:
        return {
            key: self._show(document)
            for key, document in self._store.documents_by_key(keys).items()
            if self._is_open(document.collection, document.path)
        }

    def list_documents(
        self, collection: str, *, folder: str = "", limit: int, offset: int
    ) -> tuple[list[Document], int]:
        if self._has_all(collection):
            found, total = self._store.list_documents(
                collection, folder=folder, limit=limit, offset=offset
            )
            return [self._show(each) for each in found], total
        below = folder.strip("/") + "/" if folder.strip("/") else ""
        paths = [
            path
            for path in self._store.paths(collection)
            if path.startswith(below) and self._is_open(collection, path)
        ]
        documents = [self._store.document(collection, p) for p in paths[offset : offset + limit]]
        return [self._show(each) for each in documents if each], len(paths)

    def paths(self, collection: str) -> list[str]:
        level = self._level(collection)
        paths = [path for path in self._store.paths(collection) if self._is_open(collection, path)]
        return paths if level is Redact.OFF else [self._shown(collection, p) for p in paths]

    def folders(self, collection: str) -> Sequence[str]:
        """Return the folders of open documents, without those whose names hide something."""
        level = self._level(collection)
        return [
            folder
            for folder in self._store.folders(collection)
            if self._is_open(collection, folder + "/")
            and (level is Redact.OFF or self._plain(folder, level) == folder)
        ]

    def _shown(self, collection: str, path: str) -> str:
        if self._plain(path, self._level(collection)) == path:
            return path
        document = self._store.document(collection, path)
        return self._show(document).path if document else ""

    def _real(self, collection: str, path: str) -> str:
        """Return the path that is shown as this one."""
        if self._level(collection) is Redact.OFF or not _key_in(path):
            return path
        found = self._by_shown_path(collection, path)
        return found.path if found else path

    # Texts

    def _levels(self, keys: Sequence[int]) -> dict[int, Redact]:
        documents = self._store.documents_by_key(keys)
        return {key: self._level(each.collection) for key, each in documents.items()}

    def _find(self, levels: Mapping[int, Redact]) -> dict[int, tuple[Span, ...]]:
        """Return what must not be seen of documents, at the level of each."""
        guarded = [key for key, level in levels.items() if level is not Redact.OFF]
        found = self._store.redactions(guarded) if guarded else {}
        return {key: self._pick(key, found[key], levels[key]) for key in guarded if key in found}

    def _pick(self, key: int, found: Redactions, level: Redact) -> tuple[Span, ...]:
        from bookwheel.safety.finding import find_spans, is_secret

        spans = found.spans
        if found.rules != self._rules.version:  # found by other rules than those in force
            text = self._store.text(key).decode("utf-8", "replace")
            spans = in_bytes(text, find_spans(text, self._rules))
        return tuple(span for span in spans if level is Redact.ALL or is_secret(span.kind))

    def text(self, key: int) -> bytes:
        return cover(self._store.text(key), self._find(self._levels([key])).get(key, ()))

    def _moves(self, key: int) -> Moves | None:
        spans = self._find(self._levels([key])).get(key)
        return Moves(self._store.text(key), spans) if spans else None

    def _level_of(self, key: int) -> Redact:
        return self._levels([key]).get(key, Redact.ALL)

    def sections(self, key: int) -> list[Section]:
        level, moves = self._level_of(key), self._moves(key)
        sections = [
            each._replace(heading=self._plain(each.heading, level))
            for each in self._store.sections(key)
        ]
        if moves is None:
            return sections
        return [each._replace(start=moves(each.start), end=moves(each.end)) for each in sections]

    def headings(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        asked = {(name, self._real(name, path)): (name, path) for name, path in wanted}
        return {
            asked[place]: [self._plain(text, self._level(place[0])) for text in texts]
            for place, texts in self._store.headings([*asked]).items()
        }

    def headings_above(
        self, wanted: Sequence[tuple[str, str, int]]
    ) -> dict[tuple[str, str, int], str]:
        asked = {(name, self._real(name, path), n): (name, path, n) for name, path, n in wanted}
        return {
            asked[place]: self._plain(text, self._level(place[0]))
            for place, text in self._store.headings_above([*asked]).items()
        }

    def links(self, key: int) -> list[Link]:
        level = self._level_of(key)
        return [self._redacted(link, level) for link in self._store.links(key)]

    def _redacted(self, link: Link, level: Redact) -> Link:
        return link._replace(
            target=self._plain(link.target, level),
            text=self._plain(link.text, level),
            context=self._plain(link.context, level),
        )

    def outgoing(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]:
        found = self._store.outgoing([*self._open_keys(keys)], limit)
        return {key: [] for key in keys} | self._open_citations(found)

    def incoming(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]:
        # Some of those found may be out of sight.
        wanted = limit if self._within is None else _LOOKED_AT + limit
        found = self._open_citations(self._store.incoming([*self._open_keys(keys)], wanted))
        return {key: found.get(key, [])[:limit] for key in keys}

    def _open_keys(self, keys: Sequence[int]) -> Mapping[int, Document]:
        return {
            key: document
            for key, document in self._store.documents_by_key(keys).items()
            if self._is_open(document.collection, document.path)
        }

    def _open_citations(self, found: Mapping[int, Sequence[Citation]]) -> dict[int, list[Citation]]:
        """Return citations from what is open; a target that is not looks like one outside."""
        every = [each for own in found.values() for each in own]
        ends = {end for each in every for end in (each.source, each.target) if end is not None}
        seen = self._open_keys([*ends])
        return {
            key: [self._cited(each, seen) for each in own if each.source in seen]
            for key, own in found.items()
        }

    def _cited(self, citation: Citation, seen: Mapping[int, Document]) -> Citation:
        level = self._level(seen[citation.source].collection)
        target = citation.target if citation.target in seen else None
        return Citation(citation.source, target, self._redacted(citation.link, level))

    def most_cited(self, limit: int) -> dict[int, int]:
        if self._within is None:
            return self._store.most_cited(limit)
        counts = self._store.most_cited(_LOOKED_AT + limit)
        seen = self._open_keys([*counts])
        return {key: count for key, count in counts.items() if key in seen}

    def anchored(self, collections: Sequence[str], limit: int) -> list[Citation]:
        found = self._open_citations({0: self._store.anchored(collections, limit)})
        return [each for each in found[0] if each.target is not None]

    def unresolved(self, collections: Sequence[str], limit: int) -> list[tuple[int, Link]]:
        found = self._store.unresolved(collections, limit)
        seen = self._open_keys([source for source, _ in found])
        return [
            (source, self._redacted(link, self._level(seen[source].collection)))
            for source, link in found
            if source in seen
        ]

    def named(self, key: int) -> list[int]:
        return [*self._open_keys(self._store.named(key))]

    def places(self, key: int) -> list[Place]:
        level, moves = self._level_of(key), self._moves(key)
        return [
            each._replace(
                start=moves(each.start) if moves else each.start,
                label=self._plain(each.label, level),
            )
            for each in self._store.places(key)
        ]

    def redactions(self, keys: Sequence[int]) -> dict[int, Redactions]:
        """Return nothing: what comes from here is redacted already."""
        return {}

    def passages(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Passage]:
        levels = self._levels(list({document for document, _ in wanted}))
        spans = self._find(levels)
        return {
            (key, number): self._covered(passage, spans.get(key, ()), levels.get(key, Redact.ALL))
            for (key, number), passage in self._store.passages(wanted).items()
        }

    def _covered(self, passage: Passage, spans: tuple[Span, ...], level: Redact) -> Passage:
        if level is Redact.OFF:
            return passage
        chunk = passage.chunk
        data = cover(passage.text.encode(), spans, start=chunk.start)
        chunk = chunk._replace(
            trail=tuple(self._plain(heading, level) for heading in chunk.trail),
            pointer=self._plain(chunk.pointer, level),
        )
        return Passage(passage.document, chunk, data.decode("utf-8", "replace"))

    # Counts

    def languages(self) -> dict[str, int]:
        if self._within is None:
            return self._store.languages()
        return self._store.count_by("language", self._narrow(None))

    def ledger(self, collection: str | None = None) -> list[Document]:
        return [
            self._show(each)
            for each in self._store.ledger(collection)
            if self._is_open(each.collection, each.path)
        ]

    def status_counts(self, filters: Filters) -> dict[str, int]:
        return self._store.status_counts(self._narrow(filters))

    def count_by(self, column: str, filters: Filters) -> dict[str, int]:
        return self._store.count_by(column, self._narrow(filters))

    def kinds(self, collection: str) -> dict[str, int]:
        if self._has_all(collection):
            return self._store.kinds(collection)
        counts = self._count("extension", collection)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def skipped(self, collection: str) -> dict[tuple[str, str], int]:
        return self._store.skipped(collection) if self._has_all(collection) else {}

    # Entries by word

    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        match = self._open_only(self._weighed(self._unseen.without(match)))
        return self._smoothed(self._store.match_pages(match, limit, count=count))

    def match_each(
        self, matches: Sequence[Match], limit: int, *, count: bool = False
    ) -> list[Found]:
        shown = [self._unseen.without(match) for match in matches]
        asked = [self._open_only(self._weighed(match)) for match in shown]
        found = self._store.match_each(asked, limit, count=count)
        return [self._smoothed(each) for each in found]

    def expect(self, terms: Iterable[str]) -> None:
        self._expected = tuple(terms)
        self._store.expect([*self._expected, *map(hidden_mark, self._expected)])

    def match_passages(self, match: Match, limit: int) -> Found:
        """Return chunks of the documents named in the match, which were found here."""
        assert match.documents is not None or self._within is None
        match = self._weighed(self._unseen.without(match), of_passages=True)
        return self._smoothed(self._store.match_passages(match, limit))

    def _weighed(self, match: Match, *, of_passages: bool = False) -> Match:
        """Return a match whose words weigh what they would if only what is open were indexed.

        Else the order of documents would tell how common a word is in others.
        """
        whole = self._within is None

        def weigh(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple(
                each
                if whole and not each.unless
                else each._replace(weight=each.weight * self._share(each, of_passages))
                for each in terms
            )

        return match._replace(clauses=tuple(map(weigh, match.clauses)), bonus=weigh(match.bonus))

    def _smoothed(self, found: Found) -> Found:
        """Return entries with scores that hold nothing of the rounding in weights: of two that
        are worth the same, which comes first would tell the rest."""
        if self._within is None:
            return found
        entries = [(key, number, float(f"{score:.4g}")) for key, number, score in found.entries]
        entries.sort(key=lambda entry: (-entry[2], entry[0], entry[1]))
        return found._replace(entries=tuple(entries))

    def _share(self, term: Term, of_passages: bool) -> float:
        """Return by how much more a word counts in what is open than in everything."""
        holding = self.frequency(term.field, term.text)
        if not holding:
            return 1.0
        of_all = self._store.weight(term.field, term.text, of_passages=of_passages)
        return self.weight(term.field, term.text) / of_all

    def weight(self, field: Field, term: str, *, of_passages: bool = False) -> float:
        """Return what a term weighs, by how few of the open pages hold it."""
        if self._within is None and not self._unseen.marks(term):
            return self._store.weight(field, term, of_passages=of_passages)
        return rarity(self.frequency(field, term), self.page_count())

    def _open_only(self, match: Match) -> Match:
        if self._within is None and not (match.filters and match.filters.folders):
            return match
        return match._replace(filters=self._narrow(match.filters))

    def frequency(self, field: Field, term: str) -> int:
        found = self._store.frequency(field, term)
        if not found or (self._within is None and not self._unseen.marks(term)):
            return found
        if (field, term) not in self._frequencies:
            self._count_open(field, (term, *self._expected))
        return self._frequencies[field, term]

    def _count_open(self, field: Field, terms: Iterable[str]) -> None:
        """Count the open pages that hold each of some terms, all at once."""
        new = [
            term
            for term in dict.fromkeys(terms)
            if (field, term) not in self._frequencies and self._store.frequency(field, term)
        ]
        matches = [Match(((Term(field, term, 1.0),),)) for term in new]
        asked = [self._open_only(self._unseen.without(match)) for match in matches]
        for term, found in zip(new, self._store.match_each(asked, 1, count=True), strict=True):
            self._frequencies[field, term] = found.total

    def page_count(self) -> int:
        if self._within is None:
            return self._store.page_count()
        if self._pages is None:
            self._pages = sum(self.languages().values())
        return self._pages

    def vocabulary(self, field: Field = Field.EXACT) -> Vocabulary:
        """Return words of all documents; whoever shows one asks first whether a page has it."""
        return self._store.vocabulary(field)

    # Chunks by meaning

    def has_vectors(self) -> bool:
        return self._store.has_vectors()

    def lacks_vectors(self, fingerprint: str | None = None) -> bool:
        return self._store.lacks_vectors(fingerprint)

    def embedded(self, fingerprint: str) -> tuple[int, int]:
        return self._store.embedded(fingerprint)

    def without_vectors(
        self, fingerprint: str, limit: int, *, after: int = 0
    ) -> list[tuple[str, list[Passage]]]:
        batch = self._store.without_vectors(fingerprint, limit, after=after)
        keys = [passages[0].document for _, passages in batch]
        levels = self._levels(keys)
        spans = self._find(levels)
        return [
            (
                self._plain(title, levels.get(key, Redact.ALL)),
                [
                    self._covered(each, spans.get(key, ()), levels.get(key, Redact.ALL))
                    for each in passages
                ],
            )
            for key, (title, passages) in zip(keys, batch, strict=True)
        ]

    def open_vectors(self, fingerprint: str) -> None:
        self._store.open_vectors(fingerprint)

    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None = None
    ) -> Found:
        if documents is None and self._within is not None:
            conditions = self._open_only(Match(()))
            return nearest_among(self._store, conditions, fingerprint, query, limit)
        return self._store.nearest(fingerprint, query, limit, documents)

    def vectors(self, fingerprint: str, keys: Sequence[int]) -> dict[int, Matrix]:
        return self._store.vectors(fingerprint, keys)


def common_places(open_places: Places, asked: Places) -> Places:
    """Return where two lists of places overlap."""
    found: dict[tuple[str, str], None] = {}
    for name, folder in asked:
        for other, above in open_places:
            if name != other:
                continue
            if not above or folder == above or folder.startswith(above + "/"):
                found[name, folder] = None
            elif not folder or above.startswith(folder + "/"):
                found[name, above] = None
    return tuple(found)


def _key_in(path: str) -> int:
    """Return the key that ends a path in which something is hidden; 0 for any other path."""
    if "[redacted:" not in path:
        return 0
    digits = path.rpartition("~")[2].partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0
