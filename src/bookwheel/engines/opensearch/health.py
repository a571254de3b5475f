"""How the cluster is, and whether its indices fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bookwheel.engines.opensearch import schema, state
from bookwheel.engines.opensearch.cluster import Cluster, pause
from bookwheel.engines.opensearch.filters import EVERYTHING, Query, term
from bookwheel.engines.opensearch.indices import Indices
from bookwheel.engines.opensearch.vectors import model_id, vectors_kind
from bookwheel.errors import Conflict, IndexUnreachable, IndexUnusable

if TYPE_CHECKING:
    from bookwheel.engines.opensearch.engine import OpenSearchEngine


_BLOCKS = ("read_only_allow_delete", "read_only", "write")
_LOOKS = 5
"""So often it is counted again while others write."""


def cluster_facts(cluster: Cluster, indices: Indices) -> dict[str, str]:
    """Return version, health and shards of the cluster, as words."""
    cluster.require_leader()
    version = cluster.ask("GET", "/")["version"]["number"]
    used, present = indices.used(), indices.present().values()
    path = f"/_cluster/health/{used}"
    health = cluster.ask("GET", path, None, {"expand_wildcards": "all"})
    lacking = health["unassigned_shards"]
    shards = f"{health['active_primary_shards']} primary, {health['active_shards']} in all"
    return {
        "version": str(version),
        "health": str(health["status"]),
        "nodes": str(health["number_of_data_nodes"]),
        "shards": shards + (f", {lacking} missing" if lacking else ""),
        "lag": _lag(cluster, used) + (f"; {lacking} copies are missing" if lacking else ""),
        "blocks": _blocks(cluster, used, present) or "none",
        "indices": ", ".join(sorted(present)),
    }


def require_all(cluster: Cluster, aliases: Sequence[str]) -> None:
    """Raise Incomplete unless all of some indices are there, and no shard of theirs is lost.

    Any node can tell, and at once; one that knows of no leader says that all is lost.
    """
    path = f"/_cluster/health/{','.join(aliases)}"
    params = {"local": "true", "timeout": "0s", "filter_path": "status", "ignore": 408}
    if cluster.ask("GET", path, None, params)["status"] == "red":
        raise cluster.refusals.incomplete()


def _lag(cluster: Cluster, used: str) -> str:
    """Return how many changes some copy of a shard has not had yet."""
    params = {"level": "shards", "filter_path": "indices.*.shards.*.seq_no"}
    answer = cluster.ask("GET", f"/{used}/_stats/docs", None, params)
    behind = 0
    for index in answer.get("indices", {}).values():
        for copies in index["shards"].values():
            newest = max(each["seq_no"]["max_seq_no"] for each in copies)
            behind += sum(newest - each["seq_no"]["local_checkpoint"] for each in copies)
    return f"{behind} changes that a copy has not had yet"


def _blocks(cluster: Cluster, used: str, present: Collection[str]) -> str:
    """Return what keeps the cluster from taking changes to some indices, in its own words."""
    blocks = cluster.ask("GET", f"/_cluster/state/blocks/{used}")["blocks"]
    # Whatever it is asked for, it tells of all the indices that it has, other libraries' as well.
    kept = [held for index, held in blocks.get("indices", {}).items() if index in present]
    found = Counter(
        each["description"] for held in (blocks.get("global", {}), *kept) for each in held.values()
    )
    return "; ".join(f"{said} ({number})" for said, number in found.items())


def check_engine(engine: OpenSearchEngine) -> Iterator[str]:
    """Say where indices do not hold the same; raise what cannot be mended by indexing anew."""
    there = engine._indices.require_ours()
    if not there:
        return
    facts = engine.facts()
    _refuse_trouble(engine._cluster.address.prefix, facts)
    for kind in schema.KINDS:
        if kind not in there:
            yield f"the index {engine._indices.alias(kind)} is missing"
            return
        if kind != schema.STATE and there[kind] != engine._indices.name(kind):
            yield f"the index {there[kind]} was made by another version"
    found = _lasting_differences(engine, there)
    left = engine._lease.abandoned(engine._tables.read(state.COUNTERS))
    if found and left:
        raise Conflict(
            f"An indexer ended before it was done ({', '.join(left)}): {found[0]}.",
            hint="`bookwheel index FOLDER`, where the folder lies, finishes it.",
        )
    yield from found


def _refuse_trouble(prefix: str, facts: Mapping[str, str]) -> None:
    if facts["health"] == "red":
        raise IndexUnreachable(
            f"The cluster is red ({facts['shards']} shards): a part of the index is lost.",
            hint="Bring the node back that is missing, or the indices from a snapshot.",
        )
    if facts["blocks"] != "none":
        none = ", ".join(f'"index.blocks.{each}": null' for each in _BLOCKS)
        raise IndexUnusable(
            f"The cluster takes no changes: {facts['blocks']}.",
            hint="Where its disks are full, make room: it soon takes changes again by itself. "
            f"Else ask it: PUT /{prefix}-*/_settings with {{{none}}}",
        )


def _lasting_differences(engine: OpenSearchEngine, there: Mapping[str, str]) -> list[str]:
    """Return where indices do not hold the same; nothing where somebody may just be writing it."""
    for attempt in range(_LOOKS):
        before = _at_rest(engine)
        found = list(_differences(engine, there))
        if not found or (before is not None and _at_rest(engine) == before):
            return found
        pause(attempt)
    return []


def _at_rest(engine: OpenSearchEngine) -> tuple[int, int] | None:
    """Return what the next change alters; None while another process writes."""
    counters = engine._tables.read(state.COUNTERS)
    if engine._lease.others(counters):
        return None
    return counters.get("generation", 0), counters.get("commits", 0)


def _differences(engine: OpenSearchEngine, there: Mapping[str, str]) -> Iterator[str]:
    engine._refresh_indices(schema.DOCUMENTS, schema.PAGES, schema.PASSAGES)
    good, _, chunks = engine._read_totals()
    yield from _compare("pages", engine._count(schema.PAGES, EVERYTHING), good)
    yield from _compare("passages", engine._count(schema.PASSAGES, EVERYTHING), chunks)
    for fingerprint in engine._models():
        yield from _count_vectors(engine, fingerprint, there)
    known = engine._read_collections()
    for each in known:
        own: Query = term("collection", each.collection.name)
        pages = engine._count(schema.PAGES, own)
        yield from _compare(f"pages of {each.collection.name}", pages, each.documents)
    lost = good - sum(each.documents for each in known)
    if lost:
        yield f"{abs(lost)} documents belong to no collection"


def _count_vectors(
    engine: OpenSearchEngine, fingerprint: str, there: Mapping[str, str]
) -> Iterator[str]:
    kind = vectors_kind(fingerprint)
    wanted = engine._sum_chunks(term("model", model_id(fingerprint)))
    engine._refresh_indices(kind)
    found = engine._count(kind, EVERYTHING) if kind in there else 0
    if found < wanted:  # what a killed indexer left beside is never found
        yield f"the cluster holds {found} vectors of {wanted} that the catalogue tells of"


def _compare(what: str, found: int, wanted: int) -> Iterator[str]:
    if found != wanted:
        yield f"the cluster holds {found} {what}, the catalogue {wanted}"
