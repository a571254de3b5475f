"""How the cluster is, and whether its indices fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bookwheel.engines.opensearch import schema
from bookwheel.engines.opensearch.cluster import Cluster
from bookwheel.engines.opensearch.filters import EVERYTHING, Query, term
from bookwheel.engines.opensearch.schema import Indices
from bookwheel.engines.opensearch.vectors import model_id, vectors_kind
from bookwheel.model import Status

if TYPE_CHECKING:
    from bookwheel.engines.opensearch.engine import OpenSearchEngine


def cluster_facts(cluster: Cluster, indices: Indices) -> dict[str, str]:
    """Return version, health and shards of the cluster, as words."""
    version = cluster.ask("GET", "/")["version"]["number"]
    path = f"/_cluster/health/{cluster.address.prefix}-*"
    health = cluster.ask("GET", path, None, {"expand_wildcards": "all"})
    lacking = health["unassigned_shards"]
    shards = f"{health['active_primary_shards']} primary, {health['active_shards']} in all"
    return {
        "version": str(version),
        "health": str(health["status"]),
        "nodes": str(health["number_of_data_nodes"]),
        "shards": shards + (f", {lacking} missing" if lacking else ""),
        "lag": _lag(cluster),
        "indices": ", ".join(sorted(indices.present().values())),
    }


def _lag(cluster: Cluster) -> str:
    """Return how many changes some copy of a shard has not had yet."""
    params = {"level": "shards", "filter_path": "indices.*.shards.*.seq_no"}
    answer = cluster.ask("GET", f"/{cluster.address.prefix}-*/_stats/docs", None, params)
    behind = 0
    for index in answer.get("indices", {}).values():
        for copies in index["shards"].values():
            newest = max(each["seq_no"]["max_seq_no"] for each in copies)
            behind += sum(newest - each["seq_no"]["local_checkpoint"] for each in copies)
    return f"{behind} changes that a copy has not had yet"


def check_engine(engine: OpenSearchEngine) -> Iterator[str]:
    """Say what is wrong with the cluster, and where its indices do not hold the same."""
    facts = engine.facts()
    if facts["health"] == "red":
        yield f"the cluster is red: {facts['shards']} shards"
        return
    there = engine._indices.present()
    for kind in schema.KINDS:
        if kind not in there:
            yield f"the index {engine._indices.alias(kind)} is missing"
            return
        if there[kind] != engine._indices.name(kind):
            yield f"the index {there[kind]} was made by another version"
    engine._refresh_indices(schema.PAGES, schema.PASSAGES)
    good, _, chunks = engine._read_totals()
    yield from _compare("pages", engine._count(schema.PAGES, EVERYTHING), good)
    yield from _compare("passages", engine._count(schema.PASSAGES, EVERYTHING), chunks)
    for fingerprint in engine._models():
        yield from _count_vectors(engine, fingerprint, there)
    for state in engine._read_collections():
        own: Query = term("collection", state.collection.name)
        pages = engine._count(schema.PAGES, own)
        yield from _compare(f"pages of {state.collection.name}", pages, state.documents)
    lost = sum(engine._tally("collection", term("status", str(Status.OK))).values()) - good
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
