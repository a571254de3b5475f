"""Citations: what their keys add to indexing, how soon a graph is there, how many links are met."""

from __future__ import annotations

import posixpath
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import unquote

import apsw

from bench.clocks import Stopwatch
from bench.corpus import Corpus
from bench.figures import Figure, at_least, at_most
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.model import Document
from bookwheel.query import SearchMode, SearchRequest
from bookwheel.reading.graph import make_graph
from bookwheel.text.targets import Origin, document_names, is_inside, link_keys

_MOST_SHARE = 15.0
_MOST_MS = 20.0
_LEAST_MET = 98.0
_RESULTS, _DEPTH, _LISTED = 10, 3, 15
_ENDINGS = ("", ".md", ".markdown", ".mdx", ".html", ".rst", "/index.md", "/README.md")
_SLUG = re.compile(rb"^slug:[ \t]*[\"']?([^\n\"']+)", re.M)
_PLAIN = "CREATE TABLE {0}({1}) WITHOUT ROWID"


def measure(corpus: Corpus) -> list[Figure]:
    """Return the three figures."""
    return [_share(corpus), _graph(corpus), _met(corpus)]


def _share(corpus: Corpus) -> Figure:
    watch = Stopwatch()
    with corpus.open(corpus.work / "links") as library:
        library.update()
    whole = watch.read().cpu
    store = corpus.library._store
    assert isinstance(store, EmbeddedEngine)
    keys = _cpu(lambda: _make_keys(store, corpus.documents))
    rows = store._reader().execute("SELECT * FROM links").fetchall()
    names = store._reader().execute("SELECT * FROM names").fetchall()
    more = _cpu(lambda: _write(rows, names)) - _cpu(lambda: _write_plain(rows))
    share = 100 * (keys + more) / max(whole, 1e-9)
    return at_most(
        "links in indexing",
        share,
        _MOST_SHARE,
        shown=f"{share:.1f} % ({keys:.2f} + {more:.2f} of {whole:.1f} s CPU)",
        target="at most 15 %",
        how=f"making and writing the keys of {len(rows):,} links, as a share of all indexing",
    )


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _make_keys(store: EmbeddedEngine, documents: Sequence[Document]) -> None:
    for document in documents:
        origin = Origin(document.collection, document.path)
        for link in store.links(document.key):
            link_keys(link.kind, link.target, origin)
        document_names(origin, document.title)


def _write(rows: list[tuple[object, ...]], names: list[tuple[object, ...]]) -> None:
    with apsw.Connection(":memory:") as connection:
        links = "document, ordinal, kind, target, text, context, line, key, other"
        connection.execute(_PLAIN.format("links", f"{links}, PRIMARY KEY(document, ordinal)"))
        connection.execute("CREATE INDEX by_key ON links(key) WHERE key IS NOT NULL")
        connection.execute("CREATE INDEX by_other ON links(other) WHERE other IS NOT NULL")
        named = "document, ordinal, key, PRIMARY KEY(document, ordinal)"
        connection.execute(_PLAIN.format("names", named))
        connection.execute("CREATE INDEX by_name ON names(key)")
        connection.executemany("INSERT INTO links VALUES(?,?,?,?,?,?,?,?,?)", rows)
        connection.executemany("INSERT INTO names VALUES(?,?,?)", names)


def _write_plain(rows: list[tuple[object, ...]]) -> None:
    with apsw.Connection(":memory:") as connection:
        links = "document, ordinal, kind, target, text, context, line"
        connection.execute(_PLAIN.format("links", f"{links}, PRIMARY KEY(document, ordinal)"))
        connection.executemany("INSERT INTO links VALUES(?,?,?,?,?,?,?)", [r[:7] for r in rows])


def _graph(corpus: Corpus) -> Figure:
    library = corpus.library
    times = []
    for question in corpus.questions:
        request = SearchRequest(question, limit=_RESULTS, mode=SearchMode.LEXICAL)
        found = [each for each in library.documents_of(library.search(request).hits) if each]
        for _ in range(2):  # the first reads from the disk
            began = time.process_time()
            lists = library.citations(found, depth=_DEPTH, most=_LISTED)
            make_graph(found, (each for own in lists for both in own[:2] for each in both))
            last = (time.process_time() - began) * 1e3
        times.append(last)
    middle = statistics.median(times)
    return at_most(
        "citation graph",
        middle,
        _MOST_MS,
        shown=f"median {middle:.1f} ms, highest {max(times):.1f} ms CPU",
        target="under 20 ms",
        how=f"citations of {_RESULTS} results, {_DEPTH} levels, and their graph",
    )


def _met(corpus: Corpus) -> Figure:
    truth = _Truth(corpus)
    right = total = 0
    for source, target, found in _inside(corpus):
        wanted = truth.of(source, target)
        if wanted is not None and wanted != (source.collection, source.path):
            total += 1
            right += found == wanted
    share = 100 * right / max(total, 1)
    return at_least(
        "links met",
        share if total else 100.0,
        _LEAST_MET,
        shown=f"{share:.2f} % ({right:,} of {total:,})",
        target="at least 98 %",
        how="paths to a file that is there, or to the slug of one, that lead to just that document",
    )


_Place = tuple[str, str]


def _inside(corpus: Corpus) -> Iterator[tuple[Document, str, _Place | None]]:
    """Yield the links by path of every document with where they lead."""
    store = corpus.library._store
    assert isinstance(store, EmbeddedEngine)
    places = {each.key: (each.collection, each.path) for each in corpus.documents}
    for document in corpus.documents:
        for cited in store.outgoing([document.key], 10**6)[document.key]:
            kind, target = cited.link.kind, cited.link.target
            if kind != "wikilink" and "://" not in target and is_inside(kind, target):
                yield document, target, places.get(cited.target or 0)


class _Truth:
    """Where links by path lead, told in another way: by the files there are and their slugs."""

    def __init__(self, corpus: Corpus) -> None:
        self._paths = {
            (each.collection, each.path.lower()): (each.collection, each.path)
            for each in corpus.documents
        }
        self._slugs: dict[tuple[str, str], _Place] = {}
        store = corpus.library._store
        for each in corpus.documents:
            found = _SLUG.search(store.text(each.key)[:4000])
            if found:
                slug = found[1].decode("utf-8", "replace").strip().strip("/").lower()
                self._slugs[each.collection, slug] = (each.collection, each.path)

    def of(self, source: Document, target: str) -> _Place | None:
        path = unquote(target.partition("#")[0].partition("?")[0]).lower()
        if path.startswith("/"):
            return self._on_site(source.collection, path.strip("/"))
        folder = posixpath.dirname(source.path).lower()
        return self._file(source.collection, posixpath.normpath(posixpath.join(folder, path)))

    def _file(self, collection: str, path: str) -> _Place | None:
        tried = (self._paths.get((collection, path + ending)) for ending in _ENDINGS)
        return next((each for each in tried if each), None)

    def _on_site(self, collection: str, path: str) -> _Place | None:
        parts = path.split("/")
        rests = ("/".join(parts[at:]) for at in range(len(parts)))
        slugs = (self._slugs.get((collection, rest)) for rest in rests)
        return self._file(collection, path) or next((each for each in slugs if each), None)
