"""Writing documents: new parts beside the old, then the row that names them, then the old goes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bookwheel.engines.base import Field
from bookwheel.engines.opensearch import entries, rows, schema, state
from bookwheel.engines.opensearch.cluster import Body, Failure
from bookwheel.engines.opensearch.filters import any_value, every, term
from bookwheel.engines.opensearch.state import Data
from bookwheel.engines.opensearch.store import STEP, Source
from bookwheel.engines.opensearch.vectors import VectorReader, models_of, text_id
from bookwheel.errors import Conflict
from bookwheel.model import Draft, Status

_MOST_WORDS_KNOWN = 2_000_000
_REASON = "the cluster refused it"
_TOO_LARGE = "it has more words than a cluster takes at once"
_log = logging.getLogger(__name__)


class Unheard(Conflict, KeyError):
    """The library does not know a collection, or has lost what it knew of it."""

    def __init__(self, collection: str) -> None:
        super().__init__(
            f"The library does not know the collection {collection}, or no longer.",
            hint="Its indices may have been deleted; `bookwheel doctor` says which are missing.",
        )


class Old(NamedTuple):
    """What there is of a document before it is replaced or removed."""

    key: int
    generation: int
    pieces: int
    chunks: int
    row: Source
    marks: Mapping[str, int]
    """What tells whether its row has changed since it was read."""


class _Item(NamedTuple):
    """A draft on its way."""

    draft: Draft
    key: int
    old: Old | None
    row: Source


class DocumentWriter(VectorReader):
    """Changes of documents; between `begin_writing` and `end_writing` only."""

    _written: dict[tuple[str, str], int | None]
    """Keys of what was written since the last commit, None for what was removed: searches may not
    find those yet."""
    _words_written: set[tuple[Field, str]]
    _is_amid: bool
    """Whether a change has begun and not come to its end: whoever writes next must finish it."""

    def _bulk(self, actions: Iterable[Body]) -> list[Failure]:
        """Do many changes while the lease is ours."""
        return self._cluster.bulk(actions, may_go_on=self._lease.hold)

    def _act(self, kind: str, operation: str, entry: object, **more: Any) -> Body:
        index = self._indices.alias(kind)
        return {"_op_type": operation, "_index": index, "_id": str(entry), **more}

    def _next(self, keys: int = 0) -> tuple[int, int]:
        """Raise the generation; return it, and the first of so many new keys."""

        def alter(counters: Data) -> tuple[int, int]:
            self._lease.check(counters)
            first = counters.get("keys", 0) + 1
            counters["keys"] = counters.get("keys", 0) + keys
            counters["generation"] = counters.get("generation", 0) + 1
            return counters["generation"], first

        return self._tables.change(state.COUNTERS, alter)

    def _publish(self, *kinds: str, is_whole: bool = False) -> None:
        """Let searches find what was written, and let other processes know of it.

        Where that is whole, nobody will have to finish it.
        """
        found = (schema.DOCUMENTS, schema.PAGES, schema.PASSAGES, schema.WORDS)
        self._refresh_indices(*(kinds or found))
        self._own.has_changed = False

        def alter(counters: Data) -> None:
            counters["commits"] = counters.get("commits", 0) + 1
            if is_whole:
                self._lease.advance(counters)

        self._tables.change(state.COUNTERS, alter)
        self._forget_known()

    # Finding what is there

    def _find_old(self, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Old]:
        """Return what there is at some places, as it is now."""
        unsure: list[tuple[str, str]] = []
        keys: list[int] = []
        for place in places:
            if place not in self._written:
                unsure.append(place)
            elif (key := self._written[place]) is not None:
                keys.append(key)
        keys += self._keys_at(unsure)
        found = self._get_many(schema.DOCUMENTS, keys)
        return {
            (each["_source"]["collection"], each["_source"]["path"]): _old(each)
            for each in found.values()
        }

    def _keys_at(self, places: Iterable[tuple[str, str]]) -> list[int]:
        """Return the keys of rows that searches find at some places."""
        wanted: dict[str, list[str]] = {}
        for collection, path in places:
            wanted.setdefault(collection, []).append(path)
        keys = []
        for collection, paths in wanted.items():
            for first in range(0, len(paths), STEP):
                some = any_value("path", paths[first : first + STEP])
                query = every([term("collection", collection), some])
                hits = self._scan(schema.DOCUMENTS, query, ("key",), fields=())
                keys += [int(hit["sort"][0]) for hit in hits]
        return keys

    # Writing

    def write(self, drafts: Iterable[Draft]) -> None:
        """Write files whole; what the cluster refuses is noted with the reason."""
        last = {(draft.collection, draft.path): draft.gather() for draft in drafts}
        if not last:
            return
        known = self._tables.read(state.COLLECTIONS)
        unheard = {collection for collection, _ in last} - known.keys()
        if unheard:
            raise Unheard(sorted(unheard)[0])
        old = self._find_old(last)
        was_amid, self._is_amid = self._is_amid, True
        generation, key = self._next(len(last) - len(old))
        items = []
        for place, draft in last.items():
            before = old.get(place)
            items.append(self._item(draft, before.key if before else key, before, generation))
            key += before is None
        self._write_items(items, generation)
        self._is_amid = was_amid

    def _item(self, draft: Draft, key: int, old: Old | None, generation: int) -> _Item:
        if draft.terms and entries.size_of(draft.terms) > entries.LARGEST_ENTRY:
            draft = _refused(draft, _TOO_LARGE)
        return _Item(draft, key, old, rows.to_row(key, draft, generation))

    def _write_items(self, items: Sequence[_Item], generation: int) -> None:
        failures = self._bulk(
            action for each in items for action in self._part_actions(each, generation)
        )
        items = self._leave_out(items, failures, generation)
        self._switch(items)
        self._written.update({(i.draft.collection, i.draft.path): i.key for i in items})
        self._changed()
        self._follow(items, generation)

    def _part_actions(self, item: _Item, generation: int) -> Iterator[Body]:
        """Yield what writes the parts of a document beside those it has."""
        draft = item.draft
        if draft.parsed is None:
            return
        name = f"{item.key}-{generation}"
        common = {"document": item.key, "generation": generation}
        details = {**common, "kept": rows.to_details(draft)}
        yield self._act(schema.TEXTS, "index", name, _source=details)
        for number, piece in enumerate(rows.pieces_of(draft.parsed.text)):
            source = {**common, "kept": {"text": piece, "collection": draft.collection}}
            yield self._act(schema.TEXTS, "index", f"{name}-{number}", _source=source)
        if draft.terms is None:
            return
        document = rows.to_document(item.row)
        data = draft.parsed.text.encode()
        for entry, source in entries.passage_entries(document, draft.terms, draft.chunks, data):
            yield self._act(schema.PASSAGES, "index", entry, _source=source)

    def _leave_out(
        self, items: Sequence[_Item], failures: Sequence[Failure], generation: int
    ) -> list[_Item]:
        """Return the drafts with those that were refused turned into the reason why."""
        reasons = {int(each.entry.partition("-")[0]): each.reason for each in failures}
        kept = []
        for item in items:
            if item.key in reasons:
                _log.warning("%s: %s", _REASON, reasons[item.key])
                draft = _refused(item.draft, f"{_REASON}: {reasons[item.key]}")
                item = item._replace(draft=draft, row=rows.to_row(item.key, draft, generation))
            kept.append(item)
        return kept

    def _switch(self, items: Sequence[_Item]) -> None:
        """Replace the rows: from now on the new parts are read."""
        failures = self._bulk(
            self._act(
                schema.DOCUMENTS,
                "index" if each.old else "create",
                each.key,
                _source=each.row,
                **(each.old.marks if each.old else {}),
            )
            for each in items
        )
        if failures:
            self._insist(items, failures)

    def _insist(self, items: Sequence[_Item], failures: Sequence[Failure]) -> None:
        """Look again at rows that were changed in between: by us, or by one who took over."""
        failed = {each.entry: each for each in failures}
        now = self._get_many(schema.DOCUMENTS, list(failed))
        again = []
        for item in items:
            row = now.get(str(item.key))
            if str(item.key) not in failed or (
                row and row["_source"]["generation"] == item.row["generation"]
            ):
                continue  # it was done, and only the answer got lost
            self._tables.change(state.COUNTERS, self._lease.check)
            marks = _old(row).marks if row else {}
            operation = "index" if row else "create"
            again.append(
                self._act(schema.DOCUMENTS, operation, item.key, _source=item.row, **marks)
            )
        lost = self._bulk(again)
        if lost:
            raise Conflict(
                f"{len(lost)} documents could not be written: {lost[0].reason}.",
                hint="Run it again: what was written is kept.",
            )

    def _follow(self, items: Sequence[_Item], generation: int) -> None:
        """Bring pages and vocabulary in step with the rows, and delete what was replaced."""
        actions: list[Body] = []
        vocabulary: set[tuple[Field, str]] = set()
        for item in items:
            if item.draft.terms is not None:
                document = rows.to_document(item.row)
                source = entries.page_entry(document, item.draft.terms)
                actions.append(self._act(schema.PAGES, "index", item.key, _source=source))
                vocabulary |= entries.words_of(item.draft.terms)
            elif item.old:
                actions.append(self._act(schema.PAGES, "delete", item.key))
            if item.old:
                actions += self._deletions(item.old)
        actions += self._word_actions(vocabulary, generation)
        self._must(self._bulk(actions))

    def _word_actions(self, vocabulary: set[tuple[Field, str]], generation: int) -> Iterator[Body]:
        """Yield what adds the words that have not been met yet."""
        if len(self._words_written) > _MOST_WORDS_KNOWN:
            self._words_written.clear()
        new = sorted(vocabulary - self._words_written)
        self._words_written.update(new)
        for field, word in new:
            source = entries.word_entry(field, word, generation)
            yield self._act(schema.WORDS, "create", f"{field}:{word}", _source=source)

    def _deletions(self, old: Old) -> Iterator[Body]:
        """Yield what deletes the parts of a document as it was."""
        name = f"{old.key}-{old.generation}"
        yield self._act(schema.TEXTS, "delete", name)
        for number in range(old.pieces):
            yield self._act(schema.TEXTS, "delete", f"{name}-{number}")
        for ordinal in range(1, old.chunks + 1):
            yield self._act(schema.PASSAGES, "delete", f"{name}-{ordinal}")
        for model in models_of(old.row):
            yield from self._vector_deletions(old.row, model)

    def _vector_deletions(self, row: Mapping[str, Any], model: str) -> Iterator[Body]:
        yield self._act(schema.TEXTS, "delete", text_id(row, model))
        for ordinal in range(1, row["chunks"] + 1):
            entry = f"{row['key']}-{row['generation']}-{ordinal}"
            yield self._act(f"vectors-{model}", "delete", entry)

    @staticmethod
    def _must(failures: Sequence[Failure]) -> None:
        """Raise Conflict for a change that was refused; what is there or gone already is fine."""
        lost = [each for each in failures if each.status not in (404, 409)]
        if lost:
            raise Conflict(
                f"The cluster refused {len(lost)} changes: {lost[0].reason}.",
                hint="Run it again: what was written is kept.",
            )

    # Removing

    def remove(self, collection: str, paths: Sequence[str]) -> int:
        """Remove files; return how many were there."""
        if not paths:
            return 0
        found = self._find_old([(collection, path) for path in dict.fromkeys(paths)])
        was_amid, self._is_amid = self._is_amid, True
        self._next()
        gone = list(found.values())
        self._must(self._bulk(self._act(schema.DOCUMENTS, "delete", each.key) for each in gone))
        self._written.update(dict.fromkeys(found))
        self._changed()
        actions = [self._act(schema.PAGES, "delete", each.key) for each in gone]
        actions += [action for each in gone for action in self._deletions(each)]
        self._must(self._bulk(actions))
        self._is_amid = was_amid
        return len(gone)


def _old(entry: Mapping[str, Any]) -> Old:
    row = entry["_source"]
    return Old(
        row["key"],
        row["generation"],
        row["kept"]["pieces"],
        row["chunks"],
        row,
        marks_of(entry),
    )


def marks_of(entry: Mapping[str, Any]) -> dict[str, int]:
    """Return what lets a change of an entry fail if there was another since it was read."""
    return {"if_seq_no": entry["_seq_no"], "if_primary_term": entry["_primary_term"]}


def _refused(draft: Draft, reason: str) -> Draft:
    """Return a draft as the file that could not become a document."""
    return Draft(
        draft.collection,
        draft.path,
        draft.extension,
        draft.mime,
        draft.state,
        Status.FAILED,
        reason,
    )
