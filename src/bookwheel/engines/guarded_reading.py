"""Documents, their texts, links and counts as one caller may see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bookwheel.engines.base import CollectionState, Passage, Redactions
from bookwheel.engines.sight import Sight
from bookwheel.model import Citation, Document, Link, Place, Redact, Section, Span
from bookwheel.query import Filters
from bookwheel.safety.redact import Moves, cover, in_bytes

_LOOKED_AT = 1000
"""So many citations are looked at for those that are in sight."""


class GuardedReading(Sight):
    """What is read of documents, nothing out of sight and every text redacted."""

    # Documents by name

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

    def _moves(self, key: int, level: Redact) -> Moves | None:
        spans = self._find({key: level}).get(key)
        return Moves(self._store.text(key), spans) if spans else None

    def _level_of(self, key: int) -> Redact:
        return self._levels([key]).get(key, Redact.ALL)

    def sections(self, key: int) -> list[Section]:
        level = self._level_of(key)
        moves = self._moves(key, level)
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
        level = self._level_of(key)
        moves = self._moves(key, level)
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


def _key_in(path: str) -> int:
    """Return the key that ends a path in which something is hidden; 0 for any other path."""
    if "[redacted:" not in path:
        return 0
    digits = path.rpartition("~")[2].partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0
