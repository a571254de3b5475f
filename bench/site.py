"""The site: what an answer to typing costs beside the search itself, and what a long page does.

Both sides of the first figure are asked in turn, so that a busy machine slows both.
"""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode, urlsplit

from bench.corpus import Corpus
from bench.figures import Figure, at_most
from bench.servers import document_server
from bookwheel.query import SearchRequest
from bookwheel.serve.site.markdown import render

TYPING_TARGET = 2.0
RENDER_TARGET = 100.0
_RENDERED = 200_000
_TIMES = 5
_WARM = 20


def measure(corpus: Corpus) -> list[Figure]:
    """Return the figures of the site."""
    return [measure_typing(corpus), measure_rendering(corpus)]


def measure_typing(corpus: Corpus) -> Figure:
    """Ask each question of the library and of /api/search, in turn."""
    library = corpus.library
    library.embed()
    library.warm()
    ours: list[float] = []
    floor: list[float] = []
    with document_server(corpus.folders, corpus.index, corpus.work / "site.log") as running:
        place = urlsplit(running.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port)
        _wait(connection)
        first = corpus.questions[:_WARM]
        for number, question in enumerate([*first, *corpus.questions]):
            asked = urlencode({"q": question})
            alone = _clock(partial(library.search, SearchRequest(question)))
            over = _clock(partial(_get, connection, f"/api/search?{asked}"))
            if number >= len(first):
                floor.append(alone)
                ours.append(over)
        connection.close()
    medians = [statistics.median(each) * 1e3 for each in (ours, floor)]
    ratio = medians[0] / medians[1]
    return at_most(
        "answer to typing, over the search alone",
        ratio,
        TYPING_TARGET,
        shown=f"{ratio:.2f} x ({medians[0]:.1f} against {medians[1]:.1f} ms)",
        target=f"{TYPING_TARGET:g} x",
        how="median time of GET /api/search, connection kept, beside the same search in process",
    )


def measure_rendering(corpus: Corpus) -> Figure:
    """Render a page of the longest documents put together."""
    engine = corpus.library._store
    text = ""
    for document in sorted(corpus.documents, key=lambda each: -each.characters):
        if document.mime == "text/markdown":
            text += engine.text(document.key).decode("utf-8", "replace") + "\n\n"
        if len(text) >= _RENDERED:
            break
    text = (text * (_RENDERED // max(1, len(text)) + 1))[:_RENDERED]
    best = min(_cpu(lambda: render(text, lambda url: url)) for _ in range(_TIMES)) * 1e3
    return at_most(
        "page of 200 KB",
        best,
        RENDER_TARGET,
        shown=f"{best:.0f} ms CPU",
        target=f"{RENDER_TARGET:g} ms CPU",
        how=f"Markdown to clean HTML, {_RENDERED:,} characters, best of {_TIMES}",
    )


def _wait(connection: http.client.HTTPConnection) -> None:
    """Wait until the server has read everything."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if _get(connection, "/readyz") == 200:
            return
        time.sleep(0.2)
    raise RuntimeError("the server was not ready in time")


def _get(connection: http.client.HTTPConnection, path: str) -> int:
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _clock(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
