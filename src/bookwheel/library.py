"""The library: opened from settings, one method per use case, closes what it opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bookwheel import __version__
from bookwheel.engines.choice import open_engine
from bookwheel.engines.sharing import (
    as_known,
    is_from_here,
    lies_here,
    readers_note,
    take_names,
)
from bookwheel.errors import (
    BadRequest,
    BookwheelError,
    IndexDamaged,
    IndexUnreachable,
    IndexUnusable,
    NotFound,
)
from bookwheel.formats import READERS_VERSION
from bookwheel.model import Collection, Job, Redact
from bookwheel.query import Scope, SearchMode
from bookwheel.reading.documents import find_collection
from bookwheel.search.models import Models
from bookwheel.settings import Settings
from bookwheel.view import View, judge

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.engines.base import CollectionState, WritableEngine
    from bookwheel.indexing.kept_worker import KeptWorker
    from bookwheel.indexing.pipeline import Progress, Report
    from bookwheel.safety.finding import Rules
    from bookwheel.telemetry.calls import IndexFigures

DATABASE = "catalog.db"


class Library(View):
    """A set of folders and their index. Reading works at once; writing takes the writer lock.

    As a view it is the operator's: of every collection, each as its own access and redaction say.
    """

    def __init__(
        self, settings: Settings, collections: Sequence[Collection], database: Path
    ) -> None:
        store = open_engine(settings, database)
        models = Models(store, settings, version=__version__)
        self._collections = tuple(collections)
        super().__init__(
            store, settings, models, self._current_folders, lambda: self._redaction_rules
        )
        self._given: tuple[Collection, ...] = ()
        self._recalled: Sequence[CollectionState] = ()
        self._is_recalled = False
        """Whether nobody named folders, and those of the index are meant."""
        self._rebuilds: bool = settings["debug"]
        self._kept: KeptWorker | None = None
        """A worker that has read files here, and may read the next."""

    @cached_property
    def _redaction_rules(self) -> Rules:
        from bookwheel.safety.finding import make_rules

        return make_rules(self.settings)

    def hide_in_logs(self, text: str) -> str:
        """Return what the log is told without what the strictest of the collections hides."""
        policies = judge(self._collections, self.settings).values()
        level = reduce(Redact.or_more, (each.redact for each in policies), Redact.OFF)
        if level is Redact.OFF:
            return text
        from bookwheel.safety.finding import redact_text

        return redact_text(text, level, self._redaction_rules)

    @classmethod
    def open(cls, settings: Settings, paths: Iterable[str] = ()) -> Self:
        """Open the library of the folders given, else of those configured, else of this one.

        With no folder given and an index named that exists, its own folders are meant.
        """
        from bookwheel.indexing.folders import complete, from_paths

        given = from_paths(paths) or list(settings.collections)
        if not given:
            place = named_place(settings)
            if settings["engine"] and not settings["docs_root"]:
                # Nobody means to send the folder they happen to be in to a cluster.
                return cls._from_index(settings, place or default_place(settings, ()))
            if place is not None and place.exists() and not settings["engine"]:
                return cls._from_index(settings, place)
            given = from_paths([settings["docs_root"] or "."])
        if settings["language"]:
            given = [
                each._replace(language=each.language or settings["language"]) for each in given
            ]
        place = named_place(settings) or default_place(settings, given)
        library = cls(settings, (), place)
        library._given = tuple(given)
        if settings.redaction:  # a rule that cannot be used must be known before anything is shown
            _ = library._redaction_rules
        try:
            remarks = [] if library._recall() else library.look()
        except IndexUnreachable:  # whoever asks it is told; a server waits for it to come back
            collections, remarks = complete(library._given)
            library._collections = tuple(collections)
        library.settings = replace(settings, remarks=(*settings.remarks, *remarks))
        return library

    def _recall(self) -> bool:
        """Take the folders as the index knows them, without looking at them; tell if it does."""
        try:
            known = {state.collection.path: state.collection for state in self.states()}
        except BookwheelError:
            return False
        recalled = [
            known[each.path]._replace(root=each.root) for each in self._given if each.path in known
        ]
        if not len(recalled) == len(known) == len(self._given):
            return False
        if not all(map(_agrees, self._given, recalled)):
            return False
        self._collections = tuple(recalled)
        return True

    def _current_folders(self) -> Sequence[Collection]:
        """Return the folders; where those of a shared index are meant, as others add to them."""
        if self._is_recalled and self._store.is_shared:
            try:
                states = self._store.collections() if self._store.exists else []
            except IndexUnreachable:
                return self._collections  # as it was; whoever asks for documents is told
            if states is not self._recalled:
                self._recalled = states
                self._collections = tuple(state.collection for state in states)
        return self._collections

    @property
    def is_shared(self) -> bool:
        """Tell whether other machines may keep folders of theirs in the index."""
        return self._store.is_shared

    def look(self) -> list[str]:
        """Take the folders as they are now, manifests included; return what is worth saying."""
        from bookwheel.indexing.folders import complete

        states = self._remembered()
        if not self._given:
            own = [each for each in states if not self.is_shared or is_from_here(each)]
            gone = [each.collection.path for each in own if not Path(each.collection.path).is_dir()]
            return [f"There is no folder {path}. Its documents are kept." for path in gone]
        known = {state.collection.path: state.collection for state in states}
        collections, remarks = complete(
            [
                as_known(each, known.get(each.path), is_shared=self.is_shared)
                for each in self._given
            ],
            remembered=lambda: [*known.values()],
        )
        self._collections = tuple(collections)
        return remarks

    def _remembered(self) -> Sequence[CollectionState]:
        """Return the collections as the index knows them; none of one that cannot be read."""
        try:
            return self._store.collections() if self._store.exists else ()
        except IndexUnreachable:
            raise  # it knows, and can tell later
        except BookwheelError:
            return ()

    @classmethod
    def _from_index(cls, settings: Settings, place: Path) -> Self:
        library = cls(settings, (), place)
        library._is_recalled = True
        if library.is_shared:  # they may change, and it may be away for a while
            return library
        try:
            library._collections = tuple(state.collection for state in library.states())
        except IndexDamaged as error:
            hint = "Name its folders: `bookwheel doctor FOLDER... --index DIR --repair`."
            raise IndexDamaged(error.message, hint=hint) from error
        return library

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index, and end the worker that was kept."""
        if self._kept is not None:
            self._kept.close()
        self._store.close()

    # Keeping it fresh

    @property
    def is_indexed(self) -> bool:
        """Tell whether every folder of this library has been indexed."""
        try:
            states = self.states()
        except (IndexDamaged, IndexUnreachable):
            return False  # the next update sets it aside and makes it anew, or it comes back
        done = {s.collection.name: s.collection.path for s in states if s.scanned_at}
        is_done = all(done.get(each.name) == each.path for each in self.collections)
        return is_done and self.exists

    @property
    def _own(self) -> tuple[Collection, ...]:
        """The folders that are this process's to index.

        A server that was given none serves what others index; only what was indexed on this
        machine is its.
        """
        if not (self._is_recalled and self._store.is_shared):
            return self.collections
        states = self._store.collections() if self._store.exists else []
        return tuple(state.collection for state in states if lies_here(state))

    @property
    def _stated(self) -> set[str]:
        """The names that the operator gave to folders."""
        return {each.name for each in self._given}

    @contextmanager
    def writing(self, collections: Sequence[Collection] | None = None) -> Iterator[WritableEngine]:
        """Hold the writer lock for a while; where others share the index, for some collections."""
        self.make_place()
        chosen = self.collections if collections is None else collections
        self._store.begin_writing([each.name for each in chosen])
        try:
            yield self._store
        finally:
            self._store.end_writing()

    @property
    def is_written(self) -> bool:
        """Tell whether a process is writing the index now, this one or another."""
        return self._store.exists and self._store.is_written

    def make_place(self) -> None:
        """Make the folder that the index lies in, where it is not named."""
        if named_place(self.settings) is None:  # in the user's own cache: nobody else's to read
            try:
                self.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise IndexUnusable(
                    f"The folder {self.database.parent} cannot be made: {error.strerror}.",
                    hint="--index or CACHE_ROOT names another one.",
                ) from None

    def figures(self, lag: int | None = None) -> IndexFigures | None:
        """Return what there is to count of the index; None where there is none to be read."""
        from bookwheel.telemetry.calls import IndexFigures

        try:
            if not self.exists:
                return None
            documents, failures, chunks = self._store.totals()
            return IndexFigures(
                documents, failures, chunks, self._store.disk_bytes(), self.generation, lag
            )
        except BookwheelError:
            return None

    def update(
        self,
        collection: str | None = None,
        folder: str = "",
        *,
        full: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[Report]:
        """Bring the index up to date with the folders, or with one collection or a folder in it.

        With `full` everything is read anew; documents are found as they were until replaced.
        """
        order = (collection, folder, full, on_progress, should_stop)
        try:
            return self._update(*order)
        except IndexDamaged as error:
            # Imported here, as all that a search does not need: it must start quickly.
            import logging

            logging.getLogger(__name__).warning("%s %s", error.message, self._set_aside())
            return self._update(*order)

    def _update(
        self,
        collection: str | None,
        folder: str,
        full: bool,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool],
    ) -> list[Report]:
        remarks = self.look()
        chosen = self._own
        if collection is not None:
            chosen = (find_collection(self.collections, collection),)
        if not chosen:
            return []
        with self.writing(chosen) as engine:
            if engine.is_shared:
                take_names(engine, chosen, self._stated)
            reads_all = full or self.is_outdated
            jobs = engine.queue.plan([(each.name, folder) for each in chosen], full=reads_all)
            reports = self._run(engine, jobs, reads_all, full, on_progress, should_stop)
            if reads_all and collection is None and not should_stop():
                self._note_readers(engine)
                self._rebuilds = False
        for remark in remarks:
            problems = _report_about(remark, chosen, reports).problems
            problems += [remark] if remark not in problems else []
        return reports

    def _note_readers(self, engine: WritableEngine, *, anew: bool = True) -> None:
        """Note what has read the documents, of each collection where others have read theirs."""
        for name in self._readers_notes:
            if anew or engine.note(name) is None:
                engine.set_note(name, self._readers)

    @property
    def _readers_notes(self) -> set[str]:
        return {readers_note(each.name, is_shared=self.is_shared) for each in self._own}

    @property
    def _readers(self) -> str:
        """What made the documents in the index as they are: another one reads them otherwise."""
        return f"{READERS_VERSION} {self._redaction_rules.version}"

    @property
    def is_outdated(self) -> bool:
        """Tell whether the next update reads every file anew, changed or not."""
        if self._rebuilds:
            return True
        # Where nothing is noted yet, an interrupted first run is gone on with.
        if not self.exists:
            return False
        noted = {self._store.note(name) for name in self._readers_notes}
        return not noted <= {None, self._readers}

    def _run(
        self,
        engine: WritableEngine,
        jobs: Sequence[Job],
        full: bool,
        accept_empty: bool,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool],
    ) -> list[Report]:
        from bookwheel.indexing.jobs import Record, run_jobs
        from bookwheel.indexing.kept_worker import KeptWorker
        from bookwheel.indexing.pipeline import Updater

        self._forget_others(engine)
        engine.declare(self._own)
        self._note_readers(engine, anew=False)
        record = Record(engine.queue)
        self._kept = self._kept or KeptWorker()
        updater = Updater(
            engine,
            workers=self.settings["workers"],
            max_bytes=self.settings["max_file_mb"] * 1_000_000,
            rules=self._redaction_rules,
            own_paths=self.own_paths(),
            kept=self._kept,
            on_progress=on_progress,
            on_counts=record.note,
            should_stop=should_stop,
        )
        return run_jobs(
            engine.queue,
            jobs,
            {each.name: each for each in self.collections},
            updater,
            record,
            full=full,
            accept_empty=accept_empty,
            should_stop=should_stop,
        )

    def run_job(
        self,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Job | None:
        """Run the job that comes next, if there is one; Conflict while another process writes."""
        if not any(job.is_asked for job in self.jobs.unfinished()):
            return None
        self.look()
        if not self._own:
            return None
        with self.writing(self._own) as engine:
            job = engine.queue.take()
            if job is not None:
                self._run(engine, [job], self.is_outdated, False, on_progress, should_stop)
            return job

    # Meaning

    @property
    def embedder(self) -> Embedder | None:
        """The model that finds by meaning; None when the operator wants none."""
        return self._models.embedder

    @property
    def is_embedded(self) -> bool:
        """Tell, without loading a model, that every document has its vectors."""
        return self._models.are_done

    def embed(
        self,
        *,
        on_progress: Callable[[int, int], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> int:
        """Give vectors to documents that have none yet; return how many chunks that were.

        Search goes on meanwhile, by words for what has none. The model reads every text redacted:
        by how near something is, one could ask for what is hidden.
        """
        if self.is_embedded or not self._own:
            return 0
        from bookwheel.indexing.embedding import embed_missing

        embedder = self.embedder
        if embedder is None:
            return 0
        with self.writing(self._own) as engine:
            done = embed_missing(
                engine,
                embedder,
                shown=self.view(Scope(redact=Redact.ALL))._engine,
                on_progress=on_progress,
                should_stop=should_stop,
            )
            self._models.note_done(engine, embedder)
        return done

    def warm(self) -> None:
        """Load what the first search by meaning needs, if there is anything to find with it."""
        try:
            embedder = self._models.embedder_for(SearchMode.HYBRID)[0] if self.exists else None
            if embedder is not None:
                self._store.open_vectors(embedder.fingerprint)
        except BookwheelError:
            pass  # whoever searches is told

    def forget(self, name: str) -> int:
        """Take a collection and its documents out of the index; return how many there were."""
        states = {state.collection.name: state for state in self.states()}
        if name not in states:
            known = ", ".join(f'"{each}"' for each in states) or "none"
            raise NotFound(f'Collection "{name}" not found.', hint=f"The index has {known}.")
        with self.writing([states[name].collection]) as engine:
            engine.forget(name)
        return states[name].documents

    def require_folders(self) -> None:
        """Raise NotFound for a folder that is not in an index that is shared."""
        known = {(each.collection.name, each.collection.path) for each in self.states()}
        for each in self.collections:
            if (each.name, each.path) not in known:
                raise NotFound(
                    f"{each.path} is not in {self.location}.",
                    hint=f"`bookwheel index {each.path}` brings it in.",
                )

    def _forget_others(self, engine: WritableEngine) -> None:
        """Drop folders that this index held for another set of folders, unless others share it."""
        if engine.is_shared:
            return
        own = {(each.name, each.path) for each in self.collections}
        for state in engine.collections():
            if (state.collection.name, state.collection.path) not in own:
                engine.forget(state.collection.name)

    def watch(
        self,
        *,
        on_update: Callable[[list[Report]], None],
        should_stop: Callable[[], bool],
        on_pause: Callable[[], None] = lambda: None,
    ) -> None:
        """Follow the folders until told to stop, telling of each update that changed anything.

        `on_pause` is called between updates, several times a second: it may write too.
        """
        from bookwheel.indexing.watch import watch

        def pause() -> None:
            if self._kept is not None:
                self._kept.look()
            on_pause()

        watch(
            [each.path for each in self._own],
            update=lambda: on_update(self.update(should_stop=should_stop)),
            should_stop=should_stop,
            reconcile_seconds=self.settings["reconcile_seconds"],
            own_paths=self.own_paths(),
            on_pause=pause,
        )

    def move_to(
        self, address: str, *, on_progress: Callable[[str, int], None] = lambda name, done: None
    ) -> tuple[int, str]:
        """Write what this index holds into a cluster; return how many files, and where they are."""
        from bookwheel.engines.choice import open_cluster
        from bookwheel.engines.embedded.engine import EmbeddedEngine
        from bookwheel.engines.moving import move

        self._require_index()
        if not isinstance(self._store, EmbeddedEngine):
            raise BadRequest(
                f"The index lies in a cluster already: {self.location}.",
                hint="Only one in a file can be moved. Leave the setting `engine` out for that.",
            )
        target = open_cluster(address, self.database, self.settings["engine_key"])
        try:
            done = move(self._store, target, stated=self._stated, on_progress=on_progress)
            return done, target.location
        finally:
            target.close()

    def why(self, path: str) -> str:
        """Say why a file is or is not indexed."""
        from bookwheel.indexing.explain import explain_path

        engine = self._store if self.exists else None
        return explain_path(engine, self.collections, path, own=self.own_paths())

    # Health

    def facts(self) -> dict[str, str]:
        """Return how the cluster is that holds the index; nothing where none does."""
        return self._store.facts()

    def require_whole(self) -> None:
        """Raise IndexUnreachable where a part of the index cannot be read just now."""
        if self.exists:
            self._store.require_whole()

    def check(self) -> list[str]:
        """Look through the index and return what is wrong with it."""
        if not self.is_shared:  # in a cluster, something else may be in its place
            self._require_index()
        return [*self._store.check()]

    def repair(self) -> list[str]:
        """Mend or rebuild the index from the documents; return what was done."""
        try:
            problems = self.check()
        except IndexDamaged as error:
            problems = [error.message]
        if not problems:
            return []
        gone = [each.path for each in self.collections if not Path(each.path).is_dir()]
        if gone:
            raise NotFound(
                f"The index is damaged and cannot be built anew: there is no folder {gone[0]}.",
                hint="Mount or restore the folder, then repair again.",
            )
        done = [self._set_aside()]
        self.update()
        return [*problems, *done, "built it anew from the documents"]

    def _set_aside(self) -> str:
        collections = self.collections
        aside = self._store.set_aside()
        self._collections = collections
        return f"the broken index was set aside as {aside}"


def _agrees(given: Collection, known: Collection) -> bool:
    """Tell whether all that the operator states of a folder is what the index knows of it."""
    return all(not stated or stated == old for stated, old in zip(given, known, strict=True))


def _report_about(remark: str, collections: Sequence[Collection], reports: list[Report]) -> Report:
    """Return the report of the folder that a remark speaks of, else the first."""
    pairs = zip(collections, reports, strict=True)
    return next((report for each, report in pairs if each.path in remark), reports[0])


def named_place(settings: Settings) -> Path | None:
    """Return the database that the settings name outright, if they do."""
    if settings["index"]:
        return Path(settings["index"]).absolute() / DATABASE
    if settings["search_db_path"]:
        return Path(settings["search_db_path"]).absolute()
    return None


def default_place(settings: Settings, collections: Sequence[Collection]) -> Path:
    """Return where the index of these folders lies when no place is named."""
    import hashlib

    from platformdirs import user_cache_path

    root = Path(settings["cache_root"]).absolute() if settings["cache_root"] else None
    paths = "\0".join(sorted(os.path.realpath(each.path) for each in collections))
    digest = hashlib.blake2b(os.fsencode(paths), digest_size=8).hexdigest()
    return (root or user_cache_path("bookwheel")) / digest / DATABASE
