"""The indices of one library: what they are called, what they hold, and how they are made.

Every kind has an alias; behind it lies an index whose name carries the version of what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bookwheel.engines.base import Field
from bookwheel.engines.opensearch.address import Address
from bookwheel.engines.opensearch.cluster import PATIENCE_SECONDS, Cluster
from bookwheel.engines.opensearch.refusals import Refused
from bookwheel.errors import IndexUnusable
from bookwheel.text.words import ANALYSIS_VERSION

SCHEMA_VERSION = 1
STATE, DOCUMENTS, TEXTS, PAGES, PASSAGES, WORDS = KINDS = (
    "state",
    "documents",
    "texts",
    "pages",
    "passages",
    "words",
)
_VERSION = re.compile(r"-v([0-9]+)(?:\.([0-9]+))?$")
_VECTORS = re.compile("vectors-[0-9a-f]{12}")
ANALYSED = (PAGES, PASSAGES, WORDS)
"""What depends on how texts are cut into terms."""
COPIED = (DOCUMENTS, TEXTS)
"""What no other index has: it comes over into a new schema as it is."""
_KEYWORD: Mapping[str, Any] = {"type": "keyword"}
_FIXED: Mapping[str, Any] = {"type": "keyword", "doc_values": False}
_LONG: Mapping[str, Any] = {"type": "long"}
_KEPT: Mapping[str, Any] = {"type": "object", "enabled": False}
"""Stored and given back, never looked into."""


def _terms(options: str) -> dict[str, Any]:
    return {"type": "text", "analyzer": "terms", "index_options": options}


_WORDS_OF: Mapping[str, Any] = {
    Field.TITLE: _terms("freqs"),
    Field.HEADING: _terms("freqs"),
    Field.BODY: _terms("freqs"),
    Field.NAMES: _terms("freqs"),
    Field.EXACT: _terms("positions"),
    Field.HIDDEN: _terms("docs"),
}
_MAPPINGS: Mapping[str, Mapping[str, Any]] = {
    STATE: {"properties": {"data": _KEPT}},
    DOCUMENTS: {
        "properties": {
            "key": _LONG,
            "collection": _KEYWORD,
            "path": _KEYWORD,
            "folder": _KEYWORD,
            "extension": _KEYWORD,
            "language": _KEYWORD,
            "status": _KEYWORD,
            "chunks": _LONG,
            "model": _KEYWORD,
            "generation": _LONG,
            "names": _LONG,
            "cites": _LONG,
            "may_cite": _LONG,
            "anchors": {"type": "boolean"},
            "kept": _KEPT,
        }
    },
    TEXTS: {"properties": {"document": _LONG, "generation": _LONG, "kept": _KEPT}},
    PAGES: {
        "_source": {"includes": ["document", "generation"]},
        "properties": {
            "document": _LONG,
            "generation": _LONG,
            "collection": _KEYWORD,
            "extension": _FIXED,
            "folder": _FIXED,
            "tag": _FIXED,
            "year": _FIXED,
            "same_title": _FIXED,
            "date": _LONG,
            **_WORDS_OF,
        },
    },
    PASSAGES: {
        "_source": {"includes": ["document", "generation", "ordinal", "kept"]},
        "properties": {
            "document": _LONG,
            "generation": _LONG,
            "ordinal": _LONG,
            "kept": _KEPT,
            **{name: made for name, made in _WORDS_OF.items() if name != Field.TITLE},
        },
    },
    WORDS: {
        "properties": {
            "field": _KEYWORD,
            "word": _KEYWORD,
            "length": _LONG,
            "generation": _LONG,
        }
    },
}
_ANALYSIS: Mapping[str, Any] = {
    "tokenizer": {"blanks": {"type": "whitespace", "max_token_length": 8_000}},
    "analyzer": {"terms": {"type": "custom", "tokenizer": "blanks"}},
}
_SIMILARITY: Mapping[str, Any] = {"default": {"type": "LegacyBM25", "k1": 1.2, "b": 0.75}}
"""With the factor k1 + 1, as the embedded engine has it: bonuses weigh the same."""


def _is_kind(name: str) -> bool:
    """Tell our kinds from the indices of a library whose prefix begins with ours."""
    return name in KINDS or _VECTORS.fullmatch(name) is not None


def refuse_foreign(name: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise IndexUnusable for an index that has our name, but not our fields."""
    fields = found.get("properties", {})
    for field, ours in wanted["properties"].items():
        theirs = fields.get(str(field), {"type": "missing"})
        for part in ("type", "dimension"):
            if part in ours and theirs.get(part, "object") != ours[part]:
                raise IndexUnusable(
                    f"The index {name} is not one of Bookwheel's, or was changed: "
                    f"its field {field} is {theirs.get(part)}, not {ours[part]}.",
                    hint="Give the address another prefix, or delete that index if none needs it.",
                )


