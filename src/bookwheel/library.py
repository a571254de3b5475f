"""The library: opened from settings, one method per use case, closes what it opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from bookwheel import __version__
from bookwheel.engines.base import CollectionState
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import BadRequest, BookwheelError, IndexDamaged, IndexUnusable, NotFound
from bookwheel.formats import READERS_VERSION
from bookwheel.model import Collection, Document, Link, SafeText
from bookwheel.query import SearchHit, SearchMode, SearchRequest, SearchResults
from bookwheel.reading import documents as reading
from bookwheel.reading.documents import TextPart
from bookwheel.safety.redact import make_safe
from bookwheel.search.models import Models
from bookwheel.search.run import add_snippets, search
from bookwheel.settings import Settings

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.indexing.pipeline import Progress, Report
    from bookwheel.reading.pointers import PlaceText
    from bookwheel.reading.sections import Heading, SectionText
    from bookwheel.search.meaning import Embedder as SearchEmbedder

DATABASE = "catalog.db"
NOT_RERANKED = "this is the usual order: a second look needs `pip install 'bookwheel[minilm]'`"
MOST_FILTERED = 1000
"""Values of one filter; stores take only so many at once."""


class Page(NamedTuple):
    """One page of a listing."""

    documents: list[Document]
    total: int
    offset: int

    @property
    def has_more(self) -> bool:
        return self.offset + len(self.documents) < self.total


class Library:
    """A set of folders and their index. Reading works at once; writing takes the writer lock."""

    def __init__(
        self, settings: Settings, collections: Sequence[Collection], database: Path
    ) -> None:
        self.settings = settings
        self.collections = tuple(collections)
        self.database = database
        self._given: tuple[Collection, ...] = ()
        self._engine = EmbeddedEngine(database)
        self._rebuilds: bool = settings["debug"]
        self._models = Models(self._engine, settings, version=__version__)

    @classmethod
    def open(cls, settings: Settings, paths: Iterable[str] = ()) -> Self:
        """Open the library of the folders given, else of those configured, else of this one.

        With no folder given and an index named that exists, its own folders are meant.
        """
        from bookwheel.indexing.folders import from_paths

        given = from_paths(paths) or list(settings.collections)
        if not given:
            place = named_place(settings)
            if place is not None and place.exists():
                return cls._from_index(settings, place)
            given = from_paths([settings["docs_root"] or "."])
        if settings["language"]:
            given = [
                each._replace(language=each.language or settings["language"]) for each in given
            ]
        place = named_place(settings) or default_place(settings, given)
        library = cls(settings, (), place)
        library._given = tuple(given)
        remarks = [] if library._recall() else library.look()
        library.settings = replace(settings, remarks=(*settings.remarks, *remarks))
        return library

    def _recall(self) -> bool:
        """Take the folders as the index knows them, without looking at them; tell if it does."""
        try:
            known = {state.collection.path: state.collection for state in self.states()}
        except BookwheelError:
            return False
        recalled = [known[each.path] for each in self._given if each.path in known]
        if not len(recalled) == len(known) == len(self._given):
            return False
        if not all(map(_agrees, self._given, recalled)):
            return False
        self.collections = tuple(recalled)
        return True

    def look(self) -> list[str]:
        """Take the folders as they are now, manifests included; return what is worth saying."""
        from bookwheel.indexing.folders import complete

        if not self._given:
            gone = [each.path for each in self.collections if not Path(each.path).is_dir()]
            return [f"There is no folder {path}. Its documents are kept." for path in gone]

        def remembered() -> list[Collection]:
            return [state.collection for state in self.states()]

        collections, remarks = complete(self._given, remembered=remembered)
        self.collections = tuple(collections)
        return remarks

    @classmethod
    def _from_index(cls, settings: Settings, place: Path) -> Self:
        library = cls(settings, (), place)
        try:
            library.collections = tuple(state.collection for state in library.states())
        except IndexDamaged as error:
            hint = "Name its folders: `bookwheel doctor FOLDER... --index DIR --repair`."
            raise IndexDamaged(error.message, hint=hint) from error
        return library

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        self._engine.close()

    # Keeping it fresh

    @property
    def exists(self) -> bool:
        """Tell whether there is an index at all."""
        return self._engine.exists

    @property
    def generation(self) -> int:
        """The number of the last change to the index, by whichever process; 0 without one."""
        return self._engine.generation if self._engine.exists else 0

    @property
    def is_indexed(self) -> bool:
        """Tell whether every folder of this library has been indexed."""
        try:
            states = self.states()
        except IndexDamaged:  # the next update sets it aside and makes it anew
            return False
        done = {s.collection.name: s.collection.path for s in states if s.scanned_at}
        return all(done.get(each.name) == each.path for each in self.collections)

    @contextmanager
    def writing(self) -> Iterator[EmbeddedEngine]:
        """Hold the writer lock for a while."""
        if named_place(self.settings) is None:  # in the user's own cache: nobody else's to read
            try:
                self.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise IndexUnusable(
                    f"The folder {self.database.parent} cannot be made: {error.strerror}.",
                    hint="--index or CACHE_ROOT names another one.",
                ) from None
        self._engine.begin_writing()
        try:
            yield self._engine
        finally:
            self._engine.end_writing()

    def update(
        self,
        *,
        full: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[Report]:
        """Bring the index up to date with the folders; with `full` read everything anew."""
        try:
            return self._update(full, on_progress, should_stop)
        except IndexDamaged as error:
            # Imported here, as all that a search does not need: it must start quickly.
            import logging

            logging.getLogger(__name__).warning("%s %s", error.message, self._set_aside())
            return self._update(full, on_progress, should_stop)

    def _update(
        self,
        full: bool,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool],
    ) -> list[Report]:
        from bookwheel.indexing.pipeline import Updater

        remarks = self.look()
        with self.writing() as engine:
            self._forget_others(engine)
            engine.declare(self.collections)
            if engine.note("readers") is None:  # new: an interrupted first run is gone on with
                engine.set_note("readers", READERS_VERSION)
            accept_empty = full
            full = full or self._rebuilds or engine.note("readers") != READERS_VERSION
            updater = Updater(
                engine,
                workers=self.settings["workers"],
                max_bytes=self.settings["max_file_mb"] * 1_000_000,
                own_paths=self.own_paths(),
                on_progress=on_progress,
                should_stop=should_stop,
            )
            reports = [
                updater.update(each, full=full, accept_empty=accept_empty)
                for each in self.collections
            ]
            if full and not should_stop():
                engine.set_note("readers", READERS_VERSION)
                self._rebuilds = False
        for remark in remarks:
            problems = _report_about(remark, self.collections, reports).problems
            problems += [remark] if remark not in problems else []
        return reports

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
    def knows_meaning(self) -> bool:
        """Tell whether anything can be found by meaning."""
        return self._models.know_meaning

    def embed(
        self,
        *,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> int:
        """Give vectors to documents that have none yet; return how many chunks that were.

        Search goes on meanwhile, by words for what has none.
        """
        if self.is_embedded:
            return 0
        from bookwheel.indexing.embedding import embed_missing

        embedder = self.embedder
        if embedder is None:
            return 0
        with self.writing() as engine:
            done = embed_missing(engine, embedder, on_progress=on_progress, should_stop=should_stop)
            self._models.note_done(engine, embedder)
        return done

    def warm(self) -> None:
        """Load what the first search by meaning needs, if there is anything to find with it."""
        try:
            embedder = self._models.embedder_for(SearchMode.HYBRID)[0] if self.exists else None
            if embedder is not None:
                self._engine.open_vectors(embedder.fingerprint)
        except BookwheelError:
            pass  # whoever searches is told

    def _forget_others(self, engine: EmbeddedEngine) -> None:
        """Drop folders that this index held for another set of folders."""
        own = {(each.name, each.path) for each in self.collections}
        for state in engine.collections():
            if (state.collection.name, state.collection.path) not in own:
                engine.forget(state.collection.name)

    def own_paths(self) -> tuple[str, ...]:
        """Return the files of ours that must never be indexed."""
        place = self._engine.place
        own = [place.database, place.lexical, place.vectors, place.lock, place.wal]
        if self.settings.config:
            own.append(Path(self.settings.config))
        return tuple(str(path.absolute()) for path in own)

    def watch(
        self, *, on_update: Callable[[list[Report]], None], should_stop: Callable[[], bool]
    ) -> None:
        """Follow the folders until told to stop, telling of each update that changed anything."""
        from bookwheel.indexing.watch import watch

        watch(
            [each.path for each in self.collections],
            update=lambda: on_update(self.update(should_stop=should_stop)),
            should_stop=should_stop,
            reconcile_seconds=self.settings["reconcile_seconds"],
            own_paths=self.own_paths(),
        )

    # Searching and reading

    def search(self, request: SearchRequest) -> SearchResults:
        """Find documents by words and by meaning."""
        request = self._resolve(request)
        embedder, trouble = self._models.embedder_for(request.mode)
        return _noting(self._search(request, embedder), trouble)

    def search_many(self, requests: Sequence[SearchRequest]) -> Iterator[SearchResults]:
        """Answer several requests; the model is asked once for what all of them need."""
        from bookwheel.search.batch import embedder_of_batch

        resolved = [self._resolve(request) for request in requests]
        shared = None
        for request in resolved:
            embedder, trouble = self._models.embedder_for(request.mode)
            if embedder is not None and shared is None:
                texts = [each.text for each in resolved if each.mode is not SearchMode.LEXICAL]
                shared = embedder_of_batch(self._engine, embedder, texts)
            yield _noting(self._search(request, shared if embedder else None), trouble)

    def _search(self, request: SearchRequest, embedder: SearchEmbedder | None) -> SearchResults:
        wanted = self.settings["rerank"] != "none" if request.rerank is None else request.rerank
        second_look = self._models.second_look if wanted else None
        results = search(self._engine, request, embedder, second_look)
        if wanted and second_look is None:
            results = results._replace(remarks=(*results.remarks, NOT_RERANKED))
        return results

    def _resolve(self, request: SearchRequest) -> SearchRequest:
        """Return a request with the names of its collections; refuse one that cannot be met."""
        self._require_index()
        if not 1 <= request.limit <= 1000 or request.offset < 0:
            raise BadRequest("The limit lies between 1 and 1000, the offset starts at 0.")
        if any(len(each) > MOST_FILTERED for each in request.filters if isinstance(each, tuple)):
            raise BadRequest(f"A filter takes at most {MOST_FILTERED} values.")
        names = tuple(self._name_of(name) for name in request.filters.collections)
        reading.require_text(*request.filters.extensions, *request.filters.folders)
        reading.require_text(*request.filters.tags)
        self._engine.refresh()
        return request._replace(filters=request.filters._replace(collections=names))

    def add_snippets(
        self, request: SearchRequest, hits: Sequence[SearchHit]
    ) -> tuple[SearchHit, ...]:
        """Return hits of a search without snippets with those that a request wants."""
        return add_snippets(self._engine, request, hits)

    def headings(self, hits: Sequence[SearchHit]) -> dict[tuple[str, str], list[str]]:
        """Return the headings of the documents of hits, by collection and path."""
        return self._engine.headings([(hit.collection, hit.document) for hit in hits])

    def document(self, text: str, collection: str | None = None) -> Document:
        """Find a document by its path, address or name."""
        self._require_index()
        return reading.find_document(self._engine, text, collection)

    def text(self, document: Document, *, offset: int = 0, length: int | None = None) -> TextPart:
        """Read a document or a stretch of it."""
        return reading.read_text(self._engine, document, offset=offset, length=length)

    def lines(self, document: Document, first: int, last: int) -> TextPart:
        """Read some lines of a document."""
        return reading.read_lines(self._engine, document, first, last)

    def place(self, document: Document, pointer: str) -> PlaceText:
        """Read what stands at a pointer such as `page 3`."""
        from bookwheel.reading.pointers import read_place

        return read_place(self._engine, document, pointer)

    def outline(self, document: Document, *, depth: int = 3) -> list[Heading]:
        """Return a document's headings."""
        from bookwheel.reading.sections import read_outline

        return read_outline(self._engine, document, depth=depth)

    def headings_above(self, hits: Sequence[SearchHit]) -> list[SafeText]:
        """Return the heading that each hit stands under, empty where there is none."""
        places = [(hit.collection, hit.document, hit.start_line) for hit in hits]
        found = self._engine.headings_above(places)
        return [make_safe(found.get(place, "")) for place in places]

    def section(self, document: Document, heading: str, *, subsections: bool = True) -> SectionText:
        """Read one section of a document."""
        from bookwheel.reading.sections import read_section

        return read_section(self._engine, document, heading, subsections=subsections)

    def sections(self, document: Document, headings: Sequence[str]) -> list[SectionText | None]:
        """Read some sections of a document; None stands for one that it has not."""
        from bookwheel.reading.sections import read_sections

        return read_sections(self._engine, document, headings)

    def links(self, document: Document) -> list[Link]:
        """Return the links that go out of a document."""
        return self._engine.links(document.key)

    def find_related(
        self,
        document: Document,
        *,
        text: str | None = None,
        limit: int = 5,
        same_document: bool = False,
    ) -> tuple[SearchHit, ...]:
        """Find documents of its collection that are like a document, or like a text."""
        from bookwheel.reading.related import find_related

        self._engine.refresh()
        return find_related(
            self._engine,
            document,
            text=text,
            limit=limit,
            same_document=same_document,
            embedder=self._models.embedder_for(SearchMode.HYBRID)[0],
        )

    def list_documents(
        self, collection: str, *, folder: str = "", limit: int = 100, offset: int = 0
    ) -> Page:
        """List the documents of a collection or of a folder in it, in the order of their paths."""
        self._require_index()
        _check_page(limit, offset)
        name = self._name_of(collection)
        reading.require_text(folder)
        found, total = self._engine.list_documents(
            name, folder=folder, limit=min(limit, 1000), offset=offset
        )
        return Page([reading.make_presentable(each) for each in found], total, offset)

    def paths(self, collection: str) -> list[str]:
        """Return the paths of all documents of a collection, in order."""
        self._require_index()
        return self._engine.paths(self._name_of(collection))

    def folders(self) -> list[str]:
        """Return all folders that hold documents, at any depth, as filters name them."""
        paths = (path for state in self.states() for path in self.paths(state.collection.name))
        parents = dict.fromkeys(path.rpartition("/")[0] for path in paths)
        found = {folder[:end] for folder in parents for end in _ends_of_folders(folder)}
        return sorted(found - {""})

    def categories(self, collection: str) -> dict[str, list[str]]:
        """Return the documents of each category of a collection."""
        from bookwheel.reading.categories import read_categories

        self._require_index()
        return read_categories(self._engine, self._name_of(collection))

    def list_category(
        self, collection: str, category: str, *, limit: int = 100, offset: int = 0
    ) -> Page:
        """List the documents of one category of a collection."""
        from bookwheel.reading.categories import pick_category

        name = self._name_of(collection)
        paths = pick_category(self.categories(name), category)
        _check_page(limit, offset)
        found = (self._engine.document(name, path) for path in paths[offset : offset + limit])
        documents = [reading.make_presentable(each) for each in found if each is not None]
        return Page(documents, len(paths), offset)

    def _name_of(self, collection: str) -> str:
        """Return the name of a collection that is given by name or alias."""
        known = [state.collection for state in self.states()]
        return reading.find_collection(known, collection).name

    def states(self) -> list[CollectionState]:
        """Return the collections with their counts."""
        return self._engine.collections() if self._engine.exists else []

    def kinds(self, collection: str) -> dict[str, int]:
        """Return how many documents of each extension a collection has, most first."""
        return self._engine.kinds(collection) if self._engine.exists else {}

    def ledger(self, collection: str | None = None) -> list[Document]:
        """Return the files that gave no document, with the reason."""
        return self._engine.ledger(collection) if self._engine.exists else []

    def skipped(self, collection: str) -> dict[tuple[str, str], int]:
        """Return how many files were passed over, by reason and extension."""
        return self._engine.skipped(collection) if self._engine.exists else {}

    def why(self, path: str) -> str:
        """Say why a file is or is not indexed."""
        from bookwheel.indexing.explain import explain_path

        engine = self._engine if self.exists else None
        return explain_path(engine, self.collections, path, own=self.own_paths())

    # Health

    def check(self) -> list[str]:
        """Look through the index and return what is wrong with it."""
        self._require_index()
        return [*self._engine.check()]

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
        aside = self._engine.set_aside()
        self.collections = collections
        return f"the broken index was set aside as {aside}"

    def _require_index(self) -> None:
        if not self._engine.exists:
            raise NotFound(
                "Nothing is indexed yet.", hint="`bookwheel index FOLDER` makes an index."
            )


def _agrees(given: Collection, known: Collection) -> bool:
    """Tell whether all that the operator states of a folder is what the index knows of it."""
    return all(not stated or stated == old for stated, old in zip(given, known, strict=True))


def _report_about(remark: str, collections: Sequence[Collection], reports: list[Report]) -> Report:
    """Return the report of the folder that a remark speaks of, else the first."""
    pairs = zip(collections, reports, strict=True)
    return next((report for each, report in pairs if each.path in remark), reports[0])


def _ends_of_folders(path: str) -> list[int]:
    """Return where each folder of a path ends."""
    return [*(at for at, letter in enumerate(path) if letter == "/"), len(path)]


def _check_page(limit: int, offset: int) -> None:
    if limit < 1 or offset < 0:
        raise BadRequest("The limit counts from 1 and the offset from 0.")


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


def _noting(results: SearchResults, trouble: str) -> SearchResults:
    """Return an answer that says what kept meaning out of it."""
    return results._replace(relaxed=(*results.relaxed, trouble)) if trouble else results
