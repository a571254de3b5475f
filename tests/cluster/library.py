"""Libraries of their own for tests in the cluster that the tests were given.

Making indices takes seconds. So each process has a few sets of them, and takes what the test before
last has left out of one when it needs another.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bookwheel.engines.base import WritableEngine
from bookwheel.engines.opensearch.address import Address, read_address
from bookwheel.engines.opensearch.cluster import Cluster
from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.settings import Settings

ADDRESS = "BOOKWHEEL_TEST_CLUSTER"
_MOST = 12
_places: list[Path | None] = [None] * _MOST
"""Which place each set of indices stands for, the one used last at the end."""
_names: list[int] = list(range(_MOST))


def _where() -> str:
    where = os.environ.get(ADDRESS)
    assert where, f"{ADDRESS} names no cluster: run `make test-cluster`"
    return where


def address(place: Path) -> str:
    """Return the address of the library that stands for a place on disk; a new one is empty."""
    is_new = place not in _places
    at = 0 if is_new else _places.index(place)
    number = _names.pop(at)
    del _places[at]
    _names.append(number)
    _places.append(place)
    stated = f"opensearch+{_where()}/test-{os.getpid()}-{number}"
    if is_new:
        _wipe(read_address(stated))
    return stated


def open_engine(folder: Path) -> OpenSearchEngine:
    """Open the engine that stands for a folder."""
    return OpenSearchEngine(read_address(address(folder)), home=folder / "catalog.db")


@contextmanager
def open_apart(folder: Path, name: str) -> Iterator[OpenSearchEngine]:
    """Open an engine on indices of its own, in which nothing was ever removed.

    What was counts in scores for as long as the cluster keeps it, whatever is merged.
    """
    place = read_address(f"opensearch+{_where()}/test-{name}-{os.getpid()}")
    engine = OpenSearchEngine(place, home=folder / "catalog.db")
    try:
        yield engine
    finally:
        engine._cluster.ask("DELETE", f"/{place.prefix}-*")
        engine.close()


class Shelved(OpenSearchEngine):
    """An engine in the place of one in a file: nobody shares it, and its file can be seen."""

    is_shared = False

    def begin_writing(self, collections: Iterable[str] | None = None) -> None:
        super().begin_writing()
        self.home.parent.mkdir(parents=True, exist_ok=True)
        self.home.touch()


def open_shelf(settings: Settings, database: Path) -> WritableEngine:
    """Open the engine that stands for a file, whatever the settings say."""
    stated = read_address(address(database))
    return Shelved(stated._replace(shards=1, replicas=0), home=database)


def _wipe(where: Address) -> None:
    """Take everything out of a library."""
    cluster = Cluster(where)
    cluster.ask("DELETE", f"/{where.prefix}-vectors-*", None, {"ignore_unavailable": "true"})
    every: dict[str, object] = {"query": {"match_all": {}}}
    cluster.ask("POST", f"/{where.prefix}-*/_refresh")
    path = f"/{where.prefix}-*/_delete_by_query"
    cluster.ask("POST", path, every, {"refresh": "true", "conflicts": "proceed"})
    cluster.close()