def refuse_newer(names: Iterable[str]) -> None:
    """Raise IndexUnusable for an index that a newer version has made.

    Indexers are upgraded one after the other: each would build anew what the other has built.
    """
    for name in names:
        if _version_of(name) > (SCHEMA_VERSION, ANALYSIS_VERSION):
            raise IndexUnusable(
                f"The index {name} was made by a newer Bookwheel.",
                hint="Upgrade this one. Search works meanwhile.",
            )


def _version_of(name: str) -> tuple[int, int]:
    """Return the versions of schema and analysis that the name of an index carries."""
    version = _VERSION.search(name)
    return (int(version[1]), int(version[2] or 0)) if version else (0, 0)


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
        version = f"v{SCHEMA_VERSION}"
        if kind in ANALYSED:
            version += f".{ANALYSIS_VERSION}"
        return f"{self._prefix}-{kind}-{version}"

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
                if alias.startswith(prefix) and _is_kind(kind):
                    found[kind] = index
        return found

    def require_ours(self) -> dict[str, str]:
        """Return what `present` does; IndexUnusable where another program's index has our name."""
        listed = self._listed()
        for name in listed:
            if _is_kind(name.removeprefix(f"{self._prefix}-")):
                raise IndexUnusable(
                    f"There is an index {name} in the cluster, where an alias is to be.",
                    hint=f"Some program has made it by writing to that name. DELETE /{name}, "
                    "then `bookwheel index FOLDER --full`.",
                )
        there = self._by_kind(listed)
        named = {kind: self.name(kind) for kind in KINDS if there.get(kind) == self.name(kind)}
        new = {kind: name for kind, name in named.items() if name not in self._vouched}
        if new:
            fields = self._fields(new.values())
            for kind, name in new.items():
                refuse_foreign(name, fields[name], _MAPPINGS[kind])
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
            for kind in (*COPIED, *ANALYSED)
            if name.startswith(f"{self.alias(kind)}-v")
            and kind in used
            and _version_of(name) < _version_of(used[kind])
        ]

    def delete(self, name: str) -> None:
        """Remove an index, if it is there."""
        self._cluster.ask("DELETE", f"/{name}", None, {"ignore": 404})

    def used(self) -> str:
        """Return the names of all indices that there are, for a request about no others."""
        names = ",".join(self.alias(kind) for kind in self.present())
        return names or f"{self.name(STATE)}*"  # which none has, and only so is no mistake

    def make(self) -> None:
        """Make what is missing."""
        there = self.require_ours()
        for kind in KINDS:
            if kind not in there:
                self.create(self.name(kind), _MAPPINGS[kind], alias=self.alias(kind), kind=kind)

    def create_beside(self, kind: str) -> None:
        """Make an index of the present version, unused yet; what was left of one goes first."""
        name = self.name(kind)
        self.delete(name)
        self.create(name, _MAPPINGS[kind], alias=None, kind=kind)

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
            "number_of_shards": 1 if kind == STATE else address.shards,
            "number_of_replicas": address.replicas,
            "analysis": _ANALYSIS,
            "similarity": _SIMILARITY,
            "refresh_interval": "1s" if kind in (DOCUMENTS, STATE) else "-1",
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
        refuse_foreign(name, self._fields([name])[name], mapping)
        action = {"add": {"index": name, "alias": alias}}
        self._cluster.ask("POST", "/_aliases", {"actions": [action]})
