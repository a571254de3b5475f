"""A second look at the first hits, by a slower and better model, within a time budget.

It changes the order of what was found; it finds nothing new.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from bookwheel.engines.base import Engine, Matrix, Vector, model_text
from bookwheel.model import Document
from bookwheel.search.meaning import scale_similarity
from bookwheel.search.rank import Ranked, in_order

LOOKED_AT = 30
"""So many of the first hits are looked at again."""
_SHARE, _LEAST_SHARE = 0.6, 0.3
_LONG_PAGE = 16
"""The model's share in the new order; the rest is that of the first look. Beyond so many passages
it falls: of a long page the model reads little, and the first look knows all."""
_AROUND = (1, -1)
_READ = 1400
"""The passages after and before a hit's are read too, in all as much as the model takes in."""
_BATCH = 4
"""Passages between two looks at the clock."""
_KEPT = 20_000
"""Passages whose vectors are kept in memory: some 30 MB."""


class Model(Protocol):
    """What a second look needs of a model."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def unrelated(self) -> float: ...
    def embed(self, texts: Sequence[str]) -> Matrix: ...
    def embed_query(self, text: str) -> Vector: ...


class _Wanted(NamedTuple):
    """A passage to look at, under the name by which its vector is kept."""

    document: int
    generation: int
    ordinal: int
    text: str

    @property
    def name(self) -> tuple[int, int, int]:
        return self[:3]


class SecondLook:
    """A model, what it has read so far, and how long a look may take."""

    def __init__(
        self, model: Model, *, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._seconds = seconds
        self._clock = clock
        self._read: OrderedDict[tuple[int, int, int], Vector] = OrderedDict()
        self._keeping = threading.Lock()

    def has_seen(self, ranked: Iterable[Ranked], fingerprint: str | None) -> bool:
        """Tell whether the order is the same model's already: it would count twice."""
        is_same = fingerprint == self._model.fingerprint
        return is_same and all(item.similarity is not None for item in ranked)

    def reorder(
        self, engine: Engine, question: str, first: Sequence[Ranked]
    ) -> tuple[list[Ranked], tuple[str, ...]]:
        """Return the first hits in their new order, and what is to be said of it.

        Those that the time does not suffice for keep their order behind the others.
        """
        query = self._model.embed_query(question) if question else None
        if query is None or not query.any():
            return list(first), ()
        documents = engine.documents_by_key([item.document for item in first])
        wanted = _wanted(engine, first, documents)
        vectors = self._vectors(wanted)
        known = {each.document: vector for each, vector in zip(wanted, vectors, strict=False)}
        left = {each.document for each in wanted[len(vectors) :]}
        seen = [item for item in first if item.document not in left]
        rest = [item for item in first if item.document in left]
        cosines = {document: float(vector @ query) for document, vector in known.items()}
        share = _share([documents[document].chunks for document in known])
        reordered = in_order(_mix(seen, cosines, share, unrelated=self._model.unrelated))
        if not rest:
            return reordered, ()
        note = f"in {self._seconds:g} s only {len(seen)} of {len(first)} hits got a second look"
        return [*reordered, *rest], (note,)

    def _vectors(self, wanted: Sequence[_Wanted]) -> list[Vector]:
        """Return the vectors of the first passages, of as many as the time suffices for."""
        deadline = self._clock() + self._seconds
        found = self._recall(wanted)
        missing = [each for each in wanted if each.name not in found]
        for start in range(0, len(missing), _BATCH):
            if self._clock() >= deadline:
                break
            batch = missing[start : start + _BATCH]
            rows = self._model.embed([each.text for each in batch])
            made = {each.name: row for each, row in zip(batch, rows, strict=True)}
            self._keep(made)
            found |= made
        vectors = []
        for each in wanted:
            if each.name not in found:
                break
            vectors.append(found[each.name])
        return vectors

    def _recall(self, wanted: Iterable[_Wanted]) -> dict[tuple[int, int, int], Vector]:
        found = {}
        with self._keeping:
            for each in wanted:
                if each.name in self._read:
                    self._read.move_to_end(each.name)
                    found[each.name] = self._read[each.name]
        return found

    def _keep(self, made: dict[tuple[int, int, int], Vector]) -> None:
        with self._keeping:
            self._read |= made
            while len(self._read) > _KEPT:
                self._read.popitem(last=False)


def _share(passages: Sequence[int]) -> float:
    """Return what the model counts where hits have so many passages, of which it read one."""
    from statistics import median

    long = _LONG_PAGE / max(_LONG_PAGE, median(passages or [1]))
    return max(_LEAST_SHARE, _SHARE * long)


def _wanted(
    engine: Engine, ranked: Sequence[Ranked], documents: Mapping[int, Document]
) -> list[_Wanted]:
    """Return the passages of hits, in their order; some hits may have none."""
    around = [(item.document, item.chunk + step) for item in ranked for step in (0, *_AROUND)]
    passages = engine.passages([place for place in around if place[1] > 0])
    wanted = []
    for item in ranked:
        document = documents.get(item.document)
        passage = passages.get((item.document, item.chunk))
        if document and passage:
            beside = [passages.get((item.document, item.chunk + step)) for step in _AROUND]
            texts = [model_text(document.title, passage), *(each.text for each in beside if each)]
            text = "\n".join(texts)[: max(_READ, len(texts[0]))]
            wanted.append(_Wanted(item.document, document.generation, item.chunk, text))
    return wanted


def _mix(
    seen: Sequence[Ranked], cosines: dict[int, float], share: float, *, unrelated: float
) -> list[Ranked]:
    """Return the hits with new scores, above all that were not looked at."""
    before = _spread({item.document: item.score for item in seen})
    now = _spread(cosines)
    mixed = []
    for item in seen:
        old = before[item.document]
        score = (1 - share) * old + share * now.get(item.document, old)
        cosine = cosines.get(item.document)
        meaning = max(item.meaning, scale_similarity(cosine or 0.0, unrelated))
        mixed.append(item._replace(score=1 + score, meaning=meaning, second=cosine))
    return mixed


def _spread(scores: dict[int, float]) -> dict[int, float]:
    """Return scores from 0 for the lowest to 1 for the highest."""
    low = min(scores.values(), default=0.0)
    span = max(scores.values(), default=0.0) - low or 1.0
    return {document: (score - low) / span for document, score in scores.items()}
