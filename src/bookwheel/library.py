"""The library: opened from settings, one method per use case, closes what it opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import cached_property, partial, reduce
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bookwheel import __version__
from bookwheel.embedders.registry import check
from bookwheel.engines.choice import open_engine
from bookwheel.engines.place import default_place, make_place, named_place
from bookwheel.engines.policies import Policies, judge
from bookwheel.engines.reach import Reach
from bookwheel.errors import BadRequest, BookwheelError, IndexDamaged, IndexUnreachable, NotFound
from bookwheel.indexing.folders import Folders, from_paths
from bookwheel.indexing.indexer import Indexer
from bookwheel.model import Collection, Job, Redact
from bookwheel.query import Scope, SearchMode
from bookwheel.reading.documents import find_collection
from bookwheel.search.models import Models
from bookwheel.settings import Settings
from bookwheel.view import View

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.engines.base import WritableEngine
    from bookwheel.indexing.pipeline import Progress, Report
    from bookwheel.safety.finding import Rules
    from bookwheel.telemetry.calls import IndexFigures


class Library(View):
    """A set of folders and their index. Reading works at once; writing takes the writer lock.

    As a view it is the operator's: of every collection, each as its own access and redaction say.
    """

    def __init__(
        self, settings: Settings, collections: Sequence[Collection], database: Path
    ) -> None:
        store = open_engine(settings, database)
        models = Models(store, settings, version=__version__)
        self._folders = Folders(store, collections)
        policies = Policies(store, settings, self._folders.current)
        reach = Reach(store, self._folders.current, policies, self._rules)
        super().__init__(store, settings, models, reach)
        self._indexer = Indexer(store, settings, self._folders, self._rules, self.own_paths)

    @cached_property
    def _redaction_rules(self) -> Rules:
        from bookwheel.safety.finding import make_rules

        return make_rules(self.settings)

    def _rules(self) -> Rules:
        return self._redaction_rules

    def hide_in_logs(self, text: str) -> str:
        """Return what the log is told without what the strictest of the collections hides."""
        policies = judge(self._folders.last_seen, self.settings).values()
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
        check(settings)
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
        with ExitStack() as opening:
            opening.callback(library.close)
            if settings.redaction:  # a rule that cannot be used is told before anything is shown
                _ = library._redaction_rules
            remarks = library._folders.take(given)
            library.settings = replace(settings, remarks=(*settings.remarks, *remarks))
            opening.pop_all()  # whoever asked for it closes it
        return library

    @property
    def is_shared(self) -> bool:
        """Tell whether other machines may keep folders of theirs in the index."""
        return self._store.is_shared

    def look(self) -> list[str]:
        """Take the folders as they are now, manifests included; return what is worth saying.

        While one of them hangs they are taken as they were: asking it would not come to an end.
        """
        if any(self._indexer.hangs(each.path) for each in self._folders.last_seen):
            return []
        return self._folders.look()

    @classmethod
    def _from_index(cls, settings: Settings, place: Path) -> Self:
        library = cls(settings, (), place)
        with ExitStack() as opening:
            opening.callback(library.close)
            try:
                library._folders.take_indexed()
            except IndexDamaged as error:
                hint = "Name its folders: `bookwheel doctor FOLDER... --index DIR --repair`."
                raise IndexDamaged(error.message, hint=hint) from error
            opening.pop_all()
        return library

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index, and end the worker that was kept."""
        self._indexer.close()
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

    def writing(
        self, collections: Sequence[Collection] | None = None
    ) -> AbstractContextManager[WritableEngine]:
        """Hold the writer lock for a while; where others share the index, for some collections."""
        return self._indexer.writing(self.collections if collections is None else collections)

    @property
    def is_written(self) -> bool:
        """Tell whether a process is writing the index now, this one or another."""
        return self._store.exists and self._store.is_written

    def make_place(self) -> None:
        """Make the folder that the index lies in, where it is not named."""
        make_place(self.settings, self.database)

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
        update = partial(
            self._update,
            collection,
            folder,
            full=full,
            on_progress=on_progress,
            should_stop=should_stop,
        )
        try:
            return update()
        except IndexDamaged as error:
            # Imported here, as all that a search does not need: it must start quickly.
            import logging

            logging.getLogger(__name__).warning("%s %s", error.message, self._set_aside())
            return update()

    def _update(
        self,
        collection: str | None,
        folder: str,
        *,
        full: bool,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool],
    ) -> list[Report]:
        remarks = self.look()
        only = None if collection is None else find_collection(self.collections, collection)
        return self._indexer.update(
            only,
            folder,
            full=full,
            remarks=remarks,
            on_progress=on_progress,
            should_stop=should_stop,
        )

    @property
    def is_outdated(self) -> bool:
        """Tell whether the next update reads every file anew, changed or not."""
        return self._indexer.is_outdated

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
        return self._indexer.run_job(on_progress=on_progress, should_stop=should_stop)

    # Meaning

    @property
    def embedder(self) -> Embedder | None:
        """The model that finds by meaning; None when the operator wants none."""
        return self._models.embedder

    @property
    def is_embedded(self) -> bool:
        """Tell, without loading a model, that every document has its vectors."""
        return self._models.are_done

    @property
    def is_embedded_by_this_model(self) -> bool:
        """Tell the same of the model as it is now, loading one that may be another by now."""
        return self._models.are_done_at_first_sight

    def when_model_is_other(self, tell: Callable[[], None]) -> None:
        """Let somebody know when another model answers under the name of the one in use."""
        self._models.on_other = tell

    def when_damaged(self, tell: Callable[[], None]) -> None:
        """Let somebody know when a question cannot be answered because the index is broken."""
        self._store.on_damage = tell

    def when_begun_anew(self, tell: Callable[[], None]) -> None:
        """Let somebody know that another index comes in the place of the one that was there: before
        this library makes it, or when it meets one that another process has made."""
        self._store.on_anew = tell

    def unload_model(self) -> None:
        """Let the model be loaded anew when it is needed next, if it may be another by now."""
        self._models.unload()

    def count_unread(self) -> tuple[int, int]:
        """Return how many passages have no vector of the model yet, and how many there are."""
        return self._models.count_unread()

    def embed(
        self,
        *,
        on_progress: Callable[[int, int], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
        longest: float = inf,
    ) -> int:
        """Give vectors to documents that have none yet; return how many chunks that were.

        Those of more than `longest` chunks are left out, since one is not stopped within.
        Search goes on meanwhile, by words for what has none. The model reads every text redacted:
        by how near something is, one could ask for what is hidden.
        """
        if not self._folders.own or self._models.are_surely_done:
            return 0
        from bookwheel.indexing.embedding import embed_missing

        embedder = self.embedder
        if embedder is None:
            return 0
        with self.writing(self._folders.own) as engine:
            done = embed_missing(
                engine,
                embedder,
                shown=self._reach.within(Scope(redact=Redact.ALL)).engine,
                on_progress=on_progress,
                should_stop=should_stop,
                longest=longest,
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

    def watch(
        self,
        *,
        on_update: Callable[[list[Report]], None],
        should_stop: Callable[[], bool],
        on_pause: Callable[[], None] = lambda: None,
        on_unheard: Callable[[], None] = lambda: None,
        on_failure: Callable[[BookwheelError], None] | None = None,
    ) -> None:
        """Follow the folders until told to stop, telling of each look through them.

        `on_pause` is called between updates, several times a second: it may write too.
        `on_unheard` is called when a look found changes of which the system had not told,
        `on_failure` when one failed.
        """
        from bookwheel.indexing.watch import watch

        def pause() -> None:
            self._indexer.look_at_worker()
            on_pause()

        def update() -> bool:
            reports = self.update(should_stop=should_stop)
            on_update(reports)
            return any(report.changed for report in reports)

        watch(
            [each.path for each in self._folders.own],
            update=update,
            should_stop=should_stop,
            reconcile_seconds=self.settings["reconcile_seconds"],
            own_paths=self.own_paths(),
            on_pause=pause,
            on_unheard=on_unheard,
            on_failure=on_failure,
            hangs=self._indexer.hangs,
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
            done = move(self._store, target, stated=self._folders.stated, on_progress=on_progress)
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
        """Raise IndexUnusable where a part of the index cannot be read just now."""
        if self.exists:
            self._store.require_whole()

    def check(self) -> list[str]:
        """Look through the index and return what is wrong with it."""
        if not self.is_shared:  # in a cluster, something else may be in its place
            self._require_index()
        return [*self._store.check()]

    def repair(
        self,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[str]:
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
        self.update(on_progress=on_progress, should_stop=should_stop)
        return [*problems, *done, "built it anew from the documents"]

    def _set_aside(self) -> str:
        aside = self._store.set_aside()
        return f"It was set aside as {aside}" if aside else "Another process has made it anew"
