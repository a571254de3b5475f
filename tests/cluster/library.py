"""A library of its own for each test in the cluster that the tests were given."""

from __future__ import annotations

import os
from pathlib import Path

from bookwheel.engines.base import WritableEngine
from bookwheel.engines.opensearch.address import Address, read_address
from bookwheel.engines.opensearch.cluster import Cluster
from bookwheel.engines.opensearch.engine import OpenSearchEngine

ADDRESS = "BOOKWHEEL_TEST_CLUSTER"
_used: dict[str, Path] = {}


def address() -> str:
    """Return the address of this process's library; tests without a cluster fail."""
    where = os.environ.get(ADDRESS)
    assert where, f"{ADDRESS} names no cluster: run `make test-cluster`"
    worker = os.environ.get("PYTEST_XDIST_WORKER", "one")
    return f"opensearch+{where}/test-{os.getpid()}-{worker}"


def open_engine(folder: Path) -> WritableEngine:
    """Open the engine that stands for a folder; a folder that is new finds nothing there."""
    empty(folder)
    return OpenSearchEngine(read_address(address()), home=folder / "catalog.db")


def empty(folder: Path) -> None:
    """Take everything out of this process's library, unless that was done for this folder."""
    stated = address()
    if _used.get(stated) != folder:
        wipe(read_address(stated))
        _used[stated] = folder


def wipe(where: Address) -> None:
    """Take everything out of a library; its indices are kept, since making them takes seconds."""
    cluster = Cluster(where)
    cluster.ask("DELETE", f"/{where.prefix}-vectors-*", None, {"ignore_unavailable": "true"})
    every: dict[str, object] = {"query": {"match_all": {}}}
    cluster.ask("POST", f"/{where.prefix}-*/_refresh")
    path = f"/{where.prefix}-*/_delete_by_query"
    cluster.ask("POST", path, every, {"refresh": "true", "conflicts": "proceed"})
    cluster.close()
