"""What all parts of the engine share: asking the indices, and seeing one's own changes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from bookwheel.engines.opensearch import schema, state
from bookwheel.engines.opensearch.address import Address
from bookwheel.engines.opensearch.cluster import PATIENCE_SECONDS, Cluster
from bookwheel.engines.opensearch.indices import Indices
from bookwheel.engines.opensearch.state import Tables

Source = dict[str, Any]
Query = Mapping[str, Any]
_Answer = TypeVar("_Answer")
_PREFERENCE = "bookwheel"
"""One for all: copies of a shard may score a little differently."""
_WHOLE = {"preference": _PREFERENCE, "allow_partial_search_results": "false"}
"""Without the second, what a lost node has found is left out of an answer."""
SORT_ONLY: Mapping[str, Any] = {"_source": False, "stored_fields": "_none_"}
"""Only what entries are sorted by is wanted: what is stored of them need not be unpacked."""
STEP = 1_000
"""So many entries are read at a time."""
WINDOW = 10_000
"""So many the cluster gives in one answer."""
_MOST_KNOWN = 200
_UNKNOWN = object()
FRESH_SECONDS = 0.5
"""For so long it is not looked again whether another process has changed anything."""


class Store:
    """The indices of one library, and what this process remembers of them for a moment."""

    def __init__(self, address: Address, *, api_key: str | None = None) -> None:
        self._cluster = Cluster(address, api_key=api_key)
        self._indices = Indices(self._cluster)
        self._tables = Tables(self._cluster, self._indices.alias(schema.STATE))
        self._own = threading.local()
        self._known: dict[Hashable, Any] = {}
        self._kept_rows: dict[int, tuple[float, Source]] = {}
        self._stamp: tuple[object, ...] = ()
        self._stamped_at = 0.0

    # Asking

    def _search(self, kind: str, body: Mapping[str, Any], **params: Any) -> Any:
        path = f"/{self._indices.alias(kind)}/_search"
        return self._cluster.ask_all("POST", path, body, {**_WHOLE, **params})

    def _search_many(
        self, asked: Sequence[tuple[str, Mapping[str, Any]]], **params: Any
    ) -> list[Any]:
        """Return the answers to several searches, each in an index, asked all at once."""
        lines: list[Mapping[str, Any]] = []
        for kind, body in asked:
            lines += [{"index": self._indices.alias(kind), **_WHOLE}, body]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        answer = self._cluster.ask_all("POST", "/_msearch", text, params)
        return list(answer["responses"])

    def _get_many(
        self, kind: str, ids: Sequence[object], *fields: str
    ) -> dict[str, dict[str, Any]]:
        """Return entries by id as they are now; those that are gone are absent."""
        found: dict[str, dict[str, Any]] = {}
        params = {"_source_includes": ",".join(fields)} if fields else {}
        for first in range(0, len(ids), STEP):
            some = [str(each) for each in ids[first : first + STEP]]
            path = f"/{self._indices.alias(kind)}/_mget"
            answer = self._cluster.ask_all("POST", path, {"ids": some}, params)
            for each in answer["docs"]:
                if each.get("found"):
                    found[each["_id"]] = each
        return found

    def _scan(
        self,
        kind: str,
        query: Query,
        sort: Sequence[str],
        *,
        fields: Sequence[str] | None = None,
        limit: int | None = None,
        step: int = STEP,
        skip: int = 0,
    ) -> Iterator[dict[str, Any]]:
        """Yield the entries that meet a query in the order of some fields, however many."""
        after: list[Any] | None = None
        left = limit
        while left is None or left > 0:
            size = step if left is None else min(step, left)
            body: dict[str, Any] = {"query": query, "sort": list(sort), "size": skip or size}
            body["size"] = min(WINDOW, skip) if skip else size
            body["_source"] = False if skip else (list(fields) if fields is not None else True)
            if after is not None:
                body["search_after"] = after
            hits = self._search(kind, body)["hits"]["hits"]
            if not skip:
                yield from hits
                left = None if left is None else left - len(hits)
            if len(hits) < body["size"]:
                return
            skip = max(0, skip - len(hits))
            after = hits[-1]["sort"]

    def _count(self, kind: str, query: Query) -> int:
        path = f"/{self._indices.alias(kind)}/_count"
        params = {"preference": _PREFERENCE}
        return int(self._cluster.ask_all("POST", path, {"query": query}, params)["count"])

    def _refresh_indices(self, *kinds: str) -> None:
        names = ",".join(self._indices.alias(kind) for kind in kinds)
        params = {"ignore_unavailable": "true", "request_timeout": PATIENCE_SECONDS}
        self._cluster.ask("POST", f"/{names}/_refresh", None, params)

    # Seeing what this thread has changed

    def _changed(self) -> None:
        """Note that this thread has written what its next search must find."""
        self._own.has_changed = True
        self._forget_known()

    def _settle(self) -> None:
        """Let searches find what this thread has written."""
        if getattr(self._own, "has_changed", False):
            self._refresh_indices(schema.DOCUMENTS)
            self._own.has_changed = False
            self._forget_known()

    # Remembering

    def _forget_known(self) -> None:
        self._known = {}
        self._kept_rows = {}
        self._stamped_at = 0.0

    def _recall(self, name: Hashable, read: Callable[[], _Answer]) -> _Answer:
        """Return what every search asks for, read again only after someone has committed."""
        self._settle()
        known = self._current()
        answer: _Answer | object = known.get(name, _UNKNOWN)
        if answer is _UNKNOWN:
            if len(known) > _MOST_KNOWN:
                known.clear()  # another thread may just be reading it: what it holds stays
            answer = known[name] = read()
        return cast(_Answer, answer)

    def _current(self, *, again: bool = False) -> dict[Hashable, Any]:
        now = time.monotonic()
        if again or now - self._stamped_at > FRESH_SECONDS:
            stamp = self._tables.stamp()
            if stamp != self._stamp:
                self._known, self._kept_rows, self._stamp = {}, {}, stamp
            self._stamped_at = now
        return self._known

    @property
    def _commits(self) -> object:
        """How often anybody had committed when that was last looked at."""
        return self._stamp[1] if self._stamp else None

    @property
    def exists(self) -> bool:
        """Tell whether there is an index at this place."""
        return bool(self._counters)

    @property
    def _counters(self) -> state.Data:
        """The counters as they were at the last commit, or after it."""
        return self._recall("counters", lambda: self._tables.read(state.COUNTERS))
