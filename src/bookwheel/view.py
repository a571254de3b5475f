"""What one caller may see of the library: searching and reading, within their scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from bookwheel.engines.base import CollectionState, Engine
from bookwheel.engines.sight import LONGEST_PREVIEW
from bookwheel.errors import BadRequest, Forbidden, NotFound
from bookwheel.model import Collection, Document, Link, SafeText
from bookwheel.query import Places, Scope, SearchHit, SearchMode, SearchRequest, SearchResults
from bookwheel.reading import documents as reading
from bookwheel.reading.documents import TextPart
from bookwheel.reading.listing import Page, list_category, list_documents
from bookwheel.safety.redact import make_safe
from bookwheel.search.models import Models
from bookwheel.search.run import add_snippets, search
from bookwheel.settings import Settings

if TYPE_CHECKING:
    from bookwheel.engines.base import WritableEngine
    from bookwheel.engines.reach import Reach
    from bookwheel.indexing.jobs import Jobs
    from bookwheel.reading.broken import Broken
    from bookwheel.reading.citations import Citations, Cited
    from bookwheel.reading.graph import Graph
    from bookwheel.reading.pointers import PlaceText
    from bookwheel.reading.preview import Preview
    from bookwheel.reading.roots import Place, Root
    from bookwheel.reading.sections import Heading, SectionText
    from bookwheel.search.facets import Facets
    from bookwheel.search.highlight import Highlights, Sought
    from bookwheel.search.meaning import Embedder as SearchEmbedder

NOT_RERANKED = "this is the usual order: a second look needs `pip install 'bookwheel[minilm]'`"
MOST_FILTERED = 1000
"""Values of one filter; stores take only so many at once."""


class View:
    """The library as one caller sees it. Nothing is shown that their scope does not allow."""

    settings: Settings

    def __init__(
        self, store: WritableEngine, settings: Settings, models: Models, reach: Reach
    ) -> None:
        self._store = store
        self.settings = settings
        self._models = models
        self._reach = reach

    def view(self, scope: Scope) -> View:
        """Return what a caller may see who is held to this scope beside that of this view."""
        return View(self._store, self.settings, self._models, self._reach.within(scope))

    @property
    def _engine(self) -> Engine:
        """The store as it may be seen."""
        return self._reach.engine

    @property
    def database(self) -> Path:
        """The file that holds the index, or would; other files of this library lie beside it."""
        return self._store.home

    @property
    def location(self) -> str:
        """Where the index lies, for people: a file, or a cluster."""
        return self._store.location

    @property
    def exists(self) -> bool:
        """Tell whether there is an index at all."""
        return self._store.exists

    @property
    def generation(self) -> int:
        """The number of the last change to the index, by whichever process; 0 without one."""
        return self._store.generation if self._store.exists else 0

    @property
    def collections(self) -> tuple[Collection, ...]:
        """The folders that the operator wants, indexed or not, as far as they are in scope."""
        return self._reach.collections

    def _require_access(self, document: Document) -> None:
        if document.collection in self._reach.shut:
            raise Forbidden(
                f"{reading.quoted(document.path)} may only be previewed, not read whole.",
                hint="Search finds short stretches of it; openFile shows one around a pointer.",
            )

    # Searching

    @property
    def knows_meaning(self) -> bool:
        """Tell whether anything can be found by meaning."""
        return self._models.know_meaning

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
        results = results._replace(hits=self._reach.shorten(results.hits))
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

    def facets(self, request: SearchRequest) -> Facets:
        """Count what a request finds by collection, type, year and folder."""
        from bookwheel.search.facets import count_facets

        return count_facets(self._engine, self._resolve(request))

    def add_snippets(
        self, request: SearchRequest, hits: Sequence[SearchHit]
    ) -> tuple[SearchHit, ...]:
        """Return hits of a search without snippets with those that a request wants."""
        return add_snippets(self._engine, request, hits)

    def highlights(
        self, request: SearchRequest, hits: Sequence[SearchHit]
    ) -> tuple[Highlights, ...]:
        """Return where in hits the words of a request stand."""
        from bookwheel.search.highlight import highlight

        return highlight(self._engine, request, hits)

    def words_sought(self, request: SearchRequest) -> tuple[Sought, ...]:
        """Return the telling words of a request, slips as what they were taken for."""
        from bookwheel.search.highlight import words_sought

        return words_sought(self._engine, request)

    def headings(self, hits: Sequence[SearchHit]) -> dict[tuple[str, str], list[str]]:
        """Return the headings of the documents of hits, by collection and path."""
        return self._engine.headings([(hit.collection, hit.document) for hit in hits])

    def document(self, text: str, collection: str | None = None) -> Document:
        """Find a document by its path, address or name."""
        self._require_index()
        return reading.find_document(self._engine, text, collection)

    def documents_of(self, hits: Sequence[SearchHit]) -> list[Document | None]:
        """Return the documents of hits; None stands for one that is gone meanwhile."""
        found = (self._engine.document(hit.collection, hit.document) for hit in hits)
        return [reading.make_presentable(each) if each else None for each in found]

    def text(self, document: Document, *, offset: int = 0, length: int | None = None) -> TextPart:
        """Read a document or a stretch of it."""
        self._require_access(document)
        return reading.read_text(self._engine, document, offset=offset, length=length)

    def lines(self, document: Document, first: int, last: int) -> TextPart:
        """Read some lines of a document."""
        self._require_access(document)
        return reading.read_lines(self._engine, document, first, last)

    def place(self, document: Document, pointer: str) -> PlaceText:
        """Read what stands at a pointer such as `page 3`."""
        from bookwheel.reading.pointers import read_place

        self._require_access(document)
        return read_place(self._engine, document, pointer)

    def quote(self, document: Document, text: str, *, longest: int) -> SafeText | None:
        """Return the stretch of a document that a text quotes; None for what it does not have."""
        from bookwheel.reading.quotes import find_quote

        return find_quote(self._engine, document, text, longest=min(longest, LONGEST_PREVIEW))

    def hide(self, text: str) -> SafeText:
        """Return what somebody wrote about documents, without what this caller must not see."""
        return self._reach.hide(text)

    # Files by their absolute paths

    def roots(self) -> list[Root]:
        """Return the allowed folders, innermost scope included, as the operator wrote them."""
        from bookwheel.reading.roots import Root

        return [
            Root(folder, below, self._show_path(folder, below))
            for folder, below in self._reach.places
        ]

    def locate(self, path: str) -> list[Place]:
        """Return where an absolute path lies; Forbidden outside of what may be seen."""
        from bookwheel.reading.roots import find_places

        return find_places(path, self.roots())

    def file(self, path: str) -> Document:
        """Find a document by its absolute path; NotFound says why there is none."""
        from bookwheel.reading.roots import find_file

        self._require_index()
        return find_file(self._engine, self.locate(path), path, why=self._why_absent)

    def absolute_path(self, collection: str, path: str) -> str:
        """Return the absolute path of a document as it may be shown."""
        folders = {each.name: each for each in self.collections}
        return f"{self._show_path(folders[collection]).rstrip('/')}/{path}"

    def _show_path(self, folder: Collection, below: str = "") -> str:
        return self._reach.hide_in_path(str(PurePosixPath(folder.root or folder.path, below)))

    def _why_absent(self, place: Place) -> str | None:
        from bookwheel.indexing.explain import explain_absence

        return explain_absence(place.collection, place.path, own=self.own_paths())

    def preview(
        self, document: Document, pointer: str | None = None, *, before: int = 200, after: int = 200
    ) -> Preview:
        """Read a short stretch around a pointer, or the beginning."""
        from bookwheel.reading.preview import read_preview

        return read_preview(self._engine, document, pointer, before=before, after=after)

    def own_paths(self) -> tuple[str, ...]:
        """Return the files of ours that must never be indexed."""
        from bookwheel.safety.token_file import tokens_path
        from bookwheel.telemetry.audit import own_files

        own = self._store.own_paths
        own += [*own_files(self.settings, self.database), tokens_path(self.settings)]
        if self.settings.config:
            own.append(Path(self.settings.config))
        return tuple(str(path.absolute()) for path in own)

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

        self._require_access(document)
        return read_section(self._engine, document, heading, subsections=subsections)

    def sections(self, document: Document, headings: Sequence[str]) -> list[SectionText | None]:
        """Read some sections of a document; None stands for one that it has not."""
        from bookwheel.reading.sections import read_sections

        self._require_access(document)
        return read_sections(self._engine, document, headings)

    def links(self, document: Document) -> list[Link]:
        """Return the links that go out of a document."""
        return self._engine.links(document.key)

    def citations(
        self, documents: Sequence[Document], *, depth: int = 1, most: int = 50
    ) -> list[Citations]:
        """Return what documents cite and are cited by, followed so many levels."""
        from bookwheel.reading.citations import read_citations

        return read_citations(self._engine, documents, depth=depth, most=most)

    def section_cited(self, cited: Cited) -> SafeText | None:
        """Return the heading that a citation leads to by its anchor."""
        from bookwheel.reading.citations import find_section

        return find_section(self._engine, cited)

    def graph(
        self,
        documents: Sequence[Document] = (),
        *,
        collection: str | None = None,
        depth: int = 1,
        most: int = 300,
        outside: bool = False,
    ) -> Graph:
        """Return the citation graph around documents, or of all, or within one collection."""
        from bookwheel.reading.graph import read_graph

        self._require_index()
        if collection is not None:
            alone = self.view(Scope(((self._name_of(collection), ""),)))
            return alone.graph(documents, depth=depth, most=most, outside=outside)
        return read_graph(self._engine, documents, depth=depth, most=most, outside=outside)

    def count_citations(self, graph: Graph) -> dict[str, tuple[int, int]]:
        """Return how often each node of a graph is cited, and cites."""
        from bookwheel.reading.graph import count_citations

        return count_citations(self._engine, graph)

    def broken_links(
        self,
        collection: str | None = None,
        *,
        document: Document | None = None,
        limit: int = 1000,
    ) -> list[Broken]:
        """Return the links of all, or of one, to documents of the library that are not there."""
        from bookwheel.reading.broken import read_broken

        self._require_index()
        name = self._name_of(collection) if collection is not None else None
        return read_broken(self._engine, name, document=document, limit=limit)

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
        hits = find_related(
            self._engine,
            document,
            text=text,
            limit=limit,
            same_document=same_document,
            embedder=self._models.embedder_for(SearchMode.HYBRID)[0],
        )
        return self._reach.shorten(hits)

    def list_documents(
        self, collection: str, *, folder: str = "", limit: int = 100, offset: int = 0
    ) -> Page:
        """List the documents of a collection or of a folder in it, in the order of their paths."""
        self._require_index()
        name = self._name_of(collection)
        return list_documents(self._engine, name, folder, limit=limit, offset=offset)

    def paths(self, collection: str) -> list[str]:
        """Return the paths of all documents of a collection, in order."""
        self._require_index()
        return self._engine.paths(self._name_of(collection))

    def places(self) -> Places:
        """Return each collection, and all folders in it that hold documents, at any depth."""
        names = [state.collection.name for state in self.states()]
        return tuple(
            (name, folder) for name in names for folder in ("", *self._engine.folders(name))
        )

    def categories(self, collection: str) -> dict[str, list[str]]:
        """Return the documents of each category of a collection."""
        from bookwheel.reading.categories import read_categories

        self._require_index()
        return read_categories(self._engine, self._name_of(collection))

    def list_category(
        self, collection: str, category: str, *, limit: int = 100, offset: int = 0
    ) -> Page:
        """List the documents of one category of a collection."""
        self._require_index()
        name = self._name_of(collection)
        return list_category(self._engine, name, category, limit=limit, offset=offset)

    def _name_of(self, collection: str) -> str:
        """Return the name of a collection that is given by name or alias."""
        known = [state.collection for state in self.states()]
        return reading.find_collection(known, collection).name

    def states(self) -> list[CollectionState]:
        """Return the collections with their counts."""
        return self._engine.collections() if self.exists else []

    def kinds(self, collection: str) -> dict[str, int]:
        """Return how many documents of each extension a collection has, most first."""
        return self._engine.kinds(collection) if self.exists else {}

    def ledger(self, collection: str | None = None) -> list[Document]:
        """Return the files that gave no document, with the reason."""
        return self._engine.ledger(collection) if self.exists else []

    def skipped(self, collection: str) -> dict[tuple[str, str], int]:
        """Return how many files were passed over, by reason and extension."""
        return self._engine.skipped(collection) if self.exists else {}

    @property
    def jobs(self) -> Jobs:
        """What is asked for to be indexed, and a way to ask."""
        from bookwheel.indexing.jobs import Jobs

        return Jobs(self._store, self._reach.scope)

    def _require_index(self) -> None:
        if not self.exists:
            raise NotFound(
                "Nothing is indexed yet.", hint="`bookwheel index FOLDER` makes an index."
            )


def _noting(results: SearchResults, trouble: str) -> SearchResults:
    """Return an answer that says what kept meaning out of it."""
    return results._replace(relaxed=(*results.relaxed, trouble)) if trouble else results
