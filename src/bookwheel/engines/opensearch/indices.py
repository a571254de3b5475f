"""The indices of one library in a cluster: how they are named, found, made and switched.

Every kind has an alias; behind it lies an index whose name carries the version of what it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bookwheel.engines.opensearch import schema
from bookwheel.engines.opensearch.address import Address
from bookwheel.engines.opensearch.cluster import PATIENCE_SECONDS, Cluster
from bookwheel.engines.opensearch.refusals import Refused
from bookwheel.errors import IndexUnusable


class Indices:
    """The names of a library's indices, and their making."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._prefix = cluster.address.prefix
        self._vouched: set[str] = set()
        """Indices that were found to have our fields."""

    def alias(self, kind: str) -> str:
        """Return the name by which an index is used."""
        return f"{self._prefix}-{kind}"

    def name(self, kind: str) -> str:
        """Return the name of the index that this version makes."""
        return f"{self._prefix}-{kind}-{schema.version_for(kind)}"

    def present(self) -> dict[str, str]:
        """Return the index behind each alias of this library that there is."""
        return self._by_kind(self._listed())

    def _listed(self) -> dict[str, Any]:
        """Return every index whose name begins as ours do, with its aliases.

        Any node can tell: that there is no leader is no reason to wait.
        """
        path = f"/{self._prefix}-*/_alias"
        listed: dict[str, Any] = self._cluster.ask("GET", path, None, {"local": "true"})
        return listed

    def _by_kind(self, listed: Mapping[str, Any]) -> dict[str, str]:
        prefix = f"{self._prefix}-"
        found: dict[str, str] = {}
        for index, content in listed.items():
            for alias in content["aliases"]:
                kind = alias.removeprefix(prefix)
                if alias.startswith(prefix) and schema.is_kind(kind):
                    found[kind] = index
        return found

    def require_ours(self) -> dict[str, str]:
        """Return what `present` does; IndexUnusable where another program's index has our name."""
        listed = self._listed()
        for name in listed:
            if schema.is_kind(name.removeprefix(f"{self._prefix}-")):
                raise IndexUnusable(
                    f"There is an index {name} in the cluster, where an alias is to be.",
                    hint=f"Some program has made it by writing to that name. DELETE /{name}, "
                    "then `bookwheel index FOLDER --full`.",
                )
        there = self._by_kind(listed)
        named = {
            kind: self.name(kind) for kind in schema.KINDS if there.get(kind) == self.name(kind)
        }
        new = {kind: name for kind, name in named.items() if name not in self._vouched}
        if new:
            fields = self._fields(new.values())
            for kind, name in new.items():
                schema.refuse_foreign(name, fields[name], schema.MAPPINGS[kind])
            self._vouched.update(new.values())
        return there

    def _fields(self, names: Iterable[str]) -> dict[str, Any]:
        path = f"/{','.join(names)}/_mapping"
        answer = self._cluster.ask("GET", path, None, {"local": "true"})
        return {name: content["mappings"] for name, content in answer.items()}

    def replaced(self) -> list[str]:
        """Return the indices that lie behind no alias, and are older than those that do."""
        every = self._listed()
        used = self._by_kind(every)
        return [
            name
            for name in every
            for kind in (*schema.COPIED, *schema.ANALYSED)
            if name.startswith(f"{self.alias(kind)}-v")
            and kind in used
            and schema.version_of(name) < schema.version_of(used[kind])
        ]

    def delete(self, name: str) -> None:
        """Remove an index, if it is there."""
        self._cluster.ask("DELETE", f"/{name}", None, {"ignore": 404})

    def used(self) -> str:
        """Return the names of all indices that there are, for a request about no others."""
        names = ",".join(self.alias(kind) for kind in self.present())
        return names or f"{self.name(schema.STATE)}*"  # which none has, and only so is no mistake

    def make(self) -> None:
        """Make what is missing."""
        there = self.require_ours()
        for kind in schema.KINDS:
            if kind not in there:
                self.create(
                    self.name(kind), schema.MAPPINGS[kind], alias=self.alias(kind), kind=kind
                )

    def create_beside(self, kind: str) -> None:
        """Make an index of the present version, unused yet; what was left of one goes first."""
        name = self.name(kind)
        self.delete(name)
        self.create(name, schema.MAPPINGS[kind], alias=None, kind=kind)

    def switch(self, kinds: Iterable[str], before: Mapping[str, str]) -> None:
        """Let aliases name the indices of the present version, all at one moment."""
        actions: list[dict[str, Any]] = []
        for kind in kinds:
            alias, name = self.alias(kind), self.name(kind)
            patience = {"request_timeout": PATIENCE_SECONDS}
            self._cluster.ask("POST", f"/{name}/_refresh", None, patience)
            actions.append({"add": {"index": name, "alias": alias}})
            if kind in before:
                actions.append({"remove": {"index": before[kind], "alias": alias}})
        self._cluster.ask("POST", "/_aliases", {"actions": actions})

    def create(
        self,
        name: str,
        mapping: Mapping[str, Any],
        *,
        alias: str | None,
        kind: str,
        knn: bool = False,
    ) -> None:
        """Make one index; another indexer may have made it just now."""
        address: Address = self._cluster.address
        settings: dict[str, Any] = {
            "number_of_shards": 1 if kind == schema.STATE else address.shards,
            "number_of_replicas": address.replicas,
            "analysis": schema.ANALYSIS,
            "similarity": schema.SIMILARITY,
            "refresh_interval": "1s" if kind in (schema.DOCUMENTS, schema.STATE) else "-1",
        }
        if knn:
            settings["knn"] = True
        body = {
            "settings": settings,
            "mappings": {"dynamic": "strict", **mapping},
            "aliases": {alias: {}} if alias else {},
        }
        try:
            self._cluster.ask("PUT", f"/{name}", body)
        except Refused as refused:
            if "resource_already_exists" in f"{refused.kind} {refused.reason}":
                if alias:
                    self._adopt(name, mapping, alias)
                return
            raise IndexUnusable(
                f"The cluster would not make the index {name}: {refused.reason}.",
                hint="Other indices may have this name: give the address another prefix.",
            ) from refused

    def _adopt(self, name: str, mapping: Mapping[str, Any], alias: str) -> None:
        """Use an index that is there, if it is one of ours: it may have been restored by hand."""
        schema.refuse_foreign(name, self._fields([name])[name], mapping)
        action = {"add": {"index": name, "alias": alias}}
        self._cluster.ask("POST", "/_aliases", {"actions": [action]})
