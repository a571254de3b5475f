"""Rows of the catalogue by key: as they are now, or as this process read them a moment ago.

One search asks for the same rows several times over. Whoever finds that a row of a moment ago does
not fit what was found reads it again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bookwheel.engines.opensearch import schema
from bookwheel.engines.opensearch.store import FRESH_SECONDS, Source, Store
from bookwheel.errors import IndexUnusable

_MOST_KEPT = 2_000
_MOST_WHOLE = 200
"""Where more rows are to be compared, only their generation is read, and none is kept."""
_SHOWN = (
    *("key", "collection", "path", "extension", "language", "status", "chunks", "generation"),
    *("model", "kept"),
)
"""All of a row but the names and citations, of which there may be thousands."""
_GENERATION = ("generation", "model")
_ATTEMPTS = 4
LOST_HINT = "`bookwheel index FOLDER --full` writes all documents of a folder anew."
_Answer = TypeVar("_Answer")
_log = logging.getLogger(__name__)


class LostText(IndexUnusable):
    """A document is in the catalogue, and its text in the cluster no more."""

    def __init__(self) -> None:
        super().__init__("A document in the cluster has lost its text.", hint=LOST_HINT)


class RowReader(Store):
    """Documents by key."""

    def _rows(self, keys: Iterable[int], *fields: str) -> dict[int, Source]:
        """Return the rows of documents as they are now; those that are gone are absent."""
        found = self._get_many(schema.DOCUMENTS, list(dict.fromkeys(keys)), *fields)
        return {int(key): each["_source"] for key, each in found.items()}

    def _row(self, key: int, *fields: str) -> Source | None:
        return self._rows([key], *fields).get(key)

    def _recent_rows(self, keys: Iterable[int], *, again: bool = False) -> dict[int, Source]:
        """Return rows as they were at most a moment ago, or with `again` as they are now."""
        wanted = dict.fromkeys(keys)
        kept, now = self._kept_rows, time.monotonic()
        found = {} if again else {key: row for key in wanted if (row := _young(kept, key, now))}
        missing = [key for key in wanted if key not in found]
        new = self._rows(missing, *_SHOWN) if missing else {}
        if len(kept) + len(new) > _MOST_KEPT:
            kept.clear()
        if len(new) <= _MOST_KEPT:
            kept.update({key: (now, row) for key, row in new.items()})
        return found | new

    def _fitting_rows(self, made: Sequence[tuple[int, int]]) -> dict[int, Source]:
        """Return the rows of documents that entries were found of, each with its generation.

        A row of a moment ago that is of another generation is read again.
        """
        keys = {key for key, _ in made}
        if len(keys) > _MOST_WHOLE:
            return self._rows(keys, *_GENERATION)
        found = self._recent_rows(keys)
        unlike = {
            key for key, generation in made if found.get(key, {}).get("generation") != generation
        }
        return found | self._recent_rows(unlike, again=True) if unlike else found

    def _consistently(self, read: Callable[[bool], tuple[_Answer, bool]]) -> tuple[_Answer, bool]:
        """Read what rows name; again where one was replaced in between, and the old is gone.

        Return it with whether it is whole: what stays away has been lost.
        """
        answer, is_whole = read(False)
        for _ in range(_ATTEMPTS):
            if is_whole:
                return answer, True
            answer, is_whole = read(True)
        if not is_whole:
            _log.warning("A document in the cluster has lost its text. %s", LOST_HINT)
        return answer, is_whole


def _young(kept: dict[int, tuple[float, Source]], key: int, now: float) -> Source | None:
    read_at, row = kept.get(key, (0.0, None))
    return row if now - read_at <= FRESH_SECONDS else None
