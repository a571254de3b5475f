"""Small tables in the cluster that change by compare-and-set, and are always read as they are."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

from bookwheel.engines.opensearch.cluster import Cluster, pause
from bookwheel.errors import Conflict

COUNTERS, COLLECTIONS, JOBS, NOTES, MODELS = "counters", "collections", "jobs", "notes", "models"
_ATTEMPTS = 40
_Answer = TypeVar("_Answer")
Data = dict[str, Any]


class Tables:
    """The tables of one library, each one entry of the index `state`."""

    def __init__(self, cluster: Cluster, index: str) -> None:
        self._cluster = cluster
        self._index = index

    def read(self, name: str) -> Data:
        """Return a table as it is now; an empty one where there is none."""
        return self._get(name)[0]

    def stamp(self) -> tuple[object, ...]:
        """Return what differs as soon as documents were written, or a table that is read often."""
        body = {
            "docs": [
                {"_id": COUNTERS, "_source": ["data.generation", "data.commits"]},
                *({"_id": name, "_source": False} for name in (COLLECTIONS, NOTES, MODELS)),
            ]
        }
        answer = self._cluster.ask_all("POST", f"/{self._index}/_mget", body, {"ignore": 404})
        counters, *others = answer.get("docs") or [{}]
        counts = counters.get("_source", {}).get("data", {})
        changes = (each.get("_seq_no", -1) for each in others)
        return counts.get("generation"), counts.get("commits"), *changes

    def change(self, name: str, alter: Callable[[Data], _Answer]) -> _Answer:
        """Alter a table, again from the start whenever another process was quicker."""
        for attempt in range(_ATTEMPTS):
            data, marks = self._get(name)
            before = copy.deepcopy(data)
            answer = alter(data)
            if data == before or self._put(name, data, marks):
                return answer
            pause(min(attempt, 2))
        raise Conflict("The index is busy.", hint="Search works meanwhile. Ask again in a moment.")

    def _get(self, name: str) -> tuple[Data, dict[str, Any]]:
        path = f"/{self._index}/_doc/{name}"
        answer = self._cluster.ask("GET", path, None, {"ignore": 404})
        if not answer.get("found"):
            return {}, {"op_type": "create"}
        marks = {"if_seq_no": answer["_seq_no"], "if_primary_term": answer["_primary_term"]}
        return answer["_source"]["data"], marks

    def _put(self, name: str, data: Data, marks: dict[str, Any]) -> bool:
        path, params = (
            f"/{self._index}/_doc/{name}",
            {**marks, "require_alias": "true", "ignore": 409},
        )
        answer = self._cluster.ask("PUT", path, {"data": data}, params)
        return "error" not in answer
