"""Searches over HTTP by sixteen clients at once, against the SDK's bare server with an empty tool.

Both servers run side by side and are loaded in turn by the same program. No query is asked twice.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bench.clocks import REPOSITORY
from bench.corpus import TEMPLATES, WORD, Corpus
from bench.figures import Figure, at_least
from bench.floors.server import NAMES
from bench.load import WARM, Order, Yield
from bench.servers import Running, document_server, floor_server
from bench.wire import MODERN, SESSIONS
from bookwheel.library import Library

TARGET = 0.6
_DOCUMENTS = 10_000
_MOST_CALLS = 700
"""Queries laid ready for each second of load: more than any search here answers."""
_ROWS = (
    ("documents_search", SESSIONS, True, 0.4),
    ("search_documents", SESSIONS, True, 0.2),
    ("search_docs", SESSIONS, True, 0.2),
    ("documents_search", MODERN, True, 0.2),
    ("documents_search", SESSIONS, False, 0.2),
)
"""Tool, era, whether the official client asks, and how many pairs as a share of the repeats."""


class Slice(NamedTuple):
    """One stretch of load on one server."""

    rate: float
    cpu: float
    """CPU milliseconds of the server for each call."""
    middle: float
    late: float
    """Milliseconds within which all but one in twenty calls were answered."""
    wrong: float


def measure(corpus: Corpus) -> list[Figure]:
    """Load our server and the bare one in turn, in both eras."""
    folder, index = corpus.work / "served", corpus.work / "served-index"
    draw(corpus, folder)
    with corpus.open(index, [str(folder)]) as library:
        library.update()
        library.embed()  # a server that still does it would be measured doing it
        queries = make_queries(library, random.Random(corpus.seed))
    with (
        floor_server(corpus.work / "floor.log") as floor,
        document_server([str(folder)], index, corpus.work / "ours.log") as ours,
    ):
        return load_in_turn(corpus, floor, ours, queries)


def load_in_turn(corpus: Corpus, floor: Running, ours: Running, queries: list[str]) -> list[Figure]:
    """Load both servers in turn, for each row of the table."""
    rounds = [max(1, round(corpus.repeats * share)) for *_, share in _ROWS]
    laid = min(len(queries) // sum(rounds), int(corpus.slice_seconds * _MOST_CALLS))
    unasked = iter(queries)
    figures = []
    for (tool, era, official, _), times in zip(_ROWS, rounds, strict=True):
        pairs = []
        for _ in range(times):
            asked = list(islice(unasked, laid))
            # What the empty tool is asked makes no difference to it, and it may be asked again.
            bare = load(corpus, floor, NAMES[0], era, asked * 4, official=official)
            pairs.append((bare, load(corpus, ours, tool, era, asked, official=official)))
        kind = "official" if official else "lean"
        figures.append(row(f"{tool}, {corpus.clients} {kind} clients, {era}", pairs))
    return figures


def draw(corpus: Corpus, folder: Path) -> None:
    """Copy ten thousand of the documents, or all where there are fewer."""
    roots = {each.name: each.path for each in corpus.library.collections}
    number = min(_DOCUMENTS, len(corpus.documents))
    for document in random.Random(corpus.seed).sample(corpus.documents, number):
        place = folder / document.collection / document.path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(roots[document.collection], document.path), place)


def make_queries(library: Library, rng: random.Random) -> list[str]:
    """Return what readers might ask, in any order, each query once.

    Titles; headings, with the title where they are one word; questions made of words of a text.
    """
    titles, headings, questions = [], [], []
    name = library.collections[0].name
    for page in range(0, _DOCUMENTS, 1000):
        for document in library.list_documents(name, limit=1000, offset=page).documents:
            titles.append(document.title)
            outline = library.outline(document)
            headings += [
                each.text if " " in each.text else f"{document.title} {each.text}"
                for each in outline
            ]
            text = library.text(document).text
            questions.append(make_question(rng, text))
    rng.shuffle(headings)
    every = [*titles, *headings[: 2 * len(titles)], *questions]
    distinct = list(dict.fromkeys(query for query in every if query.strip()))
    rng.shuffle(distinct)
    return distinct


def make_question(rng: random.Random, text: str) -> str:
    """Return a question filled with words of a text, drawn as often as they stand there."""
    template = rng.choice(TEMPLATES)
    words = WORD.findall(text) or ["document"]
    return template.format(*rng.choices(words, k=template.count("{}")))


def load(
    corpus: Corpus, server: Running, tool: str, era: str, queries: list[str], *, official: bool
) -> Slice:
    """Load a server for some seconds from a process of its own."""
    order = Order(server.url, era, tool, queries, corpus.clients, corpus.slice_seconds, official)
    before = server.cpu()
    ended = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=json.dumps(asdict(order)).encode(),
        stdout=subprocess.PIPE,
        check=True,
        cwd=REPOSITORY,
    )
    done = Yield(**json.loads(ended.stdout))
    took = sorted(done.milliseconds)
    return Slice(
        rate=done.calls / done.seconds,
        cpu=(server.cpu() - before) * 1e3 / (done.calls + corpus.clients * WARM),
        middle=statistics.median(took),
        late=took[len(took) * 95 // 100],
        wrong=done.wrong,
    )


def row(name: str, pairs: list[tuple[Slice, Slice]]) -> Figure:
    """Compare each stretch with the one before it on the bare server."""
    ratio = statistics.median(ours.rate / floor.rate for floor, ours in pairs)
    floor, ours = (
        Slice(*map(statistics.median, zip(*side, strict=True))) for side in zip(*pairs, strict=True)
    )
    wrong = sum(each.wrong for pair in pairs for each in pair)
    return at_least(
        name,
        *(ratio if not wrong else 0.0, TARGET),
        shown=f"{ours.rate:.0f} calls/s, {ratio:.2f} x",
        target=f">= {TARGET} x",
        how=f"of {floor.rate:.0f} calls/s of an empty tool; CPU of the server for a call "
        f"{ours.cpu:.1f} against {floor.cpu:.1f} ms, a call takes {ours.middle:.0f} ms (95 % below "
        f"{ours.late:.0f}); medians of {len(pairs)} pairs, {wrong} wrong answers",
    )
