"""Writing vectors: beside their document, then into its row, if that is still the one embedded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bookwheel.engines.base import Matrix
from bookwheel.engines.opensearch import schema, state, vectors
from bookwheel.engines.opensearch.cluster import Body
from bookwheel.engines.opensearch.filters import any_value, every, term
from bookwheel.engines.opensearch.store import STEP
from bookwheel.engines.opensearch.vectors import models_of
from bookwheel.engines.opensearch.writing import DocumentWriter, marks_of

_FIELDS = ("key", "collection", "generation", "chunks", "model")
_ATTEMPTS = 4
_Entry = Mapping[str, Any]


class VectorWriter(DocumentWriter):
    """Changes of vectors; between `begin_writing` and `end_writing` only."""

    def write_vectors(self, fingerprint: str, dimensions: int, rows: Mapping[int, Matrix]) -> None:
        """Write the vectors of documents; those that have changed since are left out."""
        kind = vectors.vectors_kind(fingerprint)
        self._make_vectors(fingerprint, kind, dimensions)
        self._tables.change(state.COUNTERS, self._lease.check)
        fitting = self._fitting(rows)
        index, texts = self._indices.alias(kind), self._indices.alias(schema.TEXTS)
        self._must(
            self._bulk(
                action
                for entry in fitting
                for action in vectors.vector_actions(
                    index, texts, entry["_source"], fingerprint, rows[entry["_source"]["key"]]
                )
            )
        )
        self._name_model(fitting, vectors.model_id(fingerprint))
        self._changed()
        self._publish(schema.DOCUMENTS, kind)

    def _fitting(self, rows: Mapping[int, Matrix]) -> list[_Entry]:
        """Return the rows of our documents that are still those whose text was embedded."""
        fitting: list[_Entry] = []
        for entry in self._get_many(schema.DOCUMENTS, list(rows), *_FIELDS).values():
            row = entry["_source"]
            embedded = self._embedding.pop(row["key"], row["generation"])
            is_same = row["generation"] == embedded and row["chunks"] == len(rows[row["key"]]) > 0
            if is_same and self._lease.covers(row["collection"]):
                fitting.append(entry)
        return fitting

    def _name_model(self, fitting: Iterable[_Entry], model: str) -> None:
        """Let rows tell of their vectors; those of rows that were replaced meanwhile go again."""
        left = {str(entry["_source"]["key"]): entry for entry in fitting}
        for _ in range(_ATTEMPTS):
            failures = self._bulk(
                self._give_models(entry, {*models_of(entry["_source"]), model})
                for entry in left.values()
            )
            if not failures:
                return
            self._must(failures)
            before = {each.entry: left[each.entry]["_source"] for each in failures}
            now = self._get_many(schema.DOCUMENTS, list(before), *_FIELDS)
            gone = [
                row
                for key, row in before.items()
                if key not in now or now[key]["_source"]["generation"] != row["generation"]
            ]
            self._withdraw(gone, model)
            left = {
                key: entry
                for key, entry in now.items()
                if entry["_source"]["generation"] == before[key]["generation"]
                and model not in models_of(entry["_source"])
            }

    def _give_models(self, entry: _Entry, models: Iterable[str]) -> Body:
        doc = {"model": sorted(models)}
        key = entry["_source"]["key"]
        return self._act(schema.DOCUMENTS, "update", key, doc=doc, **marks_of(entry))

    def _withdraw(self, replaced: Iterable[Mapping[str, Any]], model: str) -> None:
        self._must(
            self._cluster.bulk(
                action for row in replaced for action in self._vector_deletions(row, model)
            )
        )

    def _make_vectors(self, fingerprint: str, kind: str, dimensions: int) -> None:
        if self._models().get(fingerprint) == dimensions:
            return
        self._indices.create(
            f"{self._indices.alias(kind)}-v{schema.SCHEMA_VERSION}",
            vectors.vector_mapping(dimensions),
            alias=self._indices.alias(kind),
            kind=kind,
            knn=True,
        )
        self._tables.change(state.MODELS, lambda data: data.update({fingerprint: dimensions}))
        self._forget_known()

    def drop_vectors(self, besides: Sequence[str]) -> None:
        """Delete the vectors of all models but some, of our own collections."""
        for fingerprint in self._models().keys() - set(besides):
            model = vectors.model_id(fingerprint)
            keys = self._list_with(model)
            for first in range(0, len(keys), STEP):
                some = self._get_many(schema.DOCUMENTS, keys[first : first + STEP], *_FIELDS)
                self._drop_model(some, model)
                self._changed()

    def _list_with(self, model: str) -> list[int]:
        """Return our documents that have vectors of a model."""
        self._settle()
        conditions = [term("model", model)]
        if (names := self._lease.names) is not None:
            conditions.append(any_value("collection", names))
        hits = self._scan(schema.DOCUMENTS, every(conditions), ("key",), fields=("key",))
        return [hit["_source"]["key"] for hit in hits]

    def _drop_model(self, entries: Mapping[str, _Entry], model: str) -> None:
        """Let rows tell of vectors no more, then delete these; a row that changes keeps them."""
        failures = self._bulk(
            self._give_models(entry, set(models_of(entry["_source"])) - {model})
            for entry in entries.values()
        )
        self._must(failures)
        kept = {each.entry for each in failures}
        self._withdraw((e["_source"] for key, e in entries.items() if key not in kept), model)

    def keep_vectors(self, fingerprint: str) -> None:
        """Nothing has to be kept beside them: the cluster opens them quickly by itself."""
