"""The engine on a cluster: any number of servers read it, indexers write their own collections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from bookwheel.engines.opensearch import rows, schema, state
from bookwheel.engines.opensearch.address import Address
from bookwheel.engines.opensearch.health import check_engine, cluster_facts, require_all
from bookwheel.engines.opensearch.jobs import JobTable
from bookwheel.engines.opensearch.leases import Lease
from bookwheel.engines.opensearch.rebuild import Rebuild
from bookwheel.engines.opensearch.state import Data
from bookwheel.engines.opensearch.vectors import vectors_kind
from bookwheel.engines.opensearch.writing import Unheard
from bookwheel.engines.sharing import this_host
from bookwheel.errors import Forbidden
from bookwheel.model import Collection, FileState


class OpenSearchEngine(Rebuild):
    """One library in a cluster. Nothing of it is kept on this machine."""

    hides = False
    """It holds texts as they are; who may see what is the affair of others."""
    is_shared = True
    """Other indexers may keep collections of their own in it."""

    def __init__(self, address: Address, *, home: Path, api_key: str | None = None) -> None:
        super().__init__(address, api_key=api_key)
        self._lease = Lease(self._tables)
        self._written = {}
        self._embedding = {}
        self._words_written = set()
        self._is_amid = False
        self.home = home
        # A cluster mends itself.
        self.on_damage: Callable[[], None] = lambda: None
        self.on_anew: Callable[[], None] = lambda: None

    # Opening and closing

    @property
    def location(self) -> str:
        """Where the index lies, for people."""
        return self._cluster.address.shown

    @property
    def own_paths(self) -> list[Path]:
        """The files that the engine keeps on this machine: none."""
        return []

    def close(self) -> None:
        """Let go of the cluster; what was not committed is found after the next opening."""
        if self._lease.held:
            self.end_writing()
        self._forget_known()
        self._cluster.close()

    # Writing

    @property
    def is_written(self) -> bool:
        """Tell whether a process is writing now, this one or another."""
        return self._lease.held or self._lease.is_anybodys()

    def begin_writing(self, collections: Iterable[str] | None = None) -> None:
        """Become the one writer of some collections, or of all, and finish what a dead one left."""
        if self._lease.held:
            return
        self._cluster.require_leader()
        self._indices.make()
        self._count_on()
        self._renew()
        unfinished = self._lease.acquire(collections)
        try:
            if unfinished:
                self._words_written.clear()  # some may not have arrived
                self._recover(unfinished)
                self._lease.settle()
            self._publish()
        except BaseException:
            self._lease.release(is_finished=not unfinished)
            raise

    def end_writing(self) -> None:
        """Let other processes write."""
        is_finished, self._is_amid = not self._is_amid, False
        try:
            self._settle()
        finally:
            self._lease.release(is_finished=is_finished)

    def declare(self, collections: Iterable[Collection]) -> None:
        """Make collections known, or bring what is known of them up to date."""
        wanted = {each.name: rows.from_collection(each) for each in collections}

        def alter(data: Data) -> None:
            for name, each in wanted.items():
                data.setdefault(name, {}).update(collection=_plain(each), host=this_host())

        self._tables.change(state.COLLECTIONS, alter)
        self._changed()

    def forget(self, collection: str) -> None:
        """Remove a collection and all its documents."""
        self.remove(collection, list(self.known(collection)))
        self._tables.change(state.COLLECTIONS, lambda data: data.pop(collection, None))
        self.commit()

    def touch(self, collection: str, states: Mapping[str, FileState]) -> None:
        """Note how unchanged files look now."""
        if not states:
            return
        found = self._find_old((collection, path) for path in states)
        self._must(
            self._cluster.bulk(
                self._act(
                    schema.DOCUMENTS,
                    "update",
                    old.key,
                    doc={"kept": rows.to_state(states[path])},
                )
                for (_, path), old in found.items()
            )
        )
        self._changed()

    def mark_scanned(
        self, collection: str, *, device: int, skipped: Mapping[tuple[str, str], int], at: float
    ) -> None:
        """Note that a collection was looked through."""
        passed = [[reason, kind, count] for (reason, kind), count in skipped.items()]

        def alter(data: Data) -> None:
            if collection not in data:
                raise Unheard(collection)
            data[collection].update(device=device, scanned_at=at, skipped=passed)

        self._tables.change(state.COLLECTIONS, alter)
        self._changed()

    def commit(self) -> None:
        """Make what was written searchable."""
        self._publish(is_whole=not self._is_amid)
        self._written.clear()

    # Jobs and notes

    @cached_property
    def queue(self) -> JobTable:
        """The folders that are to be indexed."""
        return JobTable(self._tables, self._lease.covers, lambda: self.exists)

    def note(self, name: str) -> str | None:
        """Return what was noted about the index under a name."""
        value = self._recall("notes", lambda: self._tables.read(state.NOTES)).get(name)
        return None if value is None else str(value)

    def set_note(self, name: str, value: str) -> None:
        """Note something about the index."""
        self._tables.change(state.NOTES, lambda data: data.update({name: value}))
        self._forget_known()

    # Upkeep

    def disk_bytes(self) -> int:
        """Return what the index takes on the disks of the cluster, copies included."""
        path = f"/{self._indices.used()}/_stats/store"
        return int(self._cluster.ask("GET", path)["_all"]["total"]["store"]["size_in_bytes"])

    def set_aside(self) -> str:
        """Refuse: others may keep their collections in it."""
        raise Forbidden(
            "An index in a cluster is not set aside.",
            hint="`bookwheel index FOLDER --full` reads a folder anew and writes all of it again.",
        )

    def check(self) -> Iterator[str]:
        """Look through the indices and say each thing that is wrong."""
        self._settle()
        yield from check_engine(self)

    def require_whole(self) -> None:
        """Raise IndexUnreachable unless every part of every index of the library can be read."""
        kinds = (*schema.KINDS, *map(vectors_kind, self._models()))
        require_all(self._cluster, [self._indices.alias(kind) for kind in kinds])

    def facts(self) -> dict[str, str]:
        """Return how the cluster is, for the operator."""
        facts = cluster_facts(self._cluster, self._indices)
        waiting = sum(not job.is_finished for job in self.queue.jobs()) if self.exists else 0
        writers = self._lease.others(self._tables.read(state.COUNTERS))
        shown = ", ".join(f"{name} ({who})" for name, who in sorted(writers.items()))
        return {**facts, "jobs": f"{waiting} waiting or running", "written": shown or "nothing"}


def _plain(collection: rows.Source) -> rows.Source:
    """Return a collection as it comes back from the cluster, where lists are no tuples."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in collection.items()
        if name != "name"
    }
