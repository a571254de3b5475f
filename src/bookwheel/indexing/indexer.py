"""The one who writes the index: brings it up to date with the folders, under the writer lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING

from bookwheel.engines.place import make_place
from bookwheel.engines.sharing import readers_note, take_names
from bookwheel.formats import READERS_VERSION

if TYPE_CHECKING:
    from bookwheel.engines.base import WritableEngine
    from bookwheel.indexing.folders import Folders
    from bookwheel.indexing.hanging import Shares
    from bookwheel.indexing.kept_worker import KeptWorker
    from bookwheel.indexing.pipeline import Progress, Report
    from bookwheel.model import Collection, Job
    from bookwheel.safety.finding import Rules
    from bookwheel.settings import Settings


class Indexer:
    """Writes the index of some folders; keeps a worker that has read files for the next."""

    def __init__(
        self,
        store: WritableEngine,
        settings: Settings,
        folders: Folders,
        rules: Callable[[], Rules],
        own_paths: Callable[[], tuple[str, ...]],
    ) -> None:
        self._store = store
        self._settings = settings
        self._folders = folders
        self._rules = rules
        self._own_paths = own_paths
        self._rebuilds: bool = settings["debug"]
        self._kept: KeptWorker | None = None
        self._shares: Shares | None = None

    def close(self) -> None:
        """End the worker that was kept."""
        if self._kept is not None:
            self._kept.close()

    def look_at_worker(self) -> None:
        """Bury the worker that was kept if it has ended."""
        if self._kept is not None:
            self._kept.look()

    def hangs(self, path: str) -> bool:
        """Tell whether a folder did not answer when it was last looked through, nor since."""
        return self._shares is not None and self._shares.hangs(path)

    @contextmanager
    def writing(self, collections: Sequence[Collection]) -> Iterator[WritableEngine]:
        """Hold the writer lock for a while; where others share the index, for some collections."""
        make_place(self._settings, self._store.home)
        self._store.begin_writing([each.name for each in collections])
        try:
            yield self._store
        finally:
            self._store.end_writing()

    def update(
        self,
        only: Collection | None,
        folder: str,
        *,
        full: bool,
        remarks: Sequence[str],
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool],
    ) -> list[Report]:
        """Bring the index up to date with the folders that are ours, or with one of a collection.

        What is remarked of a folder goes into its report.
        """
        chosen = self._folders.own if only is None else (only,)
        if not chosen:
            return []
        with self.writing(chosen) as engine:
            if engine.is_shared:
                take_names(engine, chosen, self._folders.stated)
            reads_all = full or self.is_outdated
            jobs = engine.queue.plan([(each.name, folder) for each in chosen], full=reads_all)
            reports = self._run(engine, jobs, reads_all, full, on_progress, should_stop)
            if reads_all and only is None and not should_stop():
                self._note_readers(engine)
                self._rebuilds = False
        for remark in remarks:
            problems = _report_about(remark, chosen, reports).problems
            problems += [remark] if remark not in problems else []
        return reports

    def run_job(
        self, *, on_progress: Callable[[Progress], None] | None, should_stop: Callable[[], bool]
    ) -> Job | None:
        """Run the job that comes next, if there is one; Conflict while another process writes."""
        if not self._folders.own:
            return None
        with self.writing(self._folders.own) as engine:
            job = engine.queue.take()
            if job is not None:
                self._run(engine, [job], self.is_outdated, False, on_progress, should_stop)
            return job

    def _run(
        self,
        engine: WritableEngine,
        jobs: Sequence[Job],
        full: bool,
        accept_empty: bool,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool],
    ) -> list[Report]:
        from bookwheel.indexing.hanging import Shares
        from bookwheel.indexing.jobs import Record, run_jobs
        from bookwheel.indexing.kept_worker import KeptWorker
        from bookwheel.indexing.pipeline import Updater

        self._forget_others(engine)
        engine.declare(self._folders.own)
        self._note_readers(engine, anew=False)
        record = Record(engine.queue)
        self._kept = self._kept or KeptWorker()
        self._shares = self._shares or Shares()
        updater = Updater(
            engine,
            workers=self._settings["workers"],
            max_bytes=self._settings["max_file_mb"] * 1_000_000,
            rules=self._rules(),
            own_paths=self._own_paths(),
            kept=self._kept,
            shares=self._shares,
            on_progress=on_progress,
            on_counts=record.note,
            should_stop=should_stop,
        )
        return run_jobs(
            engine.queue,
            jobs,
            {each.name: each for each in self._folders.current()},
            updater,
            record,
            full=full,
            accept_empty=accept_empty,
            should_stop=should_stop,
        )

    def _forget_others(self, engine: WritableEngine) -> None:
        """Drop folders that this index held for another set of folders, unless others share it."""
        if engine.is_shared:
            return
        own = {(each.name, each.path) for each in self._folders.current()}
        for state in engine.collections():
            if (state.collection.name, state.collection.path) not in own:
                engine.forget(state.collection.name)

    # What has read the documents

    @property
    def is_outdated(self) -> bool:
        """Tell whether the next update reads every file anew, changed or not."""
        if self._rebuilds:
            return True
        # Where nothing is noted yet, an interrupted first run is gone on with.
        if not self._store.exists:
            return False
        noted = {self._store.note(name) for name in self._readers_notes}
        return not noted <= {None, self._readers}

    def _note_readers(self, engine: WritableEngine, *, anew: bool = True) -> None:
        """Note what has read the documents, of each collection where others have read theirs."""
        for name in self._readers_notes:
            if anew or engine.note(name) is None:
                engine.set_note(name, self._readers)

    @property
    def _readers_notes(self) -> set[str]:
        is_shared = self._store.is_shared
        return {readers_note(each.name, is_shared=is_shared) for each in self._folders.own}

    @property
    def _readers(self) -> str:
        """What made the documents in the index as they are: another one reads them otherwise."""
        return f"{READERS_VERSION} {self._rules().version}"


def _report_about(remark: str, collections: Sequence[Collection], reports: list[Report]) -> Report:
    """Return the report of the folder that a remark speaks of, else the first."""
    pairs = zip(collections, reports, strict=True)
    named = [(len(each.path), report) for each, report in pairs if each.path in remark]
    # The path of another folder may be the beginning of the one that is meant.
    return max(named, key=itemgetter(0))[1] if named else reports[0]
